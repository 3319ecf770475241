"""Tables of orders, in whatever form they come, as the messages that engines read.

| column | values | if there is no such column |
|---|---|---|
| book | 0 .. 2^32-1 | 0 |
| op | new, cancel, modify, or 0, 1, 2 | it is needed |
| order_id | 0 .. 2^64-1 | it is needed |
| side | 1 or B or buy, -1 or S or sell; or what `side_values` says | needed if an order is new |
| kind | limit, market, or 0, 1 | limit |
| tif | GTC, IOC, FOK, post_only, or 0, 1, 2, 3 | GTC |
| price | -2^63 .. 2^63-1 | needed if an order has a limit |
| qty | -2^63 .. 2^63-1; not above 0 is rejected by the book | needed if an order is new |
| owner | 0 .. 2^64-1, 0 is nobody | 0 |
| ts | -2^63 .. 2^63-1, ns | there are no times |

Other columns are left alone. A cell may be empty where a message does not look at it: a cancel has
neither price nor quantity.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np

from bookwarp.io.columns import (
    Column,
    choose_words,
    integer_column,
    open_columns,
    refuse_rows,
)
from bookwarp.spec.codes import Side
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.orders import ORDER, Kind, Op, TimeInForce

COLUMNS = (*("book", "op", "order_id", "side", "kind", "tif", "price", "qty"), "owner", "ts")
DEFAULT_SIDES = (Side.BUY, Side.SELL)

_SIDE_WORDS = {"b": 1, "buy": 1, "1": 1, "+1": 1, "s": -1, "sell": -1, "-1": -1}
# Rows that are looked at together, so that they stay in the cache between two looks.
_BLOCK_ROWS = 1 << 15
# The codes op, side, kind and tif of an `ORDER`, read as one little-endian integer, and the bits of
# kind and tif that no code has.
_CODES = np.dtype({"names": ["codes"], "formats": ["<u4"], "offsets": [28], "itemsize": 32})
_BEYOND_CODES = 0xFCFE0000


@dataclass(frozen=True, eq=False)
class OrderTable:
    """Messages, and what stands beside them."""

    orders: np.ndarray
    """`ORDER` [message]; codes are checked."""
    owners: np.ndarray | None = None
    """uint64 [message]; None: nobody owns anything."""
    times: np.ndarray | None = None
    """int64 [message], ns; None: there are none."""
    is_shared: bool = False
    """Whether `orders` lies in memory of the caller, who may write to it."""

    @cached_property
    def book_count(self) -> int:
        """One more than the largest number of a book; 0 if there are no messages."""
        blocks = _blocks(self.orders["book"])
        return max((1 + int(block.max()) for _, block in blocks), default=0)


def read_orders(source: Any, side_values: Any = DEFAULT_SIDES) -> OrderTable:
    """Return a table of orders as messages, all codes checked; see the top of this module.

    Args:
        source: NumPy structured array; a mapping of columns; anything with `__arrow_c_stream__`,
            such as a table of Arrow, pandas or polars; or the path of a Parquet or CSV file. An
            array of `ORDER` is not copied.
        side_values: what stands for (buy, sell) in the column side, if not (1, -1).

    Raises:
        ParameterError: naming the column, the row (from 0), the value and the limit.
        StoreError: the file cannot be read.
    """
    if isinstance(source, np.ndarray) and source.dtype == ORDER and side_values == DEFAULT_SIDES:
        orders = np.ascontiguousarray(source.reshape(-1)).view(ORDER)
        _check_codes(orders)
        return OrderTable(orders, is_shared=True)
    if not isinstance(side_values, tuple | list) or len(side_values) != 2:
        raise ParameterError(f"side_values = {side_values!r} is not a pair (buy, sell)")
    columns = open_columns(source)
    _refuse_misspelt(columns)
    length = len(next(iter(columns.values()), ()))
    orders = np.zeros(length, ORDER)
    orders["op"] = _needed(columns, "op", _codes, Op)
    is_new, is_cancel = orders["op"] == Op.NEW, orders["op"] == Op.CANCEL
    orders["order_id"] = _needed(columns, "order_id", integer_column, np.uint64)
    if "kind" in columns:
        orders["kind"] = _codes("kind", columns["kind"], Kind, is_new)
    if "tif" in columns:
        orders["tif"] = _codes("tif", columns["tif"], TimeInForce, is_new)
    if "book" in columns:
        orders["book"] = integer_column("book", columns["book"], np.uint32)
    has_limit = ~is_cancel & ((orders["kind"] == Kind.LIMIT) | ~is_new)
    for name, looked_at in (("price", has_limit), ("qty", ~is_cancel)):
        if name in columns or looked_at.any():
            orders[name] = _needed(columns, name, integer_column, np.int64, looked_at)
    if "side" in columns or is_new.any():
        orders["side"] = _needed(columns, "side", _sides, side_values, is_new)
    owner, times = columns.get("owner"), columns.get("ts")
    return OrderTable(
        orders,
        None if owner is None else integer_column("owner", owner, np.uint64, missing=0),
        None if times is None else integer_column("ts", times, np.int64),
    )


def _needed(columns: Mapping[str, Column], name: str, read: Callable[..., Any], *how: Any) -> Any:
    if name not in columns:
        raise ParameterError(
            f"orders have no column {name!r}; they have {', '.join(map(repr, columns)) or 'none'}"
        )
    return read(name, columns[name], *how)


def _refuse_misspelt(columns: Mapping[str, Column]) -> None:
    """Refuse a column whose name is nearly that of an optional one, which would be left out."""
    absent = [name for name in COLUMNS if name not in columns]
    for name in columns:
        if name not in COLUMNS:
            near = get_close_matches(str(name).strip().lower(), absent, n=1, cutoff=0.8)
            if near:
                raise ParameterError(
                    f"orders have a column {name!r} and none {near[0]!r}: is it misspelt?"
                )


def _codes(
    name: str, column: Column, codes: type[IntEnum], looked_at: np.ndarray | None = None
) -> np.ndarray:
    """Return a column of codes, uint8 [message], given as numbers or as names."""
    words = {code.name.lower(): int(code) for code in codes}
    names = ", ".join(words)
    if column.is_text:
        return choose_words(name, column, words, f"one of {names}", looked_at).astype(np.uint8)
    values = integer_column(name, column, np.int64, looked_at)
    bad = (values < 0) | (values > max(codes))
    if looked_at is not None:
        bad &= looked_at
    refuse_rows(name, bad, column, f"one of 0 .. {max(codes):d} ({names})")
    return np.where(bad if looked_at is None else ~looked_at, 0, values).astype(np.uint8)


def _sides(
    name: str, column: Column, side_values: tuple[Any, Any], looked_at: np.ndarray
) -> np.ndarray:
    """Return a column of sides, int8 [message]; 0 where it is not looked at."""
    buy, sell = side_values
    default = tuple(side_values) == DEFAULT_SIDES
    if buy == sell:
        raise ParameterError(f"side_values = ({buy!r}, {sell!r}) do not differ")
    if column.is_text:
        words = _SIDE_WORDS if default else {str(buy).lower(): 1, str(sell).lower(): -1}
        return choose_words(name, column, words, f"one of {', '.join(words)}", looked_at)
    if isinstance(buy, str) or isinstance(sell, str):
        raise ParameterError(f"side_values = ({buy!r}, {sell!r}), but the column side has numbers")
    values = integer_column(name, column, np.int64, looked_at)
    is_buy, is_sell = values == int(buy), values == int(sell)
    limit = f"{int(buy)} (buy) or {int(sell)} (sell)"
    hint = "; side_values=(0, 1) says otherwise" if default else ""
    refuse_rows(name, looked_at & ~is_buy & ~is_sell, column, limit + hint)
    return np.where(looked_at, is_buy.astype(np.int8) - is_sell, 0)


def _check_codes(orders: np.ndarray) -> None:
    """Refuse messages whose codes are none, naming the first."""
    # The four codes of a message lie side by side and are looked at together, as one integer.
    for start, block in _blocks(orders.view(_CODES)["codes"]):
        op, side = block & 0xFF, (block >> 8) & 0xFF
        # Sides, as unsigned bytes, are 1 and 255.
        bad = (block & _BEYOND_CODES != 0) | ((side + 1) & 0xFD != 0)
        bad = (op > max(Op)) | ((op == Op.NEW) & bad)
        if bad.any():
            _refuse_codes(orders[start : start + len(block)], start)


def _refuse_codes(orders: np.ndarray, start: int) -> None:
    """Raise for the first message whose codes are none; the first of `orders` is row `start`."""
    is_new, side = orders["op"] == Op.NEW, orders["side"]
    for name, bad, limit in (
        ("op", orders["op"] > max(Op), f"0 .. {max(Op):d}"),
        ("side", is_new & (side != Side.BUY) & (side != Side.SELL), "1 (buy) or -1 (sell)"),
        ("kind", is_new & (orders["kind"] > max(Kind)), f"0 .. {max(Kind):d}"),
        ("tif", is_new & (orders["tif"] > max(TimeInForce)), f"0 .. {max(TimeInForce):d}"),
    ):
        refuse_rows(name, bad, Column(orders[name]), limit, start)


def _blocks(column: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield a column in contiguous pieces, each with its first row."""
    for start in range(0, len(column), _BLOCK_ROWS):
        yield start, np.ascontiguousarray(column[start : start + _BLOCK_ROWS])
