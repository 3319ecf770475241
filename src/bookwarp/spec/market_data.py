"""Market data: what a venue says happened, row by row, and what can be odd about it.

Append only: a code never changes its meaning.
"""

from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import NamedTuple

import numpy as np

NO_BOOK = -1
"""Book of a row that belongs to none, such as the start of a session."""


class MarketEvent(IntEnum):
    """What a row of market data says."""

    OTHER = 0
    """Nothing about a book."""
    ADD = 1
    """An order rests from now on, at the end of the queue of its price."""
    REDUCE = 2
    """`qty` of an order was cancelled; the rest keeps its place."""
    DELETE = 3
    """All that was open of an order was cancelled."""
    EXECUTE = 4
    """`qty` of a resting order traded at its price."""
    EXECUTE_AT = 5
    """`qty` of a resting order traded at `price`, which need not be its own."""
    REPLACE = 6
    """An order left; `new_id` took over its side, with `price` and `qty`, at the end."""
    CHANGE = 7
    """An order has `qty` open and `price` from now on: see docs/replay.md for its place."""
    HIDDEN = 8
    """A trade against an order that the book does not show."""
    CROSS = 9
    """A trade of an auction."""
    BROKEN = 10
    """An earlier trade was broken."""
    HALT = 11
    """Trading stopped."""
    RESUME = 12
    """Trading, or quoting, began or went on."""


TAKES_FROM_ORDER = (
    MarketEvent.REDUCE,
    MarketEvent.DELETE,
    MarketEvent.EXECUTE,
    MarketEvent.EXECUTE_AT,
)
EXECUTIONS = (MarketEvent.EXECUTE, MarketEvent.EXECUTE_AT)


class Oddity(IntFlag):
    """What was odd about a row, as bits; nothing of it stops a replay.

    `ODDITIES` says for each what is then done.
    """

    UNKNOWN_REDUCE = 1 << 0
    UNKNOWN_DELETE = 1 << 1
    UNKNOWN_EXECUTE = 1 << 2
    UNKNOWN_REPLACE = 1 << 3
    UNKNOWN_CHANGE = 1 << 4
    OPENING_DEPTH = 1 << 5
    DUPLICATE_ID = 1 << 6
    BAD_QTY = 1 << 7
    TOO_MUCH = 1 << 8
    WRONG_QTY = 1 << 9
    WRONG_PRICE = 1 << 10
    OFF_FRONT = 1 << 11
    OFF_FRONT_BY_ID = 1 << 12
    OFF_BEST = 1 << 13
    OLD_ORDER = 1 << 14
    LOCKED = 1 << 15
    CROSSED = 1 << 16
    HIDDEN = 1 << 17
    CROSS = 1 << 18
    BROKEN = 1 << 19
    HALT = 1 << 20
    TIME_BACK = 1 << 21
    TIME_ROUNDED = 1 << 22
    GAP = 1 << 23
    UNPRINTED = 1 << 24
    UNKNOWN_TYPE = 1 << 25


ODDITIES: dict[Oddity, str] = {
    Oddity.UNKNOWN_REDUCE: "reduces an id that is not live; no order is changed",
    Oddity.UNKNOWN_DELETE: "deletes an id that is not live; no order is changed",
    Oddity.UNKNOWN_EXECUTE: "executes an id that is not live; no order is changed",
    Oddity.UNKNOWN_REPLACE: "replaces an id that is not live; the new is added if its side is said",
    Oddity.UNKNOWN_CHANGE: "changes an id that is not live; it is added if side and price are said",
    Oddity.OPENING_DEPTH: "an id that is not live, taken from the depth that the book opened with",
    Oddity.DUPLICATE_ID: "adds an id that is live; the earlier order is taken out",
    Oddity.BAD_QTY: "a quantity below 1, or more than a level holds; no order is added or reduced",
    Oddity.TOO_MUCH: "takes more than is open; all that is open is taken",
    Oddity.WRONG_QTY: "deletes with another quantity than is open; all that is open is taken",
    Oddity.WRONG_PRICE: "says another price or side than the order has; those of the order hold",
    Oddity.OFF_FRONT: "executes an order that is not the first of its price, by row",
    Oddity.OFF_FRONT_BY_ID: "executes an order that has not the lowest id of its price",
    Oddity.OFF_BEST: "executes an order at another price than the best",
    Oddity.OLD_ORDER: "adds an id below one that was added before: an old order comes into view",
    Oddity.LOCKED: "after the row the best bid is the best ask",
    Oddity.CROSSED: "after the row the best bid is above the best ask",
    Oddity.HIDDEN: "a trade against a hidden order; no book is changed",
    Oddity.CROSS: "a trade of an auction; no book is changed",
    Oddity.BROKEN: "a broken trade; no book is changed",
    Oddity.HALT: "trading stops; no book is changed",
    Oddity.TIME_BACK: "its time is before that of the row before it",
    Oddity.TIME_ROUNDED: "its time is finer than a nanosecond and was rounded to the nearest",
    Oddity.GAP: "its sequence number is not the next one",
    Oddity.UNPRINTED: "an execution that is not to be counted as volume",
    Oddity.UNKNOWN_TYPE: "a message of a type that is not known; no book is changed",
}

