"""Facts of the price itself: where it was, and how far it fell and rose."""

import numpy as np

from bookwarp.measures.group import Facts, Group, Sums
from bookwarp.measures.moments import as_float, ratio, variance
from bookwarp.measures.protocol import Output

OUTPUTS = {
    "mean_price": Output("tick", "mean of the last price over the rows"),
    "price_std": Output("tick", "standard deviation of the last price over the rows"),
    "price_low": Output("tick", "lowest last price"),
    "price_high": Output("tick", "highest last price"),
    "max_drawdown": Output("tick", "largest fall from a last price to a later one"),
    "max_drawup": Output("tick", "largest rise from a last price to a later one"),
    "gain_loss_asymmetry": Output(
        "1", "(drawup - drawdown) / (drawup + drawdown); negative where falls are larger"
    ),
}


def price_facts(sums: Sums, rows: int, every: int) -> Facts:
    """Return moments and range of the price, and its largest fall and rise.

    mean = sum_t p_t / T and std = sqrt(sum_t (p_t - mean)**2 / T), as
    `bookwarp.analysis.stylised.price_moments`.

    Source of the asymmetry of gains and losses: R. Cont, Quantitative Finance 1 (2001) 223, fact 3:
    large drawdowns, but not equally large upward movements.
    """
    spread_out = variance(rows, sums["price_moved"], sums["price_moved_square"])
    fall, rise = as_float(sums["drawdown"]), as_float(sums["drawup"])
    return {
        "mean_price": as_float(sums["price_first"]) + as_float(sums["price_moved"]) / rows,
        "price_std": np.sqrt(spread_out),
        "price_low": as_float(sums["price_low"]),
        "price_high": as_float(sums["price_high"]),
        "max_drawdown": fall,
        "max_drawup": rise,
        "gain_loss_asymmetry": ratio(rise - fall, rise + fall, 0.0),
    }


PRICES = Group("prices", OUTPUTS, price_facts)
