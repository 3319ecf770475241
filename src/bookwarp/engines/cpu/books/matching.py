"""What a message does to a book; the same functions as `bookwarp.reference.matching`.

An order that comes in is a tuple `Incoming`; `side` is a row of the sides of the block, and `key`
the lowest priority at which it trades, as a key of the side that it meets.
"""

from collections import namedtuple

import numpy as np

from bookwarp.engines.cpu.books.ids import find_order, forget_order, forget_place
from bookwarp.engines.cpu.books.layout import NO_KEY, NOBODY
from bookwarp.engines.cpu.books.prices import (
    find_place,
    key_of_price,
    next_level,
    price_of_key,
)
from bookwarp.engines.cpu.books.queue import append_order, remove_order
from bookwarp.engines.cpu.compile import inlined
from bookwarp.spec.book_rules import INT64_MAX, SelfTrade
from bookwarp.spec.codes import Side
from bookwarp.spec.events import Counter, EventType, Flag, Reason
from bookwarp.spec.orders import Kind, Op, TimeInForce

_BUY, _MARKET, _NEW, _CANCEL = int(Side.BUY), int(Kind.MARKET), int(Op.NEW), int(Op.CANCEL)
_GTC, _FOK, _POST_ONLY = int(TimeInForce.GTC), int(TimeInForce.FOK), int(TimeInForce.POST_ONLY)
_ACCEPTED, _TRADE = int(EventType.ACCEPTED), int(EventType.TRADE)
_CANCELLED, _MODIFIED = int(EventType.CANCELLED), int(EventType.MODIFIED)
_REJECTED = int(EventType.REJECTED)
_NO_REASON, _DUPLICATE_ID = int(Reason.NONE), int(Reason.DUPLICATE_ID)
_UNKNOWN_ID, _QTY, _PRICE = int(Reason.UNKNOWN_ID), int(Reason.QTY), int(Reason.PRICE)
_WOULD_TRADE, _BOOK_FULL = int(Reason.POST_ONLY), int(Reason.BOOK_FULL)
_REQUESTED, _REST = int(Reason.REQUESTED), int(Reason.REST)
_NOT_WHOLE, _SELF_TRADE = int(Reason.FILL_OR_KILL), int(Reason.SELF_TRADE)
_NO_PREVENTION, _CANCEL_RESTING = int(SelfTrade.NONE), int(SelfTrade.CANCEL_RESTING)
_CANCEL_INCOMING, _CANCEL_BOTH = int(SelfTrade.CANCEL_INCOMING), int(SelfTrade.CANCEL_BOTH)
_ORDERS_FULL, _LEVELS_FULL = int(Flag.ORDERS_FULL), int(Flag.LEVELS_FULL)
_LOTS_FULL, _LOTS_WRAPPED = int(Flag.LOTS_FULL), int(Flag.LOTS_WRAPPED)
_COUNT_ACCEPTED, _COUNT_MODIFIED = int(Counter.ACCEPTED), int(Counter.MODIFIED)
_COUNT_CANCELLED, _COUNT_TRADES = int(Counter.CANCELLED), int(Counter.TRADES)
_COUNT_LOTS = int(Counter.LOTS)
_MOST_LOTS = np.int64(INT64_MAX)
_NO_OWNER = np.uint64(0)

Incoming = namedtuple("Incoming", ["order_id", "side", "is_market", "price", "key", "tif", "owner"])
# Where events go: EVENT [event], and the place of the next one; `step` is 0 if none are wanted, so
# that each is written over the last. `message` and `op` are those of the message that causes them.
Log = namedtuple("Log", ["events", "next", "step", "message", "op"])


@inlined
def write_event(log, event_type, order_id, side, price, qty, reason):  # type: ignore[no-untyped-def]
    """Write an event; `side` is a `Side`, or 0."""
    event = log.events[log.next[0]]
    event.order_id, event.price, event.qty = order_id, price, qty
    event.message, event.op = log.message, log.op
    event.type, event.side, event.reason = event_type, side, reason
    log.next[0] += log.step


