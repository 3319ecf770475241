// Books as bytes: an arena is two counts, then four columns of numbers, big-endian; see
// bookwarp.spec.u256. A thread takes one number of one arena.

constexpr uint32 COLUMNS = 4;
constexpr uint32 COUNT_BYTES = 8;

struct Number {
    uint32 arena, side, place;
    bool is_qty, is_first;
    uint64* bytes;
};

DEVICE Number this_number(uint8* arenas, uint32 capacity) {
    const uint64 number = (uint64)blockIdx.x * BLOCK + threadIdx.x;
    const uint64 in_arena = COLUMNS * (uint64)capacity;
    const uint64 arena = number / in_arena, entry = number - arena * in_arena;
    const uint32 column = (uint32)(entry / capacity);
    uint8* at = arenas + arena * (COUNT_BYTES + in_arena * sizeof(U256));
    return {(uint32)arena, column / 2, (uint32)(entry - (uint64)column * capacity),
            column % 2 == 1, entry == 0, (uint64*)(at + COUNT_BYTES + entry * sizeof(U256))};
}

DEVICE void write_number(uint64* bytes, const U256& number) {
#pragma unroll
    for (uint32 place = 0; place < LIMBS; ++place) {
        bytes[LIMBS - 1 - place] = swap_bytes(number.limb[place]);
    }
}

DEVICE U256 read_number(const uint64* bytes) {
    U256 number;
#pragma unroll
    for (uint32 place = 0; place < LIMBS; ++place) {
        number.limb[place] = swap_bytes(bytes[LIMBS - 1 - place]);
    }
    return number;
}

// Write the arenas of `count` books from `first` on.
extern "C" __global__ void __launch_bounds__(BLOCK)
write_arenas(Slot* slots, const Ends* ends, uint8* arenas, uint32 books, uint32 capacity,
             uint32 first, uint32 count) {
    const Number number = this_number(arenas, capacity);
    if (number.arena >= count) return;
    Book book;
    book.open(slots, ends, first + number.arena, books, capacity);
    const Side side = number.side == BIDS ? book.bids : book.asks;
    U256 value = zero();
    if (number.place < side.count) {
        const Slot* slot = book.slot_at(number.side, side.head, number.place);
        value = number.is_qty ? slot->qty : turn(slot->key, turned(number.side));
    }
    write_number(number.bytes, value);
    if (!number.is_first) return;
    uint32* counts = (uint32*)(number.bytes - 1);
    counts[0] = book.bids.count;
    counts[1] = book.asks.count;
}

// Set `count` books from `first` on to what arenas hold.
extern "C" __global__ void __launch_bounds__(BLOCK)
read_arenas(Slot* slots, Ends* ends, uint8* arenas, uint32 books, uint32 capacity, uint32 first,
            uint32 count) {
    const Number number = this_number(arenas, capacity);
    if (number.arena >= count) return;
    const uint64 in_arena = COLUMNS * (uint64)capacity;
    const uint8* arena = arenas + number.arena * (COUNT_BYTES + in_arena * sizeof(U256));
    const uint32* counts = (const uint32*)arena;
    if (number.is_first) ends[first + number.arena] = {{counts[0], 0}, {counts[1], 0}};
    if (number.place >= counts[number.side]) return;
    Slot* slot = slots + first + number.arena +
                 ((uint64)number.side * capacity + number.place) * books;
    const U256 value = read_number(number.bytes);
    if (number.is_qty) slot->qty = value;
    else slot->key = turn(value, turned(number.side));
}
