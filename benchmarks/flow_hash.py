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
once, message by message in turn; all must have the same events.

Prints one JSON object: sha256, messages, trades, messages_per_s (the best of the trials, grouping
by book included, events written; reading the file, compiling and hashing are not part of it).
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

import bookwarp as bw
from bookwarp.spec.events import EventType, Matched
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


def spread_over_books(orders: np.ndarray, books: int) -> np.ndarray:
    """Return the messages for `books` books at once, each message for all of them in turn."""
    spread = np.repeat(orders, books)
    spread["book"] = np.tile(np.arange(books, dtype=np.uint32), len(orders))
    return spread


def match_stream(orders: np.ndarray, books: bw.Books) -> dict[str, np.ndarray]:
    """Send a stream to every book, and return the events of one by column, which all have.

    `message` counts the messages of the stream. One book gets all of it in one batch, several get
    pieces of it, so that memory does not grow with their number.
    """
    piece = len(orders) if books.books == 1 else max(1, _PIECE_MESSAGES // books.books)
    parts = []
    for start in range(0, len(orders), piece):
        batch = orders[start : start + piece]
        if books.books > 1:
            batch = spread_over_books(batch, books.books)
        matched = books.match(batch).matched
        events = matched.events.reshape(books.books, -1) if _is_even(matched) else None
        if events is None or not all(
            (events[name] == events[name][0]).all()
            for name in events.dtype.names
            if name != "message"
        ):
            sys.exit(f"error: books differ in messages {start} .. {start + piece - 1}")
        first = {name: np.ascontiguousarray(events[name][0]) for name in events.dtype.names}
        first["message"] = first["message"].astype(np.int64) // books.books + start
        parts.append(first)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _is_even(matched: Matched) -> bool:
    """Return whether all books have as many events."""
    return len({*np.diff(matched.event_offsets).tolist()}) == 1


def report_lines(
    events: dict[str, np.ndarray], orders: np.ndarray, seq: np.ndarray
) -> Iterator[list[str]]:
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


def report_hash(events: dict[str, np.ndarray], orders: np.ndarray, seq: np.ndarray) -> str:
    """Return the SHA-256 of a report as 64 hexadecimal digits."""
    hasher, between = hashlib.sha256(), ""
    for lines in report_lines(events, orders, seq):
        hasher.update((between + "\n".join(lines)).encode())
        between = "\n"
    return hasher.hexdigest()


def measure(path: Path, engine: str, count: int, trials: int | None, threads: int | None) -> dict:
    """Match the stream some times and return what is printed."""
    orders, seq = read_stream(path)
    first, seconds = None, []
    while first is None or len(seconds) < trials:
        books = bw.Books(count, modify="replace", engine=engine, threads=threads)
        events = match_stream(orders, books)
        seconds.append(books.elapsed_s)
        summary = books.summary()
        if first is None:
            first = events
            # One rate is chance on a machine that others use; the reference takes its time.
            trials = trials or (_TRIALS if count == 1 and books.engine != "reference" else 1)
        elif any((events[name] != first[name]).any() for name in first):
            sys.exit(f"error: trial {len(seconds)} gave another report than the first")
    return {
        "sha256": report_hash(first, orders, seq),
        "messages": summary["messages"],
        "trades": summary["trades"],
        "messages_per_s": summary["messages"] / min(seconds),
        "fills_per_order": summary["fills_per_order"],
        "books": count,
        "engine": summary["engine"],
        "trials": len(seconds),
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
    given = parser.parse_args()
    print(json.dumps(measure(given.file, given.engine, given.books, given.trials, given.threads)))


if __name__ == "__main__":
    main()
