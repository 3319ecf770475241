"""Sums that go through the rows as they lie in memory: all markets of a row, then the next row.

Sums of a market are at `m - first`, the arrays begin with zeros. Loops are short so that each of
them becomes one of vectors.
"""

import numpy as np

from bookwarp.engines.cpu.compile import inlined
from bookwarp.spec.codes import NO_PRICE

_NO_PRICE = np.int64(NO_PRICE)


@inlined
def sum_prices(last, first, stop, sums):  # type: ignore[no-untyped-def]
    """Follow the price: its level, its range, its largest fall and rise."""
    for m in range(first, stop):
        price = last[0, m]
        sums.price_first[m - first] = price
        sums.price_low[m - first] = price
        sums.price_high[m - first] = price
    for t in range(len(last)):
        for m in range(first, stop):
            price = last[t, m]
            high = max(sums.price_high[m - first], price)
            low = min(sums.price_low[m - first], price)
            sums.price_high[m - first] = high
            sums.price_low[m - first] = low
            sums.drawdown[m - first] = max(sums.drawdown[m - first], high - price)
            sums.drawup[m - first] = max(sums.drawup[m - first], price - low)
        for m in range(first, stop):
            moved = last[t, m] - sums.price_first[m - first]
            sums.price_moved[m - first] += moved
            sums.price_moved_square[m - first] += moved * moved


@inlined
def sum_volume(volume, last, first, stop, sums):  # type: ignore[no-untyped-def]
    """Sum the lots traded, alone and with the absolute return of the same row."""
    for m in range(first, stop):
        sums.lots_first[m - first] = volume[0, m]
    for t in range(len(volume)):
        for m in range(first, stop):
            lots = volume[t, m]
            sums.lots[m - first] += lots
            sums.lots_most[m - first] = max(sums.lots_most[m - first], lots)
            sums.lots_square[m - first] += lots * lots
            sums.traded[m - first] += lots > 0
        if t > 0:
            for m in range(first, stop):
                size = abs(last[t, m] - last[t - 1, m])
                sums.lots_by_return[m - first] += volume[t, m] * size


@inlined
def sum_spreads(bids, asks, first, stop, sums):  # type: ignore[no-untyped-def]
    """Sum the spreads, and count the rows in which a side is empty."""
    for t in range(len(bids)):
        for m in range(first, stop):
            has_bid, has_ask = bids[t, m] != _NO_PRICE, asks[t, m] != _NO_PRICE
            both = has_bid and has_ask
            spread = asks[t, m] - bids[t, m] if both else 0
            sums.two_sided[m - first] += both
            sums.no_bid[m - first] += not has_bid
            sums.no_ask[m - first] += not has_ask
            sums.spread[m - first] += spread
            sums.spread_square[m - first] += spread * spread
            sums.spread_most[m - first] = max(sums.spread_most[m - first], spread)


@inlined
def sum_depths(depths, first, stop, total, most):  # type: ignore[no-untyped-def]
    """Sum the depths of one side."""
    for t in range(len(depths)):
        for m in range(first, stop):
            total[m - first] += depths[t, m]
            most[m - first] = max(most[m - first], depths[t, m])
