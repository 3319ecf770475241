// The slots of all lanes added up by the tensor cores, which have nothing else to do.
//
// The counters are a matrix of bytes, four lanes a column; the other matrix, of ones and zeros,
// picks byte s of every lane in its row s. The product is exact: sums of bytes in 32 bits.

DEVICE uint32 sum_bytes(uint32 low, uint32 high, uint32 thread) {
    uint32 row = thread / 4;
    uint32 pick_low = row < 4 ? 1u << (8 * row) : 0;
    uint32 pick_high = row < 4 ? 0 : 1u << (8 * (row - 4));
    uint2 sums = multiply_bytes(pick_low, pick_high, low, high);
    return sums.x + sums.y;  // of eight lanes
}

// The lots of slot s of group g, buys in the high half, are on return in thread 4 s + 2 g.
DEVICE uint32 gather_slots(const NoiseCounters& counted, uint32 lane) {
    uint32 thread = threadIdx.x % LANES;
    uint32 sums = sum_bytes(counted.all_low, counted.all_high, thread) +
                  (sum_bytes(counted.buy_low, counted.buy_high, thread) << 16);
    sums += __shfl_xor_sync(ALL_LANES, sums, 1);
    if (GROUP == LANES) sums += __shfl_xor_sync(ALL_LANES, sums, 2);
    return sums;
}

DEVICE uint32 gathered_slot(uint32 gathered, uint32 slot, uint32 thread) {
    return __shfl_sync(ALL_LANES, gathered, 4 * slot + 2 * (thread / GROUP));
}
