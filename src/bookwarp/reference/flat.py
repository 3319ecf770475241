"""Books of flat rows in plain Python, from their bytes: the rules, one a function.

It knows nothing of the matcher for messages, nor of NumPy: what it is compared with uses both.
"""

import struct
from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, field

from bookwarp.spec.flat import FlatSide, FlatStatus, FlatType

_ORDER = struct.Struct("<7Q3B5x")
_TRADE = struct.Struct("<9QB7x")


@dataclass
class FlatOrder:
    """An order, as its 64 bytes say."""

    order_id: int
    user_id: int
    price_integer: int
    price_fraction: int
    quantity: int
    remaining: int
    timestamp: int
    side: int
    type: int
    status: int

    @classmethod
    def of(cls, row: bytes) -> "FlatOrder":
        """Read 64 bytes."""
        return cls(*_ORDER.unpack(row))

    @property
    def price(self) -> int:
        """The price, in units of 2**-64."""
        return self.price_integer << 64 | self.price_fraction

    def to_bytes(self) -> bytes:
        """Return its 64 bytes."""
        return _ORDER.pack(
            *(self.order_id, self.user_id, self.price_integer, self.price_fraction),
            *(self.quantity, self.remaining, self.timestamp, self.side, self.type, self.status),
        )


@dataclass
class FlatBook:
    """A book: the bids and the asks that rest in it, each with the one that trades first, first."""

    bids: list[FlatOrder] = field(default_factory=list)
    asks: list[FlatOrder] = field(default_factory=list)

    def side(self, side: int) -> list[FlatOrder]:
        """Return the orders of a side."""
        return self.bids if side == FlatSide.BID else self.asks

    def opposite(self, side: int) -> list[FlatOrder]:
        """Return the orders that one of `side` trades with."""
        return self.asks if side == FlatSide.BID else self.bids

    def rows(self) -> bytes:
        """Return what rests: the bids, then the asks."""
        return b"".join(order.to_bytes() for order in self.bids + self.asks)


def match_flat(
    orders: bytes, book: Sequence[int], resting: Sequence[bytes], base_trade_id: int
) -> tuple[bytes, bytes, list[bytes]]:
    """Match orders on many books, in the order of arrival.

    Args:
        orders: rows of 64 bytes.
        book: of each order, its book.
        resting: of each book, the rows that rest in it: bids, then asks, by priority.
        base_trade_id: the number of the first trade.

    Returns:
        The orders as they are after the last one; the trades, rows of 80 bytes, by the taker's
        arrival and then in the order in which they happened; what rests in each book.
    """
    books = [read_book(rows) for rows in resting]
    arrived = [FlatOrder.of(orders[at : at + 64]) for at in range(0, len(orders), 64)]
    trades: list[bytes] = []
    for order, number in zip(arrived, book, strict=True):
        # The trades of an order are numbered from what all before it have come to.
        trades += enter_order(books[number], order, base_trade_id + len(trades))
    rows = b"".join(order.to_bytes() for order in arrived)
    return rows, b"".join(trades), [each.rows() for each in books]


def read_book(rows: bytes) -> FlatBook:
    """Return the book in which these orders rest."""
    book = FlatBook()
    for at in range(0, len(rows), 64):
        order = FlatOrder.of(rows[at : at + 64])
        book.side(order.side).append(order)
    return book


def enter_order(book: FlatBook, order: FlatOrder, base_trade_id: int) -> list[bytes]:
    """Let an order trade, and let its rest be what its type says; return its trades."""
    if order.type == FlatType.FOK and not can_fill_whole(book, order):
        order.status = FlatStatus.CANCELLED
        return []
    trades: list[bytes] = []
    while order.remaining and crosses(book, order):
        maker = book.opposite(order.side)[0]
        lots = min(order.remaining, maker.remaining)
        trades.append(trade_row(base_trade_id + len(trades), maker, order, lots))
        for each in (order, maker):
            each.remaining -= lots
            each.status = FlatStatus.PARTIAL if each.remaining else FlatStatus.FILLED
        if not maker.remaining:
            book.opposite(order.side).pop(0)
    if order.remaining:
        place_rest(book, order)
    return trades


def crosses(book: FlatBook, order: FlatOrder) -> bool:
    """Return whether an order may trade with the best of the other side."""
    others = book.opposite(order.side)
    return bool(others) and reaches(order, others[0].price)


def reaches(order: FlatOrder, price: int) -> bool:
    """Return whether an order may trade at a price."""
    if order.type == FlatType.MARKET:
        return True
    return order.price >= price if order.side == FlatSide.BID else order.price <= price


def can_fill_whole(book: FlatBook, order: FlatOrder) -> bool:
    """Return whether all that remains of an order would trade."""
    others = book.opposite(order.side)
    return sum(o.remaining for o in others if reaches(order, o.price)) >= order.remaining


def place_rest(book: FlatBook, order: FlatOrder) -> None:
    """Let what remains of a limit order rest behind all others at its price; cancel any other's."""
    if order.type != FlatType.LIMIT:
        order.status = FlatStatus.CANCELLED
        return
    sign = -1 if order.side == FlatSide.BID else 1
    insort(book.side(order.side), order, key=lambda each: sign * each.price)


def trade_row(trade_id: int, maker: FlatOrder, taker: FlatOrder, lots: int) -> bytes:
    """Return a trade, 80 bytes: at the maker's price, with the taker's timestamp and side."""
    return _TRADE.pack(
        *(trade_id, maker.order_id, taker.order_id, maker.user_id, taker.user_id),
        *(maker.price_integer, maker.price_fraction, lots, taker.timestamp, taker.side),
    )