UNKNOWN_IDS = (
    Oddity.UNKNOWN_REDUCE
    | Oddity.UNKNOWN_DELETE
    | Oddity.UNKNOWN_EXECUTE
    | Oddity.UNKNOWN_REPLACE
    | Oddity.UNKNOWN_CHANGE
)


class MarketRows(NamedTuple):
    """Rows of market data, a column an array [row].

    A reader fills them, but for `open_qty`, `old_price` and `old_qty`, which are 0. `apply` of the
    books fills those, writes into `side`, `price` and `qty` what the row left to the order that it
    names, and adds bits to `oddity`.
    """

    time_ns: np.ndarray
    """int64 [ns] since midnight, or since whatever the data count from."""
    book: np.ndarray
    """int32, or `NO_BOOK`."""
    event: np.ndarray
    """int8, a `MarketEvent`."""
    source: np.ndarray
    """uint8, the type as the data write it: 1 to 7 of LOBSTER, the letter of ITCH."""
    order_id: np.ndarray
    """uint64; 0 if there is none."""
    new_id: np.ndarray
    """uint64, of `REPLACE`; else 0."""
    side: np.ndarray
    """int8, a `Side`, of the resting order; 0 if not said."""
    price: np.ndarray
    """int64 [tick]; `NO_PRICE` if not said."""
    qty: np.ndarray
    """int64 [lot]; 0 if not said."""
    open_qty: np.ndarray
    """int64 [lot], open of the order (of `new_id`, if replaced) after the row."""
    old_price: np.ndarray
    """int64 [tick], of an order that was replaced or changed: its price before; else 0."""
    old_qty: np.ndarray
    """int64 [lot], of such an order: what was open of it before; else 0."""
    oddity: np.ndarray
    """uint32, bits of `Oddity`."""

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        return len(self.time_ns)

    def cut(self, first: int, stop: int) -> "MarketRows":
        """Return the rows `first` .. `stop`, half-open, as views."""
        return MarketRows(*(column[first:stop] for column in self))


RESTING_ORDER = np.dtype([("order_id", "<u8"), ("price", "<i8"), ("qty", "<i8")])
"""A live order: `price` [tick], `qty` open [lot]."""

ROW_DTYPES = {
    "time_ns": np.dtype(np.int64),
    "book": np.dtype(np.int32),
    "event": np.dtype(np.int8),
    "source": np.dtype(np.uint8),
    "order_id": np.dtype(np.uint64),
    "new_id": np.dtype(np.uint64),
    "side": np.dtype(np.int8),
    "price": np.dtype(np.int64),
    "qty": np.dtype(np.int64),
    "open_qty": np.dtype(np.int64),
    "old_price": np.dtype(np.int64),
    "old_qty": np.dtype(np.int64),
    "oddity": np.dtype(np.uint32),
}


def allocate_rows(count: int) -> MarketRows:
    """Return `count` rows of zeros."""
    return MarketRows(*(np.zeros(count, dtype) for dtype in ROW_DTYPES.values()))


@dataclass(frozen=True, eq=False)
class ReplayBlock:
    """Some rows of market data, applied, and their books."""

    first_row: int
    """How many rows came before."""
    rows: MarketRows
    levels: np.ndarray
    """int64 [row, level, LEVEL_COLUMNS]: the row's book after it."""

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(column.nbytes for column in self.rows) + self.levels.nbytes


def event_names() -> list[str]:
    """Return the name of each `MarketEvent` in small letters, by its code."""
    return [event.name.lower() for event in MarketEvent]
