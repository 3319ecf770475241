"""The kernel of sums: some markets, first along the rows, then market by market in tiles.

Owns: the sums of markets `first` .. `stop`, and the scratch memory it is given.
"""

from typing import Any

from bookwarp.engines.cpu.compile import entry_point, inlined, source_digest
from bookwarp.engines.cpu.measures.by_market import (
    sum_memory,
    sum_returns,
    sum_tail,
    sum_windows,
    take_returns,
    take_up_prices,
)
from bookwarp.engines.cpu.measures.by_row import (
    sum_depths,
    sum_prices,
    sum_spreads,
    sum_volume,
)
from bookwarp.engines.cpu.measures.layout import TILE


@inlined
def sum_by_row(rows, first, stop, sums):  # type: ignore[no-untyped-def]
    """Fill the blocks that need no returns in a row; a block that is not wanted has no memory."""
    if sums.price_first.size:
        sum_prices(rows.last, first, stop, sums)
    if sums.lots.size:
        sum_volume(rows.volume, rows.last, first, stop, sums)
    if sums.two_sided.size:
        sum_spreads(rows.best_bid, rows.best_ask, first, stop, sums)
        sum_depths(rows.bid_depth, first, stop, sums.bid_lots, sums.bid_lots_most)
        sum_depths(rows.ask_depth, first, stop, sums.ask_lots, sums.ask_lots_most)


@inlined
def sum_by_market(moved, scratch, m, sums):  # type: ignore[no-untyped-def]
    """Fill the blocks that are made of returns, for one market."""
    count = len(moved) - 1
    returns, sizes = scratch.returns[:count], scratch.sizes[:count]
    narrow = scratch.narrow[:count]
    take_returns(moved, returns, sizes)
    if sums.return_abs.size:
        sum_returns(moved, sizes, m, sums)
    if sums.lag_product.size:
        sum_memory(returns, sizes, narrow, m, sums)
    if sums.net.size:
        sum_windows(returns, sizes, m, sums)
    if sums.tail_start.size:
        sum_tail(sizes, m, scratch.logs, sums)


def _build(digest: str) -> Any:
    @entry_point
    def sum_markets(rows, first, stop, scratch, sums):  # type: ignore[no-untyped-def]
        """Fill the sums of markets `first` .. `stop`, half-open, from all rows."""
        _ = digest  # in the closure, and so in the key of the cache
        sum_by_row(rows, first, stop, sums)
        wanted = sums.return_abs.size + sums.lag_product.size
        if wanted + sums.net.size + sums.tail_start.size == 0:
            return
        for tile in range(first, stop, TILE):
            count = min(TILE, stop - tile)
            take_up_prices(rows.last, tile, count, scratch.moved)
            for m in range(count):
                sum_by_market(scratch.moved[m], scratch, tile - first + m, sums)

    return sum_markets


sum_markets = _build(source_digest())
