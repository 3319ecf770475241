// Rows of the recorded series, written after a step.

DEVICE bool records_book(const Rows& rows, const Market& market) {
    return rows.bid_depth || rows.ask_depth || market.book_row >= 0;
}

// Lots at the levels `low` .. `high` of one side (sign 1 buys, -1 sells), as far as they exist.
DEVICE int64 sum_levels(const Lots* book, int64 low, int64 high, int32 sign, uint32 lane) {
    int64 lots = 0;
    low = max(low, (int64)0), high = min(high, (int64)(LEVELS - 1));
    for (int64 level = low + lane; level <= high; level += LANES) {
        lots += positive(sign * book[level]);
    }
#pragma unroll
    for (uint32 by = LANES / 2; by > 0; by /= 2) lots += __shfl_xor_sync(ALL_LANES, lots, by);
    return lots;
}

// Write depths and, if chosen, the whole book, which lies in memory. Called by a whole warp.
SELDOM void record_book(const Rows& rows, uint64 at, uint32 row, const Market& market,
                        int64 best_bid, int64 best_ask, const Lots* book, uint32 lane) {
    int64 reach = rows.depth_ticks;
    int64 bid_depth = sum_levels(book, best_bid - reach, best_bid, 1, lane);
    int64 ask_depth = sum_levels(book, best_ask, best_ask + reach, -1, lane);
    if (lane == 0 && rows.bid_depth) rows.bid_depth[at] = bid_depth;
    if (lane == 0 && rows.ask_depth) rows.ask_depth[at] = ask_depth;
    if (market.book_row < 0) return;
    uint64 start = ((uint64)row * rows.book_markets + market.book_row) * LEVELS;
    for (int32 level = lane; level < LEVELS; level += LANES) {
        rows.book_bid[start + level] = positive(book[level]);
        rows.book_ask[start + level] = positive(-book[level]);
    }
}

// Write the series that need no book. `at` is the row's place for this market. Called by one lane.
DEVICE void record_row(const Rows& rows, uint64 at, const Live& live, const Scalars& before) {
    int64 base = FOLLOWING ? before[Scalar::base] : 0;
    int64 best_bid = live.best_bid >= 0 ? base + live.best_bid : NO_PRICE;
    int64 best_ask = live.best_ask < LEVELS ? base + live.best_ask : NO_PRICE;
    // All read before the first is written to: for the compiler, rows may be anywhere.
    int64 *last = rows.last, *volume = rows.volume, *mid2 = rows.mid2;
    int64 *bids = rows.best_bid, *asks = rows.best_ask;
    if (last) last[at] = base + live.last;
    if (volume) volume[at] = before[Scalar::volume] + live.volume;
    if (mid2) mid2[at] = live.prev_mid2 + 2 * base;
    if (bids) bids[at] = best_bid;
    if (asks) asks[at] = best_ask;
}
