"""One matcher for all layouts: limit orders, GTC or IOC; every modification leaves and comes in.

What differs is how a book finds an order by its id and the first at the best price, and how it
takes one in and out; these are the functions of a `Layout`. An order is a slot, an index from 0.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from bookwarp.spec.codes import Side
from bookwarp.spec.events import EventType, Reason
from bookwarp.spec.orders import Op, TimeInForce

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
_BUY, _GTC = int(Side.BUY), int(TimeInForce.GTC)
_NEW, _CANCEL = int(Op.NEW), int(Op.CANCEL)
_ACCEPTED, _TRADE = int(EventType.ACCEPTED), int(EventType.TRADE)
_CANCELLED, _MODIFIED = int(EventType.CANCELLED), int(EventType.MODIFIED)
_REJECTED, _NO_REASON = int(EventType.REJECTED), int(Reason.NONE)
_UNKNOWN_ID, _REST = int(Reason.UNKNOWN_ID), int(Reason.REST)
_REQUESTED = int(Reason.REQUESTED)
NO_SLOT = -1


class Layout(NamedTuple):
    """How a book is kept; `book` is what `make_book` returns, with `orders.qty` and `.side`."""

    make_book: Callable[[int], Any]
    """(orders that may rest at once) -> the arrays of an empty book."""
    find: Any
    """(book, order_id) -> slot, or `NO_SLOT`."""
    front: Any
    """(book, side) -> the slot that trades first on a side, 0 for bids, or `NO_SLOT`."""
    price_of: Any
    """(book, slot) -> price."""
    id_of: Any
    """(book, slot) -> order id."""
    append: Any
    """(book, side, price, order_id, qty), behind all others at that price."""
    remove: Any
    """(book, slot)."""


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a function into those that call it."""
    return njit(**OPTIONS, forceinline=True)(function)


@inlined
def write_event(events, written, row, op, event_type, order_id, side, price, qty, reason):
    """Write an event, and return how many there are."""
    event = events[written]
    event.order_id, event.price, event.qty = order_id, price, qty
    event.message, event.op = row, op
    event.type, event.side, event.reason = event_type, side, reason
    return written + 1


def build_match(layout: Layout) -> Any:
    """Compile `match(book, orders, events)`, which returns how many events it wrote.

    `orders` is `ORDER` [message], whose new ids are not live; `events` is `EVENT` [event].
    """
    find, front, append, remove = layout.find, layout.front, layout.append, layout.remove
    price_of, id_of = layout.price_of, layout.id_of

    @njit(**OPTIONS)
    def match(book, orders, events):
        n = 0  # events written
        for row in range(len(orders)):
            message = orders[row]
            order_id, op, price, qty = message.order_id, message.op, message.price, message.qty
            side = np.int64(0) if message.side == _BUY else np.int64(1)
            rests = message.tif == _GTC
            slot = find(book, order_id)
            if op == _NEW:
                sign = 1 - 2 * side
                n = write_event(
                    events, n, row, op, _ACCEPTED, order_id, sign, price, qty, _NO_REASON
                )
            elif slot == NO_SLOT:
                if op == _CANCEL:
                    price = qty = np.int64(0)
                n = write_event(events, n, row, op, _REJECTED, order_id, 0, price, qty, _UNKNOWN_ID)
                continue
            else:
                side, rests = np.int64(book.orders.side[slot]), True
                kind, reason = _MODIFIED, _NO_REASON
                if op == _CANCEL:
                    price, qty = price_of(book, slot), book.orders.qty[slot]
                    kind, reason = _CANCELLED, _REQUESTED
                n = write_event(
                    events, n, row, op, kind, order_id, 1 - 2 * side, price, qty, reason
                )
                remove(book, slot)
                if op == _CANCEL:
                    continue
            while qty > 0:
                slot = front(book, 1 - side)
                if slot == NO_SLOT:
                    break
                there, rest = price_of(book, slot), book.orders.qty[slot]
                if there > price if side == 0 else there < price:
                    break
                maker, lots, sign = id_of(book, slot), min(qty, rest), 1 - 2 * side
                n = write_event(events, n, row, op, _TRADE, maker, sign, there, lots, _NO_REASON)
                qty -= lots
                if lots == rest:
                    remove(book, slot)
                else:
                    book.orders.qty[slot] = rest - lots
            if qty > 0 and rests:
                append(book, side, price, order_id, qty)
            elif qty > 0:
                sign = 1 - 2 * side
                n = write_event(events, n, row, op, _CANCELLED, order_id, sign, price, qty, _REST)
        return n

    return match
