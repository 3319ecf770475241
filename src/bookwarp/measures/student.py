"""Quantiles of Student's distribution, for intervals of means."""

from functools import cache
from math import cos, pi, sin, sqrt, tan

import numpy as np


@cache
def student_quantile(confidence: float, count: int) -> float:
    """Return how many standard errors a two-sided interval of the mean of `count` values reaches.

    That is the quantile of Student's distribution with count - 1 degrees of freedom; NaN below two
    values. It is found by halving an angle's interval, to the last digits of a float.

    Args:
        confidence: share of the distribution that is inside, between 0 and 1.
        count: how many values.
    """
    if count < 2:
        return float("nan")
    freedom = count - 1
    low, high = 0.0, pi / 2
    for _ in range(200):
        angle = (low + high) / 2
        if angle in (low, high):
            break
        if _share_inside(angle, freedom) < confidence:
            low = angle
        else:
            high = angle
    return tan((low + high) / 2) * sqrt(freedom)


def _share_inside(angle: float, freedom: int) -> float:
    """Return the share within sqrt(freedom) tan(-angle) .. sqrt(freedom) tan(angle).

    Source: M. Abramowitz, I. A. Stegun, Handbook of Mathematical Functions (1964), 26.7.3-4.
    """
    odd = freedom % 2
    steps = np.arange(1, (freedom - odd) // 2, dtype=np.float64)
    # Each term is the one before times cos(angle)**2 and 2/3, 4/5, ... or 1/2, 3/4, ...
    factors = (2 * steps + odd - 1) / (2 * steps + odd) * cos(angle) ** 2
    series = (1.0 + float(np.cumprod(factors).sum())) * sin(angle)
    if not odd:
        return series
    return 2 / pi * (angle + (series * cos(angle) if freedom > 1 else 0.0))