@inlined
def sign_of(side):  # type: ignore[no-untyped-def]
    """Return the `Side` of a row of the sides."""
    return 1 - 2 * (side & 1)


@inlined
def reject(block, book, log, order_id, side, price, qty, reason):  # type: ignore[no-untyped-def]
    """Write and count that a message is rejected."""
    block.counters[book, _COUNT_LOTS + reason] += 1
    write_event(log, _REJECTED, order_id, side, price, qty, reason)


@inlined
def cancel(block, book, log, order_id, side, price, qty, reason):  # type: ignore[no-untyped-def]
    """Write and count that all that is open of an order is cancelled."""
    block.counters[book, _COUNT_CANCELLED] += 1
    write_event(log, _CANCELLED, order_id, sign_of(side), price, qty, reason)


@inlined
def apply_message(block, rules, log, book, message, owner):  # type: ignore[no-untyped-def]
    """Do what a message asks for, or reject it."""
    index, place = find_order(block, book, message.order_id)
    if message.op == _CANCEL:
        cancel_order(block, log, book, message.order_id, index, place)
        return
    if message.op == _NEW:
        order = new_order(book, message, owner)
        qty, filled = message.qty, np.int64(0)
        enters = accept_new(block, rules, log, order, qty, index)
    else:
        order, qty, filled = modified_order(block, rules, book, message, index)
        enters = modify_order(block, rules, log, book, message, order, qty, index, place)
    if enters:
        come_in(block, rules, log, order, qty, filled)


@inlined
def new_order(book, message, owner):  # type: ignore[no-untyped-def]
    """Return the order that a NEW message brings."""
    side = 2 * book + (0 if message.side == _BUY else 1)
    is_market = message.kind == _MARKET
    price = np.int64(0) if is_market else message.price
    key = NO_KEY if is_market else key_of_price(message.price, side ^ 1)
    return Incoming(message.order_id, side, is_market, price, key, np.int64(message.tif), owner)


@inlined
def modified_order(block, rules, book, message, index):  # type: ignore[no-untyped-def]
    """Return the order as a MODIFY message makes it, the lots then open, and those traded."""
    resting = block.orders[index]
    side = 2 * book + np.int64(resting.side)
    filled = block.filled[index] if rules.total else np.int64(0)
    owner = block.owners[index] if rules.self_trade != _NO_PREVENTION else _NO_OWNER
    key = key_of_price(message.price, side ^ 1)
    tif = np.int64(resting.tif)
    order = Incoming(message.order_id, side, False, message.price, key, tif, owner)
    # A quantity that is not positive is rejected; the lowest would wrap round.
    return order, max(message.qty, 0) - filled, filled


@inlined
def accept_new(block, rules, log, order, qty, index):  # type: ignore[no-untyped-def]
    """Accept a new order or reject it; return whether it comes in."""
    book = order.side >> 1
    reason = np.int64(_NO_REASON)
    if index != NOBODY:
        reason = np.int64(_DUPLICATE_ID)
    elif qty <= 0:
        reason = np.int64(_QTY)
    elif not order.is_market and not in_range(rules, order.price):
        reason = np.int64(_PRICE)
    else:
        reason = reject_resting(block, rules, order, qty, np.int64(NOBODY))
    sign = sign_of(order.side)
    if reason != _NO_REASON:
        reject(block, book, log, order.order_id, sign, order.price, qty, reason)
        return False
    block.counters[book, _COUNT_ACCEPTED] += 1
    write_event(log, _ACCEPTED, order.order_id, sign, order.price, qty, _NO_REASON)
    if order.tif == _FOK and not can_fill_whole(block, rules, order, qty):
        cancel(block, book, log, order.order_id, order.side, order.price, qty, _NOT_WHOLE)
        return False
    return True


