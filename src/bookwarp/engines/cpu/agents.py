"""The four rules, summed: what a type of agent adds to the book, not order by order.

Owns: one market, one step; `bid` and `ask` are its rows of the state and receive the orders.
Order sums do not depend on the agents' order, so agents are taken type by type, and only noise
orders can differ in price within a type. Functions return (buy lots, sell lots) that were added.
"""

import numpy as np

from bookwarp.engines.cpu.compile import inlined

_16, _32 = np.uint64(16), np.uint64(32)
_ZERO, _ONE, _TWO, _THREE, _FOUR = (np.uint64(n) for n in range(5))
_S31 = np.uint64(31)
_LOW16, _LOW32 = np.uint64(0xFFFF), np.uint64(0xFFFFFFFF)

PACKED_OFFSETS = 7
"""Most offsets that `count_noise` takes: with the marketable orders, eight 16-bit counters."""


@inlined
def round_half_even(half_ticks):  # type: ignore[no-untyped-def]
    """Turn half ticks into ticks, halves to the even tick: R(2k) = k, R(2k+1) = k + (k & 1)."""
    tick = half_ticks >> 1
    return tick + (tick & half_ticks & 1)


@inlined
def clamp_to_grid(price, levels):  # type: ignore[no-untyped-def]
    """Return the level nearest to `price` on the grid."""
    return min(max(price, 0), levels - 1)


@inlined
def count_noise(words, market, counts):  # type: ignore[no-untyped-def]
    """Decode the words of noise agents and count their lots by side and slot.

    A slot is an offset, or the last one for marketable orders. Each side has two accumulators of
    four 16-bit counters; a run of agents that cannot overflow one is summed, then unpacked. The
    loop has no branch and no store, so LLVM keeps eight agents in a vector.

    Args:
        words: uint32, one an agent.
        market: parameters.
        counts: int64 [side (0 buy, 1 sell), 8 slots], overwritten.
    """
    max_qty, offsets = np.uint64(market.max_qty), np.uint64(market.offset_count)
    threshold = np.uint64(market.threshold)
    counts[:] = 0
    run = _LOW16 // max_qty
    stop = np.uint64(len(words))
    for start in range(_ZERO, stop, run):
        buy_low = buy_high = sell_low = sell_high = _ZERO
        # An unsigned index cannot be negative: no test for one that counts from the end.
        for i in range(start, min(start + run, stop)):
            word = np.uint64(words[i])
            product = word * (_TWO * max_qty & _LOW32)
            buy = word >> _S31
            qty = (product >> _32) - buy * max_qty + _ONE
            offset = (product & _LOW32) * (offsets & _LOW32)
            slot = offsets if (offset & _LOW32) < threshold else offset >> _32
            lots = qty << ((slot & _THREE) << _FOUR)
            low = lots if slot < _FOUR else _ZERO
            high = lots - low
            buy_low += low if buy != _ZERO else _ZERO
            buy_high += high if buy != _ZERO else _ZERO
            sell_low += _ZERO if buy != _ZERO else low
            sell_high += _ZERO if buy != _ZERO else high
        for slot in range(4):
            shift = np.uint64(slot) * _16
            counts[0, slot] += np.int64((buy_low >> shift) & _LOW16)
            counts[0, slot + 4] += np.int64((buy_high >> shift) & _LOW16)
            counts[1, slot] += np.int64((sell_low >> shift) & _LOW16)
            counts[1, slot + 4] += np.int64((sell_high >> shift) & _LOW16)


@inlined
def add_noise_counts(counts, mid2, market, bid, ask):  # type: ignore[no-untyped-def]
    """Add counted noise orders to the book."""
    levels = len(bid)
    bought = sold = 0
    for slot in range(market.offset_count + 1):
        price2 = mid2 + 2 * (slot - market.noise_spread)
        price = clamp_to_grid(round_half_even(price2), levels)
        marketable = slot == market.offset_count
        bid[levels - 1 if marketable else price] += counts[0, slot]
        ask[0 if marketable else price] += counts[1, slot]
        bought += counts[0, slot]
        sold += counts[1, slot]
    return bought, sold


@inlined
def add_noise(draws, mid2, bid, ask):  # type: ignore[no-untyped-def]
    """Add the drawn orders of noise agents to the book, one by one."""
    levels = len(bid)
    bought = sold = 0
    for i in range(len(draws.qty)):
        price = clamp_to_grid(round_half_even(mid2 + 2 * draws.offset[i]), levels)
        qty = draws.qty[i]
        if draws.buy[i]:
            bid[levels - 1 if draws.marketable[i] else price] += qty
            bought += qty
        else:
            ask[0 if draws.marketable[i] else price] += qty
            sold += qty
    return bought, sold


@inlined
def add_directed(draws, direction, mid2, bid, ask):  # type: ignore[no-untyped-def]
    """Add the orders of momentum or fundamental agents, who all go one way unless it is 0."""
    levels = len(bid)
    lots = marketable = drawn_buy = drawn_buy_marketable = 0
    for i in range(len(draws.qty)):
        qty = draws.qty[i]
        at_edge = qty if draws.marketable[i] else 0
        lots += qty
        marketable += at_edge
        drawn_buy += qty if draws.buy[i] else 0
        drawn_buy_marketable += at_edge if draws.buy[i] else 0
    if direction > 0:
        buy, buy_marketable = lots, marketable
    elif direction < 0:
        buy, buy_marketable = 0, 0
    else:
        buy, buy_marketable = drawn_buy, drawn_buy_marketable
    sell, sell_marketable = lots - buy, marketable - buy_marketable
    bid[clamp_to_grid(round_half_even(mid2 + 2), levels)] += buy - buy_marketable
    ask[clamp_to_grid(round_half_even(mid2 - 2), levels)] += sell - sell_marketable
    bid[levels - 1] += buy_marketable
    ask[0] += sell_marketable
    return buy, sell


@inlined
def add_makers(draws, makers, step, mid2, market, bid, ask):  # type: ignore[no-untyped-def]
    """Add the orders of makers, who buy when agent + step is even and else sell.

    `makers` holds the agent of each draw.
    """
    levels = len(bid)
    lots = odd = 0
    for i in range(len(makers)):
        lots += draws.qty[i]
        odd += draws.qty[i] if makers[i] & 1 else 0
    buy = odd if step & 1 else lots - odd
    sell = lots - buy
    reach = 2 * market.maker_half_spread
    bid[clamp_to_grid(round_half_even(mid2 - reach), levels)] += buy
    ask[clamp_to_grid(round_half_even(mid2 + reach), levels)] += sell
    return buy, sell
