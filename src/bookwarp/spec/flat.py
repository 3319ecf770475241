"""Flat rows: orders of 64 bytes and trades of 80 bytes, little-endian, and the books they rest in.

Append only: a code never changes its meaning.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np


class FlatSide(IntEnum):
    """Side of an order in a flat row."""

    BID = 0
    ASK = 1


class FlatType(IntEnum):
    """What an order asks for."""

    LIMIT = 0
    """What does not trade at once rests."""
    MARKET = 1
    """It takes any price; what does not trade at once is cancelled. Its price is not looked at."""
    IOC = 2
    """As a limit, but what does not trade at once is cancelled."""
    FOK = 3
    """As a limit, but it trades whole or is cancelled whole."""


class FlatStatus(IntEnum):
    """What has become of an order."""

    OPEN = 0
    """Nothing of it has traded."""
    PARTIAL = 1
    """A part has traded, the rest is open."""
    FILLED = 2
    CANCELLED = 3
    """What remains will not trade; a part may have traded before."""


FLAT_ORDER = np.dtype(
    [
        ("order_id", "<u8"),
        ("user_id", "<u8"),
        ("price_integer", "<u8"),
        ("price_fraction", "<u8"),
        ("quantity", "<u8"),
        ("remaining", "<u8"),
        ("timestamp", "<u8"),
        ("side", "u1"),
        ("type", "u1"),
        ("status", "u1"),
        ("reserved", "u1", (5,)),
    ]
)
"""One order, 64 bytes.

The price is `price_integer` + `price_fraction` / 2**64 (Q64.64); `quantity` and `remaining` are
lots; `timestamp` is in ns; `side`, `type` and `status` are codes of the enums above; `reserved` is
zero. Nothing asks ids to differ: an order is told by where it is.
"""

FLAT_TRADE = np.dtype(
    [
        ("trade_id", "<u8"),
        ("maker_order", "<u8"),
        ("taker_order", "<u8"),
        ("maker_user", "<u8"),
        ("taker_user", "<u8"),
        ("price_integer", "<u8"),
        ("price_fraction", "<u8"),
        ("quantity", "<u8"),
        ("timestamp", "<u8"),
        ("taker_side", "u1"),
        ("reserved", "u1", (7,)),
    ]
)
"""One trade, 80 bytes.

Its price is the maker's; its timestamp and `taker_side` are the taker's; `reserved` is zero.
"""

DEFAULT_TILE = 65_536
"""Books that are matched at a time."""


@dataclass(frozen=True, eq=False)
class FlatState:
    """All that rests in books of flat rows between two blocks."""

    orders: np.ndarray
    """`FLAT_ORDER` [order]: by book; in a book bids, then asks; in a side best price first; in a
    price the order that trades first, first."""
    order_offsets: np.ndarray
    """int64 [book + 1]: the orders of a book are `orders[offsets[book] : offsets[book + 1]]`."""

    @property
    def books(self) -> int:
        """How many books there are."""
        return len(self.order_offsets) - 1

    def of_book(self, book: int) -> np.ndarray:
        """Return the orders that rest in a book, `FLAT_ORDER` [order]."""
        first, stop = self.order_offsets[book : book + 2]
        return self.orders[first:stop]


def empty_flat_state(books: int) -> FlatState:
    """Return books in which nothing rests."""
    return FlatState(np.zeros(0, FLAT_ORDER), np.zeros(books + 1, np.int64))
