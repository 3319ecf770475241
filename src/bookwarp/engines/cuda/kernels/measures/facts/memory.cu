// Facts of what a return tells of later ones: bookwarp.measures.memory_facts.

extern "C" __global__ void __launch_bounds__(BLOCK)
make_memory(int64* returns, int64* memory, char* facts, char* again, const Limits* limits,
            uint32 entries, uint32 piece, uint32 nbytes, uint32 rows, uint32 count) {
    const uint32 place = blockIdx.x * BLOCK + threadIdx.x;
    if (place >= count) return;
    const Sums whole = sums_of(returns, entries, piece, place);
    const Sums sums = sums_of(memory, entries, piece, place);
    const Facts out = facts_of(facts, nbytes, piece, place);
    // A part is everything but the last (before), or the first (after), k returns.
    int64 before = whole[return_sum], after = before;
    int64 size_before = whole[return_abs], size_after = size_before;
    int64 square_before = whole[return_square], square_after = square_before;
    int64 fourth_after = whole[return_fourth];
#pragma unroll 1
    for (uint32 entry = 0; entry < LAGS; ++entry) {
        Real of_returns = undefined(), of_sizes = of_returns, of_squares = of_returns;
        if (entry + 3 < rows) {
            const int64 pairs = (int64)rows - 2 - entry;
            const int64 first = sums[head + entry], last = sums[foot + entry];
            before -= last, after -= first;
            size_before -= size_of(last), size_after -= size_of(first);
            square_before -= last * last, square_after -= first * first;
            fourth_after -= first * first * first * first;
            const Pair sooner = {before, square_before}, later = {after, square_after};
            of_returns = correlation(pairs, sooner, later, sums[lag_product + entry]);
            of_sizes = correlation(pairs, {size_before, square_before}, {size_after, square_after},
                                   sums[lag_abs_product + entry]);
            of_squares = correlation(pairs, sooner, {square_after, fourth_after},
                                     sums[lag_square_product + entry]);
        }
        out.put(fact::acf_returns, LAGS, entry, of_returns);
        out.put(fact::acf_abs_returns, LAGS, entry, of_sizes);
        out.put(fact::leverage, LAGS, entry, of_squares);
    }
    say_again(again, nbytes, piece, place, returns_are_exact(whole, *limits));
}
