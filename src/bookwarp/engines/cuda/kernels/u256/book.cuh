// A thread owns a book, whose slots lie in the memory of the GPU.
//
// A slot is 64 bytes, price and quantity of one order, in limbs as the machine has them. The slots
// of all books lie as [side, slot, book]: threads of a warp, whose books are neighbours, read
// neighbouring slots, and however many slots a book has, the books do not move apart. A slot is a
// whole number of sectors of 32 bytes, so that books whose best orders are at different slots
// still use all that they read.
//
// A side is a ring: its best order is at `head`, and an order that is filled leaves by moving the
// head. What is held of the best order is kept in registers, from one order of a launch to the
// next, and goes back when another is held.
//
// Prices are kept as keys: an ask's is its price, a bid's is its price with all bits turned. On
// either side the best order then has the lowest key, and an order crosses where the key of the
// best one is not above its own limit turned the same way.

constexpr uint32 BIDS = 0, ASKS = 1, NO_SIDE = 2;

struct alignas(16) Slot { U256 key, qty; };

// Of one side of a book: orders, and where the best one is.
struct Side { uint32 count, head; };

// Both sides, as they lie in memory, [book].
struct alignas(16) Ends { Side bids, asks; };

DEVICE uint64 turned(uint32 side) { return side == BIDS ? ~0ull : 0ull; }

struct Book {
    Slot* slots;  // of the first slot of the bids
    uint32 books, capacity;
    Side bids, asks;
    bool ends_changed;
    Slot held;         // the best order of a side
    uint32 held_side;  // NO_SIDE: of none
    bool held_changed;

    // Begin with what lies in memory; nothing is held.
    DEVICE_MEMBER void open(Slot* all, const Ends* ends, uint32 book, uint32 book_count,
                            uint32 slot_capacity) {
        slots = all + book;
        books = book_count;
        capacity = slot_capacity;
        const Ends both = ends[book];
        bids = both.bids;
        asks = both.asks;
        ends_changed = held_changed = false;
        held_side = NO_SIDE;
    }

    DEVICE_MEMBER Slot* slot_at(uint32 side, uint32 head, uint32 place) const {
        uint32 slot = head + place;
        if (slot >= capacity) slot -= capacity;
        return slots + ((uint64)side * capacity + slot) * books;
    }

    // Let memory have what is held; it stays held.
    DEVICE_MEMBER void put_back() {
        if (!held_changed) return;
        const uint32 head = held_side == BIDS ? bids.head : asks.head;
        slot_at(held_side, head, 0)->qty = held.qty;
        held_changed = false;
    }

    DEVICE_MEMBER void hold_best(uint32 side, const Side& here) {
        if (held_side == side) return;
        put_back();
        held = *slot_at(side, here.head, 0);
        held_side = side;
    }

    DEVICE_MEMBER void close(Ends* ends, uint32 book) {
        put_back();
        if (ends_changed) ends[book] = {bids, asks};
    }

    // Behind how many orders of its side a key comes: those that are not above it.
    DEVICE_MEMBER uint32 place_of(uint32 side, const Side& here, const U256& key) const {
        uint32 low = 0, high = here.count;
        while (low < high) {
            const uint32 middle = (low + high) / 2;
            const U256 other = slot_at(side, here.head, middle)->key;
            if (is_below(key, other)) high = middle;
            else low = middle + 1;
        }
        return low;
    }

    // Move `count` slots from where they are to one place nearer the head, the first first. Two at a
    // time, so that the second read does not wait for the first.
    DEVICE_MEMBER void move_to_head(uint32 side, uint32 head, uint32 count) {
        uint32 place = 0;
        for (; place + 1 < count; place += 2) {
            const Slot one = *slot_at(side, head, place + 1), two = *slot_at(side, head, place + 2);
            *slot_at(side, head, place) = one;
            *slot_at(side, head, place + 1) = two;
        }
        if (place < count) *slot_at(side, head, place) = *slot_at(side, head, place + 1);
    }

    // Move the slots `first` .. `end`, half-open, to one place farther from the head, the last first.
    DEVICE_MEMBER void move_from_head(uint32 side, uint32 head, uint32 first, uint32 end) {
        for (; first + 1 < end; end -= 2) {
            const Slot one = *slot_at(side, head, end - 1), two = *slot_at(side, head, end - 2);
            *slot_at(side, head, end) = one;
            *slot_at(side, head, end - 1) = two;
        }
        if (first < end) *slot_at(side, head, end) = *slot_at(side, head, end - 1);
    }

    // Let an order rest on a side that has room. The fewer of the others move.
    DEVICE_MEMBER void insert(uint32 side, Side& here, const Slot& slot) {
        if (held_side == side) put_back();
        const uint32 place = place_of(side, here, slot.key);
        if (2 * place < here.count) {
            here.head = here.head == 0 ? capacity - 1 : here.head - 1;
            move_to_head(side, here.head, place);
        } else {
            move_from_head(side, here.head, place, here.count);
        }
        *slot_at(side, here.head, place) = slot;
        ++here.count;
        if (held_side == side && place == 0) held = slot;
    }
};
