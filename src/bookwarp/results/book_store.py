"""Continuous books in files: saved between two batches, read back to the last bit or refused."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bookwarp.results.archive import ArchiveKind
from bookwarp.results.provenance import made_now
from bookwarp.spec.book_rules import BookRules, ModifyRule, QtyMeaning, SelfTrade
from bookwarp.spec.book_state import RESTING, BookState
from bookwarp.spec.event_digest import EventDigest
from bookwarp.spec.events import EVENT_ROW

FORMAT = 1
BOOKS = ArchiveKind("bookwarp-books.json", "file of books")

_STATE = ("orders", "order_offsets", "counters", "flags")


@dataclass(frozen=True, eq=False)
class SavedBooks:
    """Books between two batches."""

    rules: BookRules
    state: BookState
    event_digest: EventDigest
    has_events: bool
    messages: int
    elapsed_s: float


def write_books(path: str | Path, saved: SavedBooks) -> None:
    """Write books, replacing those saved at `path`; the file appears whole or not at all.

    Raises:
        ParameterError: it is not a path.
        StoreError: it cannot be written, or would replace something else.
    """
    rules = saved.rules
    document: dict[str, Any] = {
        "format": FORMAT,
        "modify": rules.modify.name.lower(),
        "qty": rules.qty.name.lower(),
        "stp": rules.stp.name.lower(),
        "capacity": [rules.order_capacity, rules.level_capacity],
        "price_range": [rules.price_low, rules.price_high],
        "events": saved.has_events,
        "event_chain": saved.event_digest.chain.hex(),
        "messages": saved.messages,
        "elapsed_s": saved.elapsed_s,
        "made_by": made_now(),
    }
    arrays = {name: getattr(saved.state, name) for name in _STATE}
    arrays["pending_events"] = saved.event_digest.pending
    # The file format of NumPy knows nothing of alignment; the bytes are the same.
    BOOKS.write(path, document, ((name, _plain(array)) for name, array in arrays.items()))


def read_books(path: str | Path) -> SavedBooks:
    """Read what `write_books` wrote.

    Raises:
        ParameterError: it is not a path.
        StoreError: there is no such file, or it is damaged, of a newer format, or holds no books
            of bookwarp.
    """
    with BOOKS.opened(path) as archive:
        document = BOOKS.read_document(archive, path, FORMAT)
        low, high = document["price_range"]
        orders, levels = document["capacity"]
        state = BookState(**{name: archive[name] for name in _STATE})
        return SavedBooks(
            rules=BookRules(
                modify=ModifyRule[document["modify"].upper()],
                qty=QtyMeaning[document["qty"].upper()],
                stp=SelfTrade[document["stp"].upper()],
                order_capacity=orders,
                level_capacity=levels,
                price_low=low,
                price_high=high,
            ),
            state=BookState(
                orders=state.orders.astype(RESTING),
                order_offsets=state.order_offsets,
                counters=state.counters,
                flags=state.flags,
            ),
            event_digest=EventDigest(
                bytes.fromhex(document["event_chain"]), archive["pending_events"].astype(EVENT_ROW)
            ),
            has_events=document["events"],
            messages=document["messages"],
            elapsed_s=document["elapsed_s"],
        )


def _plain(array: np.ndarray) -> np.ndarray:
    return np.array(array, np.dtype(array.dtype.descr)) if array.dtype.names else array
