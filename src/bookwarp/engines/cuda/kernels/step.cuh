// What both kernels do around the orders: see the mid, move the window, keep the score.

// A tick counted from base. With a fixed window it lies on the grid.
#if FOLLOWING
typedef int64 Tick;
#else
typedef int32 Tick;
#endif

// The part of the state that every step needs, in registers; the same in all lanes. What is left
// of `Scalars` changes only when the window moves, and stays in memory.
struct Live {
    Tick last;
    Tick prev_mid2;
    Tick value2;  // twice the open price
    int32 best_bid;
    int32 best_ask;
    uint32 trades;  // of this launch
    int64 volume;   // of this launch
};

DEVICE Live take_up(const Scalars& scalars, const Market& market) {
    int64 base = scalars[Scalar::base];
    return {(Tick)(scalars[Scalar::last] - base),
            (Tick)scalars[Scalar::prev_mid2],
            (Tick)(2 * (market.open_price - base)),
            (int32)scalars[Scalar::best_bid],
            (int32)scalars[Scalar::best_ask],
            0,
            0};
}

// Add to a scalar, and wait for nothing: the memory adds.
DEVICE void add_to(int64& scalar, int64 amount) { atomicAdd((uint64*)&scalar, (uint64)amount); }

// Called by one lane.
DEVICE void put_down(const Live& live, const Scalars& scalars) {
    scalars[Scalar::last] = scalars[Scalar::base] + live.last;
    scalars[Scalar::prev_mid2] = live.prev_mid2;
    add_to(scalars[Scalar::trades], live.trades);
    add_to(scalars[Scalar::volume], live.volume);
    scalars[Scalar::best_bid] = live.best_bid;
    scalars[Scalar::best_ask] = live.best_ask;
}

DEVICE int32 sign_of(Tick value) { return (value > 0) - (value < 0); }

DEVICE Tick observed_mid2(const Live& live) {
    bool both = live.best_bid >= 0 && live.best_ask < LEVELS;
    return both ? (Tick)(live.best_bid + live.best_ask) : 2 * live.last;
}

DEVICE Seen observe(Tick mid2, Live& live) {
    int32 ret = sign_of(mid2 - live.prev_mid2);
    live.prev_mid2 = mid2;
    return {(int32)mid2, ret, sign_of(live.value2 - mid2)};
}

DEVICE void keep_score(const Outcome& outcome, Live& live) {
    live.best_bid = outcome.best_bid;
    live.best_ask = outcome.best_ask;
    live.volume += outcome.volume;
    if (outcome.volume > 0) {
        live.last = outcome.price;
        live.trades += 1;
    }
}

// By how many ticks a following window moves: 0 unless the mid is near an edge.
DEVICE Tick window_shift(Tick mid2) {
    constexpr int32 margin = LEVELS / 8;
    if (mid2 >= 2 * margin && mid2 <= 2 * (LEVELS - 1 - margin)) return 0;
    Tick tick = mid2 >> 1;
    return tick + (tick & mid2 & 1) - LEVELS / 2;
}

// Move the window over a following grid by `shift`. The book lies in memory; returns its best bid
// and ask, seen from there. Called by a whole warp.
SELDOM int2 move_window(Lots* book, Tick shift, Scalars scalars, uint32 lane) {
    shift_book(book, shift, scalars, lane);
    if (lane == 0) scalars[Scalar::base] += shift;
    __syncwarp();
    int32 best_bid = find_bid_below(book, LEVELS, lane);
    return {best_bid, find_ask_from(book, 0, lane)};
}

// What a move of the window changes for the market.
DEVICE void follow_window(Tick shift, int2 quotes, Live& live) {
    live.best_bid = quotes.x;
    live.best_ask = quotes.y;
    live.last -= shift;
    live.prev_mid2 -= 2 * shift;
    live.value2 -= 2 * shift;
}

// How far from the mid a limit order can be, rounding and a paper offset of spread + 1 included.
DEVICE int32 farthest_order(const Market& market) {
    return min(max(market.noise_spread + 2, market.maker_half_spread + 1), LEVELS);
}
