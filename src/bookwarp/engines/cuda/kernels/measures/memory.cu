// Sum products of a market's returns some rows apart, and keep the returns at both ends.
//
// A thread takes TOGETHER consecutive lags of one market; the warps of a block take the lags of
// the same 32 markets, and read the same rows at about the same time. The returns that the newest
// one is multiplied with are in registers: a ring of TOGETHER, whose places are constants because
// as many rows are one turn of the loop. Returns are taken in 32 bits, and squares too: where a
// sum of fourth powers fits in 64, no return has more than 15.

constexpr uint32 TOGETHER = 8;  // a power of two, for the ring
constexpr uint32 LAG_GROUPS = (LAGS + TOGETHER - 1) / TOGETHER;
constexpr uint32 MEMORY_BLOCK = LANES * LAG_GROUPS;

// The return from one row to the next; 0 before the first and after the last.
DEVICE int64 return_at(const Column& price, int64 row, int64 returns) {
    return row >= 0 && row < returns ? price[row + 1] - price[row] : 0;
}

// Two blocks on a multiprocessor hide the reading, whose rows a turn of the loop asks for at once.
extern "C" __global__ void __launch_bounds__(MEMORY_BLOCK, 2)
sum_memory(const int64* last, int64* sums, uint32 entries, uint32 piece, uint32 rows,
           uint32 markets, uint32 first, uint32 count) {
    const uint32 place = blockIdx.x * LANES + threadIdx.x % LANES;
    if (place >= count) return;
    const Column price = column_of(last, markets, first + place);
    const int64 nearest_lag = threadIdx.x / LANES * TOGETHER + 1;
    const int64 returns = (int64)rows - 1;
    int32 ring[TOGETHER] = {};
    int64 products[TOGETHER] = {}, sizes[TOGETHER] = {}, squares[TOGETHER] = {};
    const int64 start = nearest_lag - 1;  // before it, nothing is as far back
    int64 front = price[min(start, returns)], back = price[0];
    for (int64 turn = start; turn < returns; turn += TOGETHER) {
#pragma unroll
        for (uint32 step = 0; step < TOGETHER; ++step) {
            const int64 row = turn + step;
            int32 newest = 0, oldest = 0;
            if (row < returns) {
                const int64 here = price[row + 1];
                newest = (int32)(here - front), front = here;
                if (row >= nearest_lag) {
                    const int64 there = price[row - nearest_lag + 1];
                    oldest = (int32)(there - back), back = there;
                }
            }
            ring[step] = oldest;
            const int32 square = (int32)((uint32)newest * (uint32)newest);
#pragma unroll
            for (uint32 j = 0; j < TOGETHER; ++j) {
                const int32 before = ring[(step - j) % TOGETHER];
                const int64 product = (int64)newest * before;
                products[j] += product;
                sizes[j] += size_of(product);
                squares[j] += (int64)square * before;
            }
        }
    }
    const Sums out = sums_of(sums, entries, piece, place);
#pragma unroll
    for (uint32 j = 0; j < TOGETHER; ++j) {
        const uint32 entry = nearest_lag - 1 + j;
        if (entry < LAGS) {
            out[lag_product + entry] = products[j];
            out[lag_abs_product + entry] = sizes[j];
            out[lag_square_product + entry] = squares[j];
            out[head + entry] = return_at(price, entry, returns);
            out[foot + entry] = return_at(price, returns - 1 - (int64)entry, returns);
        }
    }
}
