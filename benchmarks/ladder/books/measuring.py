"""One rung: held against what must come out, then timed on one thread.

The load average stands in its row, because others share the caches and the memory of a machine.
"""

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from book_flows import many_books, stream_hash
from book_rungs import Rung
from flow_hash import read_stream, report_hash

from bookwarp.engines.cpu.books import layout as engine_layout
from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.events import EVENT

Row = dict[str, Any]
# Orders that can rest at once, in the layouts that cannot grow.
_CAPACITY = 1 << 14
_RULES = BookRules.of(modify="replace")


def layout_of(name: str) -> Any:
    """Return a layout of one book by its name."""
    from layouts import slots, tree
    from layouts.ids import HASH, SCAN
    from layouts.levels import LADDER, SORTED
    from layouts.queues import build_layout

    return {
        "slots": slots.LAYOUT,
        "sorted scan": build_layout(SORTED, SCAN, records=False),
        "sorted hash": build_layout(SORTED, HASH, records=False),
        "ladder planes": build_layout(LADDER, HASH, records=False),
        "ladder records": build_layout(LADDER, HASH, records=True),
        "tree": tree.LAYOUT,
    }[name]


def matcher_of(rung: Rung) -> Callable[[np.ndarray], np.ndarray]:
    """Return what matches a batch on new books: (`ORDER` [message]) -> `EVENT` [event]."""
    if rung.digit_bits is not None:
        # Before the functions of the tree are made, which read it once.
        engine_layout.DIGIT_BITS = rung.digit_bits
        engine_layout.TREE_NODE = engine_layout.tree_node(rung.digit_bits)
    if rung.layout is None:
        from bookwarp.engines.cpu.books.engine import CpuBookEngine

        return lambda orders: CpuBookEngine(_RULES, rung.books).match(orders, None).events
    if rung.books > 1:
        from layouts.visits import as_they_come, by_book, match_batch

        visit, ahead = {
            "as they come": (as_they_come, 0),
            "by book": (by_book, 0),
            "ahead": (by_book, 16),
        }[rung.layout]
        return lambda orders: match_batch(orders, rung.books, _RULES, visit, ahead)
    from layouts.matcher import build_match

    layout = layout_of(rung.layout)
    match = build_match(layout)

    def match_one(orders: np.ndarray) -> np.ndarray:
        events = np.empty(2 * len(orders), EVENT)
        return events[: match(layout.make_book(_CAPACITY), orders, events)]

    return match_one


def events_digest(orders: np.ndarray, events: np.ndarray) -> str:
    """Return the SHA-256 of events in the order of their books."""
    order = np.argsort(orders["book"][events["message"]], kind="stable")
    return hashlib.sha256(events[order].tobytes()).hexdigest()


def check_report(rung: Rung, name: str, events: np.ndarray, orders: np.ndarray, seq: Any) -> str:
    """Return what was compared: the report of one book with the published one.

    Raises:
        SystemExit: it is another.
    """
    if rung.books > 1:
        return "events equal those of the other rungs on these books"
    found = report_hash({name: events[name] for name in EVENT.names}, orders, seq)
    if found != stream_hash(name):
        raise SystemExit(f"{rung.name}: the report of {name} has {found}")
    return f"report: {found}"


def measure_rung(rung: Rung, path: Path, trials: int) -> Row:
    """Return the row of a rung.

    Args:
        rung: what is measured.
        path: the stream `normal`.
        trials: how often.

    Raises:
        SystemExit: other events come out than must.
    """
    orders, seq = read_stream(path)
    if rung.books > 1:
        orders = many_books(orders, rung.books)
    match = matcher_of(rung)
    match(orders[: 1 << 12])
    wall, busy, digests = [], [], set()
    for _ in range(rung.trials or trials):
        began, began_busy = time.perf_counter(), time.thread_time()
        events = match(orders)
        busy.append(time.thread_time() - began_busy)
        wall.append(time.perf_counter() - began)
        digests.add(events_digest(orders, events))
    if len(digests) > 1:
        raise SystemExit(f"{rung.name}: {len(wall)} trials gave {len(digests)} different events")
    return {
        "kind": "book rung",
        "case": f"{path.stem}, {rung.books} books",
        "engine": f"ladder: {rung.name}",
        "rung": rung.name,
        "idea": rung.idea,
        "over": rung.over,
        "expected": rung.expected,
        "because": rung.because,
        "kept": rung.kept,
        "books": rung.books,
        "messages": len(orders),
        "events": len(events),
        "threads": 1,
        "load_average": os.getloadavg()[0],
        "trials": len(wall),
        "wall_s": wall,
        "cpu_s": busy,
        "ns_per_message": min(busy) / len(orders) * 1e9,
        "messages_per_s": len(orders) / min(busy),
        "digest": digests.pop(),
        "check": check_report(rung, path.stem, events, orders, seq),
    }