@inlined
def cancel_order(block, log, book, order_id, index, place):  # type: ignore[no-untyped-def]
    """Take a resting order out, with all that is open of it."""
    if index == NOBODY:
        reject(block, book, log, order_id, 0, 0, 0, _UNKNOWN_ID)
        return
    resting = block.orders[index]
    side = 2 * book + np.int64(resting.side)
    price = price_of_key(block.levels[resting.level].key, side)
    cancel(block, book, log, order_id, side, price, resting.qty, _REQUESTED)
    forget_place(block, book, place)
    remove_order(block, side, index)


@inlined
def modify_order(block, rules, log, book, message, order, qty, index, place):  # type: ignore[no-untyped-def]
    """Change a resting order where it is, take it out, or reject; return whether it comes in."""
    resting = block.orders[index]
    keeps_place = (
        not rules.replace
        and qty <= resting.qty
        and order.price == price_of_key(block.levels[resting.level].key, order.side)
    )
    reason = np.int64(_NO_REASON)
    if index == NOBODY:
        reason = np.int64(_UNKNOWN_ID)
    elif message.qty <= 0 or qty <= 0:
        reason = np.int64(_QTY)
    elif not in_range(rules, order.price):
        reason = np.int64(_PRICE)
    elif not keeps_place:
        reason = reject_resting(block, rules, order, qty, index)
    if reason != _NO_REASON:
        reject(block, book, log, order.order_id, 0, order.price, message.qty, reason)
        return False
    block.counters[book, _COUNT_MODIFIED] += 1
    sign = sign_of(order.side)
    write_event(log, _MODIFIED, order.order_id, sign, order.price, qty, _NO_REASON)
    if keeps_place:
        block.levels[resting.level].qty -= resting.qty - qty
        resting.qty = qty
        return False
    forget_place(block, book, place)
    remove_order(block, order.side, index)
    return True


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
    header = block.books[order.side >> 1]
    header.flags = np.int64(header.flags) | missing
    return np.int64(_BOOK_FULL)


@inlined
def missing_room(block, rules, order, qty, leaving):  # type: ignore[no-untyped-def]
    """Return the first thing of which a book has too little for an order that trades nothing."""
    header = block.books[order.side >> 1]
    level, _ = find_place(block, order.side, key_of_price(order.price, order.side))
    is_new = level == NOBODY
    orders, levels = np.int64(header.orders), np.int64(header.levels)
    lots = np.int64(0) if is_new else block.levels[level].qty
    if leaving != NOBODY:
        resting = block.orders[leaving]
        is_same = level == resting.level
        orders -= 1
        if block.levels[resting.level].first == block.levels[resting.level].last:
            levels -= 1
            is_new = is_new or is_same
        if is_same:
            lots -= resting.qty
    if orders >= rules.order_capacity:
        return np.int64(_ORDERS_FULL)
    if is_new and levels >= rules.level_capacity:
        return np.int64(_LEVELS_FULL)
    return np.int64(_LOTS_FULL if lots > _MOST_LOTS - qty else 0)


@inlined
def in_range(rules, price):  # type: ignore[no-untyped-def]
    """Return whether a limit is one that the book takes."""
    return rules.price_low <= price <= rules.price_high


@inlined
def may_rest(order):  # type: ignore[no-untyped-def]
    """Return whether what does not trade of an order stays in the book."""
    return not order.is_market and (order.tif == _GTC or order.tif == _POST_ONLY)


@inlined
def crosses(block, order):  # type: ignore[no-untyped-def]
    """Return whether there is an order that this one reaches, whoever owns it."""
    opposite = block.sides[order.side ^ 1]
    return opposite.best_key <= order.key and opposite.best != NOBODY


@inlined
def is_self_trade(block, rules, order, resting):  # type: ignore[no-untyped-def]
    """Return whether two orders may not trade because they have the same owner."""
    if rules.self_trade == _NO_PREVENTION or order.owner == _NO_OWNER:
        return False
    return block.owners[resting] == order.owner


