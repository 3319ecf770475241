"""What happens in continuous books: codes, the record that engines write, and the full row.

Append only: a code never changes its meaning.
"""

from dataclasses import dataclass
from enum import IntEnum, IntFlag

import numpy as np


class EventType(IntEnum):
    """What happened."""

    ACCEPTED = 0
    TRADE = 1
    CANCELLED = 2
    MODIFIED = 3
    REJECTED = 4


class Reason(IntEnum):
    """Why a message was rejected (below 16), or an order cancelled (from 16 on)."""

    NONE = 0
    DUPLICATE_ID = 1
    """NEW: an order of that id is live in the book."""
    UNKNOWN_ID = 2
    """CANCEL, MODIFY: no order of that id is live in the book."""
    QTY = 3
    """NEW, MODIFY: qty <= 0; if qty means total, nothing would be left open."""
    PRICE = 4
    """NEW with a limit, MODIFY: the price is outside the book's range."""
    POST_ONLY = 5
    """The order would trade."""
    BOOK_FULL = 6
    """There is no room for an order that would rest; the book's flags say of what."""
    REQUESTED = 16
    """By a CANCEL."""
    REST = 17
    """What an IOC or market order left."""
    FILL_OR_KILL = 18
    """A FOK that could not trade whole."""
    SELF_TRADE = 19
    """It met an order of the same owner."""


REJECT_REASONS = tuple(reason for reason in Reason if Reason.NONE < reason < Reason.REQUESTED)


class Counter(IntEnum):
    """Columns of the counters of a book, int64 [book, counter], since the book was made."""

    MESSAGES = 0
    ACCEPTED = 1
    """Orders accepted."""
    MODIFIED = 2
    """Modifications done."""
    CANCELLED = 3
    """Orders cancelled, whole or what was left of them, for any reason."""
    TRADES = 4
    LOTS = 5
    """Lots traded; from 2**63 on it wraps round, and `Flag.LOTS_WRAPPED` is set."""
    DUPLICATE_ID = 6
    """This and what follows: messages rejected, by reason; column 5 + `Reason`."""
    UNKNOWN_ID = 7
    QTY = 8
    PRICE = 9
    POST_ONLY = 10
    BOOK_FULL = 11


class Flag(IntFlag):
    """Bits of the flags of a book, uint32 [book], set once and kept.

    An order that finds no room sets one bit: the first that applies, in this order.
    """

    ORDERS_FULL = 1
    """An order was rejected because as many were live as the book has room for."""
    LEVELS_FULL = 2
    """An order was rejected because it needed one price level too many."""
    LOTS_FULL = 4
    """An order was rejected because its level would have held 2**63 lots or more."""
    LOTS_WRAPPED = 8
    """The counter of lots traded wrapped round."""


EVENT = np.dtype(
    [
        ("order_id", "<u8"),
        ("price", "<i8"),
        ("qty", "<i8"),
        ("message", "<u4"),
        ("type", "u1"),
        ("side", "i1"),
        ("reason", "u1"),
        ("op", "u1"),
    ],
    align=True,
)
"""One event as an engine writes it, 32 bytes without a gap.

`message` is the index of the message in the batch that caused it, and `op` that message's op.

| type | order_id | side | price | qty | reason |
|---|---|---|---|---|---|
| ACCEPTED | the order | its own | its limit, 0 of a market order | its qty | NONE |
| TRADE | the maker; the taker is the message's order | the taker's | the maker's | lots | NONE |
| CANCELLED | the order | its own | its limit, 0 of a market order | lots that were open | >= 16 |
| MODIFIED | the order | its own | the new price | lots open from now on | NONE |
| REJECTED | the message's | of NEW, else 0 | 0 of CANCEL and market | 0 of CANCEL | < 16 |

The events of a message stand in the order they happen: ACCEPTED or MODIFIED, then TRADE (and
CANCELLED, of orders of the same owner) by priority, then CANCELLED, of what is left. A CANCEL that
is done is one CANCELLED.
"""

EVENT_ROW = np.dtype(
    [
        ("message", "<i8"),
        ("order_id", "<u8"),
        ("maker_id", "<u8"),
        ("price", "<i8"),
        ("qty", "<i8"),
        ("book", "<u4"),
        ("type", "u1"),
        ("side", "i1"),
        ("reason", "u1"),
        ("op", "u1"),
    ],
    align=True,
)
"""One event in full, 48 bytes without a gap: what tables hold, and what is hashed.

`message` counts from the first message that the books ever got. Of a trade `order_id` is the taker
and `maker_id` the maker; of anything else `maker_id` is 0.
"""

LEVEL_COLUMNS = ("ask_price", "ask_qty", "bid_price", "bid_qty")
"""Last dimension of the levels after every message; an empty one has qty 0, price `NO_PRICE`."""


@dataclass(frozen=True, eq=False)
class Matched:
    """What an engine returns for one batch of messages."""

    events: np.ndarray | None
    """`EVENT` [event], by book, in a book in the order they happen; None if not asked."""
    event_offsets: np.ndarray | None
    """int64 [book + 1]: the events of a book are `events[offsets[book] : offsets[book + 1]]`."""
    levels: np.ndarray | None
    """int64 [message, level, `LEVEL_COLUMNS`], the message's book after it; None if not asked."""


def event_bound(messages: int, live: int) -> int:
    """Return how many events a book can cause at most.

    Each message has one event of its own. Either one more ends it (a last trade, or the cancelling
    of its rest), or it adds a resting order. All other events remove a resting order.

    Args:
        messages: messages to the book.
        live: orders that rest in it before.
    """
    return 2 * messages + live
