"""Tables of continuous books: level 1, level 2, level 3 and counters, as Arrow's."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bookwarp.results.output import check_absent, check_folder, written_whole
from bookwarp.spec.book_state import BookState
from bookwarp.spec.codes import Side
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.events import REJECT_REASONS, Counter
from bookwarp.spec.orders import TimeInForce


def level3_table(state: BookState) -> pa.Table:
    """Return every resting order: by book; bids, then asks; the first to trade first.

    Columns: book, side, price [tick], qty [lot] (open), order_id, owner, filled [lot], tif.
    """
    orders = state.orders
    columns: dict[str, Any] = {
        name: np.ascontiguousarray(orders[name])
        for name in ("book", "side", "price", "qty", "order_id", "owner", "filled")
    }
    columns["tif"] = coded(orders["tif"], TimeInForce)
    return pa.table(columns)


def level2_table(state: BookState, depth: int | None = None) -> pa.Table:
    """Return every price at which orders rest: by book; bids, then asks; best price first.

    Columns: book, side, level (from 0), price [tick], qty [lot], orders.

    Args:
        state: of the books.
        depth: levels a side at most; all if None.
    """
    return pa.table(_levels(state, depth))


def level1_table(state: BookState) -> pa.Table:
    """Return the best prices of every book, empty where a side is.

    Columns: book, bid_price [tick], bid_qty [lot], ask_price [tick], ask_qty [lot].
    """
    best = _levels(state, 1)
    columns: dict[str, Any] = {"book": np.arange(state.books, dtype=np.uint32)}
    for side, name in ((Side.BUY, "bid"), (Side.SELL, "ask")):
        here = best["side"] == side
        book = best["book"][here]
        empty = np.ones(state.books, bool)
        empty[book] = False
        for column in ("price", "qty"):
            values = np.zeros(state.books, np.int64)
            values[book] = best[column][here]
            columns[f"{name}_{column}"] = pa.array(values, mask=empty)
    return pa.table(columns)


def counters_table(state: BookState) -> pa.Table:
    """Return the counters of every book since it was made.

    Columns: book; messages, accepted, modified, cancelled, trades, lots; rejected, in all, and by
    reason as rejected_duplicate_id and so on; fills_per_order, trades for each order accepted;
    flags, bits of `Flag`.
    """
    counters = state.counters
    columns: dict[str, Any] = {"book": np.arange(state.books, dtype=np.uint32)}
    for counter in Counter:
        if counter <= Counter.LOTS:
            columns[counter.name.lower()] = np.ascontiguousarray(counters[:, counter])
    columns["rejected"] = counters[:, Counter.LOTS + 1 :].sum(axis=1)
    for reason in REJECT_REASONS:
        name = f"rejected_{reason.name.lower()}"
        columns[name] = np.ascontiguousarray(counters[:, Counter.LOTS + reason])
    accepted = counters[:, Counter.ACCEPTED]
    fills = counters[:, Counter.TRADES] / np.maximum(accepted, 1)
    columns["fills_per_order"] = pa.array(fills, mask=accepted == 0)
    columns["flags"] = state.flags
    return pa.table(columns)


def check_table(path: Path, overwrite: bool = False) -> None:
    """Check, before any work, that a table can be written to `path`.

    Raises:
        ParameterError: it does not end in .parquet.
        StoreError: it exists, or its folder cannot be written to.
    """
    if path.suffix.lower() != ".parquet":
        raise ParameterError(f"{path} does not end in .parquet")
    check_absent(path, overwrite)
    check_folder(path)


def write_table(table: pa.Table, path: Path, overwrite: bool = False) -> None:
    """Write a table as Parquet; the file appears whole or not at all.

    Raises:
        ParameterError: it does not end in .parquet.
        StoreError: it cannot be written.
    """
    import pyarrow.parquet as pq

    check_table(path, overwrite)
    with written_whole(path, overwrite) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def coded(codes: np.ndarray, names: Any) -> pa.DictionaryArray:
    """Return integer codes as the names of an enum, in lower case."""
    index = np.zeros(256, np.int8)
    for position, code in enumerate(names):
        index[int(code)] = position
    return pa.DictionaryArray.from_arrays(index[codes], [code.name.lower() for code in names])


def _levels(state: BookState, depth: int | None) -> dict[str, np.ndarray]:
    orders = state.orders
    if not len(orders):
        kinds = {"book": np.uint32, "side": np.int8, "level": np.int64, "price": np.int64}
        kinds |= {"qty": np.int64, "orders": np.int64}
        return {name: np.zeros(0, kind) for name, kind in kinds.items()}
    first_of_side = _changes(orders["book"]) | _changes(orders["side"])
    starts = np.flatnonzero(first_of_side | _changes(orders["price"]))
    # Levels are numbered from where their side starts.
    opens_side = np.flatnonzero(first_of_side[starts])
    number = np.arange(len(starts)) - np.repeat(
        opens_side, np.diff(np.append(opens_side, len(starts)))
    )
    columns = {
        "book": orders["book"][starts],
        "side": orders["side"][starts],
        "level": number,
        "price": orders["price"][starts],
        "qty": np.add.reduceat(orders["qty"], starts),
        "orders": np.diff(np.append(starts, len(orders))),
    }
    if depth is not None:
        kept = number < depth
        columns = {name: column[kept] for name, column in columns.items()}
    return columns


def _changes(column: np.ndarray) -> np.ndarray:
    """Return where a column differs from the row before it, and True for the first row."""
    return np.concatenate([[True], column[1:] != column[:-1]])
