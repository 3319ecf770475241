"""Streams of messages to continuous books: drawn by Hypothesis, or long and random.

Both know few ids, prices and owners, so that orders meet, and the ends of every type.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bookwarp.spec.book_rules import BookRules, ModifyRule, QtyMeaning, SelfTrade
from bookwarp.spec.codes import Side
from bookwarp.spec.orders import ORDER, Kind, Op, TimeInForce

try:
    from hypothesis import strategies as st
except ImportError as error:
    raise ImportError(
        "bookwarp.testing.order_streams needs hypothesis: pip install hypothesis"
    ) from error

_MAX, _MIN = 2**63 - 1, -(2**63)
_IDS = (*range(8), 2**32, 2**32 + 1, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1)
_PRICES = (*range(-2, 4), _MIN, _MIN + 1, _MAX - 1, _MAX)
_QTYS = (*range(1, 10), 0, -1, _MIN, _MAX - 1, _MAX)


@dataclass(frozen=True, eq=False)
class OrderStream:
    """Messages, who sent them, and the books that they are for."""

    orders: np.ndarray
    """`ORDER` [message]."""
    owners: np.ndarray
    """uint64 [message]."""
    books: int
    rules: BookRules


@st.composite
def book_rules(draw: st.DrawFn) -> BookRules:
    """Draw rules; most books have room for all, and some for few orders and levels."""
    capacities = st.one_of(st.none(), st.integers(1, 6))
    low, high = draw(st.sampled_from([(_MIN, _MAX), (-1, 2), (_MIN, 1), (0, _MAX)]))
    return BookRules(
        modify=draw(st.sampled_from(ModifyRule)),
        qty=draw(st.sampled_from(QtyMeaning)),
        stp=draw(st.sampled_from(SelfTrade)),
        order_capacity=draw(capacities),
        level_capacity=draw(capacities),
        price_low=low,
        price_high=high,
    )


@st.composite
def order_streams(draw: st.DrawFn, max_messages: int = 60, max_books: int = 4) -> OrderStream:
    """Draw a stream: messages of every kind, nearly all of which mean something to a book."""
    books = draw(st.integers(1, max_books))
    rows = draw(st.lists(_messages(books), max_size=max_messages))
    orders = np.array([row[:-1] for row in rows], ORDER)
    owners = np.array([row[-1] for row in rows], np.uint64)
    return OrderStream(orders, owners, books, draw(book_rules()))


def _messages(books: int) -> st.SearchStrategy[tuple[Any, ...]]:
    """Draw a row of `ORDER`, and an owner."""
    few = st.one_of(st.integers(0, 5), st.integers(0, 5), st.sampled_from(_IDS))
    near = st.one_of(st.integers(-1, 2), st.integers(-1, 2), st.sampled_from(_PRICES))
    small = st.one_of(st.integers(1, 9), st.integers(1, 9), st.sampled_from(_QTYS))
    return st.tuples(
        few,
        near,
        small,
        st.integers(0, books - 1),
        st.sampled_from([Op.NEW, Op.NEW, Op.NEW, Op.MODIFY, Op.CANCEL]),
        st.sampled_from(Side),
        st.sampled_from([Kind.LIMIT, Kind.LIMIT, Kind.LIMIT, Kind.MARKET]),
        st.sampled_from([TimeInForce.GTC, TimeInForce.GTC, *TimeInForce]),
        st.sampled_from([0, 1, 2, 2**64 - 1]),
    )


def random_orders(
    messages: int,
    books: int,
    seed: int,
    *,
    live: int = 100,
    spread: int = 20,
    marketable: float = 0.15,
) -> OrderStream:
    """Return a long random stream, about half new orders, whose books hold some orders each.

    Args:
        messages: how many there are.
        books: how many there are; each message is for one at random.
        seed: of the stream.
        live: ids are taken from as many a book.
        spread: prices are this far from the middle at most, on both sides [tick].
        marketable: share of the new orders that are for any price, or on the other side.
    """
    random = np.random.default_rng(seed)
    orders = np.zeros(messages, ORDER)
    orders["book"] = random.integers(0, books, messages)
    orders["order_id"] = random.integers(0, live, messages, np.uint64) * np.uint64(2**61 + 7)
    orders["op"] = random.choice([Op.NEW, Op.CANCEL, Op.MODIFY], messages, p=[0.55, 0.35, 0.1])
    side = random.choice([Side.BUY, Side.SELL], messages).astype(np.int64)
    away = random.integers(1, spread + 1, messages)
    away = np.where(random.random(messages) < marketable, 1 - away, away)
    orders["side"] = side
    orders["price"] = 10_000 - side * away
    orders["qty"] = random.integers(1, 20, messages)
    kinds, times = random.random(messages), random.random(messages)
    orders["kind"] = np.where(kinds < 0.03, Kind.MARKET, Kind.LIMIT)
    orders["tif"] = np.select(
        [times < 0.85, times < 0.92, times < 0.96],
        [TimeInForce.GTC, TimeInForce.IOC, TimeInForce.FOK],
        TimeInForce.POST_ONLY,
    )
    owners = random.integers(0, 6, messages).astype(np.uint64)
    return OrderStream(orders, owners, books, BookRules())
