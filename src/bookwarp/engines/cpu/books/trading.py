"""Trade with the best price first, oldest first.

An order that comes in is a tuple `Incoming`; `side` is a row of the sides of the block, and `key`
the worst price at which it trades, as a key of the side that it meets.
"""

from collections import namedtuple

import numpy as np

from bookwarp.engines.cpu.books.ids import forget_order
from bookwarp.engines.cpu.books.layout import NOBODY
from bookwarp.engines.cpu.books.pools import at
from bookwarp.engines.cpu.books.prices import next_level, price_of_key
from bookwarp.engines.cpu.books.queue import remove_order
from bookwarp.engines.cpu.books.telling import tell_cancelled, tell_trade
from bookwarp.engines.cpu.compile import inlined
from bookwarp.spec.book_rules import SelfTrade
from bookwarp.spec.events import Reason

_SELF_TRADE = int(Reason.SELF_TRADE)
_NO_PREVENTION, _CANCEL_RESTING = int(SelfTrade.NONE), int(SelfTrade.CANCEL_RESTING)
_CANCEL_INCOMING = int(SelfTrade.CANCEL_INCOMING)
_NO_OWNER = np.uint64(0)

Incoming = namedtuple("Incoming", ["order_id", "side", "is_market", "price", "key", "tif", "owner"])


@inlined
def crosses(block, order):  # type: ignore[no-untyped-def]
    """Return whether there is an order that this one reaches, whoever owns it."""
    opposite = at(block.sides, order.side ^ 1)
    return opposite.best_key <= order.key and opposite.best != NOBODY


@inlined
def is_self_trade(block, rules, order, resting):  # type: ignore[no-untyped-def]
    """Return whether two orders may not trade because they have the same owner."""
    if rules.self_trade == _NO_PREVENTION or order.owner == _NO_OWNER:
        return False
    return at(block.owners, resting) == order.owner


@inlined
def can_fill_whole(block, rules, order, qty):  # type: ignore[no-untyped-def]
    """Return whether an order would trade whole, from what rests and who owns it."""
    level = np.int64(at(block.sides, order.side ^ 1).best)
    while level != NOBODY and at(block.levels, level).key <= order.key:
        if rules.self_trade == _NO_PREVENTION or order.owner == _NO_OWNER:
            qty -= at(block.levels, level).qty
        else:
            lots, stops = lots_of_others(block, rules, order, level, qty)
            if stops:
                return False
            qty -= lots
        if qty <= 0:
            return True
        level = next_level(block, level)
    return False


@inlined
def lots_of_others(block, rules, order, level, wanted):  # type: ignore[no-untyped-def]
    """Return lots at a level that an order may trade, and whether one of its owner ends it before.

    Nothing is counted behind what is wanted.
    """
    lots = np.int64(0)
    resting = np.int64(at(block.levels, level).first)
    while resting != NOBODY and lots < wanted:
        if at(block.owners, resting) != order.owner:
            lots += at(block.orders, resting).qty
        elif rules.self_trade != _CANCEL_RESTING:
            return lots, True
        resting = np.int64(at(block.orders, resting).behind)
    return lots, False


@inlined
def trade(block, rules, log, order, qty, filled):  # type: ignore[no-untyped-def]
    """Trade with the best price first, oldest first; return the lots then open and traded."""
    book, opposite = order.side >> 1, order.side ^ 1
    while qty > 0 and crosses(block, order):
        level = at(block.levels, at(block.sides, opposite).best)
        index = np.int64(level.first)
        resting = at(block.orders, index)
        if is_self_trade(block, rules, order, index):
            qty = prevent_self_trade(block, rules, log, order, qty, index)
            continue
        lots = min(qty, resting.qty)
        price = price_of_key(level.key, opposite)
        tell_trade(block, log, order, resting.order_id, price, lots)
        qty -= lots
        filled += lots
        if lots == resting.qty:
            forget_order(block, book, resting.order_id)
            remove_order(block, opposite, index)
        else:
            resting.qty -= lots
            level.qty -= lots
            if rules.total:
                block.filled[np.uint64(index)] += lots
    return qty, filled


@inlined
def prevent_self_trade(block, rules, log, order, qty, index):  # type: ignore[no-untyped-def]
    """Cancel the resting order, or all that is left of the one that came in; return what is."""
    book, opposite = order.side >> 1, order.side ^ 1
    if rules.self_trade != _CANCEL_INCOMING:
        resting = at(block.orders, index)
        price = price_of_key(at(block.levels, resting.level).key, opposite)
        tell_cancelled(
            block, book, log, resting.order_id, opposite, price, resting.qty, _SELF_TRADE
        )
        forget_order(block, book, resting.order_id)
        remove_order(block, opposite, index)
    if rules.self_trade == _CANCEL_RESTING:
        return qty
    tell_cancelled(block, book, log, order.order_id, order.side, order.price, qty, _SELF_TRADE)
    return np.int64(0)
