"""Check and time recorded flow on continuous books: `python benchmarks/run_streams.py DIR`.

DIR holds the checked streams, normal.parquet and swing-25.parquet. Each goes to one book, on one
thread, and its report must have the published hash. Then pieces of normal go to 10 000 books at
once: one thread and all threads must give the same events, and some books those of the reference.
Timed is one call of the engine, from a flat table of messages to events, grouping by book included.
One JSON line per case is appended to benchmarks/rows/books.jsonl; the load average stands in it,
because others share the caches and the memory of a machine.
"""

import argparse
import gc
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from book_flows import many_books, stream_hash
from drawn_flow import BookFlow
from flow_hash import read_stream, report_hash
from machine import REPOSITORY
from row_file import Row, append_row, describe_run, spread
from run_books import check_sample

from bookwarp.engines.registry import available_threads, book_engine_class
from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.book_state import empty_state
from bookwarp.spec.events import EVENT, Counter, Matched
from bookwarp.spec.orders import ORDER

ROWS = REPOSITORY / "benchmarks" / "rows" / "books.jsonl"
STREAMS = ("normal", "swing-25")
MANY_BOOKS = 10_000


def time_batch(
    engine: str, rules: BookRules, orders: np.ndarray, books: int, threads: int, trials: int
) -> tuple[Matched, Row]:
    """Match a batch on new books some times; return what came out last, and the row."""
    made = book_engine_class(engine)
    wall, busy = [], []
    matched = None
    # The first time memory is claimed, which is then kept.
    for _ in range(1 + trials):
        running, matched = made(rules, books, threads), None
        running.match(orders[:0], None)
        gc.collect()
        began, began_busy = time.perf_counter(), time.process_time()
        matched = running.match(orders, None)
        wall.append(time.perf_counter() - began)
        busy.append(time.process_time() - began_busy)
        counted = running.read_state().counters.sum(axis=0)
    assert matched is not None
    assert matched.events is not None
    accepted, trades = int(counted[Counter.ACCEPTED]), int(counted[Counter.TRADES])
    return matched, {
        "kind": "stream",
        "engine": engine,
        "books": books,
        "threads": threads,
        "messages": len(orders),
        "events": len(matched.events),
        "trades": trades,
        "fills_per_order": trades / accepted,
        "trials": trials,
        "load_average": os.getloadavg()[0],
        "wall_s": spread(wall[1:]),
        "cpu_s": spread(busy[1:]),
        "messages_per_s": spread([len(orders) / each for each in wall[1:]]),
        "cpu_ns_per_message": min(busy[1:]) / len(orders) * 1e9,
    }


def time_stream(path: Path, engine: str, trials: int) -> Row:
    """Return the row of a stream on one book.

    Raises:
        SystemExit: its report has another hash than was published.
    """
    orders, seq = read_stream(path)
    rules = BookRules.of(modify="replace")
    matched, row = time_batch(engine, rules, orders, 1, 1, trials)
    assert matched.events is not None
    found = report_hash({name: matched.events[name] for name in EVENT.names}, orders, seq)
    if found != stream_hash(path.stem):
        raise SystemExit(f"the report of {path.stem} has {found}, not {stream_hash(path.stem)}")
    return {"case": f"{path.stem}, one book", **row, "check": f"report: {found}"}


def time_pieces(path: Path, engine: str, books: int, trials: int) -> Iterator[Row]:
    """Yield the row of pieces of a stream on many books, on one thread and on all.

    Raises:
        SystemExit: threads give other events, or books others than the reference.
    """
    flow = BookFlow(np.zeros(0, ORDER), many_books(read_stream(path)[0], books), books)
    first: Matched | None = None
    for threads in sorted({1, available_threads()}):
        matched, row = time_batch(engine, BookRules(), flow.orders, books, threads, trials)
        first = first or matched
        if not np.array_equal(first.events, matched.events):
            raise SystemExit(f"{threads} threads give other events than one")
        check = check_sample(flow, empty_state(books), matched)
        case = f"pieces of {path.stem}, {books} books, {threads} threads"
        yield {"case": case, **row, "check": check}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--engine", default="cpu")
    parser.add_argument("--books", type=int, default=MANY_BOOKS)
    parser.add_argument("--trials", type=int, default=7)
    parser.add_argument("--rows", type=Path, default=ROWS, help=f"file to append to ({ROWS.name})")
    options = parser.parse_args(arguments)
    common = describe_run("books")
    paths = [options.folder / f"{name}.parquet" for name in STREAMS]

    def rows() -> Iterator[Row]:
        for path in paths:
            yield time_stream(path, options.engine, options.trials)
        yield from time_pieces(paths[0], options.engine, options.books, options.trials)

    for row in rows():
        rate = row["messages_per_s"]
        print(
            f"{row['case']}, {row['engine']}: {rate['max'] / 1e6:.1f} M messages/s at best, "
            f"median {rate['median'] / 1e6:.1f} M; "
            f"{row['cpu_ns_per_message']:.0f} ns of processor a message; "
            f"{row['fills_per_order']:.3f} fills an order; {row['check']}",
            flush=True,
        )
        append_row(options.rows, common | row)


if __name__ == "__main__":
    main()
