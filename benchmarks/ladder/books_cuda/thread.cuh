// A thread owns a book: what warp.cuh has, for one lane.

constexpr uint32 LANES = 1;

#define BOOK_MEMORY

DEVICE uint32 this_lane() { return 0; }
DEVICE uint32 this_turn() { return blockIdx.x * BLOCK + threadIdx.x; }

DEVICE void meet() {}

DEVICE int32 largest(int32 value) { return value; }
DEVICE int32 smallest(int32 value) { return value; }
DEVICE uint32 smallest(uint32 value) { return value; }
DEVICE bool any_lane(bool condition) { return condition; }
DEVICE uint32 count_lanes(bool condition) { return condition; }

struct Counted {
    uint32 all[COUNTERS];

    DEVICE_MEMBER void add(uint32 column, uint32 count) { all[column] += count; }
    DEVICE_MEMBER void add_to(int64* counters) const {
        for (uint32 column = 0; column < COUNTERS; ++column) counters[column] += all[column];
    }
};
