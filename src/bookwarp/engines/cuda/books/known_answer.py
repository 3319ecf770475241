"""A stream whose outcome is known: what the kernels say of it before they are trusted.

Kernels are compiled on the machine that they run on, by the compiler that is there, and a compiler
can be wrong: that of CUDA 13.0 lost a sign in one of them. So each is asked once, in a few
milliseconds, and an engine that answers otherwise is not made.
"""

import hashlib

import numpy as np

from bookwarp.spec.book_rules import INT64_MAX, INT64_MIN, MAX_CAPACITY, BookRules
from bookwarp.spec.book_state import BookState
from bookwarp.spec.codes import Side
from bookwarp.spec.events import Matched
from bookwarp.spec.orders import ORDER, Kind, Op, TimeInForce

BOOKS = 3
MESSAGES = 600
KNOWN_ANSWERS = {
    False: "eeac4e4e9f7380795fc01ef05527eff952e2e64983e88c7d991fe348e0c0a1b6",
    True: "e79f6ef6e594738e2feaeab8f0c1d07bd3b7bebc5ae82bc708eb739157024e5f",
}
"""Whether rules track what is filled -> what `answer_of` is then. By the reference engine."""

_MULTIPLIER, _INCREMENT = 1_103_515_245, 12_345
_MIDDLE, _TICKS, _LOTS = 1_000, 8, 50
_LIVE = 40
"""Orders back of which one is cancelled, so that most are live and some are not."""


def known_stream() -> np.ndarray:
    """Return messages of every kind to a few books, `ORDER` [message].

    What follows from them is the same under all rules of `known_rules`: no order has an owner, and
    those that are modified have not traded, and get another price.
    """
    state = 1
    orders = np.zeros(MESSAGES, ORDER)
    for index, order in enumerate(orders):
        state = (_MULTIPLIER * state + _INCREMENT) % 2**31
        draws = state >> 8
        side = Side.BUY if draws & 1 else Side.SELL
        crosses, what, away = draws >> 1 & 3, draws >> 4 & 15, draws >> 8 & (_TICKS - 1)
        order["book"], order["order_id"] = index % BOOKS, index
        order["side"], order["qty"] = side, 1 + draws % _LOTS
        order["price"] = _MIDDLE + side * (away if crosses == 0 else -1 - away)
        if what < 4 and index > _LIVE:
            order["op"], order["order_id"] = Op.CANCEL, index - BOOKS * (1 + draws % _LIVE // BOOKS)
        elif what == 4 and index > BOOKS and orders["op"][index - BOOKS] == Op.NEW:
            _modify_the_one_before(order, orders[index - BOOKS])
        elif crosses == 0:
            order["tif"] = (TimeInForce.GTC, TimeInForce.IOC, TimeInForce.FOK)[(draws >> 11) % 3]
            order["kind"] = Kind.MARKET if draws >> 12 & 3 == 0 else Kind.LIMIT
        elif what == 5:
            order["tif"] = TimeInForce.POST_ONLY
    return orders


def _modify_the_one_before(order: np.void, before: np.void) -> None:
    """Move an order that can have traded with nothing farther from the middle, if it is one."""
    order["op"], order["order_id"] = Op.MODIFY, before["order_id"]
    order["price"] = int(before["price"]) - 3 * int(before["side"])
    order["qty"] = 7


def known_rules(rules: BookRules) -> BookRules:
    """Return rules that the same kernels are compiled for, under which the answer is known."""
    return BookRules(
        modify=rules.modify,
        qty=rules.qty,
        stp=rules.stp,
        level_capacity=None if rules.level_capacity is None else MAX_CAPACITY,
        price_low=INT64_MIN,
        price_high=INT64_MAX,
    )


def answer_of(matched: Matched, state: BookState) -> str:
    """Return what stands for an outcome, 64 hexadecimal digits."""
    assert matched.events is not None
    assert matched.event_offsets is not None
    hasher = hashlib.sha256(np.ascontiguousarray(matched.events).data)
    hasher.update(np.ascontiguousarray(matched.event_offsets, "<i8").data)
    hasher.update(state.digest(b"").encode())
    return hasher.hexdigest()
