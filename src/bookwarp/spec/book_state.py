"""The state of continuous books between two messages, the same for every engine."""

import hashlib
import struct
from dataclasses import dataclass

import numpy as np

from bookwarp.spec.events import Counter

RESTING = np.dtype(
    [
        ("order_id", "<u8"),
        ("price", "<i8"),
        ("qty", "<i8"),
        ("filled", "<i8"),
        ("owner", "<u8"),
        ("book", "<u4"),
        ("side", "i1"),
        ("tif", "u1"),
        ("reserved", "<u2"),
    ],
    align=True,
)
"""One resting order (level 3), 48 bytes without a gap.

`qty` is open [lot]; `filled` has traded since the order was accepted [lot], counted only if
`BookRules.tracks_filled`, else 0; `owner` is kept only if `BookRules.tracks_owner`, else 0; `tif`
is GTC or POST_ONLY, which an order keeps; `reserved` is 0.
"""

_BOOKS_HEADER = b"bookwarp continuous books 1\n"


@dataclass(frozen=True, eq=False)
class BookState:
    """All that matters of the books for what comes; moves between engines."""

    orders: np.ndarray
    """`RESTING` [order]: by book; in a book bids, then asks; in a side best price first; in a price
    the order that trades first, first."""
    order_offsets: np.ndarray
    """int64 [book + 1]: the orders of a book are `orders[offsets[book] : offsets[book + 1]]`."""
    counters: np.ndarray
    """int64 [book, `Counter`]."""
    flags: np.ndarray
    """uint32 [book], bits of `Flag`."""

    @property
    def books(self) -> int:
        """How many books there are."""
        return len(self.flags)

    def digest(self, event_digest: bytes) -> str:
        """Return the SHA-256 of books and events as 64 hexadecimal digits.

        Hashed are a header line, `event_digest`, the number of books as little-endian int64, then
        flags, counters, order offsets and orders, each as it lies in memory, little-endian.

        Args:
            event_digest: `EventDigest.value()` of all events that led here.
        """
        hasher = hashlib.sha256(_BOOKS_HEADER)
        hasher.update(event_digest)
        hasher.update(struct.pack("<q", self.books))
        hasher.update(np.ascontiguousarray(self.flags, "<u4").data)
        hasher.update(np.ascontiguousarray(self.counters, "<i8").data)
        hasher.update(np.ascontiguousarray(self.order_offsets, "<i8").data)
        hasher.update(np.ascontiguousarray(self.orders, RESTING).data)
        return hasher.hexdigest()


def empty_state(books: int) -> BookState:
    """Return the state of books that never got a message."""
    return BookState(
        orders=np.zeros(0, RESTING),
        order_offsets=np.zeros(books + 1, np.int64),
        counters=np.zeros((books, len(Counter)), np.int64),
        flags=np.zeros(books, np.uint32),
    )
