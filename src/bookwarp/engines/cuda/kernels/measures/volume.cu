// Sum the lots that a market trades from row to row, alone and with the absolute return.

extern "C" __global__ void __launch_bounds__(BLOCK)
sum_volume(const int64* so_far, const int64* last, int64* sums, uint32 entries, uint32 piece,
           uint32 rows, uint32 markets, uint32 first, uint32 count) {
    const uint32 place = blockIdx.x * BLOCK + threadIdx.x;
    if (place >= count) return;
    const Column total = column_of(so_far, markets, first + place);
    const Column price = column_of(last, markets, first + place);
    const int64 opening = total[0];
    int64 square = opening * opening, most = opening, by_return = 0, rows_traded = opening > 0;
    int64 before = opening, price_before = price[0];
#pragma unroll 4
    for (uint32 row = 1; row < rows; ++row) {
        const int64 here = total[row], price_here = price[row], traded_here = here - before;
        square += traded_here * traded_here;
        most = max(most, traded_here);
        rows_traded += traded_here > 0;
        by_return += traded_here * size_of(price_here - price_before);
        before = here, price_before = price_here;
    }
    const Sums out = sums_of(sums, entries, piece, place);
    out[lots] = before, out[lots_first] = opening, out[lots_square] = square;
    out[lots_most] = most, out[lots_by_return] = by_return, out[traded] = rows_traded;
}
