"""The four rules, summed: what a type of agent adds to the book, not order by order.

Owns: one market, one step; `bid` and `ask` are its rows of the state and receive the orders.
Order sums do not depend on the agents' order, so agents are taken type by type, and only noise
orders can differ in price within a type. Functions that add return (buy lots, sell lots).
"""

import numpy as np

from bookwarp.engines.cpu.compile import inlined

_16, _32 = np.uint64(16), np.uint64(32)
_ZERO, _ONE, _THREE, _FOUR = np.uint64(0), np.uint64(1), np.uint64(3), np.uint64(4)
_HALF = np.uint64(2**31)
_LOW16, _LOW32 = np.uint64(0xFFFF), np.uint64(0xFFFFFFFF)

PACKED_OFFSETS = 7
"""Most offsets that `count_noise` takes: with the marketable orders, eight 16-bit counters."""


@inlined
def round_half_even(half_ticks):  # type: ignore[no-untyped-def]
    """Turn half ticks into ticks, halves to the even tick: R(2k) = k, R(2k+1) = k + (k & 1)."""
    tick = half_ticks >> 1
    return tick + (tick & half_ticks & 1)


@inlined
def level_of(half_ticks, levels):  # type: ignore[no-untyped-def]
    """Return the level of a price in half ticks, clamped to the grid.

    Unsigned, as all indices here: one that cannot be negative needs no test for counting from the
    end.
    """
    return np.uint64(min(max(round_half_even(half_ticks), 0), levels - 1))


@inlined
def count_noise(words, market, counts, row):  # type: ignore[no-untyped-def]
    """Decode the words of noise agents and count their lots by side and slot.

    A slot is an offset, or the last one for marketable orders. All orders, and the buys among
    them, have two accumulators each of four 16-bit counters; a run of agents that cannot overflow
    one is summed, then unpacked. The loop has no branch and no store, so LLVM keeps eight agents in
    a vector.

    Args:
        words: uint32, one an agent.
        market: parameters.
        counts: int64 [row, COUNTS]; `row` receives eight slots of buys, then eight of sells. An
            array with an index, and no view of the row: a view costs atomic operations.
    """
    max_qty, offsets = np.uint64(market.max_qty32), np.uint64(market.offset_count32)
    two_max_qty, threshold = np.uint64(market.two_max_qty32), np.uint64(market.threshold)
    for slot in range(16):
        counts[row, slot] = 0
    run = _LOW16 // max_qty
    stop = np.uint64(len(words))
    for start in range(_ZERO, stop, run):
        all_low = all_high = buy_low = buy_high = _ZERO
        for i in range(start, min(start + run, stop)):
            word = np.uint64(words[i])
            product = word * two_max_qty
            buys = word >= _HALF
            qty = (product >> _32) - (max_qty if buys else _ZERO) + _ONE
            offset = (product & _LOW32) * offsets
            slot = offsets if (offset & _LOW32) < threshold else offset >> _32
            lots = qty << ((slot & _THREE) << _FOUR)
            low = lots if slot < _FOUR else _ZERO
            high = lots - low
            all_low += low
            all_high += high
            buy_low += low if buys else _ZERO
            buy_high += high if buys else _ZERO
        for slot in range(4):
            shift = np.uint64(slot) * _16
            counts[row, slot] += np.int64((buy_low >> shift) & _LOW16)
            counts[row, slot + 4] += np.int64((buy_high >> shift) & _LOW16)
            counts[row, slot + 8] += np.int64(((all_low - buy_low) >> shift) & _LOW16)
            counts[row, slot + 12] += np.int64(((all_high - buy_high) >> shift) & _LOW16)


@inlined
def add_noise_counts(counts, row, mid2, market, bid, ask):  # type: ignore[no-untyped-def]
    """Add the noise orders that `count_noise` counted to the book."""
    levels = len(bid)
    bought, sold = counts[row, market.offset_count], counts[row, 8 + market.offset_count]
    bid[levels - 1] += bought
    ask[0] += sold
    for slot in range(market.offset_count):
        level = level_of(mid2 + 2 * (slot - market.noise_spread), levels)
        bid[level] += counts[row, slot]
        ask[level] += counts[row, 8 + slot]
        bought += counts[row, slot]
        sold += counts[row, 8 + slot]
    return bought, sold


