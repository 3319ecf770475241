"""LOBSTER order book files: the published books, to start from and to compare with.

Row i is the book after row i of the message file: ask price, ask size, bid price, bid size of the
best level, then of the next. An empty level has size 0 and the price 9999999999 or -9999999999.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

from bookwarp.io.source import check_file, is_gzip
from bookwarp.spec.codes import NO_PRICE
from bookwarp.spec.errors import StoreError
from bookwarp.spec.events import LEVEL_COLUMNS

EMPTY_ASK, EMPTY_BID = 9999999999, -9999999999
_BLOCK_BYTES = 1 << 20


def read_book_rows(path: Any) -> Iterator[np.ndarray]:
    """Yield the rows of a LOBSTER order book file, int64 [row, level, LEVEL_COLUMNS].

    An empty level has the price `NO_PRICE` and quantity 0.

    Args:
        path: the file, plain or compressed by gzip.

    Raises:
        ParameterError: there is no such file.
        StoreError: it is not such a file; with the row where that shows.
    """
    file = check_file(path)
    columns = len(LEVEL_COLUMNS)
    first_row = 0
    try:
        stream = pa.input_stream(str(file), compression="gzip" if is_gzip(file) else None)
        with stream, csv.open_csv(stream, *_csv_options()) as reader:
            width = len(reader.schema)
            if width % columns:
                raise StoreError(f"{file}: {width} columns are no multiple of {columns}")
            for batch in reader:
                cells = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
                rows = np.stack(cells, axis=1).reshape(len(batch), -1, columns)
                if rows.dtype != np.int64:
                    raise StoreError(f"{file}: an order book holds integers, not {rows.dtype}")
                yield _without_sentinels(rows)
                first_row += len(batch)
    except StoreError:
        raise
    except pa.ArrowException as error:
        where = f"behind row {first_row}" if first_row else "at its start"
        raise StoreError(f"{file} is not a LOBSTER order book file, {where}: {error}") from error
    except OSError as error:
        raise StoreError(f"{file} cannot be read, behind row {first_row}: {error}") from error


def read_first_book(path: Any) -> np.ndarray:
    """Return the first row of a LOBSTER order book file, int64 [level, LEVEL_COLUMNS].

    Raises:
        ParameterError: there is no such file.
        StoreError: it is not such a file, or holds no row.
    """
    for rows in read_book_rows(path):
        first: np.ndarray = rows[0]
        return first
    raise StoreError(f"{path} holds no book")


def _csv_options() -> tuple[Any, Any, Any]:
    # Numbers of rows in errors need a single thread.
    read = csv.ReadOptions(
        autogenerate_column_names=True, block_size=_BLOCK_BYTES, use_threads=False
    )
    convert = csv.ConvertOptions(null_values=[], strings_can_be_null=False)
    return read, csv.ParseOptions(), convert


def _without_sentinels(rows: np.ndarray) -> np.ndarray:
    """Return rows in which an empty level is told by `NO_PRICE`."""
    empty = rows[:, :, 1::2] == 0
    rows[:, :, ::2][empty] = NO_PRICE
    return rows


class BookCheck:
    """Compares the books of a replay with published ones, row by row.

    Args:
        path: a LOBSTER order book file.
        first_row: the first row that is compared.
        level_count: levels that are compared at most.

    Raises:
        ParameterError: there is no such file.
        StoreError: it is not such a file.
    """

    def __init__(self, path: Any, first_row: int, level_count: int) -> None:
        self.path: Path = check_file(path)
        self.rows = 0
        """Rows compared."""
        self.level_count = min(level_count, len(read_first_book(path)))
        self.first_row = first_row
        self._agree = np.zeros(self.level_count, np.int64)
        self._published = read_book_rows(path)
        self._rest = np.zeros((0, self.level_count, len(LEVEL_COLUMNS)), np.int64)
        self._row = 0
        self.first_difference: int | None = None
        """First row whose best prices or sizes differ; None if there is none."""

    @property
    def agree(self) -> int:
        """Rows whose best prices and sizes are the published ones."""
        return int(self._agree[0])

    @property
    def agree_by_level(self) -> np.ndarray:
        """Rows whose prices and sizes agree down to each level. int64 [level]."""
        return self._agree.copy()

    def add(self, levels: np.ndarray) -> None:
        """Compare the books after the next rows. int64 [row, level, LEVEL_COLUMNS].

        Raises:
            StoreError: the published books cannot be read.
        """
        done = 0
        while done < len(levels):
            if not len(self._rest):
                self._rest = next(self._published, self._rest)
                if not len(self._rest):
                    return  # the published books end before the messages
            count = min(len(levels) - done, len(self._rest))
            self._compare(levels[done : done + count], self._rest[:count])
            self._rest = self._rest[count:]
            done += count

    def _compare(self, found: np.ndarray, published: np.ndarray) -> None:
        skipped = min(max(self.first_row - self._row, 0), len(found))
        count = self.level_count
        same = (found[skipped:, :count] == published[skipped:, :count]).all(axis=2)
        same = np.logical_and.accumulate(same, axis=1)
        self._agree += same.sum(axis=0)
        if self.first_difference is None and not same[:, 0].all():
            self.first_difference = self._row + skipped + int(np.argmin(same[:, 0]))
        self.rows += len(same)
        self._row += len(found)

    def summary(self) -> dict[str, Any]:
        """Return the counts, for JSON."""
        return {
            "path": str(self.path),
            "rows": self.rows,
            "agree": self.agree,
            "agree_by_level": self._agree.tolist(),
            "first_difference": self.first_difference,
        }
