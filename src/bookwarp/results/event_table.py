"""Events of a batch in full: in the order of the messages, with book, taker and maker."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from bookwarp.results.book_tables import coded
from bookwarp.results.event_order import by_message
from bookwarp.spec.events import EVENT_ROW, EventType, Matched, Reason
from bookwarp.spec.orders import Op

# Rows that are put together at a time to be hashed.
_PIECE_ROWS = 1 << 18

_CODES = {"type": EventType, "reason": Reason, "op": Op}


def event_columns(
    matched: Matched, order_ids: np.ndarray, first_message: int
) -> dict[str, np.ndarray]:
    """Return the columns of `EVENT_ROW`, in the order of the messages.

    Args:
        matched: what an engine returned, with events.
        order_ids: uint64 [message], those of the batch.
        first_message: number of the first message of the batch in its stream.

    Cost: O(events + messages).
    """
    events, offsets = matched.events, matched.event_offsets
    assert events is not None
    assert offsets is not None
    message = np.ascontiguousarray(events["message"])
    book = np.repeat(np.arange(len(offsets) - 1, dtype=np.uint32), np.diff(offsets))
    if len(offsets) > 2:
        order = by_message(message, len(order_ids))
        events, message, book = events[order], message[order], book[order]
    is_trade = events["type"] == EventType.TRADE
    theirs = np.ascontiguousarray(events["order_id"])
    return {
        "message": message.astype(np.int64) + first_message,
        "order_id": np.where(is_trade, order_ids[message], theirs),
        "maker_id": np.where(is_trade, theirs, np.uint64(0)),
        "price": np.ascontiguousarray(events["price"]),
        "qty": np.ascontiguousarray(events["qty"]),
        "book": book,
        "type": np.ascontiguousarray(events["type"]),
        "side": np.ascontiguousarray(events["side"]),
        "reason": np.ascontiguousarray(events["reason"]),
        "op": np.ascontiguousarray(events["op"]),
    }


def event_rows(columns: dict[str, np.ndarray]) -> Iterator[np.ndarray]:
    """Yield the rows of `event_columns` in pieces, `EVENT_ROW` [event]."""
    length = len(columns["message"])
    for start in range(0, length, _PIECE_ROWS):
        stop = min(start + _PIECE_ROWS, length)
        rows = np.empty(stop - start, EVENT_ROW)
        for name, column in columns.items():
            rows[name] = column[start:stop]
        yield rows


def event_table(columns: dict[str, np.ndarray], times: np.ndarray | None) -> pa.Table:
    """Return the columns as a table of Arrow, codes by name.

    Args:
        columns: as from `event_columns`.
        times: int64 [event], ns; None: there are none.
    """
    table: dict[str, Any] = {
        name: coded(column, _CODES[name]) if name in _CODES else column
        for name, column in columns.items()
    }
    if times is not None:
        table["ts"] = times
    return pa.table(table)
