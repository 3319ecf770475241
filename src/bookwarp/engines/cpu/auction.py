"""The book and its auction, in place, touching only the levels that can matter.

Owns: one market's rows `bid` and `ask`, int64 [level], in the core's cache for the whole run.

Why so few levels are enough. A rested book is never crossed: bids end at `best_bid`, asks begin at
`best_ask`. Incoming limit orders lie in a known range around the mid, marketable ones at level 0
or levels - 1. So supply grows only at level 0 and from `low` up, and demand falls only at
levels - 1 and from `high` down. Executable volume min(demand, supply) can only grow where supply
grows, and not once supply has reached demand: the search for the clearing price, which takes the
lowest of the best, visits level 0 and then goes up from `low` until supply meets demand.
"""

import numpy as np

from bookwarp.engines.cpu.agents import round_half_even
from bookwarp.engines.cpu.compile import inlined


@inlined
def find_best_bid(bid):  # type: ignore[no-untyped-def]
    """Return the highest level with a buy, -1 if there is none."""
    for level in range(len(bid) - 1, -1, -1):
        if bid[level] > 0:
            return level
    return -1


@inlined
def find_best_ask(ask):  # type: ignore[no-untyped-def]
    """Return the lowest level with a sell, the number of levels if there is none."""
    for level in range(len(ask)):
        if ask[level] > 0:
            return level
    return len(ask)


@inlined
def batch_orders(waiting, book, low, high, edge):  # type: ignore[no-untyped-def]
    """Move the orders that wait into the book they are for; return their lots.

    Args:
        waiting: one side of what waits, int64 [level], emptied.
        book: that side of the book, int64 [level].
        low, high: no limit order waits outside these levels.
        edge: level of the marketable orders.
    """
    lots = waiting[edge]
    book[edge] += lots
    waiting[edge] = 0
    for level in range(low, high + 1):
        lots += waiting[level]
        book[level] += waiting[level]
        waiting[level] = 0
    return lots


@inlined
def clear_auction(bid, ask, low, high, buy_total, sell_total):  # type: ignore[no-untyped-def]
    """Return price and volume of the auction of resting plus incoming quantity.

    Args:
        bid, ask: buys and sells of one market, int64 [level], lot.
        low: no sell is below it, but at level 0.
        high: no buy is above it, but at levels - 1.
        buy_total, sell_total: sums of `bid` and `ask`.

    Returns:
        The lowest level that trades most (0 if nothing trades), and the lots traded.

    Cost: the levels from `low` to `high`, and from `low` up to the price.
    """
    top = len(bid) - 1
    demand = bid[top] if high < top else 0
    for level in range(np.uint64(low), np.uint64(high + 1)):
        demand += bid[level]
    price = volume = supply = 0
    if low > 0:
        supply = ask[0]
        volume = min(supply, buy_total)
        if supply >= buy_total:
            return price, volume
    for level in range(np.uint64(low), np.uint64(top + 1)):
        supply += ask[level]
        executable = min(demand, supply)
        if executable > volume:
            price, volume = np.int64(level), executable
        if supply >= demand or supply == sell_total:
            break
        demand -= bid[level]
    return price, volume


@inlined
def fill_buys(bid, high, volume, total):  # type: ignore[no-untyped-def]
    """Take `volume` lots off the buys, highest price first; return the best bid that is left.

    Args:
        bid: int64 [level], changed.
        high: no buy is above it, but at levels - 1.
        volume: lots filled, at most `total`.
        total: sum of `bid`.
    """
    left, resting = volume, total - volume
    level = len(bid) - 1
    while left > 0 or resting > 0:
        here = bid[level]
        if here > left:
            bid[level] = here - left
            return level
        left -= here
        bid[level] = 0
        level = min(level - 1, high)
    return -1


@inlined
def fill_sells(ask, low, volume, total):  # type: ignore[no-untyped-def]
    """Take `volume` lots off the sells, lowest price first; return the best ask that is left.

    Args:
        ask: int64 [level], changed.
        low: no sell is below it, but at level 0.
        volume: lots filled, at most `total`.
        total: sum of `ask`.
    """
    left, resting = volume, total - volume
    level = 0
    while left > 0 or resting > 0:
        here = ask[level]
        if here > left:
            ask[level] = here - left
            return level
        left -= here
        ask[level] = 0
        level = max(level + 1, low)
    return len(ask)


@inlined
def window_shift(mid2, levels):  # type: ignore[no-untyped-def]
    """Return by how many ticks a following window moves: 0 unless the mid is near an edge."""
    margin = levels // 8
    if 2 * margin <= mid2 <= 2 * (levels - 1 - margin):
        return 0
    return round_half_even(mid2) - levels // 2


@inlined
def shift_book(book, shift):  # type: ignore[no-untyped-def]
    """Move the window over `book` up by `shift` levels, in place; return the lots that fall off."""
    levels = len(book)
    before = book.sum()
    if shift >= 0:
        for level in range(levels):
            source = level + shift
            book[level] = book[source] if source < levels else 0
    else:
        for level in range(levels - 1, -1, -1):
            source = level + shift
            book[level] = book[source] if source >= 0 else 0
    return before - book.sum()


@inlined
def sum_levels(book, low, high):  # type: ignore[no-untyped-def]
    """Return the lots at the levels `low` .. `high`, both included, as far as they exist."""
    lots = 0
    for level in range(max(low, 0), min(high, len(book) - 1) + 1):
        lots += book[level]
    return lots
