"""Which sums of 64 bits are exact, told by the largest values that went into them.

The formulas move the sums to the whole number that is nearest to a mean, and no value is farther
from it than twice the largest. So all is well if a sum of `count` powers of twice the largest value
fits in an int64.
"""

from collections.abc import Mapping
from math import isqrt
from typing import NamedTuple

import numpy as np

from bookwarp.spec.measure_sums import HORIZONS, WINDOW

_MOST = 2**63 - 1


class ExactLimits(NamedTuple):
    """The largest values with which every sum over some rows is exact."""

    square: int
    """Of a price less the first one, of lots and spreads; and of a return beside lots."""
    returns: tuple[int, ...]
    """Of the returns over each of `HORIZONS`."""
    window: int
    """Of a return over one row, for windows: a window's sum of squares is at most `WINDOW` of them,
    and is squared."""
    depth: int
    """Of the lots near a best price."""


def exact_limits(rows: int) -> ExactLimits:
    """Return the limits for sums over `rows` rows, at least 1."""
    return ExactLimits(
        square=square_limit(rows),
        returns=tuple(fourth_power_limit(max(1, rows - horizon)) for horizon in HORIZONS),
        window=fourth_power_limit(WINDOW * rows),
        depth=_MOST // rows,
    )


def exact_markets(sums: Mapping[str, np.ndarray], rows: int) -> np.ndarray:
    """Return in which markets every sum is exact, and what the formulas make of it by integers.

    Args:
        sums: [..., market], of whole blocks, and of "returns" too if of memory, windows or volume.
        rows: how many rows went into them.

    Returns:
        bool [market].
    """
    limits = exact_limits(rows)
    bounds = [np.ones(next(iter(sums.values())).shape[-1], bool)]
    if "price_low" in sums:
        reach = np.maximum(
            sums["price_high"] - sums["price_first"], sums["price_first"] - sums["price_low"]
        )
        bounds.append(reach <= limits.square)
    if "return_most" in sums:
        bounds += list(sums["return_most"] <= np.array(limits.returns)[:, None])
    if "net" in sums:
        bounds.append(sums["return_most"][0] <= limits.window)
    if "lots_most" in sums:
        bounds.append(sums["lots_most"] <= limits.square)
        bounds.append(sums["return_most"][0] <= limits.square)
    if "spread_most" in sums:
        bounds.append(sums["spread_most"] <= limits.square)
        bounds += [sums[f"{side}_lots_most"] <= limits.depth for side in ("bid", "ask")]
    return np.asarray(np.logical_and.reduce([each.astype(bool) for each in bounds]))


def square_limit(count: int) -> int:
    """Return the largest value of which `count` squares, each of twice the value, can be added."""
    return isqrt(_MOST // count) // 2


def fourth_power_limit(count: int) -> int:
    """Return the largest value of which `count` fourth powers of twice the value can be added."""
    return isqrt(isqrt(_MOST // count)) // 2
