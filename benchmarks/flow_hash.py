"""Match a hash-checked stream and print its report's hash: `python benchmarks/flow_hash.py FILE`.

A file has the columns type (0 new, 1 cancel, 2 modify), side (0 buy, 1 sell), ioc (0 or 1), qty,
seq, order_id and price; every modification leaves and comes in again. Its report has one line an
event, ordered by seq, then by kind:

    0,seq,side,id,price,qty          accepted
    1,seq,price,qty,maker,taker      trade
    2,seq,side,id,price              cancelled, also what is left of an IOC
    3,seq,side,id,price,qty          modified
    4,seq,id                         cancel rejected
    5,seq,id                         modification rejected

Lines are joined by newlines without one at the end. With --books N the stream is sent to N books at
once, message by message in turn; every event of every book must be that of the first, byte by byte,
but for the message it belongs to, which must be its own.

Prints one JSON object: sha256, messages, trades, messages_per_s (the best of the trials, in the
engine, grouping by book included, events written; reading the file, compiling, sending one stream
to many books and hashing are not part of it). With --rows a line is appended to FILE, which also
tells machine and commit.
"""

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from book_flows import stream_hash
from row_file import append_row, describe_run
from same_stream import Events, Spreader, events_of_one

from bookwarp.engines.book_protocol import BookEngine
from bookwarp.engines.registry import available_threads, book_engine_class, choose_book_engine
from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.events import Counter, EventType
from bookwarp.spec.orders import ORDER, Op, TimeInForce

_TRIALS = 5
_PIECE_EVENTS = 1 << 16
_PIECE_MESSAGES = 1 << 23


