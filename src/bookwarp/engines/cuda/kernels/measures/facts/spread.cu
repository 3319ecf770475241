// Facts of what rests in the book after a step: bookwarp.measures.book_facts.

extern "C" __global__ void __launch_bounds__(BLOCK)
make_spread(int64* book, char* facts, char* again, const Limits* limits, uint32 entries,
            uint32 piece, uint32 nbytes, uint32 rows, uint32 count) {
    const uint32 place = blockIdx.x * BLOCK + threadIdx.x;
    if (place >= count) return;
    const Sums sums = sums_of(book, entries, piece, place);
    const Facts out = facts_of(facts, nbytes, piece, place);
    const int64 both = sums[two_sided];
    const Real all = real(rows);
    const Real spread_out = root(variance(both > 0 ? both : 1, sums[spread], sums[spread_square]));
    out.put(fact::mean_spread, ratio(real(sums[spread]), real(both), undefined()));
    out.put(fact::spread_std, both > 0 ? spread_out : undefined());
    out.put(fact::bid_depth, real(sums[bid_lots]) / all);
    out.put(fact::ask_depth, real(sums[ask_lots]) / all);
    out.put(fact::no_bid_share, real(sums[no_bid]) / all);
    out.put(fact::no_ask_share, real(sums[no_ask]) / all);
    out.put(fact::empty_side_share, (all - real(both)) / all);
    const bool is_exact = sums[spread_most] <= limits->square
                          && sums[bid_lots_most] <= limits->depth
                          && sums[ask_lots_most] <= limits->depth;
    say_again(again, nbytes, piece, place, is_exact);
}
