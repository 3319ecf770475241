// Books as the seed of this benchmark has them: an arena for each, four columns of big-endian numbers,
// one book behind the other. It takes the place of book.cuh, and gives what that gives.
//
// BYTES says how a number is read: a byte at a time, or in limbs of eight bytes.

constexpr uint32 BIDS = 0, ASKS = 1, NO_SIDE = 2;

struct alignas(16) Slot { U256 key, qty; };
struct Side { uint32 count, head; };
struct alignas(16) Ends { Side bids, asks; };

DEVICE uint64 turned(uint32 side) { return side == BIDS ? ~0ull : 0ull; }

DEVICE U256 read_bytes(const uint8* bytes) {
    U256 number;
#pragma unroll
    for (uint32 place = 0; place < LIMBS; ++place) {
        const uint8* at = bytes + 8 * (LIMBS - 1 - place);
#if BYTES
        uint64 limb = 0;
#pragma unroll
        for (uint32 byte = 0; byte < 8; ++byte) limb = limb << 8 | at[byte];
        number.limb[place] = limb;
#else
        number.limb[place] = swap_bytes(*(const uint64*)at);
#endif
    }
    return number;
}

DEVICE void write_bytes(uint8* bytes, const U256& number) {
#pragma unroll
    for (uint32 place = 0; place < LIMBS; ++place) {
        uint8* at = bytes + 8 * (LIMBS - 1 - place);
#if BYTES
#pragma unroll
        for (uint32 byte = 0; byte < 8; ++byte) {
            at[byte] = (uint8)(number.limb[place] >> (8 * (7 - byte)));
        }
#else
        *(uint64*)at = swap_bytes(number.limb[place]);
#endif
    }
}

struct Book {
    uint8* arena;
    uint32 capacity;
    Side bids, asks;
    bool ends_changed;
    Slot held;
    uint32 held_side;
    bool held_changed;

    DEVICE_MEMBER void open(Slot* all, const Ends* ends, uint32 book, uint32, uint32 slot_capacity) {
        arena = (uint8*)all + (uint64)book * slot_capacity * 2 * sizeof(Slot);
        capacity = slot_capacity;
        const Ends both = ends[book];
        bids = both.bids;
        asks = both.asks;
        ends_changed = held_changed = false;
        held_side = NO_SIDE;
    }

    DEVICE_MEMBER uint8* price_at(uint32 side, uint32 place) const {
        return arena + ((uint64)2 * side * capacity + place) * sizeof(U256);
    }
    DEVICE_MEMBER uint8* qty_at(uint32 side, uint32 place) const {
        return price_at(side, place) + (uint64)capacity * sizeof(U256);
    }

    DEVICE_MEMBER void put_back() {
        if (held_changed) write_bytes(qty_at(held_side, 0), held.qty);
        held_changed = false;
        held_side = NO_SIDE;
    }

    DEVICE_MEMBER void hold_best(uint32 side, const Side&) {
        if (held_side == side) return;
        put_back();
        held = {turn(read_bytes(price_at(side, 0)), turned(side)), read_bytes(qty_at(side, 0))};
        held_side = side;
    }

    DEVICE_MEMBER void close(Ends* ends, uint32 book) {
        put_back();
        if (ends_changed) ends[book] = {bids, asks};
    }

    DEVICE_MEMBER void move(uint32 side, uint32 to, uint32 from) {
        write_bytes(price_at(side, to), read_bytes(price_at(side, from)));
        write_bytes(qty_at(side, to), read_bytes(qty_at(side, from)));
    }

    // Take the best order away, by moving all others.
    DEVICE_MEMBER void shift_down(uint32 side, const Side& here) {
        for (uint32 place = 0; place + 1 < here.count; ++place) move(side, place, place + 1);
    }

    DEVICE_MEMBER void insert(uint32 side, Side& here, const Slot& slot) {
        put_back();
        uint32 place = here.count;
        while (place > 0 &&
               is_below(slot.key, turn(read_bytes(price_at(side, place - 1)), turned(side)))) {
            move(side, place, place - 1);
            --place;
        }
        write_bytes(price_at(side, place), turn(slot.key, turned(side)));
        write_bytes(qty_at(side, place), slot.qty);
        ++here.count;
    }
};
