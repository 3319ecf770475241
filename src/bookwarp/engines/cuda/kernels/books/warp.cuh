// A warp owns a book. What is the same in all lanes is held by all of them; to memory the first lane
// writes it, and `meet` stands between that and what others read there, before and after. Where lanes
// are together anyway, which the compiler knows, it costs nothing.

DEVICE void meet() { __syncwarp(); }

DEVICE int32 largest(int32 value) { return __reduce_max_sync(ALL_LANES, value); }
DEVICE uint32 smallest(uint32 value) { return __reduce_min_sync(ALL_LANES, value); }
DEVICE bool any_lane(bool condition) { return __any_sync(ALL_LANES, condition); }

// The sum of lots >= 0 that stays at the largest int64 once it is there.
DEVICE int64 saturating_sum(int64 a, int64 b) { return b > INT64_MAX - a ? INT64_MAX : a + b; }

SELDOM int64 sum_lanes(int64 value) {
#pragma unroll
    for (uint32 by = LANES / 2; by > 0; by /= 2) {
        value = saturating_sum(value, __shfl_xor_sync(ALL_LANES, value, by));
    }
    return value;
}
