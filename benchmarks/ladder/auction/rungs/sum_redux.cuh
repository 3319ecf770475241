// The slots of all lanes added up by REDUX, two 16-bit sums at a time. For one market a warp.

static_assert(GROUP == LANES, "REDUX adds up whole warps");

// The lots of slot s, buys in the high half, are on return in lane s.
DEVICE uint32 gather_slots(const NoiseCounters& counted, uint32 lane) {
    const uint32 words[4] = {counted.all_low, counted.all_high, counted.buy_low, counted.buy_high};
    uint32 even[4], odd[4];
#pragma unroll
    for (int word = 0; word < 4; ++word) {
        even[word] = __reduce_add_sync(ALL_LANES, words[word] & 0x00FF00FF);
        odd[word] = __reduce_add_sync(ALL_LANES, words[word] >> 8 & 0x00FF00FF);
    }
    uint32 high_word = lane >> 2 & 1, halves = lane & 2 ? 0x7632 : 0x5410;
    uint32 all = lane & 1 ? (high_word ? odd[1] : odd[0]) : (high_word ? even[1] : even[0]);
    uint32 buy = lane & 1 ? (high_word ? odd[3] : odd[2]) : (high_word ? even[3] : even[2]);
    return __byte_perm(all, buy, halves);
}

DEVICE uint32 gathered_slot(uint32 gathered, uint32 slot, uint32 thread) {
    return __shfl_sync(ALL_LANES, gathered, slot);
}
