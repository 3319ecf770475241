"""NASDAQ TotalView-ITCH 5.0 files: messages of all symbols, each behind a length of 2 bytes.

A length of 0, which some files have throughout, leaves it to the type.
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bookwarp.io import itch_frames
from bookwarp.io.itch_layout import MESSAGE_TYPES, lookup_table
from bookwarp.io.source import ByteStream, check_file
from bookwarp.spec.errors import ParameterError, StoreError, unknown_name
from bookwarp.spec.market_data import MarketRows, allocate_rows

PRICE_UNIT = "0.0001"
_BLOCK_ROWS = 1 << 13
_LOCATES = 1 << 16
_SYMBOL_LETTERS = 8
_END_OF_SESSION = b"\0\0"


class ItchReader:
    """The messages of an ITCH 5.0 file, plain or compressed by gzip; a book is a stock locate.

    Args:
        path: the file.
        symbols: symbols whose messages are kept, and none else; all messages if None.

    Raises:
        ParameterError: there is no such file, or a symbol is no text of 1 to 8 letters.
    """

    format = "itch"
    ids_grow = True
    price_unit = PRICE_UNIT
    qty_unit = "1"

    def __init__(self, path: Any, symbols: Collection[str] | None = None) -> None:
        self.path: Path = check_file(path)
        self._wanted = _pack_symbols(symbols)
        self._table = lookup_table()
        self._names = np.zeros(_LOCATES, np.uint64)
        # No bytes, so that all is compiled before the first come.
        self._read(np.zeros(0, np.uint8), 0, np.zeros(itch_frames.CURSOR, np.int64), 0)

    @property
    def symbols(self) -> dict[int, str]:
        """The symbol of each book that was named so far."""
        return {int(at): _unpack_symbol(self._names[at]) for at in np.flatnonzero(self._names)}

    def source_name(self, code: int) -> str:
        """Return a type as the format writes it."""
        return chr(code)

    def blocks(self) -> Iterator[MarketRows]:
        """Yield a row for each message, some thousands at a time.

        Raises:
            StoreError: a message is not as it should be, or the file cannot be read; with the
                message, from 1, and its offset. Or a symbol that was asked for is not in it.
        """
        self._names[:] = 0
        for stream, cursor in _windows(self.path):
            data = np.frombuffer(stream.data, np.uint8)
            count = _BLOCK_ROWS
            while count == _BLOCK_ROWS:
                count, rows = self._read(data, stream.filled, cursor, _BLOCK_ROWS)
                if count:
                    yield rows.cut(0, count)
        for wanted in self._wanted:
            if not np.any(self._names == wanted):
                raise StoreError(f"{self.path} has no symbol {_unpack_symbol(wanted)!r}")

    def _read(
        self, data: np.ndarray, stop: int, cursor: np.ndarray, count: int
    ) -> tuple[int, MarketRows]:
        """Read messages as far as `stop`, and no more than `count`."""
        rows = allocate_rows(count)
        args = (data, stop, cursor, self._table, self._names, self._wanted, rows)
        return int(itch_frames.read_messages(*args)), rows


def read_messages(
    path: Any, types: Collection[str] | None = None
) -> Iterator[dict[str, np.ndarray]]:
    """Yield all fields of the messages of an ITCH file, block by block.

    Args:
        path: the file, plain or compressed by gzip.
        types: letters of the types to keep; all if None.

    Yields:
        By letter, records with the fields of `itch_layout.MESSAGE_TYPES`, in the order of the file;
        `message` counts all messages, from 0.

    Raises:
        ParameterError: there is no such file or type.
        StoreError: a message is not as it should be, or the file cannot be read.
    """
    for letter in types or ():
        if letter not in MESSAGE_TYPES:
            raise ParameterError(unknown_name("ITCH message type", letter, MESSAGE_TYPES))
    chosen = [MESSAGE_TYPES[letter] for letter in (MESSAGE_TYPES if types is None else types)]
    table = lookup_table()
    starts = np.zeros(_BLOCK_ROWS, np.int64)
    for stream, cursor in _windows(check_file(path)):
        data = np.frombuffer(stream.data, np.uint8)
        count = _BLOCK_ROWS
        while count == _BLOCK_ROWS:
            first = int(cursor[itch_frames.MESSAGES])
            count = itch_frames.find_messages(data, stream.filled, cursor, table, starts)
            letters = data[starts[:count]]
            found = {}
            for each in chosen:
                (messages,) = np.nonzero(letters == ord(each.letter))
                if len(messages):
                    lengths = np.arange(each.length)
                    raw = data[starts[messages][:, None] + lengths].view(each.record(False))[:, 0]
                    found[each.letter] = _with_numbers(raw, each.record(True), first + messages)
            if found:
                yield found


def _with_numbers(raw: np.ndarray, record: np.dtype, messages: np.ndarray) -> np.ndarray:
    """Return raw messages as records with native numbers, and where in the file they stand."""
    numbered = np.dtype([("message", "i8"), *((n, record[n]) for n in record.names or ())])
    found = np.zeros(len(raw), numbered)
    found["message"] = messages
    for name in record.names or ():
        values = raw[name]
        if values.dtype.kind == "V":  # a number of 6 bytes
            padded = np.zeros((len(values), 8), np.uint8)
            padded[:, 2:] = np.ascontiguousarray(values).view(np.uint8).reshape(-1, 6)
            values = padded.view(">u8")[:, 0]
        found[name] = values
    return found


def _windows(path: Path) -> Iterator[tuple[ByteStream, np.ndarray]]:
    """Yield a stream of bytes, filled up, and a cursor that is to be moved as far as it goes.

    Raises:
        StoreError: what the cursor stands at is no message, or ends before its end.
    """
    cursor = np.zeros(itch_frames.CURSOR, np.int64)
    stream = ByteStream(path)
    try:
        while not stream.ended:
            stream.advance(int(cursor[itch_frames.POSITION]))
            cursor[itch_frames.POSITION] = 0
            if stream.is_empty:
                raise StoreError(f"{path} is empty: there is no message 1")
            yield stream, cursor
            _check(stream, cursor)
        rest = bytes(stream.data[int(cursor[itch_frames.POSITION]) : stream.filled])
        if rest not in (b"", _END_OF_SESSION):
            raise StoreError(
                f"{_place(stream, cursor)} is cut off: {len(rest)} bytes are left of it"
            )
    finally:
        stream.close()


def _check(stream: ByteStream, cursor: np.ndarray) -> None:
    """Raise if the kernel stopped at something that cannot be a message."""
    fault, position = int(cursor[itch_frames.FAULT]), int(cursor[itch_frames.POSITION])
    if fault == itch_frames.NO_FAULT:
        return
    said = int.from_bytes(stream.data[position : position + 2], "big")
    letter = chr(stream.data[position + 2])
    if fault == itch_frames.UNKNOWN_TYPE:
        what = f"has the length {said} and the type {letter!r}, which ITCH 5.0 does not have"
    elif fault == itch_frames.WRONG_LENGTH:
        length = MESSAGE_TYPES[letter].length
        what = f"has the length {said}; of type {letter} it must be {length}, or 0"
    else:
        at = position + 2 + MESSAGE_TYPES[letter].offset("buy_sell_indicator")
        what = f"has the side {chr(stream.data[at])!r}, which must be B or S"
    raise StoreError(f"{_place(stream, cursor)} {what}")


def _place(stream: ByteStream, cursor: np.ndarray) -> str:
    message = int(cursor[itch_frames.MESSAGES]) + 1
    offset = stream.offset + int(cursor[itch_frames.POSITION])
    return f"{stream.path}: message {message} (offset {offset})"


def _pack_symbols(symbols: Collection[str] | None) -> np.ndarray:
    if symbols is None:
        return np.zeros(0, np.uint64)
    if isinstance(symbols, str):
        symbols = (symbols,)
    packed = []
    for symbol in symbols:
        text = str(symbol).strip()
        if not text.isascii() or not 0 < len(text) <= _SYMBOL_LETTERS:
            raise ParameterError(
                f"symbols: {symbol!r} is no text of 1 to {_SYMBOL_LETTERS} letters"
            )
        packed.append(int.from_bytes(text.encode().ljust(_SYMBOL_LETTERS), "big"))
    if not packed:
        raise ParameterError("symbols must name one at least; leave it out for all")
    return np.array(packed, np.uint64)


def _unpack_symbol(packed: np.uint64) -> str:
    return int(packed).to_bytes(_SYMBOL_LETTERS, "big").decode("ascii", "replace").rstrip()
