"""Sums that go through the rows as they lie in memory: all markets of a row, then the next row.

Rows are given as they are, with the markets `first` .. `stop` to be summed; the sums of market
`first` are at 0, and begin with zeros. Loops are short, and run over views of a row, so that each
of them becomes one of vectors.
"""

import numpy as np

from bookwarp.engines.cpu.compile import inlined
from bookwarp.spec.codes import NO_PRICE

_NO_PRICE = np.int64(NO_PRICE)


@inlined
def sum_prices(last, first, stop, sums):  # type: ignore[no-untyped-def]
    """Follow the price: its level, its range, its largest fall and rise."""
    opening = last[0, first:stop]
    for m in range(len(opening)):
        sums.price_first[m] = opening[m]
        sums.price_low[m] = opening[m]
        sums.price_high[m] = opening[m]
    for t in range(len(last)):
        price = last[t, first:stop]
        for m in range(len(price)):
            sums.price_high[m] = max(sums.price_high[m], price[m])
            sums.price_low[m] = min(sums.price_low[m], price[m])
            sums.drawdown[m] = max(sums.drawdown[m], sums.price_high[m] - price[m])
            sums.drawup[m] = max(sums.drawup[m], price[m] - sums.price_low[m])
        for m in range(len(price)):
            moved = price[m] - opening[m]
            sums.price_moved[m] += moved
            sums.price_moved_square[m] += moved * moved


@inlined
def sum_volume(volume, last, first, stop, sums):  # type: ignore[no-untyped-def]
    """Sum the lots traded, alone and with the absolute return of the same row."""
    opening, before = volume[0, first:stop], last[0, first:stop]
    for m in range(len(opening)):
        sums.lots_first[m] = opening[m]
    for t in range(len(volume)):
        lots, price = volume[t, first:stop], last[t, first:stop]
        for m in range(len(lots)):
            sums.lots[m] += lots[m]
            sums.lots_most[m] = max(sums.lots_most[m], lots[m])
            sums.lots_square[m] += lots[m] * lots[m]
            sums.traded[m] += lots[m] > 0
        for m in range(len(lots)):
            sums.lots_by_return[m] += lots[m] * abs(price[m] - before[m])
        before = price


@inlined
def sum_spreads(bids, asks, first, stop, sums):  # type: ignore[no-untyped-def]
    """Sum the spreads, and count the rows in which a side is empty."""
    for t in range(len(bids)):
        bid, ask = bids[t, first:stop], asks[t, first:stop]
        for m in range(len(bid)):
            has_bid, has_ask = bid[m] != _NO_PRICE, ask[m] != _NO_PRICE
            both = has_bid & has_ask
            spread = ask[m] - bid[m] if both else 0
            sums.two_sided[m] += both
            sums.no_bid[m] += not has_bid
            sums.no_ask[m] += not has_ask
            sums.spread[m] += spread
            sums.spread_square[m] += spread * spread
            sums.spread_most[m] = max(sums.spread_most[m], spread)


@inlined
def sum_depths(depths, first, stop, total, most):  # type: ignore[no-untyped-def]
    """Sum the depths of one side."""
    for t in range(len(depths)):
        depth = depths[t, first:stop]
        for m in range(len(depth)):
            total[m] += depth[m]
            most[m] = max(most[m], depth[m])
