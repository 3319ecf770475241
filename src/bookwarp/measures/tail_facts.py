"""Facts of the tail of the absolute returns."""

import numpy as np

from bookwarp.measures.group import Facts, Group, Sums
from bookwarp.measures.moments import as_float, ratio, undefined
from bookwarp.measures.protocol import Output
from bookwarp.spec.measure_sums import LOG_UNIT, TAIL_SHARE, tail_count

_SHARE = f"the largest {100 // TAIL_SHARE} % of the absolute returns"

OUTPUTS = {
    "hill": Output("1", f"Hill's estimate of 1 / tail index, from {_SHARE}"),
    "tail_index": Output("1", f"tail index of the absolute returns, from {_SHARE}"),
}


def tail_facts(sums: Sums, rows: int, every: int) -> Facts:
    """Return Hill's estimate and the tail index, which is 1 / Hill's estimate.

    With the absolute returns x_(1) >= x_(2) >= ... and k = n // 20 of them in the tail, it is
    sum_(i <= k) ln(x_(i) / x_(k+1)) / k. Where x_(k+1) is 0, as with few returns that are not, both
    are NaN; where the tail has one size only, the estimate is 0 and the index NaN. Logarithms are
    those of `bookwarp.spec.measure_sums.binary_log`: the estimate is exact to 1e-7.

    Source: B. M. Hill, Annals of Statistics 3 (1975) 1163; R. Cont, Quantitative Finance 1 (2001)
    223, fact 2.
    """
    markets = len(sums["tail_start"])
    count = tail_count(max(0, rows - 1))
    if count == 0:
        return {name: undefined(markets) for name in OUTPUTS}
    there = sums["tail_start"] > 0
    estimate = np.where(there, as_float(sums["tail_log"]) * (LOG_UNIT / count), np.nan)
    return {"hill": estimate, "tail_index": ratio(np.where(there, 1.0, np.nan), estimate, np.nan)}


TAILS = Group("tails", OUTPUTS, tail_facts)
