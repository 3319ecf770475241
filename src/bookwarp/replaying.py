"""Replay market data: `replay` in one call, `Replay` block by block."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from numbers import Integral
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from bookwarp.engines.replay_protocol import ReplayBooks, replay_books
from bookwarp.limits import memory_limit_bytes
from bookwarp.results.day import Day, DayCounts
from bookwarp.spec.codes import Side
from bookwarp.spec.errors import ParameterError, unknown_name
from bookwarp.spec.events import LEVEL_COLUMNS
from bookwarp.spec.market_data import (
    MarketEvent,
    MarketRows,
    ReplayBlock,
)

FORMATS = ("lobster", "itch", "events")
_MAX_LEVELS = 1000
_ASK_PRICE, _ASK_QTY, _BID_PRICE, _BID_QTY = range(len(LEVEL_COLUMNS))

Apply = Callable[[ReplayBooks, MarketRows, np.ndarray], None]


class MarketDataReader(Protocol):
    """Reads market data of one format, as rows of one form."""

    format: str
    path: Path
    ids_grow: bool
    price_unit: str
    qty_unit: str

    @property
    def symbols(self) -> Mapping[int, str]:
        """The symbol of each book that was named so far."""

    def source_name(self, code: int) -> str:
        """Return a type as the format writes it."""

    def blocks(self) -> Iterator[MarketRows]:
        """Yield the rows, some thousands at a time."""


class Replay:
    """A replay of market data, block by block; memory does not grow with the file.

    Args:
        path: the file, plain or compressed by gzip.
        format: "lobster", "itch" or "events".
        levels: price levels a side wanted after every row, 1 .. 1000.
        initial: of "lobster": an order book file whose first row is the book after the first
            message; None starts from an empty book.
        symbols: of "itch": symbols whose messages are kept; None keeps all messages.
        engine: "auto", "cpu" or "reference"; they give the same bits.
        options: of "events": see `bookwarp.io.event_tables.EventReader`.

    Raises:
        ParameterError: an argument is outside its domain, or not for this format; there is no
            such file.
        StoreError: the initial book cannot be read.

    Example:
        >>> for block in bw.Replay("01302020.NASDAQ_ITCH50.gz", "itch"):
        ...     block.levels[:, 0, 2]  # the best bid after each row
    """

    def __init__(
        self,
        path: Any,
        format: str = "lobster",  # noqa: A002
        *,
        levels: int = 1,
        initial: Any = None,
        symbols: Collection[str] | None = None,
        engine: str = "auto",
        **options: Any,
    ) -> None:
        self.level_count = _check_levels(levels)
        if initial is not None and format != "lobster":
            raise ParameterError("initial is for format 'lobster' only")
        self._reader = open_reader(path, format, symbols, options)
        self._initial = None if initial is None else _read_initial(initial)
        self._engine = engine
        self._books = replay_books(engine, self._reader.ids_grow)
        self.counts = DayCounts()
        self.elapsed_s = 0.0
        """Time spent so far in waiting for rows and applying them; reading goes on beside it."""

    @property
    def format(self) -> str:
        """The format of the data."""
        return self._reader.format

    @property
    def symbols(self) -> Mapping[int, str]:
        """The symbol of each book that was named so far."""
        return self._reader.symbols

    @property
    def initial_depth(self) -> np.ndarray | None:
        """The book that the replay starts from, int64 [level, LEVEL_COLUMNS]; None if empty."""
        return self._initial

    def __iter__(self) -> Iterator[ReplayBlock]:
        return self.blocks()

    def blocks(self, apply: Apply | None = None) -> Iterator[ReplayBlock]:
        """Start anew, and yield all rows, applied, some thousands at a time.

        Args:
            apply: what applies the rows of a block to the books; `ReplayBooks.apply` if None.

        Raises:
            StoreError: the file cannot be read or is damaged, with the row or the offset.
        """
        self._books = replay_books(self._engine, self._reader.ids_grow)
        self.counts = DayCounts()
        self.elapsed_s = 0.0
        apply = apply or apply_all
        began = time.perf_counter()
        for rows in _read_ahead(self._reader.blocks()):
            levels = np.empty((rows.row_count, self.level_count, len(LEVEL_COLUMNS)), np.int64)
            if self.counts.rows == 0 and self._initial is not None:
                self._open(rows, levels, apply)
            else:
                apply(self._books, rows, levels)
            block = ReplayBlock(self.counts.rows, rows, levels)
            self.counts.add(rows)
            self.elapsed_s += time.perf_counter() - began
            yield block
            began = time.perf_counter()
        self.elapsed_s += time.perf_counter() - began

    def depth(self, book: int = 0, side: int = Side.BUY) -> np.ndarray:
        """Return price and quantity of each level of a side now, int64 [level, 2], best first."""
        return self._books.depth(_check_book(book), _check_side(side))

    def orders(self, book: int = 0, side: int = Side.BUY) -> np.ndarray:
        """Return the live orders of a side now, by priority.

        Returns:
            Records of order_id, price and qty, `bookwarp.spec.market_data.RESTING_ORDER` [order].
        """
        return self._books.orders(_check_book(book), _check_side(side))

    def day(self, **kept: Any) -> Day:
        """Return what was counted so far; `kept` are further fields of `Day`."""
        reader, counts = self._reader, self.counts
        messages = {
            reader.source_name(code): int(counts.sources[code])
            for code in np.flatnonzero(counts.sources).tolist()
        }
        return Day(
            path=reader.path,
            format=reader.format,
            symbols=dict(reader.symbols),
            price_unit=reader.price_unit,
            qty_unit=reader.qty_unit,
            counts=counts,
            messages=messages,
            elapsed_s=self.elapsed_s,
            **kept,
        )

    def _open(self, rows: MarketRows, levels: np.ndarray, apply: Apply) -> None:
        """Apply the first block to the initial book, which holds what the first row added."""
        assert self._initial is not None
        first = rows.cut(0, 1)
        held = _without_first(self._initial, first)
        for price, qty, side in (
            (_ASK_PRICE, _ASK_QTY, Side.SELL),
            (_BID_PRICE, _BID_QTY, Side.BUY),
        ):
            for level in held[held[:, qty] > 0]:
                self._books.open_depth(0, side, int(level[price]), int(level[qty]))
        event = int(first.event[0])
        if event != MarketEvent.ADD:
            first.event[0] = MarketEvent.OTHER  # the initial book is the one after it
        apply(self._books, first, levels[:1])
        first.event[0] = event
        apply(self._books, rows.cut(1, rows.row_count), levels[1:])


def _read_ahead(blocks: Iterator[MarketRows]) -> Iterator[MarketRows]:
    """Yield blocks, of which the next is read in another thread meanwhile."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, blocks, None)
        while (rows := coming.result()) is not None:
            coming = pool.submit(next, blocks, None)
            yield rows


