"""Writes replayed rows of one symbol as LOBSTER files: messages, and the book after each of them.

| row | LOBSTER |
|---|---|
| add, reduce, delete, execute | types 1, 2, 3, 4 |
| replace | 3 and 1 |
| change | 2 if the order keeps its place, else 3 and 1 |
| hidden and auction trades, halt and resume | types 5, 6, 7 |
| anything else, and what names an unknown order without a price | nothing |

A book has as many levels as are asked for, and times nine decimals at most, without zeros at the
end, as LOBSTER writes them.
"""

from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from bookwarp.io.lobster_book import EMPTY_ASK, EMPTY_BID
from bookwarp.io.lobster_rows import (
    CANCEL,
    CROSS,
    DELETION,
    EXECUTION,
    HALT,
    HIDDEN,
    NEW,
)
from bookwarp.spec.codes import NO_PRICE, Side
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.events import LEVEL_COLUMNS
from bookwarp.spec.market_data import NO_BOOK, MarketEvent, MarketRows, ReplayBlock

_NS_PER_S = 10**9
_NS_DIGITS = 9
_CHANGE, _REPLACE = MarketEvent.CHANGE, MarketEvent.REPLACE
# Type by event; 0 is none.
_TYPES = np.zeros(len(MarketEvent), np.int64)
for _event, _type in (
    (MarketEvent.ADD, NEW),
    (MarketEvent.REDUCE, CANCEL),
    (MarketEvent.DELETE, DELETION),
    (MarketEvent.EXECUTE, EXECUTION),
    (MarketEvent.EXECUTE_AT, EXECUTION),
    (MarketEvent.REPLACE, NEW),
    (MarketEvent.CHANGE, NEW),
    (MarketEvent.HIDDEN, HIDDEN),
    (MarketEvent.CROSS, CROSS),
    (MarketEvent.HALT, HALT),
    (MarketEvent.RESUME, HALT),
):
    _TYPES[_event] = _type


def lobster_paths(prefix: Path, level_count: int) -> tuple[Path, Path]:
    """Return where messages and books go."""
    name = prefix.name
    return (
        prefix.with_name(f"{name}_message_{level_count}.csv"),
        prefix.with_name(f"{name}_orderbook_{level_count}.csv"),
    )


class LobsterWriter:
    """Writes replayed blocks, one after the other, into two open files.

    Args:
        messages, books: binary files.
        level_count: levels of a book that are written; blocks need one more.
    """

    def __init__(self, messages: IO[bytes], books: IO[bytes], level_count: int) -> None:
        self.rows = 0
        """Messages written."""
        self._files = (messages, books)
        self._level_count = level_count
        self._book: int | None = None
        self._last = np.zeros((level_count + 1, len(LEVEL_COLUMNS)), np.int64)
        self._last[:, ::2] = NO_PRICE

    def add(self, block: ReplayBlock) -> None:
        """Write a block.

        Raises:
            ParameterError: it has rows of a second symbol.
        """
        chosen = self._choose(block.rows)
        if not len(chosen):
            return
        rows = MarketRows(*(column[chosen] for column in block.rows))
        levels = block.levels[chosen, : self._level_count + 1]
        keeps = (rows.event == _CHANGE) & (rows.old_price == rows.price)
        keeps &= (rows.open_qty <= rows.old_qty) & (rows.old_qty > 0)
        doubled = np.isin(rows.event, (_REPLACE, _CHANGE)) & (rows.old_qty > 0) & ~keeps
        order = np.repeat(np.arange(len(chosen)), 1 + doubled)
        gone = np.flatnonzero(np.diff(order, append=-1) == 0)  # the first of two
        self._write(
            self._files[0], [_time_text(rows.time_ns[order]), *_cells(rows, keeps, order, gone)]
        )
        self._write(self._files[1], self._books(rows, levels, order, gone))
        self._last = levels[-1]
        self.rows += len(order)

    def _choose(self, rows: MarketRows) -> np.ndarray:
        """Return the rows that LOBSTER has a type for. int64 [row]."""
        kept = (_TYPES[rows.event] > 0) & (rows.book != NO_BOOK) & (rows.price != NO_PRICE)
        kept &= (rows.side != 0) | np.isin(rows.event, (MarketEvent.HALT, MarketEvent.RESUME))
        kept &= ~((rows.event == _CHANGE) & (rows.open_qty == rows.old_qty) & (
            rows.old_price == rows.price
        ))  # fmt: skip
        (chosen,) = np.nonzero(kept | (_TYPES[rows.event] == CROSS))
        for book in np.unique(rows.book[chosen]).tolist():
            if self._book not in (None, book):
                raise ParameterError(
                    "LOBSTER files hold one symbol, and there are rows of more: name one in symbols"
                )
            self._book = book
        return chosen

    def _books(
        self, rows: MarketRows, levels: np.ndarray, order: np.ndarray, gone: np.ndarray
    ) -> list[Any]:
        """Return the columns of the order book file."""
        found = levels[order]
        for at in gone.tolist():
            row = int(order[at])
            before = levels[row - 1] if row else self._last
            side, price, qty = int(rows.side[row]), int(rows.old_price[row]), int(rows.old_qty[row])
            found[at] = _without_order(before, side, price, qty)
        found = found[:, : self._level_count]
        ask, bid = found[:, :, 0], found[:, :, 2]
        ask[ask == NO_PRICE] = EMPTY_ASK
        bid[bid == NO_PRICE] = EMPTY_BID
        return list(found.reshape(len(found), -1).T)

    @staticmethod
    def _write(file: IO[bytes], columns: list[Any]) -> None:
        names = [str(at) for at in range(len(columns))]
        table = pa.table([pa.array(column) for column in columns], names)
        options = csv.WriteOptions(include_header=False, quoting_style="none")
        csv.write_csv(table, file, options)


