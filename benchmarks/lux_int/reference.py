"""The rule, in plain Python."""

from typing import NamedTuple

import numpy as np

from lux_int.workload import BUY, DEPTH, TAKERS, Workload


class Result(NamedTuple):
    """What is left of the books of a workload, and what happened there."""

    fills: np.ndarray
    """uint32 [variety]."""
    remaining: np.ndarray
    """Lots left of every resting order, uint32 [variety, slot]."""
    lots: np.ndarray
    """Lots that traded, int64 [variety]."""
    filled: np.ndarray
    """Lots that every incoming order got, int64 [variety, order]."""


def match_books(workload: Workload) -> Result:
    """Match every incoming order of every book with what rests there."""
    books = workload.variety
    fills = np.zeros(books, np.uint32)
    remaining = np.zeros((books, DEPTH), np.uint32)
    filled = np.zeros((books, TAKERS), np.int64)
    for book in range(books):
        prices, left, _, _ = zip(*workload.resting[book].tolist(), strict=True)
        left = list(left)
        for number, order in enumerate(workload.incoming[book % len(workload.incoming)].tolist()):
            price, qty, side, _ = order
            count, lots = match_order(prices, left, price, qty, side)
            fills[book] += count
            filled[book, number] = lots
        remaining[book] = left
    return Result(fills, remaining, filled.sum(axis=1), filled)


def match_order(
    prices: tuple[int, ...], left: list[int], price: int, qty: int, side: int
) -> tuple[int, int]:
    """Take from the resting orders, in the order of their index, what the order crosses.

    What remains of the order is dropped. The sides of the resting orders are not looked at.

    Args:
        prices, left: of the resting orders; `left` is changed.
        price, qty, side: of the incoming order.

    Returns:
        How many resting orders it met, and lots that it got.
    """
    fills = 0
    open_qty = qty
    for slot, resting_price in enumerate(prices):
        if open_qty == 0:
            break
        crosses = price >= resting_price if side == BUY else price <= resting_price
        if left[slot] > 0 and crosses:
            fill = min(open_qty, left[slot])
            open_qty -= fill
            left[slot] -= fill
            fills += 1
    return fills, qty - open_qty
