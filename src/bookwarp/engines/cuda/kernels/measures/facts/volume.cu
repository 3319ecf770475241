// Facts of the volume: bookwarp.measures.volume_facts.

extern "C" __global__ void __launch_bounds__(BLOCK)
make_volume(int64* returns, int64* volume, char* facts, char* again, const Limits* limits,
            uint32 entries, uint32 piece, uint32 nbytes, uint32 rows, uint32 count, uint32 every) {
    const uint32 place = blockIdx.x * BLOCK + threadIdx.x;
    if (place >= count) return;
    const Sums whole = sums_of(returns, entries, piece, place);
    const Sums sums = sums_of(volume, entries, piece, place);
    const Facts out = facts_of(facts, nbytes, piece, place);
    const int64 all = sums[lots], squares = sums[lots_square], opening = sums[lots_first];
    Real with_returns = undefined();
    if (rows > 2) {
        with_returns = correlation(rows - 1, {all - opening, squares - opening * opening},
                                   {whole[return_abs], whole[return_square]}, sums[lots_by_return]);
    }
    out.put(fact::volume_per_step, real(all) / real((int64)rows * every));
    out.put(fact::volume_std, root(variance(rows, all, squares)));
    out.put(fact::traded_share, real(sums[traded]) / real(rows));
    out.put(fact::volume_volatility, with_returns);
    const bool is_exact = returns_are_exact(whole, *limits) && sums[lots_most] <= limits->square
                          && whole[return_most] <= limits->square;
    say_again(again, nbytes, piece, place, is_exact);
}
