"""Order by order data of any venue, as a table of events in a CSV or Parquet file.

| column | values | names that are known |
|---|---|---|
| ts | time: a number of `time_unit`, or a timestamp | ts, time, timestamp |
| type | what happened: see `types` | type, event |
| id | of the order: an integer below 2^64, or any text | id, order_id |
| side | of the resting order: buy or sell, b or s, bid or ask, 1 or -1 | side |
| price | decimal | price |
| qty | decimal | qty, size, quantity, amount |
| new_id | of the order that replaces another | new_id |
| symbol | the book, if there are more than one | symbol, book, instrument |
| seq | a number that grows by 1 from row to row | seq, sequence |

type and id are needed; a cell may be empty where a row leaves it to the order that it names.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bookwarp.io.event_batches import NAMES, open_batches
from bookwarp.io.exact_numbers import NotExactError, parse_unit, read_exact
from bookwarp.io.source import check_file
from bookwarp.spec.codes import NO_PRICE, Side
from bookwarp.spec.errors import ParameterError, StoreError, unknown_name
from bookwarp.spec.market_data import (
    EXECUTIONS,
    MarketEvent,
    MarketRows,
    Oddity,
    allocate_rows,
    event_names,
)

TYPE_WORDS = {
    **{name: name for name in event_names()},
    **dict.fromkeys(("new", "open", "insert", "created", "order_created", "a"), "add"),
    **dict.fromkeys(("partial_cancel", "decrease", "x"), "reduce"),
    **dict.fromkeys(
        ("cancel", "cancelled", "canceled", "remove", "done", "order_deleted", "d"), "delete"
    ),
    **dict.fromkeys(("executed", "execution", "trade", "match", "fill", "e"), "execute"),
    **dict.fromkeys(("modify", "modified", "changed", "update", "order_changed"), "change"),
    **dict.fromkeys(("replaced", "u"), "replace"),
    "received": "other",
}
"""Words for the type of an event, and the `MarketEvent` that each stands for."""
_SIDE_WORDS = {
    **dict.fromkeys(("buy", "b", "bid", "1", "+1"), int(Side.BUY)),
    **dict.fromkeys(("sell", "s", "ask", "-1"), int(Side.SELL)),
}
_TIME_UNITS = {"ns": (1, 0), "us": (1, 3), "ms": (1, 6), "s": (1, 9)}
# Whether the side of an execution is turned round.
_TRADE_SIDES = {"maker": False, "taker": True}
_TIME_BACK, _GAP = np.uint32(Oddity.TIME_BACK), np.uint32(Oddity.GAP)
_SHOWN = 60


class EventReader:
    """The rows of a table of events, CSV (plain or compressed by gzip) or Parquet.

    Args:
        path: the file.
        columns: the file's name of a column, by ours, where it is none of those known.
        types: what further words for types stand for: the name of a `MarketEvent`, by word.
        sides: what stands for (buy, sell), if nothing of what is known.
        trade_side: "maker" if an execution says the side of the resting order, else "taker".
        price_unit: a tick, as decimal text; all prices must be multiples.
        qty_unit: a lot, as decimal text; all quantities must be multiples.
        time_unit: of times that are numbers: "ns", "us", "ms" or "s".
        ids_grow: whether a lower id is an older order.

    Raises:
        ParameterError: there is no such file, or an argument is outside its domain.
    """

    format = "events"

    def __init__(
        self,
        path: Any,
        *,
        columns: Mapping[str, str] | None = None,
        types: Mapping[str, str] | None = None,
        sides: tuple[Any, Any] | None = None,
        trade_side: str = "maker",
        price_unit: Any = "1",
        qty_unit: Any = "1",
        time_unit: str = "ns",
        ids_grow: bool = False,
        **unknown: Any,
    ) -> None:
        for name in unknown:
            raise ParameterError(unknown_name("option of format 'events'", name, _OPTIONS))
        self.path: Path = check_file(path)
        self.price_unit, self.qty_unit = str(price_unit), str(qty_unit)
        self.ids_grow = bool(ids_grow)
        self._units = {
            "price": parse_unit("price_unit", price_unit),
            "qty": parse_unit("qty_unit", qty_unit),
            "ts": _choice("time_unit", time_unit, _TIME_UNITS),
            "seq": (1, 0),
        }
        self._flips = _choice("trade_side", trade_side, _TRADE_SIDES)
        self._columns = _check_columns(columns or {})
        self._types = _check_types(types or {})
        self._sides = _check_sides(sides)
        self._books: dict[str, int] = {}
        self._text_ids: dict[str, int] | None = None
        self._rows_done = 0

    @property
    def symbols(self) -> dict[int, str]:
        """The symbol of each book, by its index in the order of appearance."""
        return {index: symbol for symbol, index in self._books.items()}

    def source_name(self, code: int) -> str:
        """Return the event that a type stands for."""
        return event_names()[code]

    def blocks(self) -> Iterator[MarketRows]:
        """Yield the rows, some thousands at a time.

        Raises:
            StoreError: a row is not as it should be, or the file cannot be read; with the row,
                from 1, the header not counted.
        """
        self._books, self._text_ids, self._rows_done = {}, None, 0
        last_time, last_seq = None, None
        for batch in open_batches(self.path, self._columns):
            rows = self._read(batch)
            rows.oddity[1:][np.diff(rows.time_ns) < 0] |= _TIME_BACK
            if last_time is not None and rows.time_ns[0] < last_time:
                rows.oddity[0] |= _TIME_BACK
            last_time = rows.time_ns[-1]
            if "seq" in batch:
                seq = self._exact(batch, "seq", 0)
                rows.oddity[1:][np.diff(seq) != 1] |= _GAP
                if last_seq is not None and seq[0] != last_seq + 1:
                    rows.oddity[0] |= _GAP
                last_seq = int(seq[-1])
            self._rows_done += rows.row_count
            yield rows
        if self._rows_done == 0:
            raise StoreError(f"{self.path} holds no rows")

    def _read(self, batch: Mapping[str, Any]) -> MarketRows:
        rows = allocate_rows(len(batch["type"]))
        rows.event[:] = self._words(batch, "type", self._types)
        rows.source[:] = rows.event
        rows.order_id[:] = self._ids(batch, "id")
        if "new_id" in batch:
            rows.new_id[:] = self._ids(batch, "new_id")
        replaced = rows.event == MarketEvent.REPLACE
        unsaid = replaced & (rows.new_id == 0)
        rows.new_id[unsaid] = rows.order_id[unsaid]
        rows.new_id[~replaced] = 0
        if "side" in batch:
            rows.side[:] = self._words(batch, "side", self._sides)
        if self._flips:
            rows.side[np.isin(rows.event, EXECUTIONS)] *= -1
        rows.price[:] = self._exact(batch, "price", NO_PRICE) if "price" in batch else NO_PRICE
        if "qty" in batch:
            rows.qty[:] = self._exact(batch, "qty", 0)
        if "ts" in batch:
            rows.time_ns[:] = self._times(batch)
        if "symbol" in batch:
            rows.book[:] = self._symbols(batch["symbol"])
        for name, column, nothing in (("side", rows.side, 0), ("price", rows.price, NO_PRICE)):
            bad = (rows.event == MarketEvent.ADD) & (column == nothing)
            if bad.any():
                raise self._fault(int(np.argmax(bad)), f"adds an order and says no {name}")
        return rows

    def _exact(self, batch: Mapping[str, Any], name: str, missing: int) -> np.ndarray:
        try:
            return read_exact(batch[name], self._units[name], missing)
        except NotExactError as error:
            unit = {"price": self.price_unit, "qty": self.qty_unit}.get(name, "1")
            what = (
                f"has the {name} {_shown(error.value)}, which is no multiple of {unit} in 64 bits"
            )
            raise self._fault(error.row, what) from None

    def _times(self, batch: Mapping[str, Any]) -> np.ndarray:
        column = batch["ts"]
        if pa.types.is_timestamp(column.type):
            return _timestamps(column)
        try:
            return read_exact(column, self._units["ts"], 0)
        except NotExactError as error:
            found = _parse_timestamps(column)
            if found is not None:
                return found
            what = f"has the ts {_shown(error.value)}, which is no time in whole nanoseconds"
            raise self._fault(error.row, what) from None

    def _ids(self, batch: Mapping[str, Any], name: str) -> np.ndarray:
        column = batch[name]
        if self._text_ids is None:
            found = _integer_ids(column)
            if found is not None:
                return found
            if self._rows_done:
                row = next(i for i, v in enumerate(column.to_pylist()) if not _is_id(v))
                what = f"has the {name} {_shown(column[row].as_py())}, after ids that were integers"
                raise self._fault(row, what)
            self._text_ids = {}
        return self._number_texts(column)

    def _number_texts(self, column: Any) -> np.ndarray:
        """Return ids that are text as numbers, from 1 in the order of appearance; 0 is none."""
        assert self._text_ids is not None
        words = pc.fill_null(pc.cast(column, pa.string()), "").dictionary_encode()
        known = self._text_ids
        numbers = [
            known.setdefault(word, len(known) + 1) if word else 0
            for word in words.dictionary.to_pylist()
        ]
        return np.asarray(np.array(numbers, np.uint64)[words.indices.to_numpy()])

    def _symbols(self, column: Any) -> np.ndarray:
        words = pc.fill_null(pc.cast(column, pa.string()), "").dictionary_encode()
        numbers = [
            self._books.setdefault(w, len(self._books)) for w in words.dictionary.to_pylist()
        ]
        return np.asarray(np.array(numbers, np.int32)[words.indices.to_numpy()])

    def _words(self, batch: Mapping[str, Any], name: str, codes: Mapping[str, int]) -> np.ndarray:
        """Return the codes of a column of words, int8 [row]."""
        column = pc.fill_null(pc.cast(batch[name], pa.string()), "").dictionary_encode()
        words = [word.strip().lower() for word in column.dictionary.to_pylist()]
        indices = column.indices.to_numpy()
        for index, word in enumerate(words):
            if word not in codes and not (word == "" and name == "side"):
                row = int(np.argmax(indices == index))
                known = f"it is one of {', '.join(sorted(codes))}"
                raise self._fault(
                    row, f"has the {name} {_shown(word)}, which is not known: {known}"
                )
        return np.asarray(np.array([codes.get(word, 0) for word in words], np.int8)[indices])

    def _fault(self, row: int, what: str) -> StoreError:
        return StoreError(f"{self.path}: row {self._rows_done + row + 1} {what}")


_OPTIONS = (
    *("columns", "types", "sides", "trade_side", "price_unit", "qty_unit", "time_unit"),
    "ids_grow",
)


def _integer_ids(column: Any) -> np.ndarray | None:
    """Return ids as integers; None if some are none."""
    try:
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            column = pc.utf8_trim_whitespace(column)
            column = pc.if_else(pc.equal(column, ""), None, column)
        found: np.ndarray = pc.fill_null(pc.cast(column, pa.uint64()), 0).to_numpy()
    except pa.ArrowException:
        return None
    return found


def _is_id(value: object) -> bool:
    text = "" if value is None else str(value).strip()
    return text == "" or (text.isascii() and text.isdigit() and int(text) < 2**64)


def _timestamps(column: Any) -> np.ndarray:
    kind = pa.timestamp("ns", column.type.tz)
    found: np.ndarray = pc.fill_null(pc.cast(pc.cast(column, kind), pa.int64()), 0).to_numpy()
    return found


def _parse_timestamps(column: Any) -> np.ndarray | None:
    """Return times in ISO 8601 as ns since 1970; None if some are none."""
    for kind in (pa.timestamp("ns"), pa.timestamp("ns", "UTC")):
        try:
            return _timestamps(pc.cast(column, kind))
        except pa.ArrowException:
            continue
    return None


def _choice(name: str, value: Any, known: Mapping[str, Any]) -> Any:
    if value not in known:
        raise ParameterError(unknown_name(name, value, known))
    return known[value]


def _check_columns(columns: Mapping[str, str]) -> dict[str, str]:
    for name in columns:
        if name not in NAMES:
            raise ParameterError(unknown_name("column", name, NAMES))
    return dict(columns)


def _check_types(types: Mapping[str, str]) -> dict[str, int]:
    names = event_names()
    for word, event in types.items():
        if event not in names:
            raise ParameterError(f"types: {word!r}: {unknown_name('event', event, names)}")
    words = TYPE_WORDS | {str(word).lower(): event for word, event in types.items()}
    return {word: names.index(event) for word, event in words.items()}


def _check_sides(sides: Any) -> dict[str, int]:
    if sides is None:
        return _SIDE_WORDS
    if not isinstance(sides, tuple | list) or len(sides) != 2 or sides[0] == sides[1]:
        raise ParameterError(f"sides = {sides!r} is not a pair of words for (buy, sell)")
    return {str(sides[0]).lower(): int(Side.BUY), str(sides[1]).lower(): int(Side.SELL)}


def _shown(value: object) -> str:
    text = str(value)
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")
