"""Engines for continuous books compared to the last bit, and the first event at which two part."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from bookwarp.engines.book_protocol import BookEngine
from bookwarp.engines.registry import book_engine_class
from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.book_state import BookState
from bookwarp.spec.events import EventType, Matched, Reason

EngineLike = str | type[BookEngine]


def assert_book_engines_agree(
    orders: np.ndarray,
    rules: BookRules,
    books: int,
    engines: Sequence[EngineLike],
    *,
    owners: np.ndarray | None = None,
    cuts: Sequence[int] = (),
    levels: int = 0,
    threads: int | None = None,
) -> BookState:
    """Match a stream on several engines and compare every event, level, counter and order.

    Args:
        orders: `ORDER` [message].
        rules, books: what holds for the books, and how many there are.
        engines: names of the registry, or engine classes; each is compared with the first.
        owners: uint64 [message], needed if the rules look at them.
        cuts: where the stream is cut, ascending; the state is compared after each piece, and the
            other engine goes on from the first one's at every second cut.
        levels: price levels a side compared after every message.
        threads: threads of each engine.

    Returns:
        The state after the stream.

    Raises:
        AssertionError: naming the piece, the book, the message, the event and both values.
    """
    if not rules.tracks_owner:
        owners = None
    pair: list[BookEngine] = [_class(engine)(rules, books, threads) for engine in engines]
    oracle, *others = pair
    state = oracle.read_state()
    edges = [0, *cuts, len(orders)]
    for piece, (start, stop) in enumerate(pairwise(edges)):
        batch = orders[start:stop]
        whose = None if owners is None else owners[start:stop]
        expected = oracle.match(batch, whose, levels=levels)
        state = oracle.read_state()
        for name, other in zip(engines[1:], others, strict=True):
            found = other.match(batch, whose, levels=levels)
            difference = find_event_difference(batch, expected, found)
            difference = difference or find_state_difference(state, other.read_state())
            if difference is not None:
                raise AssertionError(
                    f"{_name(engines[0])} and {_name(name)} part in messages {start} .. "
                    f"{stop - 1}: {difference}"
                )
            if piece % 2:
                other.write_state(state)
    return state


def find_event_difference(orders: np.ndarray, one: Matched, other: Matched) -> str | None:
    """Return a sentence on the first event or level that differs, or None if none does.

    Args:
        orders: `ORDER` [message], the batch.
        one, other: what two engines returned for it.
    """
    if one.events is not None and one.event_offsets is not None:
        if other.events is None or other.event_offsets is None:
            return "events: some and none"
        if one.events.dtype != other.events.dtype:
            return f"events: {one.events.dtype} and {other.events.dtype}"
        common = min(len(one.events), len(other.events))
        wrong = np.flatnonzero(one.events[:common] != other.events[:common])
        if len(wrong) or len(one.events) != len(other.events):
            at = int(wrong[0]) if len(wrong) else common
            book = int(np.searchsorted(one.event_offsets, at, "right")) - 1
            return (
                f"event {at} (of {len(one.events)} and {len(other.events)}) about book {book}: "
                f"{_tell(orders, one.events, at)} and {_tell(orders, other.events, at)}"
            )
        if not np.array_equal(one.event_offsets, other.event_offsets):
            return "event_offsets differ, the events do not"
    if one.levels is not None:
        if other.levels is None:
            return "levels: some and none"
        return _compare("levels", one.levels, other.levels, ("message", "level", "column"))
    return None


def find_state_difference(one: BookState, other: BookState) -> str | None:
    """Return a sentence on the first value that differs, or None if none does."""
    return (
        _compare("flags", one.flags, other.flags, ("book",))
        or _compare("counters", one.counters, other.counters, ("book", "counter"))
        or _compare("order_offsets", one.order_offsets, other.order_offsets, ("book + 1",))
        or _compare("orders", one.orders, other.orders, ("order",))
    )


def _compare(name: str, one: np.ndarray, other: np.ndarray, dims: tuple[str, ...]) -> str | None:
    if (one.shape, one.dtype) != (other.shape, other.dtype):
        return f"{name}: {one.dtype} {one.shape} and {other.dtype} {other.shape}"
    wrong = np.argwhere(one != other)
    if not len(wrong):
        return None
    at = tuple(int(index) for index in wrong[0])
    place = ", ".join(f"{dim} {index}" for dim, index in zip(dims, at, strict=True))
    return f"{name}[{place}]: {one[at]} and {other[at]} ({len(wrong)} of {one.size} differ)"


def _tell(orders: np.ndarray, events: np.ndarray, at: int) -> str:
    """Return an event in words, with the message that caused it."""
    if at >= len(events):
        return "no event"
    event = events[at]
    number = int(event["message"])
    message = f"{orders[number]}" if number < len(orders) else "none of the batch"
    kind = EventType(int(event["type"])).name
    return (
        f"{kind} of order {event['order_id']}, side {event['side']}, price {event['price']}, qty "
        f"{event['qty']}, {Reason(int(event['reason'])).name}, by message {number} {message}"
    )


def _class(engine: EngineLike) -> type[BookEngine]:
    return book_engine_class(engine) if isinstance(engine, str) else engine


def _name(engine: EngineLike) -> str:
    return engine if isinstance(engine, str) else engine.__name__
