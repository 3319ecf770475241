"""The opening state on a device, laid out without the wide books of a state in host memory.

A book opens with two levels that are not 0. To make many of them of an `opening_state`, in
which every level has 16 bytes, would take longer than to run them.
"""

import numpy as np

from bookwarp.engines.cuda.layout import scalar_names, scalars_pitch
from bookwarp.spec.market import CallAuction
from bookwarp.spec.state import opening_prices


def lay_out_opening(
    auction: CallAuction, first: int, stop: int, lots: np.dtype
) -> tuple[np.ndarray, np.ndarray]:
    """Return how the markets `first` .. `stop`, half-open, open.

    Args:
        auction: the whole ensemble.
        first, stop: which markets.
        lots: type of the lots at a level.

    Returns:
        What `lay_out_book` and `lay_out_scalars` make of their opening state: signed books, lots
        [market, level], and scalars, int64 [scalar, pitch].
    """
    own = slice(first, stop)
    count, levels = stop - first, auction.levels
    open_price, base = (prices[own] for prices in opening_prices(auction))
    centre = open_price - base
    depth = auction.per_market("open_depth")[own]
    markets = np.arange(count)
    book = np.zeros((count, levels), lots)
    book[markets, centre - 1] = depth
    book[markets, centre + 1] = -depth
    values = {
        "best_bid": np.where(depth > 0, centre - 1, -1),
        "best_ask": np.where(depth > 0, centre + 1, levels),
        "last": open_price,
        "prev_mid2": 2 * centre,
        "base": base,
    }
    names = scalar_names(auction.has_execution_agents)
    scalars = np.zeros((len(names), scalars_pitch(count)), np.int64)
    for name, value in values.items():
        scalars[names.index(name), :count] = value
    return book, scalars
