"""Facts of returns over several horizons: their distribution, and how the horizon changes it."""

import numpy as np

from bookwarp.measures.group import Facts, Group, Sums
from bookwarp.measures.moments import central_moments, ratio, undefined
from bookwarp.measures.protocol import Output
from bookwarp.spec.measure_sums import HORIZONS

_COORDS = {"horizon": np.array(HORIZONS)}
_DIMS = ("horizon",)
_MEANINGS = {"horizon": ("row", "recorded rows over which the return is taken")}

OUTPUTS = {
    "return_mean": Output("tick", "mean of the returns over a horizon", _DIMS, _COORDS, _MEANINGS),
    "return_variance": Output(
        "tick2", "variance of the returns over a horizon", _DIMS, _COORDS, _MEANINGS
    ),
    "return_skewness": Output(
        "1", "skewness of the returns over a horizon", _DIMS, _COORDS, _MEANINGS
    ),
    "excess_kurtosis": Output(
        "1", "excess kurtosis of the returns over a horizon", _DIMS, _COORDS, _MEANINGS
    ),
}
_POWERS = ("return_sum", "return_square", "return_cube", "return_fourth")


def return_facts(sums: Sums, rows: int, every: int) -> Facts:
    """Return mean, variance m2, skewness m3 / m2**1.5 and excess kurtosis m4 / m2**2 - 3.

    Returns over a horizon h are p_(t+h) - p_t for every row t that has such a row after it, so they
    overlap; m_k are the population's central moments. NaN where no row has one after it. A series
    that never changes has 0 everywhere but in its mean.

    Source: R. Cont, Quantitative Finance 1 (2001) 223, facts 2 (heavy tails), 3 (gain/loss
    asymmetry, of which skewness is one sign) and 4 (aggregational Gaussianity: the kurtosis falls
    with the horizon).
    """
    markets = sums["return_sum"].shape[1]
    facts = {name: undefined(len(HORIZONS), markets) for name in OUTPUTS}
    for place, horizon in enumerate(HORIZONS):
        if horizon < rows:
            moments = central_moments(rows - horizon, tuple(sums[n][place] for n in _POWERS))
            square = moments.second
            facts["return_mean"][place] = moments.mean
            facts["return_variance"][place] = square
            facts["return_skewness"][place] = ratio(moments.third, square * np.sqrt(square), 0.0)
            facts["excess_kurtosis"][place] = ratio(moments.fourth, square * square, 3.0) - 3.0
    return facts


RETURNS = Group("returns", OUTPUTS, return_facts)