def apply_all(books: ReplayBooks, rows: MarketRows, levels: np.ndarray) -> None:
    """Apply rows without looking at them."""
    books.apply(rows, levels, 0, rows.row_count)


def _without_first(initial: np.ndarray, first: MarketRows) -> np.ndarray:
    """Return the initial book without the order that the first row adds, if it is in it."""
    held = initial.copy()
    if first.event[0] == MarketEvent.ADD:
        price, qty = (_BID_PRICE, _BID_QTY) if first.side[0] == Side.BUY else (0, _ASK_QTY)
        same = (held[:, price] == first.price[0]) & (held[:, qty] >= first.qty[0])
        held[same, qty] -= first.qty[0]
    return held


def replay(
    path: Any,
    format: str = "lobster",  # noqa: A002
    *,
    levels: int = 1,
    initial: Any = None,
    symbols: Collection[str] | None = None,
    engine: str = "auto",
    collect: bool = True,
    check: Any = None,
    out: Any = None,
    orders: Any = None,
    lobster: Any = None,
    plot: Any = None,
    overwrite: bool = False,
    memory_limit: int | None = None,
    **options: Any,
) -> Day:
    """Replay market data: apply every row to its book by id, and count what is odd.

    Args:
        path, format, levels, initial, symbols, engine, options: as for `Replay`.
        collect: keep all rows and the books after them in memory, as `Day.rows` and `Day.levels`.
        check: a LOBSTER order book file, to compare the books with; of "lobster". With `initial`,
            from the second row on.
        out: Parquet file to write rows and books to.
        orders: Parquet file to write the orders to that would have caused the day, for
            `bookwarp.match`.
        lobster: path without its end, to which PATH_message_LEVELS.csv and
            PATH_orderbook_LEVELS.csv are written; of one symbol.
        plot: file to draw the day to, .png, .svg or .pdf; of one symbol.
        overwrite: replace files that exist.
        memory_limit: bytes that what is kept may take; 90 % of the free memory if None.

    Raises:
        ParameterError: an argument is outside its domain; what is to be kept would not fit; more
            than one symbol where only one can be written.
        StoreError: a file is damaged, with the row or the offset, or cannot be written.

    Memory: unless `collect`, it does not grow with the file.
    """
    from bookwarp.replay_outputs import ReplayOutputs

    deep = _check_levels(levels) + (lobster is not None)
    run = Replay(
        path, format, levels=deep, initial=initial, symbols=symbols, engine=engine, **options
    )
    outputs = ReplayOutputs.of(
        run,
        levels=levels,
        kept_bytes=memory_limit_bytes(memory_limit) if collect else None,
        check=check,
        out=out,
        orders=orders,
        lobster=lobster,
        plot=plot,
        overwrite=overwrite,
    )
    return outputs.write()


def open_reader(
    path: Any, form: str, symbols: Collection[str] | None, options: Mapping[str, Any]
) -> MarketDataReader:
    """Return the reader of a format.

    Raises:
        ParameterError: there is no such format or file, or an option is not for this format.
    """
    if form not in FORMATS:
        raise ParameterError(unknown_name("format", form, FORMATS))
    if symbols is not None and form != "itch":
        raise ParameterError("symbols is for format 'itch' only")
    if options and form != "events":
        raise ParameterError(f"{next(iter(options))} is for format 'events' only")
    if form == "lobster":
        from bookwarp.io.lobster import LobsterReader

        return LobsterReader(path)
    if form == "itch":
        from bookwarp.io.itch import ItchReader

        return ItchReader(path, symbols)
    from bookwarp.io.event_tables import EventReader

    return EventReader(path, **options)


def _read_initial(path: Any) -> np.ndarray:
    from bookwarp.io.lobster_book import read_first_book

    return read_first_book(path)


def _check_levels(levels: Any) -> int:
    if isinstance(levels, bool) or not isinstance(levels, Integral):
        raise ParameterError(f"levels must be an integer, not {levels!r}")
    if not 1 <= int(levels) <= _MAX_LEVELS:
        raise ParameterError(f"levels = {levels} is outside 1 .. {_MAX_LEVELS}")
    return int(levels)


def _check_book(book: Any) -> int:
    if isinstance(book, bool) or not isinstance(book, Integral) or not 0 <= int(book) < 2**31:
        raise ParameterError(f"book = {book!r} is no index of a book")
    return int(book)


def _check_side(side: Any) -> int:
    if side not in (Side.BUY, Side.SELL):
        raise ParameterError(f"side = {side!r} is neither 1 (buy) nor -1 (sell)")
    return int(side)
