"""Facts of volatility in windows: how it clusters, and what one time scale tells of another."""

import numpy as np

from bookwarp.measures.group import Facts, Group, Sums
from bookwarp.measures.moments import (
    Sums2,
    as_float,
    central_moments,
    correlation,
    nearest,
    ratio,
    undefined,
    variance,
)
from bookwarp.measures.protocol import Output
from bookwarp.spec.measure_sums import WINDOW

_OF = f"windows of {WINDOW} returns"

OUTPUTS = {
    "volatility_fano": Output(
        "tick", f"variance over mean of the sum of the absolute returns in {_OF}"
    ),
    "volatility_ratio": Output(
        "1",
        f"variance of that sum over {WINDOW} times the variance of an absolute return: 1 if "
        f"absolute returns do not depend on each other",
    ),
    "conditional_kurtosis": Output(
        "1", f"excess kurtosis of the returns, given the volatility in {_OF}"
    ),
    "coarse_to_fine": Output(
        "1", f"correlation of |sum of returns| with the next sum of |returns|, in {_OF}"
    ),
    "fine_to_coarse": Output(
        "1", f"correlation of the sum of |returns| with the next |sum of returns|, in {_OF}"
    ),
    "scale_asymmetry": Output("1", "coarse_to_fine - fine_to_coarse"),
}


def cluster_facts(sums: Sums, rows: int, every: int) -> Facts:
    """Return what windows of returns say of volatility.

    Window j has the net return g_j, the path f_j = sum |r| and the energy q_j = sum (r - mean)**2.

    - volatility_fano = var(f) / mean(f), and volatility_ratio = var(f) / (w var|r|).
    - conditional_kurtosis = m4 w (w + 2) / mean(q**2) - 3: the kurtosis that is left where a normal
      distribution with the volatility of each window, whatever that is, would have 0.
    - coarse_to_fine = corr(|g_j|, f_(j+1)), fine_to_coarse = corr(f_j, |g_(j+1)|).

    0 where nothing changes; NaN where the returns fill no window, and for correlations where they
    fill fewer than three.

    Source: R. Cont, Quantitative Finance 1 (2001) 223, facts 5 (intermittency), 6 (volatility
    clustering), 7 (conditional heavy tails) and 11 (asymmetry in time scales); U. A. Müller et al.,
    Journal of Empirical Finance 4 (1997) 213.
    """
    returns, count = rows - 1, max(0, rows - 1) // WINDOW
    if count == 0:
        return {name: undefined(len(sums["net"])) for name in OUTPUTS}
    clustering = variance(count, sums["path"], sums["path_square"])
    alone = variance(returns, sums["return_abs"], sums["return_square"][0])
    coarse, fine = _correlations(sums, count)
    return {
        "volatility_fano": ratio(clustering, as_float(sums["path"]) / count, 0.0),
        "volatility_ratio": ratio(clustering, WINDOW * alone, 0.0),
        "conditional_kurtosis": _conditional_kurtosis(sums, returns, count),
        "coarse_to_fine": coarse,
        "fine_to_coarse": fine,
        "scale_asymmetry": coarse - fine,
    }


def _correlations(sums: Sums, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the correlations of coarse with later fine volatility, and of fine with coarse."""
    if count < 3:
        return undefined(len(sums["net"])), undefined(len(sums["net"]))
    coarse = _ends(sums, "net_abs", "net_square")
    fine = _ends(sums, "path", "path_square")
    return (
        correlation(count - 1, coarse[0], fine[1], sums["coarse_to_fine"]),
        correlation(count - 1, fine[0], coarse[1], sums["fine_to_coarse"]),
    )


def _ends(sums: Sums, name: str, square: str) -> tuple[Sums2, Sums2]:
    """Return the sums over all windows but the last, and over all but the first."""
    first, last = sums[f"{name}_first"], sums[f"{name}_last"]
    return (
        Sums2(sums[name] - last, sums[square] - last * last),
        Sums2(sums[name] - first, sums[square] - first * first),
    )


def _conditional_kurtosis(sums: Sums, returns: int, count: int) -> np.ndarray:
    """Return m4 w (w + 2) / mean(q**2) - 3, 0 where no window moves off the mean.

    The sums are first moved to the returns less the whole number next to their mean, and from
    there, in floats, to the mean d that is left: q = Q - 2 d G + w d**2.
    """
    names = ("return_sum", "return_square", "return_cube", "return_fourth")
    moments = central_moments(returns, tuple(sums[name][0] for name in names))
    c = nearest(sums["return_sum"][0], returns)
    net, energy, w = sums["net"], sums["energy"], WINDOW
    square = c * c
    moved = [
        net - count * w * c,
        sums["net_square"] - 2 * w * c * net + count * w * w * square,
        energy - 2 * c * net + count * w * square,
        sums["energy_square"] + 4 * square * sums["net_square"] + count * w * w * square * square
        - 4 * c * sums["net_energy"] + 2 * w * square * energy - 4 * w * square * c * net,
        sums["net_energy"] - 2 * c * sums["net_square"] + 3 * w * square * net - w * c * energy
        - count * w * w * square * c,
    ]  # fmt: skip
    net, net_square, energy, energy_square, both = (as_float(each) / count for each in moved)
    d = as_float(sums["return_sum"][0] - returns * c) / returns
    mean_square = (
        energy_square - 4 * d * both + 4 * d * d * net_square + 2 * w * d * d * energy
        - 4 * w * d * d * d * net + w * w * d * d * d * d
    )  # fmt: skip
    changes = (moments.second > 0) & (mean_square > 0)
    kurtosis = moments.fourth * (w * (w + 2)) / np.where(changes, mean_square, 1.0) - 3.0
    return np.where(changes, kurtosis, 0.0)


CLUSTERING = Group("clustering", OUTPUTS, cluster_facts)
