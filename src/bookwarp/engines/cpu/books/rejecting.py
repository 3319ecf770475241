"""Why an order may not come in: what would trade or find no room."""

import numpy as np

from bookwarp.engines.cpu.books.layout import NOBODY
from bookwarp.engines.cpu.books.pools import at
from bookwarp.engines.cpu.books.prices import find_place, key_of_price
from bookwarp.engines.cpu.books.trading import crosses
from bookwarp.engines.cpu.compile import inlined
from bookwarp.spec.book_rules import INT64_MAX
from bookwarp.spec.events import Flag, Reason
from bookwarp.spec.orders import TimeInForce

_GTC, _POST_ONLY = int(TimeInForce.GTC), int(TimeInForce.POST_ONLY)
_NO_REASON, _WOULD_TRADE = int(Reason.NONE), int(Reason.POST_ONLY)
_BOOK_FULL = int(Reason.BOOK_FULL)
_ORDERS_FULL, _LEVELS_FULL = int(Flag.ORDERS_FULL), int(Flag.LEVELS_FULL)
_LOTS_FULL, _MOST_LOTS = int(Flag.LOTS_FULL), np.int64(INT64_MAX)


@inlined
def in_range(rules, price):  # type: ignore[no-untyped-def]
    """Return whether a limit is one that the book takes."""
    return rules.price_low <= price <= rules.price_high


@inlined
def may_rest(order):  # type: ignore[no-untyped-def]
    """Return whether what does not trade of an order stays in the book."""
    return not order.is_market and (order.tif == _GTC or order.tif == _POST_ONLY)


@inlined
def reject_resting(block, rules, order, qty, leaving):  # type: ignore[no-untyped-def]
    """Return why an order may not come in because of what rests, or NONE.

    `leaving` is the resting order in whose place it comes, or NOBODY.
    """
    if crosses(block, order):
        return np.int64(_WOULD_TRADE if order.tif == _POST_ONLY else _NO_REASON)
    if not may_rest(order):
        return np.int64(_NO_REASON)
    missing = missing_room(block, rules, order, qty, leaving)
    if missing == 0:
        return np.int64(_NO_REASON)
    header = at(block.books, order.side >> 1)
    header.flags = np.int64(header.flags) | missing
    return np.int64(_BOOK_FULL)


@inlined
def missing_room(block, rules, order, qty, leaving):  # type: ignore[no-untyped-def]
    """Return the first thing of which a book has too little for an order that trades nothing."""
    header = at(block.books, order.side >> 1)
    level, _ = find_place(block, order.side, key_of_price(order.price, order.side))
    is_new = level == NOBODY
    orders, levels = np.int64(header.orders), np.int64(header.levels)
    lots = np.int64(0) if is_new else at(block.levels, level).qty
    if leaving != NOBODY:
        resting = at(block.orders, leaving)
        left = at(block.levels, resting.level)
        orders -= 1
        if left.first == left.last:
            levels -= 1
        if level == resting.level:
            lots -= resting.qty
    if orders >= rules.order_capacity:
        return np.int64(_ORDERS_FULL)
    if is_new and levels >= rules.level_capacity:
        return np.int64(_LEVELS_FULL)
    return np.int64(_LOTS_FULL if lots > _MOST_LOTS - qty else 0)
