"""Replayed rows with their books, and orders made of them, as Arrow tables and Parquet files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bookwarp.spec.events import LEVEL_COLUMNS
from bookwarp.spec.market_data import NO_BOOK, Oddity, ReplayBlock, event_names
from bookwarp.spec.orders import Kind, Op, TimeInForce

_WORDS = pa.dictionary(pa.int32(), pa.string())
_COLUMNS = {
    "row": (pa.int64(), "row of the file, from 0"),
    "time_ns": (pa.int64(), "ns"),
    "book": (pa.int32(), f"index of the book; {NO_BOOK} is none"),
    "symbol": (_WORDS, "name of the book"),
    "event": (_WORDS, "what the row says"),
    "source": (_WORDS, "the type as the data write it"),
    "order_id": (pa.uint64(), "the order it names"),
    "new_id": (pa.uint64(), "the order that takes its place, of replace"),
    "side": (pa.int8(), "1 buy, -1 sell, of the resting order; 0 not said"),
    "price": (pa.int64(), "tick"),
    "qty": (pa.int64(), "lot"),
    "open_qty": (pa.int64(), "lot, open of the order after the row"),
    "oddity": (pa.uint32(), "bits of bookwarp.Oddity"),
}


def replay_schema(level_count: int) -> pa.Schema:
    """Return the columns of a replay with `level_count` levels of each side."""
    fields = [pa.field(n, kind, False, {"meaning": m}) for n, (kind, m) in _COLUMNS.items()]
    for level in range(1, level_count + 1):
        for name in LEVEL_COLUMNS:
            unit = {"units": "tick" if name.endswith("price") else "lot"}
            fields.append(pa.field(f"{name}_{level}", pa.int64(), False, unit))
    bits = {str(oddity.name).lower(): int(oddity) for oddity in Oddity}
    return pa.schema(fields, {"bookwarp_oddities": json.dumps(bits)})


def block_table(block: ReplayBlock, form: str, symbols: Mapping[int, str]) -> pa.Table:
    """Return some rows and their books.

    Args:
        block: the rows.
        form: format of the data they are from, "lobster", "itch" or "events".
        symbols: symbol by book.
    """
    rows, count = block.rows, block.rows.row_count
    columns: dict[str, Any] = {
        name: pa.array(getattr(rows, name)) for name in _COLUMNS if name in rows._fields
    }
    columns["row"] = pa.array(np.arange(block.first_row, block.first_row + count))
    columns["event"] = _words(rows.event, event_names())
    letters = [chr(code) if form == "itch" else str(code) for code in range(256)]
    columns["source"] = _words(rows.source, letters)
    books, places = np.unique(rows.book, return_inverse=True)
    names = [symbols.get(book, "") for book in books.tolist()]
    columns["symbol"] = _words(places.reshape(-1), names)
    for level in range(block.levels.shape[1]):
        for at, name in enumerate(LEVEL_COLUMNS):
            values = np.ascontiguousarray(block.levels[:, level, at])
            columns[f"{name}_{level + 1}"] = pa.array(values)
    schema = replay_schema(block.levels.shape[1])
    return pa.table([columns[name] for name in schema.names], schema=schema)


def _words(codes: np.ndarray, words: list[str]) -> Any:
    """Return words by their codes, as a dictionary of those that occur."""
    found, places = np.unique(codes, return_inverse=True)
    chosen = pa.array([words[code] for code in found.tolist()], pa.string())
    return pa.DictionaryArray.from_arrays(places.reshape(-1).astype(np.int32), chosen)


class ParquetWriter:
    """Writes replayed blocks into a Parquet file, one after the other."""

    def __init__(self, path: Path, level_count: int, form: str) -> None:
        self._form = form
        self._level_count = level_count
        self._writer = pq.ParquetWriter(path, replay_schema(level_count), compression="zstd")

    def add(self, block: ReplayBlock, symbols: Mapping[int, str]) -> None:
        """Write a block."""
        cut = ReplayBlock(block.first_row, block.rows, block.levels[:, : self._level_count])
        self._writer.write_table(block_table(cut, self._form, symbols))

    def close(self, description: Mapping[str, Any] | None = None) -> None:
        """Finish the file, with what there is to say about the whole."""
        if description is not None:
            self._writer.add_key_value_metadata({"bookwarp": json.dumps(description)})
        self._writer.close()


_ORDER_WORDS = {"op": Op, "kind": Kind, "tif": TimeInForce}
_ORDER_COLUMNS = {
    "book": pa.uint32(),
    "op": _WORDS,
    "order_id": pa.uint64(),
    "side": pa.int8(),
    "kind": _WORDS,
    "tif": _WORDS,
    "price": pa.int64(),
    "qty": pa.int64(),
    "ts": pa.int64(),
}


class OrdersParquet:
    """Writes orders into a Parquet file, which `bookwarp.match` takes, batch by batch."""

    def __init__(self, path: Path) -> None:
        self._schema = pa.schema([pa.field(n, k, False) for n, k in _ORDER_COLUMNS.items()])
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd")

    def add(self, orders: np.ndarray, times: np.ndarray) -> None:
        """Write `ORDER` [order], and their times, int64 [order], ns."""
        columns: list[Any] = []
        for name in _ORDER_COLUMNS:
            values = times if name == "ts" else np.ascontiguousarray(orders[name])
            if name in _ORDER_WORDS:
                words = [code.name.lower() for code in _ORDER_WORDS[name]]
                columns.append(pa.DictionaryArray.from_arrays(values.astype(np.int32), words))
            else:
                columns.append(pa.array(values))
        self._writer.write_table(pa.table(columns, schema=self._schema))

    def close(self) -> None:
        """Finish the file."""
        self._writer.close()
