// Sum powers of a market's returns. A block of threads takes one horizon; the blocks of the same
// markets follow each other, so that the second of them finds the rows in the cache.

DEVICE uint32 horizon_of(uint32 number) {
    const uint32 horizons[] = {HORIZONS};
    return horizons[number];
}

extern "C" __global__ void __launch_bounds__(BLOCK)
sum_returns(const int64* last, int64* sums, uint32 entries, uint32 piece, uint32 rows,
            uint32 markets, uint32 first, uint32 count) {
    const uint32 number = blockIdx.x % HORIZON_COUNT;
    const uint32 place = blockIdx.x / HORIZON_COUNT * BLOCK + threadIdx.x;
    if (place >= count) return;
    const Column price = column_of(last, markets, first + place);
    const uint32 horizon = horizon_of(number);
    int64 sum = 0, sizes = 0, squares = 0, cubes = 0, fourths = 0, most = 0;
#pragma unroll 4
    for (uint32 row = horizon; row < rows; ++row) {
        const int64 change = price[row] - price[row - horizon];
        const int64 size = size_of(change), square = change * change;
        sum += change, sizes += size, squares += square;
        cubes += square * change, fourths += square * square;
        most = max(most, size);
    }
    const Sums out = sums_of(sums, entries, piece, place);
    out[return_sum + number] = sum, out[return_square + number] = squares;
    out[return_cube + number] = cubes, out[return_fourth + number] = fourths;
    out[return_most + number] = most;
    if (number == 0) out[return_abs] = sizes;
}
