// Sum a market's spreads and depths, and count the rows in which a side is empty.

extern "C" __global__ void __launch_bounds__(BLOCK)
sum_book(const int64* best_bid, const int64* best_ask, const int64* bid_depth,
         const int64* ask_depth, int64* sums, uint32 entries, uint32 piece, uint32 rows,
         uint32 markets, uint32 first, uint32 count) {
    const uint32 place = blockIdx.x * BLOCK + threadIdx.x;
    if (place >= count) return;
    const uint32 market = first + place;
    const Column bids = column_of(best_bid, markets, market);
    const Column asks = column_of(best_ask, markets, market);
    const Column bid_depths = column_of(bid_depth, markets, market);
    const Column ask_depths = column_of(ask_depth, markets, market);
    int64 both = 0, bidless = 0, askless = 0, total = 0, square = 0, widest = 0;
    int64 bid_total = 0, ask_total = 0, bid_most = 0, ask_most = 0;
#pragma unroll 4
    for (uint32 row = 0; row < rows; ++row) {
        const int64 bid = bids[row], ask = asks[row];
        const bool has_bid = bid != NO_PRICE, has_ask = ask != NO_PRICE;
        const int64 width = has_bid && has_ask ? ask - bid : 0;
        both += has_bid && has_ask, bidless += !has_bid, askless += !has_ask;
        total += width, square += width * width;
        widest = max(widest, width);
        const int64 bid_here = bid_depths[row], ask_here = ask_depths[row];
        bid_total += bid_here, ask_total += ask_here;
        bid_most = max(bid_most, bid_here), ask_most = max(ask_most, ask_here);
    }
    const Sums out = sums_of(sums, entries, piece, place);
    out[two_sided] = both, out[no_bid] = bidless, out[no_ask] = askless;
    out[spread] = total, out[spread_square] = square, out[spread_most] = widest;
    out[bid_lots] = bid_total, out[ask_lots] = ask_total;
    out[bid_lots_most] = bid_most, out[ask_lots_most] = ask_most;
}
