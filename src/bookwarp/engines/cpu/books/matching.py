"""What a message does to a book; the same functions as `bookwarp.reference.matching`."""

import numpy as np

from bookwarp.engines.cpu.books.ids import find_order, forget_place
from bookwarp.engines.cpu.books.layout import NO_KEY, NOBODY
from bookwarp.engines.cpu.books.pools import at
from bookwarp.engines.cpu.books.prices import key_of_price, price_of_key
from bookwarp.engines.cpu.books.queue import append_order, remove_order
from bookwarp.engines.cpu.books.rejecting import in_range, may_rest, reject_resting
from bookwarp.engines.cpu.books.telling import (
    sign_of,
    tell_accepted,
    tell_cancelled,
    tell_modified,
    tell_rejected,
)
from bookwarp.engines.cpu.books.trading import Incoming, can_fill_whole, trade
from bookwarp.engines.cpu.compile import inlined
from bookwarp.spec.book_rules import SelfTrade
from bookwarp.spec.codes import Side
from bookwarp.spec.events import Reason
from bookwarp.spec.orders import Kind, Op, TimeInForce

_BUY, _MARKET, _FOK = int(Side.BUY), int(Kind.MARKET), int(TimeInForce.FOK)
_NEW, _CANCEL = int(Op.NEW), int(Op.CANCEL)
_NO_REASON, _DUPLICATE_ID = int(Reason.NONE), int(Reason.DUPLICATE_ID)
_UNKNOWN_ID, _QTY, _PRICE = int(Reason.UNKNOWN_ID), int(Reason.QTY), int(Reason.PRICE)
_REQUESTED, _REST, _NOT_WHOLE = int(Reason.REQUESTED), int(Reason.REST), int(Reason.FILL_OR_KILL)
_NO_PREVENTION = int(SelfTrade.NONE)
_NO_OWNER = np.uint64(0)


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
    resting = at(block.orders, index)
    side = 2 * book + np.int64(resting.side)
    filled = at(block.filled, index) if rules.total else np.int64(0)
    owner = at(block.owners, index) if rules.self_trade != _NO_PREVENTION else _NO_OWNER
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
    if reason != _NO_REASON:
        side = sign_of(order.side)
        tell_rejected(block, book, log, order.order_id, side, order.price, qty, reason)
        return False
    tell_accepted(block, log, order, qty)
    if order.tif == _FOK and not can_fill_whole(block, rules, order, qty):
        tell_cancelled(block, book, log, order.order_id, order.side, order.price, qty, _NOT_WHOLE)
        return False
    return True


@inlined
def cancel_order(block, log, book, order_id, index, place):  # type: ignore[no-untyped-def]
    """Take a resting order out, with all that is open of it."""
    if index == NOBODY:
        tell_rejected(block, book, log, order_id, 0, 0, 0, _UNKNOWN_ID)
        return
    resting = at(block.orders, index)
    side = 2 * book + np.int64(resting.side)
    price = price_of_key(at(block.levels, resting.level).key, side)
    tell_cancelled(block, book, log, order_id, side, price, resting.qty, _REQUESTED)
    forget_place(block, book, place)
    remove_order(block, side, index)


@inlined
def modify_order(block, rules, log, book, message, order, qty, index, place):  # type: ignore[no-untyped-def]
    """Change a resting order where it is, take it out, or reject; return whether it comes in."""
    resting = at(block.orders, index)
    keeps_place = (
        not rules.replace
        and qty <= resting.qty
        and order.price == price_of_key(at(block.levels, resting.level).key, order.side)
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
        tell_rejected(block, book, log, order.order_id, 0, order.price, message.qty, reason)
        return False
    tell_modified(block, log, order, qty)
    if keeps_place:
        at(block.levels, resting.level).qty -= resting.qty - qty
        resting.qty = qty
        return False
    forget_place(block, book, place)
    remove_order(block, order.side, index)
    return True


@inlined
def come_in(block, rules, log, order, qty, filled):  # type: ignore[no-untyped-def]
    """Let an order trade, and what is left of it rest, or cancel that."""
    open_qty, filled = trade(block, rules, log, order, qty, filled)
    if open_qty <= 0:
        return
    if not may_rest(order):
        book = order.side >> 1
        tell_cancelled(block, book, log, order.order_id, order.side, order.price, open_qty, _REST)
        return
    key = key_of_price(order.price, order.side)
    index = append_order(block, order.side, key, order.order_id, open_qty, order.tif)
    if rules.total:
        block.filled[np.uint64(index)] = filled
    if rules.self_trade != _NO_PREVENTION:
        block.owners[np.uint64(index)] = order.owner
