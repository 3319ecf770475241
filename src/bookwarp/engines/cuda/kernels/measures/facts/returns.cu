// Facts of returns over several horizons: bookwarp.measures.return_facts.

extern "C" __global__ void __launch_bounds__(BLOCK)
make_returns(int64* returns, char* facts, char* again, const Limits* limits, uint32 entries,
             uint32 piece, uint32 nbytes, uint32 rows, uint32 count) {
    const uint32 place = blockIdx.x * BLOCK + threadIdx.x;
    if (place >= count) return;
    const Sums sums = sums_of(returns, entries, piece, place);
    const Facts out = facts_of(facts, nbytes, piece, place);
#pragma unroll 1
    for (uint32 number = 0; number < HORIZON_COUNT; ++number) {
        const uint32 horizon = horizon_of(number);
        Real mean = undefined(), second = mean, skewness = mean, kurtosis = mean;
        if (horizon < rows) {
            const Moments moments =
                central_moments(rows - horizon, sums[return_sum + number],
                                sums[return_square + number], sums[return_cube + number],
                                sums[return_fourth + number]);
            mean = moments.mean, second = moments.second;
            skewness = ratio(moments.third, second * root(second), ZERO);
            kurtosis = ratio(moments.fourth, second * second, THREE) - THREE;
        }
        out.put(fact::return_mean, HORIZON_COUNT, number, mean);
        out.put(fact::return_variance, HORIZON_COUNT, number, second);
        out.put(fact::return_skewness, HORIZON_COUNT, number, skewness);
        out.put(fact::excess_kurtosis, HORIZON_COUNT, number, kurtosis);
    }
    say_again(again, nbytes, piece, place, returns_are_exact(sums, *limits));
}
