"""Write what happens in a book, and count it."""

from collections import namedtuple

import numpy as np

from bookwarp.engines.cpu.books.pools import at
from bookwarp.engines.cpu.compile import inlined
from bookwarp.spec.book_rules import INT64_MAX
from bookwarp.spec.events import Counter, EventType, Flag, Reason

_ACCEPTED, _TRADE = int(EventType.ACCEPTED), int(EventType.TRADE)
_CANCELLED, _MODIFIED = int(EventType.CANCELLED), int(EventType.MODIFIED)
_REJECTED, _NO_REASON = int(EventType.REJECTED), int(Reason.NONE)
_COUNT_ACCEPTED, _COUNT_MODIFIED = int(Counter.ACCEPTED), int(Counter.MODIFIED)
_COUNT_CANCELLED, _COUNT_TRADES = int(Counter.CANCELLED), int(Counter.TRADES)
_COUNT_LOTS, _LOTS_WRAPPED = int(Counter.LOTS), int(Flag.LOTS_WRAPPED)
_MOST_LOTS = np.int64(INT64_MAX)

# Where events go: EVENT [event], and the place of the next one; `step` is 0 if none are wanted, so
# that each is written over the last. `message` and `op` are those of the message that causes them.
Log = namedtuple("Log", ["events", "next", "step", "message", "op"])


@inlined
def sign_of(side):  # type: ignore[no-untyped-def]
    """Return the `Side` of a row of the sides."""
    return 1 - 2 * (side & 1)


@inlined
def write_event(log, event_type, order_id, side, price, qty, reason):  # type: ignore[no-untyped-def]
    """Write an event; `side` is a `Side`, or 0."""
    event = at(log.events, log.next[0])
    event.order_id, event.price, event.qty = order_id, price, qty
    event.message, event.op = log.message, log.op
    event.type, event.side, event.reason = event_type, side, reason
    log.next[0] += log.step


@inlined
def tell_accepted(block, log, order, qty):  # type: ignore[no-untyped-def]
    """Tell that a new order is accepted."""
    block.counters[np.uint64(order.side >> 1), _COUNT_ACCEPTED] += 1
    side = sign_of(order.side)
    write_event(log, _ACCEPTED, order.order_id, side, order.price, qty, _NO_REASON)


@inlined
def tell_modified(block, log, order, qty):  # type: ignore[no-untyped-def]
    """Tell that an order is modified, of which `qty` lots are open from now on."""
    block.counters[np.uint64(order.side >> 1), _COUNT_MODIFIED] += 1
    side = sign_of(order.side)
    write_event(log, _MODIFIED, order.order_id, side, order.price, qty, _NO_REASON)


@inlined
def tell_trade(block, log, order, maker_id, price, lots):  # type: ignore[no-untyped-def]
    """Tell that an order that came in trades with one that rests."""
    write_event(log, _TRADE, maker_id, sign_of(order.side), price, lots, _NO_REASON)
    book = order.side >> 1
    block.counters[np.uint64(book), _COUNT_TRADES] += 1
    before = block.counters[np.uint64(book), _COUNT_LOTS]
    # Unsigned, since the compiler takes it that signed integers do not wrap round.
    block.counters[np.uint64(book), _COUNT_LOTS] = np.int64(np.uint64(before) + np.uint64(lots))
    if before > _MOST_LOTS - lots:
        header = at(block.books, book)
        header.flags = np.int64(header.flags) | _LOTS_WRAPPED


@inlined
def tell_cancelled(block, book, log, order_id, side, price, qty, reason):  # type: ignore[no-untyped-def]
    """Tell that all that is open of an order is cancelled."""
    block.counters[np.uint64(book), _COUNT_CANCELLED] += 1
    write_event(log, _CANCELLED, order_id, sign_of(side), price, qty, reason)


@inlined
def tell_rejected(block, book, log, order_id, side, price, qty, reason):  # type: ignore[no-untyped-def]
    """Tell that a message is rejected; `side` is a `Side`, or 0."""
    block.counters[np.uint64(book), _COUNT_LOTS + reason] += 1
    write_event(log, _REJECTED, order_id, side, price, qty, reason)
