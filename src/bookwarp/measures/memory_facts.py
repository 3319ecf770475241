"""Facts of what a return tells of later ones: autocorrelations and the leverage effect."""

import numpy as np

from bookwarp.engines.measure_protocol import LagSums, lag_correlations
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
    lagged = LagSums(
        head=sums["head"][:lags],
        foot=sums["foot"][:lags],
        total=sums["return_sum"][0],
        absolute=sums["return_abs"],
        square=sums["return_square"][0],
        fourth=sums["return_fourth"][0],
        product=sums["lag_product"][:lags],
        abs_product=sums["lag_abs_product"][:lags],
        square_product=sums["lag_square_product"][:lags],
    )
    # Most of what measures cost on the host: with whole arrays it would be ten times as much.
    wide = lagged.total.dtype == object
    found = correlate_lags(lagged, returns) if wide else lag_correlations(lagged, returns)
    for name, values in zip(OUTPUTS, found, strict=True):
        facts[name][:lags] = values
    return facts


def correlate_lags(sums: LagSums, returns: int) -> tuple[np.ndarray, ...]:
    """Return what `lag_correlations` does, of sums that may be Python's integers."""
    pairs = (returns - np.arange(1, len(sums.head) + 1))[:, None]
    square_head, square_foot = sums.head * sums.head, sums.foot * sums.foot
    # A part is everything but the last, or the first, k returns.
    before, after = sums.total - _upto(sums.foot), sums.total - _upto(sums.head)
    square_before, square_after = sums.square - _upto(square_foot), sums.square - _upto(square_head)
    first, later = Sums2(before, square_before), Sums2(after, square_after)
    sizes = Sums2(sums.absolute - _upto(abs(sums.foot)), square_before)
    later_sizes = Sums2(sums.absolute - _upto(abs(sums.head)), square_after)
    later_squares = Sums2(square_after, sums.fourth - _upto(square_head * square_head))
    return (
        correlation(pairs, first, later, sums.product),
        correlation(pairs, sizes, later_sizes, sums.abs_product),
        correlation(pairs, first, later_squares, sums.square_product),
    )


def _upto(ends: np.ndarray) -> np.ndarray:
    """Return the sums of the first 1, 2, ... of some values, [lag, market]."""
    return np.cumsum(ends, axis=0)


MEMORY = Group("memory", ("returns", "memory"), OUTPUTS, memory_facts)
