"""Formulas of the facts of windows of returns, market by market.

They are those of `bookwarp.measures.cluster_facts`, with the same operations in the same order.
"""

import numpy as np

from bookwarp.engines.cpu.compile import inlined
from bookwarp.engines.cpu.measures.moments import (
    center,
    central_moments,
    correlate,
    nearest,
    ratio,
    variance,
)
from bookwarp.spec.measure_sums import WINDOW


@inlined
def make_cluster_facts(sums, rows, facts):  # type: ignore[no-untyped-def]
    """Make what windows of returns say of volatility; NaN where there are too few windows."""
    returns = rows - 1
    count = returns // WINDOW
    for m in range(len(sums.net)):
        coarse, fine = np.nan, np.nan
        if count > 2:
            coarse, fine = correlate_windows(sums, m, count - 1)
        facts.coarse_to_fine[m] = coarse
        facts.fine_to_coarse[m] = fine
        facts.scale_asymmetry[m] = coarse - fine if count > 2 else np.nan
        if count == 0:
            facts.volatility_fano[m] = np.nan
            facts.volatility_ratio[m] = np.nan
            facts.conditional_kurtosis[m] = np.nan
            continue
        clustering = variance(count, sums.path[m], sums.path_square[m])
        alone = variance(returns, sums.return_abs[m], sums.return_square[0, m])
        mean_path = np.float64(sums.path[m]) / np.float64(count)
        facts.volatility_fano[m] = ratio(clustering, mean_path, 0.0)
        facts.volatility_ratio[m] = ratio(clustering, WINDOW * alone, 0.0)
        facts.conditional_kurtosis[m] = condition_kurtosis(sums, m, returns, count)


@inlined
def correlate_windows(sums, m, pairs):  # type: ignore[no-untyped-def]
    """Return the correlations of coarse with later fine volatility, and of fine with coarse."""
    net_first, net_last = sums.net_abs_first[m], sums.net_abs_last[m]
    path_first, path_last = sums.path_first[m], sums.path_last[m]
    # Sums over all windows but the last, and over all but the first.
    coarse, coarse_later = sums.net_abs[m] - net_last, sums.net_abs[m] - net_first
    fine, fine_later = sums.path[m] - path_last, sums.path[m] - path_first
    return (
        correlate(
            pairs,
            coarse,
            center(pairs, coarse, sums.net_square[m] - net_last * net_last),
            fine_later,
            center(pairs, fine_later, sums.path_square[m] - path_first * path_first),
            sums.coarse_to_fine[m],
        ),
        correlate(
            pairs,
            fine,
            center(pairs, fine, sums.path_square[m] - path_last * path_last),
            coarse_later,
            center(pairs, coarse_later, sums.net_square[m] - net_first * net_first),
            sums.fine_to_coarse[m],
        ),
    )


@inlined
def condition_kurtosis(sums, m, returns, count):  # type: ignore[no-untyped-def]
    """Return the excess kurtosis given the volatility; 0 where no window moves off the mean."""
    total = sums.return_sum[0, m]
    _, second, _, fourth = central_moments(
        returns, total, sums.return_square[0, m], sums.return_cube[0, m], sums.return_fourth[0, m]
    )
    c, w = nearest(total, returns), WINDOW
    square = c * c
    net, net_square = sums.net[m], sums.net_square[m]
    energy, energy_square, both = sums.energy[m], sums.energy_square[m], sums.net_energy[m]
    # First moved to the returns less c; from there, in floats, to the mean d that is left.
    moved_net = net - count * w * c
    moved_net_square = net_square - 2 * w * c * net + count * w * w * square
    moved_energy = energy - 2 * c * net + count * w * square
    moved_energy_square = (
        energy_square + 4 * square * net_square + count * w * w * square * square
        - 4 * c * both + 2 * w * square * energy - 4 * w * square * c * net
    )  # fmt: skip
    moved_both = (
        both - 2 * c * net_square + 3 * w * square * net - w * c * energy
        - count * w * w * square * c
    )  # fmt: skip
    windows = np.float64(count)
    g, g_square = np.float64(moved_net) / windows, np.float64(moved_net_square) / windows
    q, q_square = np.float64(moved_energy) / windows, np.float64(moved_energy_square) / windows
    g_q = np.float64(moved_both) / windows
    d = np.float64(total - returns * c) / np.float64(returns)
    mean_square = (
        q_square - 4 * d * g_q + 4 * d * d * g_square + 2 * w * d * d * q
        - 4 * w * d * d * d * g + w * w * d * d * d * d
    )  # fmt: skip
    if second > 0 and mean_square > 0:
        return fourth * (w * (w + 2)) / mean_square - 3.0
    return 0.0