@inlined
def can_fill_whole(block, rules, order, qty):  # type: ignore[no-untyped-def]
    """Return whether an order would trade whole, from what rests and who owns it."""
    level = np.int64(block.sides[order.side ^ 1].best)
    while level != NOBODY and block.levels[level].key <= order.key:
        if rules.self_trade == _NO_PREVENTION or order.owner == _NO_OWNER:
            qty -= block.levels[level].qty
        else:
            lots, stops = lots_of_others(block, rules, order, level, qty)
            qty -= lots
            if stops and qty > 0:
                return False
        if qty <= 0:
            return True
        level = next_level(block, level)
    return False


@inlined
def lots_of_others(block, rules, order, level, wanted):  # type: ignore[no-untyped-def]
    """Return lots at a level that an order may trade, and whether one of its owner ends it.

    No more lots are counted than are wanted.
    """
    lots = np.int64(0)
    resting = np.int64(block.levels[level].first)
    while resting != NOBODY and lots < wanted:
        if block.owners[resting] != order.owner:
            lots += block.orders[resting].qty
        elif rules.self_trade != _CANCEL_RESTING:
            return lots, True
        resting = np.int64(block.orders[resting].behind)
    return lots, False


@inlined
def come_in(block, rules, log, order, qty, filled):  # type: ignore[no-untyped-def]
    """Let an order trade, and what is left of it rest, or cancel that."""
    open_qty, filled = trade(block, rules, log, order, qty, filled)
    if open_qty <= 0:
        return
    if not may_rest(order):
        book = order.side >> 1
        cancel(block, book, log, order.order_id, order.side, order.price, open_qty, _REST)
        return
    key = key_of_price(order.price, order.side)
    index = append_order(block, order.side, key, order.order_id, open_qty, order.tif)
    if rules.total:
        block.filled[index] = filled
    if rules.self_trade != _NO_PREVENTION:
        block.owners[index] = order.owner


@inlined
def trade(block, rules, log, order, qty, filled):  # type: ignore[no-untyped-def]
    """Trade with the best price first, oldest first; return the lots then open and traded."""
    book, opposite = order.side >> 1, order.side ^ 1
    while qty > 0 and crosses(block, order):
        level = block.levels[block.sides[opposite].best]
        index = np.int64(level.first)
        resting = block.orders[index]
        if is_self_trade(block, rules, order, index):
            qty = prevent_self_trade(block, rules, log, order, qty, index)
            continue
        lots = min(qty, resting.qty)
        price = price_of_key(level.key, opposite)
        write_event(log, _TRADE, resting.order_id, sign_of(order.side), price, lots, _NO_REASON)
        count_trade(block, book, lots)
        qty -= lots
        filled += lots
        if lots == resting.qty:
            forget_order(block, book, resting.order_id)
            remove_order(block, opposite, index)
        else:
            resting.qty -= lots
            level.qty -= lots
            if rules.total:
                block.filled[index] += lots
    return qty, filled


@inlined
def count_trade(block, book, lots):  # type: ignore[no-untyped-def]
    """Count a trade in the counters of its book."""
    block.counters[book, _COUNT_TRADES] += 1
    before = block.counters[book, _COUNT_LOTS]
    # Unsigned, since the compiler takes it that signed integers do not wrap round.
    block.counters[book, _COUNT_LOTS] = np.int64(np.uint64(before) + np.uint64(lots))
    if before > _MOST_LOTS - lots:
        header = block.books[book]
        header.flags = np.int64(header.flags) | _LOTS_WRAPPED


@inlined
def prevent_self_trade(block, rules, log, order, qty, index):  # type: ignore[no-untyped-def]
    """Cancel the resting order, or all that is left of the one that came in; return what is."""
    book, opposite = order.side >> 1, order.side ^ 1
    if rules.self_trade != _CANCEL_INCOMING:
        resting = block.orders[index]
        price = price_of_key(block.levels[resting.level].key, opposite)
        cancel(block, book, log, resting.order_id, opposite, price, resting.qty, _SELF_TRADE)
        forget_order(block, book, resting.order_id)
        remove_order(block, opposite, index)
    if rules.self_trade == _CANCEL_RESTING:
        return qty
    cancel(block, book, log, order.order_id, order.side, order.price, qty, _SELF_TRADE)
    return np.int64(0)
