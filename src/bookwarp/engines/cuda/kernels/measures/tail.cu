// Find where the tail of a market's absolute returns starts, and add up how far it reaches.
//
// The start is found digit by digit, a pass over the rows for each: it is the largest number that
// more than k sizes reach. Sizes in ticks have few digits, and a pass costs what reading costs.

// log2 of a positive number in units of 2**-LOG_BITS, as bookwarp.spec.measure_sums.binary_log.
DEVICE int64 binary_log(int64 value) {
    const uint32 high = (uint32)(value >> 32);
    const uint32 whole = high ? 63 - __clz(high) : 31 - __clz((uint32)value);
    uint64 mantissa = (uint64)value << (62 - whole) >> 31;
    int64 digits = whole;
#pragma unroll 4
    for (uint32 digit = 0; digit < LOG_BITS; ++digit) {
        mantissa = mantissa * mantissa >> 31;
        const uint64 carry = mantissa >> 32;
        mantissa >>= carry;
        digits = 2 * digits + (int64)carry;
    }
    return digits;
}

DEVICE uint32 count_from(const Column& price, uint32 rows, int64 least) {
    uint32 found = 0;
    int64 before = price[0];
#pragma unroll 4
    for (uint32 row = 1; row < rows; ++row) {
        const int64 here = price[row];
        found += size_of(here - before) >= least;
        before = here;
    }
    return found;
}

DEVICE int64 largest_size(const Column& price, uint32 rows) {
    int64 most = 0, before = price[0];
#pragma unroll 4
    for (uint32 row = 1; row < rows; ++row) {
        const int64 here = price[row];
        most = max(most, size_of(here - before));
        before = here;
    }
    return most;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
sum_tail(const int64* last, int64* sums, uint32 entries, uint32 piece, uint32 rows, uint32 markets,
         uint32 first, uint32 count) {
    const uint32 place = blockIdx.x * BLOCK + threadIdx.x;
    if (place >= count) return;
    const Column price = column_of(last, markets, first + place);
    const int64 most = largest_size(price, rows);
    const uint32 tail = (rows - 1) / TAIL_SHARE;
    int64 start = 0, digit = 1;
    while (digit <= most >> 1) digit <<= 1;
    for (; digit > 0; digit >>= 1) {
        if (count_from(price, rows, start + digit) > tail) start += digit;
    }
    int64 excess = 0;
    if (start > 0) {
        const int64 log_of_start = binary_log(start);
        int64 before = price[0];
#pragma unroll 1
        for (uint32 row = 1; row < rows; ++row) {
            const int64 here = price[row], size = size_of(here - before);
            if (size > start) excess += binary_log(size) - log_of_start;
            before = here;
        }
    }
    const Sums out = sums_of(sums, entries, piece, place);
    out[tail_start] = start, out[tail_log] = excess;
}
