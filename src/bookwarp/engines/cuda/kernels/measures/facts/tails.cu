// Facts of the tail of the absolute returns: bookwarp.measures.tail_facts.

extern "C" __global__ void __launch_bounds__(BLOCK)
make_tails(int64* tail, char* facts, char* again, const Limits* limits, uint32 entries,
           uint32 piece, uint32 nbytes, uint32 rows, uint32 count) {
    const uint32 place = blockIdx.x * BLOCK + threadIdx.x;
    if (place >= count) return;
    const Sums sums = sums_of(tail, entries, piece, place);
    const Facts out = facts_of(facts, nbytes, piece, place);
    const uint32 tail_count = (rows - 1) / TAIL_SHARE;
    Real estimate = undefined(), index = undefined();
    if (tail_count > 0 && sums[tail_start] > 0) {
        estimate = real(sums[tail_log]) * (Real{LOG_UNIT} / real(tail_count));
        index = ratio(ONE, estimate, undefined());
    }
    out.put(fact::hill, estimate);
    out.put(fact::tail_index, index);
    say_again(again, nbytes, piece, place, true);
}
