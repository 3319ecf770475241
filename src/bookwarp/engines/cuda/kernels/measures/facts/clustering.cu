// Facts of volatility in windows: bookwarp.measures.cluster_facts.

// m4 w (w + 2) / mean(q**2) - 3; 0 where no window moves off the mean.
DEVICE Real conditional_kurtosis(const Sums& whole, const Sums& sums, int64 returns, int64 count) {
    const int64 w = WINDOW;
    const Moments moments = central_moments(returns, whole[return_sum], whole[return_square],
                                            whole[return_cube], whole[return_fourth]);
    const int64 c = nearest(whole[return_sum], returns), square = c * c;
    const int64 g = sums[net], gg = sums[net_square], q = sums[energy];
    const Real n = real(count);
    const Real net_here = real(g - count * w * c) / n;
    const Real net_squares = real(gg - 2 * w * c * g + count * w * w * square) / n;
    const Real energies = real(q - 2 * c * g + count * w * square) / n;
    const Real energy_squares =
        real(sums[energy_square] + 4 * square * gg + count * w * w * square * square
             - 4 * c * sums[net_energy] + 2 * w * square * q - 4 * w * square * c * g) / n;
    const Real both = real(sums[net_energy] - 2 * c * gg + 3 * w * square * g - w * c * q
                           - count * w * w * square * c) / n;
    const Real d = real(whole[return_sum] - returns * c) / real(returns);
    const Real mean_square = energy_squares - 4 * d * both + 4 * d * d * net_squares
                             + 2 * WINDOW * d * d * energies - 4 * WINDOW * d * d * d * net_here
                             + WINDOW * WINDOW * d * d * d * d;
    if (!(moments.second.value > 0 && mean_square.value > 0)) return ZERO;
    return moments.fourth * real(w * (w + 2)) / mean_square - THREE;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
make_clustering(int64* returns, int64* windows, char* facts, char* again, const Limits* limits,
                uint32 entries, uint32 piece, uint32 nbytes, uint32 rows, uint32 count) {
    const uint32 place = blockIdx.x * BLOCK + threadIdx.x;
    if (place >= count) return;
    const Sums whole = sums_of(returns, entries, piece, place);
    const Sums sums = sums_of(windows, entries, piece, place);
    const Facts out = facts_of(facts, nbytes, piece, place);
    const int64 changes = (int64)rows - 1, filled = changes / WINDOW;
    Real fano = undefined(), variances = fano, kurtosis = fano;
    Real coarse = fano, fine = fano, asymmetry = fano;
    if (filled > 0) {
        const Real clustered = variance(filled, sums[path], sums[path_square]);
        const Real alone = variance(changes, whole[return_abs], whole[return_square]);
        fano = ratio(clustered, real(sums[path]) / real(filled), ZERO);
        variances = ratio(clustered, WINDOW * alone, ZERO);
        kurtosis = conditional_kurtosis(whole, sums, changes, filled);
    }
    if (filled > 2) {
        const int64 net_begin = sums[net_abs_first], net_end = sums[net_abs_last];
        const int64 path_begin = sums[path_first], path_end = sums[path_last];
        const int64 nets = sums[net_abs], net_squares = sums[net_square];
        const int64 paths = sums[path], path_squares = sums[path_square];
        coarse = correlation(filled - 1, {nets - net_end, net_squares - net_end * net_end},
                             {paths - path_begin, path_squares - path_begin * path_begin},
                             sums[coarse_to_fine]);
        fine = correlation(filled - 1, {paths - path_end, path_squares - path_end * path_end},
                           {nets - net_begin, net_squares - net_begin * net_begin},
                           sums[fine_to_coarse]);
        asymmetry = coarse - fine;
    }
    out.put(fact::volatility_fano, fano);
    out.put(fact::volatility_ratio, variances);
    out.put(fact::conditional_kurtosis, kurtosis);
    out.put(fact::coarse_to_fine, coarse);
    out.put(fact::fine_to_coarse, fine);
    out.put(fact::scale_asymmetry, asymmetry);
    const bool is_exact = returns_are_exact(whole, *limits) && whole[return_most] <= limits->window;
    say_again(again, nbytes, piece, place, is_exact);
}
