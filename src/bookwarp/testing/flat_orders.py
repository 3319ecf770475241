"""Blocks of flat orders: drawn by Hypothesis, or long and random.

Both know few prices, which lie at the ends of their 128 bits and around a carry from fraction to
integer part, so that orders meet; and few order ids, which are not unique.
"""

from dataclasses import dataclass

import numpy as np

from bookwarp.spec.flat import FLAT_ORDER, FlatSide, FlatStatus, FlatType

try:
    from hypothesis import strategies as st
except ImportError as error:
    raise ImportError(
        "bookwarp.testing.flat_orders needs hypothesis: pip install hypothesis"
    ) from error

_MAX = 2**64 - 1
_PRICES = (
    *((0, 0), (0, 1), (0, _MAX), (1, 0), (1, 1), (99, 2**63), (100, 0), (100, 2**63)),
    *((100, _MAX), (101, 0), (2**63, 5), (_MAX, 0), (_MAX, _MAX)),
)


@dataclass(frozen=True, eq=False)
class FlatOrders:
    """A block of orders for some books."""

    orders: np.ndarray
    """`FLAT_ORDER` [order]."""
    book: np.ndarray
    """int64 [order]."""
    books: int


@st.composite
def flat_blocks(draw: st.DrawFn, max_blocks: int = 3, max_orders: int = 40) -> list[FlatOrders]:
    """Draw blocks of orders for the same books."""
    books = draw(st.integers(1, 4))
    blocks = st.lists(_orders(books, max_orders), min_size=1, max_size=max_blocks)
    return [_block(rows, books) for rows in draw(blocks)]


def _orders(books: int, most: int) -> st.SearchStrategy[list[tuple[int, ...]]]:
    """Draw rows of order id, user, price, its fraction, lots, traded, side, type and book."""
    row = st.tuples(
        st.integers(0, 5),
        st.sampled_from((0, 1, _MAX)),
        st.sampled_from(_PRICES),
        st.integers(1, 9) | st.integers(1, 2**57),
        st.sampled_from((0, 0, 0, 1, 3)),
        st.sampled_from(FlatSide),
        st.sampled_from((FlatType.LIMIT, FlatType.LIMIT, *FlatType)),
        st.integers(0, books - 1),
    )
    return st.lists(row, max_size=most)


def _block(rows: list[tuple[int, ...]], books: int) -> FlatOrders:
    orders = np.zeros(len(rows), FLAT_ORDER)
    for order, row in zip(orders, rows, strict=True):
        order["order_id"], order["user_id"], price, order["quantity"] = row[:4]
        order["price_integer"], order["price_fraction"] = price  # type: ignore[misc]
        order["side"], order["type"] = row[5:7]
        _trade_before(order, row[4])
    orders["timestamp"] = np.arange(len(rows)) * 7
    return FlatOrders(orders, np.array([row[7] for row in rows], np.int64), books)


def _trade_before(order: np.void, lots: int) -> None:
    """Let some lots of an order have traded before it comes in, if more are left."""
    order["remaining"] = order["quantity"]
    if 0 < lots < order["quantity"]:
        order["remaining"] -= np.uint64(lots)
        order["status"] = FlatStatus.PARTIAL


def random_flat_orders(
    orders: int, books: int, seed: int, *, ids: int = 2**64 - 1, marketable: float = 0.4
) -> FlatOrders:
    """Return a long random block.

    Args:
        orders: how many there are.
        books: how many there are; each order is for one at random.
        seed: of the block.
        ids: order ids are below.
        marketable: share of the limits that reach beyond the middle.
    """
    random = np.random.default_rng(seed)
    rows = np.zeros(orders, FLAT_ORDER)
    for name, high in (("order_id", ids), ("user_id", _MAX), ("timestamp", _MAX)):
        rows[name] = random.integers(0, high, orders, np.uint64)
    side = random.integers(0, 2, orders)
    away = random.integers(1, 12, orders)
    away = np.where(random.random(orders) < marketable, 1 - away, away)
    # In eighths, around a middle that is an integer.
    eighths = 8 * 10_000 + np.where(side == FlatSide.BID, -away, away)
    rows["price_integer"] = eighths // 8
    rows["price_fraction"] = (eighths % 8).astype(np.uint64) << np.uint64(61)
    rows["side"] = side
    rows["type"] = random.choice(len(FlatType), orders, p=[0.8, 0.05, 0.1, 0.05])
    rows["quantity"] = rows["remaining"] = random.integers(1, 20, orders)
    return FlatOrders(rows, random.integers(0, books, orders), books)
