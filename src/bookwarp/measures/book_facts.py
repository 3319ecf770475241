"""Facts of what rests in the book after a step."""

import numpy as np

from bookwarp.measures.group import Facts, Group, Sums
from bookwarp.measures.moments import as_float, ratio, variance
from bookwarp.measures.protocol import Output

OUTPUTS = {
    "mean_spread": Output("tick", "mean of best ask - best bid, over the rows that have both"),
    "spread_std": Output("tick", "standard deviation of it"),
    "bid_depth": Output("lot", "mean of the lots near the best bid, 0 where there is none"),
    "ask_depth": Output("lot", "mean of the lots near the best ask, 0 where there is none"),
    "no_bid_share": Output("1", "share of the rows without a resting buy"),
    "no_ask_share": Output("1", "share of the rows without a resting sell"),
    "empty_side_share": Output("1", "share of the rows in which a side of the book is empty"),
}


def book_facts(sums: Sums, rows: int, every: int) -> Facts:
    """Return spread, depth and how often a side is empty.

    Spreads are NaN where no row has both sides. Depths reach as far as `depth_ticks` of the
    simulation says.
    """
    both = sums["two_sided"]
    count = np.where(both > 0, both, 1)
    spread_out = np.sqrt(variance(count, sums["spread"], sums["spread_square"]))
    return {
        "mean_spread": ratio(as_float(sums["spread"]), as_float(both), np.nan),
        "spread_std": np.where(both > 0, spread_out, np.nan),
        "bid_depth": as_float(sums["bid_lots"]) / rows,
        "ask_depth": as_float(sums["ask_lots"]) / rows,
        "no_bid_share": as_float(sums["no_bid"]) / rows,
        "no_ask_share": as_float(sums["no_ask"]) / rows,
        "empty_side_share": (rows - as_float(both)) / rows,
    }


SPREAD = Group("spread", OUTPUTS, book_facts)
