// The slots of all lanes added up by shuffles that halve the number of slots a lane looks after
// each time: four, two, one, and then whole sums.

// The lots of slot s, buys in the high half, are on return in every lane with lane % 8 = s.
DEVICE uint32 gather_slots(const NoiseCounters& counted, uint32 lane) {
    uint32 sums[SLOTS];
#pragma unroll
    for (uint32 slot = 0; slot < SLOTS; ++slot) {
        uint32 all = slot < 4 ? counted.all_low : counted.all_high;
        uint32 buy = slot < 4 ? counted.buy_low : counted.buy_high;
        uint32 shift = slot % 4 * 8;
        sums[slot] = (all >> shift & 0xFF) | (buy >> shift & 0xFF) << 16;
    }
#pragma unroll
    for (uint32 half = SLOTS / 2; half > 0; half /= 2) {
#pragma unroll
        for (uint32 slot = 0; slot < half; ++slot) {
            uint32 keep = lane & half ? sums[slot + half] : sums[slot];
            uint32 give = lane & half ? sums[slot] : sums[slot + half];
            sums[slot] = keep + __shfl_xor_sync(ALL_LANES, give, half);
        }
    }
#pragma unroll
    for (uint32 by = SLOTS; by < GROUP; by *= 2) {
        sums[0] += __shfl_xor_sync(ALL_LANES, sums[0], by);
    }
    return sums[0];
}

DEVICE uint32 gathered_slot(uint32 gathered, uint32 slot, uint32 thread) {
    return __shfl_sync(ALL_LANES, gathered, slot, GROUP);
}
