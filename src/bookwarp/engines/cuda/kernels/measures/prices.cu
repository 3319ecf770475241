// Follow the price of a market: its level, its range, its largest fall and rise.

extern "C" __global__ void __launch_bounds__(BLOCK)
sum_prices(const int64* last, int64* sums, uint32 entries, uint32 piece, uint32 rows,
           uint32 markets, uint32 first, uint32 count) {
    const uint32 place = blockIdx.x * BLOCK + threadIdx.x;
    if (place >= count) return;
    const Column price = column_of(last, markets, first + place);
    const int64 opening = price[0];
    int64 low = opening, high = opening, fall = 0, rise = 0, moved = 0, square = 0;
#pragma unroll 4
    for (uint32 row = 0; row < rows; ++row) {
        const int64 here = price[row];
        low = min(low, here), high = max(high, here);
        fall = max(fall, high - here), rise = max(rise, here - low);
        const int64 away = here - opening;
        moved += away, square += away * away;
    }
    const Sums out = sums_of(sums, entries, piece, place);
    out[price_first] = opening, out[price_low] = low, out[price_high] = high;
    out[price_moved] = moved, out[price_moved_square] = square;
    out[drawdown] = fall, out[drawup] = rise;
}
