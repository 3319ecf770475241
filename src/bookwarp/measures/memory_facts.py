"""Facts of what a return tells of later ones: autocorrelations and the leverage effect."""

import numpy as np

from bookwarp.measures.group import Facts, Group, Sums
from bookwarp.measures.moments import Sums2, correlation, undefined
from bookwarp.measures.protocol import Output
from bookwarp.spec.measure_sums import LAGS

_COORDS = {"lag": np.arange(1, LAGS + 1)}
_DIMS = ("lag",)
_MEANINGS = {"lag": ("row", "recorded rows from one return to the other")}

OUTPUTS = {
    "acf_returns": Output("1", "autocorrelation of the returns", _DIMS, _COORDS, _MEANINGS),
    "acf_abs_returns": Output(
        "1", "autocorrelation of the absolute returns", _DIMS, _COORDS, _MEANINGS
    ),
    "leverage": Output(
        "1",
        "correlation of a return with the squared return `lag` rows later",
        _DIMS,
        _COORDS,
        _MEANINGS,
    ),
}


def memory_facts(sums: Sums, rows: int, every: int) -> Facts:
    """Return the correlations of r_t with r_(t+k), |r_t| with |r_(t+k)|, and r_t with r_(t+k)**2.

    Each is Pearson's, of r_0 .. r_(n-k-1) with r_k .. r_(n-1), each part with its own mean and
    standard deviation, as `bookwarp.analysis.stylised.autocorrelation`. 0 where a part never
    changes; NaN at lags that leave fewer than two pairs.

    Source: R. Cont, Quantitative Finance 1 (2001) 223, facts 1 (no linear autocorrelation),
    6 (volatility clustering), 8 (slow decay of that of absolute returns) and 9 (leverage effect:
    negative, and going to 0 with the lag).
    """
    returns = rows - 1
    lags = max(0, min(LAGS, returns - 2))
    facts = {name: undefined(LAGS, sums["head"].shape[1]) for name in OUTPUTS}
    if lags == 0:
        return facts
    pairs = (returns - np.arange(1, lags + 1))[:, None]
    total, absolute = sums["return_sum"][0], sums["return_abs"]
    square, fourth = sums["return_square"][0], sums["return_fourth"][0]
    head, foot = sums["head"][:lags], sums["foot"][:lags]
    # A part is everything but the last, or the first, k returns.
    before, after = total - _upto(foot), total - _upto(head)
    square_before, square_after = square - _upto(foot * foot), square - _upto(head * head)
    first, later = Sums2(before, square_before), Sums2(after, square_after)
    sizes = Sums2(absolute - _upto(abs(foot)), square_before)
    later_sizes = Sums2(absolute - _upto(abs(head)), square_after)
    later_squares = Sums2(square_after, fourth - _upto(head * head * head * head))
    for name, x, y, product in (
        ("acf_returns", first, later, "lag_product"),
        ("acf_abs_returns", sizes, later_sizes, "lag_abs_product"),
        ("leverage", first, later_squares, "lag_square_product"),
    ):
        facts[name][:lags] = correlation(pairs, x, y, sums[product][:lags])
    return facts


def _upto(ends: np.ndarray) -> np.ndarray:
    """Return the sums of the first 1, 2, ... of some values, [lag, market]."""
    return np.cumsum(ends, axis=0)


MEMORY = Group("memory", OUTPUTS, memory_facts)
