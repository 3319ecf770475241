"""LOBSTER message files: NASDAQ's events of one symbol as CSV, with exact times.

Source: lobsterdata.com, "Output structure". Columns: time [s since midnight], type, order id, size,
price [1/10000 $], direction of the resting order. There is no header.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bookwarp.io import lobster_rows
from bookwarp.io.source import CHUNK_BYTES, ByteStream, check_file
from bookwarp.spec.errors import StoreError
from bookwarp.spec.market_data import MarketRows, allocate_rows

PRICE_UNIT = "0.0001"
_BLOCK_ROWS = 1 << 13
_SHOWN = 40
_NEWLINE = b"\n"
_DOMAINS = {
    "type": "one of 1 to 7",
    "order_id": "0 to 2^64-1, or -1 for types 5 to 7",
    "direction": "1 or -1, or 0 for types 5 to 7",
}


class LobsterReader:
    """The rows of a LOBSTER message file, plain or compressed by gzip, in the order of the file.

    Args:
        path: the message file.

    Raises:
        ParameterError: there is no such file.
    """

    format = "lobster"
    ids_grow = True
    price_unit = PRICE_UNIT
    qty_unit = "1"

    def __init__(self, path: Any) -> None:
        self.path: Path = check_file(path)
        self.symbols = {0: self.path.name.split("_")[0]}
        self._rows_done = 0
        # No lines, so that all is compiled before the first come.
        cursor = np.zeros(lobster_rows.CURSOR, np.int64)
        lobster_rows.read_rows(np.zeros(0, np.uint8), 0, cursor, allocate_rows(0))

    def source_name(self, code: int) -> str:
        """Return a type as the format writes it."""
        return str(code)

    def blocks(self) -> Iterator[MarketRows]:
        """Yield the rows, some thousands at a time.

        Raises:
            StoreError: a row is not as it should be, or the file cannot be read; with the row, from
                1, and its offset in the text.
        """
        self._rows_done = 0
        cursor = np.zeros(lobster_rows.CURSOR, np.int64)
        stream = ByteStream(self.path)
        try:
            while not stream.ended:
                stream.advance(int(cursor[lobster_rows.POSITION]))
                cursor[lobster_rows.POSITION] = 0
                if stream.is_empty:
                    raise StoreError(f"{self.path} is empty: there is no row 1")
                yield from self._read_lines(stream, cursor)
        finally:
            stream.close()

    def _read_lines(self, stream: ByteStream, cursor: np.ndarray) -> Iterator[MarketRows]:
        """Yield the rows of the whole lines in the window."""
        if stream.filled == 0:
            return
        if stream.ended and not stream.data.endswith(_NEWLINE, 0, stream.filled):
            stream.data[stream.filled : stream.filled + 1] = _NEWLINE
            stream.filled += 1
        stop = stream.data.rfind(_NEWLINE, 0, stream.filled) + 1
        if stop == 0 and stream.filled >= CHUNK_BYTES:
            raise StoreError(
                f"{self._place(stream, 0)}: there is no end of line in {stream.filled} bytes: this "
                "is not a LOBSTER message file"
            )
        text = np.frombuffer(stream.data, np.uint8)
        while cursor[lobster_rows.POSITION] < stop:
            rows = allocate_rows(_BLOCK_ROWS)
            count = lobster_rows.read_rows(text, stop, cursor, rows)
            self._rows_done += count
            if count:
                yield rows.cut(0, count)
            if cursor[lobster_rows.FAULT]:
                self._explain(stream, cursor)
                cursor[lobster_rows.POSITION] = stop

    def _place(self, stream: ByteStream, position: int) -> str:
        return f"{self.path}: row {self._rows_done + 1} (offset {stream.offset + position})"

    def _explain(self, stream: ByteStream, cursor: np.ndarray) -> None:
        """Raise for the row at the cursor, unless there is but white space from there on."""
        position, columns, _, fault, column = cursor.tolist()
        line = bytes(stream.data[position : stream.data.index(_NEWLINE, position)])
        if not line.strip():
            place = self._place(stream, position)
            if _is_blank_to_the_end(stream, position):
                return
            raise StoreError(f"{place} is empty")
        if fault in (lobster_rows.TOO_FEW, lobster_rows.TOO_MANY):
            expected = columns or len(lobster_rows.COLUMNS)
            what = f"has {line.count(b',') + 1} columns instead of {expected}: {_shown(line)}"
        else:
            name = lobster_rows.COLUMNS[column]
            value = _shown(line.split(b",")[column].removesuffix(b"\r"))
            if fault == lobster_rows.OUTSIDE:
                what = f"has the {name} {value}, which must be {_DOMAINS[name]}"
            elif fault == lobster_rows.TOO_LARGE:
                what = f"has the {name} {value}, which does not fit 64 bits"
            else:
                kind = "a decimal number" if name == "time" else "an integer"
                what = f"has the {name} {value}, which must be {kind}"
        raise StoreError(f"{self._place(stream, position)} {what}")


def _is_blank_to_the_end(stream: ByteStream, position: int) -> bool:
    """Say whether white space is all that follows; reads on as long as it does."""
    while not stream.data[position : stream.filled].strip():
        if stream.ended:
            return True
        stream.advance(stream.filled)
        position = 0
    return False


def _shown(text: bytes) -> str:
    decoded = text.decode("ascii", "backslashreplace")
    return repr(decoded if len(decoded) <= _SHOWN else decoded[:_SHOWN] + "...")