def read_stream(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the messages of a file, `ORDER` [message], and their seq, uint64 [message]."""
    table = pq.read_table(path)
    columns = {name: table[name].to_numpy() for name in table.column_names}
    orders = np.zeros(len(table), ORDER)
    for name in ("order_id", "price", "qty"):
        orders[name] = columns[name]
    orders["op"] = columns["type"]
    orders["side"] = 1 - 2 * columns["side"].astype(np.int8)
    orders["tif"] = np.where(columns["ioc"] == 1, TimeInForce.IOC, TimeInForce.GTC)
    return orders, columns["seq"]


def match_stream(orders: np.ndarray, engine: BookEngine, books: int) -> tuple[Events, float]:
    """Send a stream to every book; return the events of one, which all have, and the seconds.

    The seconds are those in the engine. One book gets the stream in one batch, several get pieces
    of it, so that memory does not grow with their number.
    """
    piece = len(orders) if books == 1 else max(1, _PIECE_MESSAGES // books)
    parts, seconds = [], 0.0
    with ThreadPoolExecutor(available_threads()) as threads:
        spreader = None if books == 1 else Spreader(books, min(piece, len(orders)), threads)
        for start in range(0, len(orders), piece):
            batch = orders[start : start + piece]
            flat = batch if spreader is None else spreader.spread(batch)
            began = time.perf_counter()
            matched = engine.match(flat, None)
            seconds += time.perf_counter() - began
            try:
                part = events_of_one(matched, books, threads)
            except ValueError as error:
                sys.exit(f"error: {error} in messages {start} .. {start + len(batch) - 1}")
            parts.append(part | {"message": part["message"] + start})
            # Its memory is for the next batch.
            del matched
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}, seconds


def report_lines(events: Events, orders: np.ndarray, seq: np.ndarray) -> Iterator[list[str]]:
    """Yield the lines of the report, some at a time.

    Args:
        events: the events of one book by column, as from `match_stream`.
        orders: `ORDER` [message], the stream.
        seq: uint64 [message], of the stream.
    """
    message = events["message"]
    # Codes of events are the report's kinds, but for rejections.
    kind = events["type"].astype(np.int64)
    rejected = kind == EventType.REJECTED
    kind[rejected] = np.where(events["op"][rejected] == Op.MODIFY, 5, 4)
    order = np.lexsort((kind, seq[message]))
    for start in range(0, len(order), _PIECE_EVENTS):
        rows = order[start : start + _PIECE_EVENTS]
        columns = [kind[rows], seq[message[rows]], orders["order_id"][message[rows]]]
        columns += [events[name][rows] for name in ("side", "order_id", "price", "qty")]
        lists = [column.tolist() for column in columns]
        yield [_line(*row) for row in zip(*lists, strict=True)]


def _line(kind: int, seq: int, taker: int, side: int, order: int, price: int, qty: int) -> str:
    code = 0 if side > 0 else 1
    if kind in (0, 3):
        return f"{kind},{seq},{code},{order},{price},{qty}"
    if kind == 1:
        return f"1,{seq},{price},{qty},{order},{taker}"
    if kind == 2:
        return f"2,{seq},{code},{order},{price}"
    return f"{kind},{seq},{order}"


def report_hash(events: Events, orders: np.ndarray, seq: np.ndarray) -> str:
    """Return the SHA-256 of a report as 64 hexadecimal digits."""
    hasher, between = hashlib.sha256(), ""
    for lines in report_lines(events, orders, seq):
        hasher.update((between + "\n".join(lines)).encode())
        between = "\n"
    return hasher.hexdigest()


def measure(
    path: Path, name: str, books: int, trials: int | None, threads: int | None
) -> dict[str, Any]:
    """Match the stream some times and return what is printed."""
    orders, seq = read_stream(path)
    engine_name = choose_book_engine(name, books)
    made, rules = book_engine_class(engine_name), BookRules.of(modify="replace")
    first: Events | None = None
    seconds: list[float] = []
    # One rate is chance on a machine that others use; the reference takes its time.
    wanted = trials or (_TRIALS if books == 1 and engine_name != "reference" else 1)
    while len(seconds) < wanted:
        engine = made(rules, books, threads or available_threads())
        engine.match(orders[:0], None)
        events, took = match_stream(orders, engine, books)
        seconds.append(took)
        first = first or events
        if not all(np.array_equal(events[column], first[column]) for column in first):
            sys.exit(f"error: trial {len(seconds)} gave another report than the first")
        counted = engine.read_state().counters.sum(axis=0)
        del engine
    assert first is not None
    return {
        "sha256": report_hash(first, orders, seq),
        "messages": int(counted[Counter.MESSAGES]),
        "trades": int(counted[Counter.TRADES]),
        "messages_per_s": int(counted[Counter.MESSAGES]) / min(seconds),
        "fills_per_order": int(counted[Counter.TRADES]) / int(counted[Counter.ACCEPTED]),
        "books": books,
        "engine": engine_name,
        "trials": len(seconds),
    }


def row_of(found: dict[str, Any], stream: str, commit: str | None) -> dict[str, Any]:
    """Return what is kept of a measurement.

    Raises:
        SystemExit: the stream has a published hash, and this is another.
    """
    if found["sha256"] != (stream_hash(stream) or found["sha256"]):
        sys.exit(f"error: the report of {stream} has not the published {stream_hash(stream)}")
    return {
        **describe_run("books", commit, on_gpu=found["engine"] == "cuda"),
        "kind": "flow hash",
        "case": stream,
        **found,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path, metavar="FILE.parquet")
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--books", type=int, default=1, help="books that get the stream (1)")
    parser.add_argument(
        "--trials",
        type=int,
        help=f"times it is matched ({_TRIALS}; 1 by the reference or on several books)",
    )
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--rows", type=Path, metavar="FILE", help="file to append a line to")
    parser.add_argument("--commit", help="the commit to note where there is no Git to ask")
    given = parser.parse_args()
    found = measure(given.file, given.engine, given.books, given.trials, given.threads)
    print(json.dumps(found))
    if given.rows is not None:
        row = row_of(found, given.file.stem, given.commit)
        append_row(given.rows, row)


if __name__ == "__main__":
    main()
