// Facts of the price itself: bookwarp.measures.price_facts.

extern "C" __global__ void __launch_bounds__(BLOCK)
make_prices(int64* prices, char* facts, char* again, const Limits* limits, uint32 entries,
            uint32 piece, uint32 nbytes, uint32 rows, uint32 count) {
    const uint32 place = blockIdx.x * BLOCK + threadIdx.x;
    if (place >= count) return;
    const Sums sums = sums_of(prices, entries, piece, place);
    const Facts out = facts_of(facts, nbytes, piece, place);
    const int64 opening = sums[price_first], low = sums[price_low], high = sums[price_high];
    const int64 moved = sums[price_moved];
    const Real fall = real(sums[drawdown]), rise = real(sums[drawup]);
    out.put(fact::mean_price, real(opening) + real(moved) / real(rows));
    out.put(fact::price_std, root(variance(rows, moved, sums[price_moved_square])));
    out.put(fact::price_low, real(low));
    out.put(fact::price_high, real(high));
    out.put(fact::max_drawdown, fall);
    out.put(fact::max_drawup, rise);
    out.put(fact::gain_loss_asymmetry, ratio(rise - fall, rise + fall, ZERO));
    const bool is_exact = max(high - opening, opening - low) <= limits->square;
    say_again(again, nbytes, piece, place, is_exact);
}
