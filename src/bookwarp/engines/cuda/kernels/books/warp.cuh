// A warp owns a book. What is the same in all lanes is held by all of them; to memory the first lane
// writes it, and `meet` stands between that and what others read there, before and after. Where lanes
// are together anyway, which the compiler knows, it costs nothing.

constexpr uint32 LANES = 32;
constexpr uint32 ALL_LANES = 0xFFFFFFFFu;

#define BOOK_MEMORY __shared__

// A block is a warp.
DEVICE uint32 this_lane() { return threadIdx.x; }
// Which of the books to match is this warp's.
DEVICE uint32 this_turn() { return blockIdx.x; }

DEVICE void meet() { __syncwarp(); }

DEVICE int32 largest(int32 value) { return __reduce_max_sync(ALL_LANES, value); }
DEVICE int32 smallest(int32 value) { return __reduce_min_sync(ALL_LANES, value); }
DEVICE uint32 smallest(uint32 value) { return __reduce_min_sync(ALL_LANES, value); }
DEVICE bool any_lane(bool condition) { return __any_sync(ALL_LANES, condition); }
DEVICE uint32 count_lanes(bool condition) { return __popc(__ballot_sync(ALL_LANES, condition)); }

// The sum of lots >= 0 that stays at the largest int64 once it is there.
DEVICE int64 saturating_sum(int64 a, int64 b) { return b > INT64_MAX - a ? INT64_MAX : a + b; }

SELDOM int64 sum_lanes(int64 value) {
#pragma unroll
    for (uint32 by = LANES / 2; by > 0; by /= 2) {
        value = saturating_sum(value, __shfl_xor_sync(ALL_LANES, value, by));
    }
    return value;
}

// What a book counted in this launch, but for lots: each counter in the lane of its number.
struct Counted {
    uint32 here;

    DEVICE_MEMBER void add(uint32 column, uint32 count) {
        here += this_lane() == column ? count : 0;
    }
    DEVICE_MEMBER void add_to(int64* counters) const {
        if (this_lane() < COUNTERS) counters[this_lane()] += here;
    }
};