def _cells(
    rows: MarketRows, keeps: np.ndarray, order: np.ndarray, gone: np.ndarray
) -> list[np.ndarray]:
    """Return type, id, size, price and direction of the messages."""
    kind = _TYPES[rows.event]
    kind[keeps] = CANCEL
    size = np.where(keeps, rows.old_qty - rows.open_qty, rows.qty)[order]
    replaced = rows.event == _REPLACE
    order_id = np.where(replaced, rows.new_id, rows.order_id).view(np.int64)[order]
    kind, price, side = kind[order], rows.price[order], rows.side[order]
    kind[gone], size[gone] = DELETION, rows.old_qty[order[gone]]
    order_id[gone] = rows.order_id.view(np.int64)[order[gone]]
    price[gone] = rows.old_price[order[gone]]
    # Ids of orders are unsigned; -1 stands for none.
    signed = np.isin(kind, (HIDDEN, CROSS, HALT))
    ids = pc.if_else(
        pa.array(signed),
        pc.cast(pa.array(order_id), pa.string()),
        pc.cast(pa.array(order_id.view(np.uint64)), pa.string()),
    )
    return [kind, ids, size, price, np.where(side == 0, int(Side.SELL), side)]


def _time_text(time_ns: np.ndarray) -> Any:
    """Return times as seconds in decimal text."""
    seconds = pc.cast(pa.array(time_ns // _NS_PER_S), pa.string())
    part = pc.cast(pa.array(time_ns % _NS_PER_S), pa.string())
    part = pc.utf8_lpad(part, _NS_DIGITS, "0")
    text = pc.binary_join_element_wise(seconds, part, ".")
    return pc.utf8_rtrim(pc.utf8_rtrim(text, "0"), ".")


def _without_order(levels: np.ndarray, side: int, price: int, qty: int) -> np.ndarray:
    """Return the levels of a book after an order has left it."""
    found = levels.copy()
    at = 2 if side == Side.BUY else 0
    (level,) = np.nonzero(found[:, at] == price)
    if len(level):
        found[level[0], at + 1] -= qty
        if found[level[0], at + 1] == 0:
            found[level[0] : -1, at : at + 2] = found[level[0] + 1 :, at : at + 2]
            found[-1, at : at + 2] = NO_PRICE, 0
    return found