@inlined
def add_noise(draws, mid2, bid, ask):  # type: ignore[no-untyped-def]
    """Add the drawn orders of noise agents to the book, one by one."""
    levels = len(bid)
    bought = sold = 0
    for i in range(len(draws.qty)):
        level = level_of(mid2 + 2 * draws.offset[i], levels)
        qty = draws.qty[i]
        if draws.buy[i]:
            bid[np.uint64(levels - 1) if draws.marketable[i] else level] += qty
            bought += qty
        else:
            ask[_ZERO if draws.marketable[i] else level] += qty
            sold += qty
    return bought, sold


@inlined
def sum_words(words, market):  # type: ignore[no-untyped-def]
    """Decode the words of agents of a directed type and sum their lots.

    Returns:
        All lots, marketable lots, and of each those that were drawn to buy.
    """
    max_qty, two_max_qty = np.uint64(market.max_qty32), np.uint64(market.two_max_qty32)
    threshold = np.uint64(market.threshold)
    lots = marketable = buy_lots = buy_marketable = _ZERO
    for i in range(len(words)):
        word = np.uint64(words[i])
        product = word * two_max_qty
        buys = word >= _HALF
        qty = (product >> _32) - (max_qty if buys else _ZERO) + _ONE
        at_edge = qty if (product & _LOW32) < threshold else _ZERO
        lots += qty
        marketable += at_edge
        buy_lots += qty if buys else _ZERO
        buy_marketable += at_edge if buys else _ZERO
    return np.int64(lots), np.int64(marketable), np.int64(buy_lots), np.int64(buy_marketable)


@inlined
def sum_draws(draws):  # type: ignore[no-untyped-def]
    """Sum drawn lots as `sum_words` does."""
    lots = marketable = buy_lots = buy_marketable = 0
    for i in range(len(draws.qty)):
        qty = draws.qty[i]
        at_edge = qty if draws.marketable[i] else 0
        lots += qty
        marketable += at_edge
        buy_lots += qty if draws.buy[i] else 0
        buy_marketable += at_edge if draws.buy[i] else 0
    return lots, marketable, buy_lots, buy_marketable


@inlined
def add_directed(sums, direction, mid2, bid, ask):  # type: ignore[no-untyped-def]
    """Add the orders of momentum or fundamental agents, who all go one way unless it is 0."""
    levels = len(bid)
    lots, marketable, buy, buy_marketable = sums
    # Without a branch on the direction, which nobody can foretell.
    buy = lots if direction > 0 else buy if direction == 0 else 0
    buy_marketable = marketable if direction > 0 else buy_marketable if direction == 0 else 0
    sell, sell_marketable = lots - buy, marketable - buy_marketable
    bid[level_of(mid2 + 2, levels)] += buy - buy_marketable
    ask[level_of(mid2 - 2, levels)] += sell - sell_marketable
    bid[levels - 1] += buy_marketable
    ask[0] += sell_marketable
    return buy, sell


@inlined
def sum_maker_words(words, makers, market):  # type: ignore[no-untyped-def]
    """Decode the words of makers and sum their lots: all, and those of odd agents.

    `makers` holds the agent of each word.
    """
    max_qty, two_max_qty = np.uint64(market.max_qty32), np.uint64(market.two_max_qty32)
    lots = odd = _ZERO
    for i in range(len(words)):
        word = np.uint64(words[i])
        qty = ((word * two_max_qty) >> _32) - (max_qty if word >= _HALF else _ZERO) + _ONE
        lots += qty
        odd += qty if makers[i] & 1 else _ZERO
    return np.int64(lots), np.int64(odd)


@inlined
def sum_maker_draws(draws, makers):  # type: ignore[no-untyped-def]
    """Sum drawn lots as `sum_maker_words` does."""
    lots = odd = 0
    for i in range(len(makers)):
        lots += draws.qty[i]
        odd += draws.qty[i] if makers[i] & 1 else 0
    return lots, odd


@inlined
def add_makers(sums, step, mid2, market, bid, ask):  # type: ignore[no-untyped-def]
    """Add the orders of makers, who buy when agent + step is even and else sell."""
    levels = len(bid)
    lots, odd = sums
    buy = odd if step & 1 else lots - odd
    sell = lots - buy
    reach = 2 * market.maker_half_spread
    bid[level_of(mid2 - reach, levels)] += buy
    ask[level_of(mid2 + reach, levels)] += sell
    return buy, sell
