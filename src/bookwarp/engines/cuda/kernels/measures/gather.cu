// Bring the columns of chosen markets together, [row, chosen market], for the host to read.

extern "C" __global__ void __launch_bounds__(BLOCK)
gather_columns(const int64* series, const uint32* chosen, int64* columns, uint32 rows,
               uint32 markets, uint32 count) {
    const uint64 place = (uint64)blockIdx.x * BLOCK + threadIdx.x;
    if (place >= (uint64)rows * count) return;
    columns[place] = series[place / count * markets + chosen[place % count]];
}
