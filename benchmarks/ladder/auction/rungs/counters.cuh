// Orders counted in registers: by their offset from the mid, not by level, before anyone asks where
// the mid is. A lane has eight 8-bit counters for noise orders: seven offsets, and marketable ones.

constexpr uint32 SLOTS = 8;

// Lots of a lane's noise orders, and of the buys among them. Slot s is byte s: low has 0 .. 3.
struct NoiseCounters {
    uint32 all_low, all_high, buy_low, buy_high;
};

// Lots of a lane's other orders, 16 bits each. Momentum: limit orders low, marketable ones high, all
// go one way unless their sides are drawn. Makers: even agents low, odd agents high.
struct OtherCounters {
    uint32 momentum, momentum_buy, maker;
};

// 0 if `by` is 32 or more, as also negative numbers are here.
DEVICE uint32 shift_left(uint32 value, uint32 by) { return __funnelshift_lc(0, value, by); }

// Count a noise order in the slot of its offset, or in the last if it is marketable.
DEVICE void count_noise(const Draw& draw, int32 noise_spread, NoiseCounters& into) {
    uint32 slot = draw.marketable ? SLOTS - 1 : (uint32)(draw.offset + noise_spread);
    uint32 low = shift_left(draw.qty, 8 * slot), high = shift_left(draw.qty, 8 * slot - 32);
    into.all_low += low, into.all_high += high;
    into.buy_low += low * draw.buy, into.buy_high += high * draw.buy;
}

DEVICE void count_other(const Draw& draw, bool momentum, bool odd, OtherCounters& into) {
    uint32 lots = draw.marketable ? draw.qty << 16 : draw.qty;
    if (!momentum) lots = 0;
    into.momentum += lots, into.momentum_buy += lots * draw.buy;
    uint32 maker = odd ? draw.qty << 16 : draw.qty;
    into.maker += momentum ? 0 : maker;
}

// Sum over the lanes of a group, in all of them.
DEVICE uint32 sum_group(uint32 value) {
    if constexpr (GROUP == LANES) {
        return __reduce_add_sync(ALL_LANES, value);
    } else {
#pragma unroll
        for (uint32 by = GROUP / 2; by > 0; by /= 2) value += __shfl_xor_sync(ALL_LANES, value, by);
        return value;
    }
}
