"""Facts of the volume."""

import numpy as np

from bookwarp.measures.group import Facts, Group, Sums
from bookwarp.measures.moments import Sums2, as_float, correlation, undefined, variance
from bookwarp.measures.protocol import Output

OUTPUTS = {
    "volume_per_step": Output("lot", "mean of the lots traded in a step"),
    "volume_std": Output("lot", "standard deviation of the lots traded between two rows"),
    "traded_share": Output("1", "share of the rows since whose predecessor something traded"),
    "volume_volatility": Output(
        "1", "correlation of the lots traded between two rows with the absolute return over them"
    ),
}


def volume_facts(sums: Sums, rows: int, every: int) -> Facts:
    """Return mean and spread of the volume, how often there is any, and what it says of returns.

    The correlation is Pearson's, of v_(t+1) with |r_t|; 0 where one of them never changes, NaN with
    fewer than two returns.

    Source: R. Cont, Quantitative Finance 1 (2001) 223, fact 10 (volume and volatility).
    """
    pairs = rows - 1
    with_returns = undefined(len(sums["lots"]))
    if pairs > 1:
        first = sums["lots_first"]
        later = Sums2(sums["lots"] - first, sums["lots_square"] - first * first)
        sizes = Sums2(sums["return_abs"], sums["return_square"][0])
        with_returns = correlation(pairs, later, sizes, sums["lots_by_return"])
    return {
        "volume_per_step": as_float(sums["lots"]) / (rows * every),
        "volume_std": np.sqrt(variance(rows, sums["lots"], sums["lots_square"])),
        "traded_share": as_float(sums["traded"]) / rows,
        "volume_volatility": with_returns,
    }


VOLUME = Group("volume", OUTPUTS, volume_facts)
