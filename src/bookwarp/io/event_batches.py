"""Batches of the columns of a table of events, from CSV or Parquet, under our names."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from bookwarp.io.source import is_gzip
from bookwarp.spec.errors import StoreError

NAMES = {
    "ts": ("ts", "time", "timestamp"),
    "type": ("type", "event"),
    "id": ("id", "order_id"),
    "side": ("side",),
    "price": ("price",),
    "qty": ("qty", "size", "quantity", "amount"),
    "new_id": ("new_id",),
    "symbol": ("symbol", "book", "instrument"),
    "seq": ("seq", "sequence"),
}
"""Names under which the columns are found, by ours."""
_NEEDED = ("type", "id")
_PARQUET_MAGIC = b"PAR1"
_BATCH_ROWS = 1 << 15
_BLOCK_BYTES = 1 << 20


def open_batches(path: Path, columns: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the columns of some thousand rows at a time, as Arrow arrays, by our names.

    Args:
        path: a CSV file, plain or compressed by gzip, or a Parquet file.
        columns: the file's names of columns, by ours, where they are not the usual ones.

    Raises:
        StoreError: the file cannot be read, or lacks a column that is needed.
    """
    try:
        with path.open("rb") as file:
            is_parquet = file.read(len(_PARQUET_MAGIC)) == _PARQUET_MAGIC
        yield from (_read_parquet if is_parquet else _read_csv)(path, columns)
    except StoreError:
        raise
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from error
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}") from error


def _read_parquet(path: Path, columns: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    with pq.ParquetFile(path) as file:
        chosen = _find_columns(path, file.schema_arrow.names, columns)
        for batch in file.iter_batches(_BATCH_ROWS, columns=list(chosen.values())):
            if len(batch):
                yield {name: _plain(batch[theirs]) for name, theirs in chosen.items()}


def _read_csv(path: Path, columns: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    with _open_csv(path, csv.ConvertOptions()) as reader:
        names = reader.schema.names
    chosen = _find_columns(path, names, columns)
    options = csv.ConvertOptions(
        include_columns=list(chosen.values()),
        column_types=dict.fromkeys(chosen.values(), pa.string()),
        null_values=[""],
        strings_can_be_null=True,
    )
    with _open_csv(path, options) as reader:
        for batch in reader:
            if len(batch):
                yield {name: batch[theirs] for name, theirs in chosen.items()}


def _open_csv(path: Path, options: Any) -> Any:
    stream = pa.input_stream(str(path), compression="gzip" if is_gzip(path) else None)
    # Numbers of rows in errors need a single thread.
    read = csv.ReadOptions(block_size=_BLOCK_BYTES, use_threads=False)
    return csv.open_csv(stream, read, convert_options=options)


def _find_columns(path: Path, names: list[str], columns: Mapping[str, str]) -> dict[str, str]:
    """Return the file's names of the columns that it has, by ours."""
    chosen = {}
    for ours, usual in NAMES.items():
        wanted = (columns[ours],) if ours in columns else usual
        found = [name for name in names if name in wanted]
        if len(found) > 1:
            raise StoreError(f"{path} has more than one column for {ours}: {', '.join(found)}")
        if found:
            chosen[ours] = found[0]
        elif ours in columns or ours in _NEEDED:
            raise StoreError(
                f"{path} has no column {' or '.join(wanted)} for {ours}; it has {', '.join(names)}"
            )
    return chosen


def _plain(column: Any) -> Any:
    """Return a column without a dictionary."""
    if pa.types.is_dictionary(column.type):
        return column.dictionary_decode()
    return column
