"""Columns of a table in any of its forms, read as exact integers or as one of a few words."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from bookwarp.io.table_files import read_table
from bookwarp.spec.errors import ParameterError

_EXACT_FLOAT = 2**53
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,20}\s*")
_SHOWN = 60


@dataclass(frozen=True, eq=False)
class Column:
    """One column: numbers, or words of which there are few."""

    values: np.ndarray
    """Numbers [row]; of words, their index in `words`."""
    missing: np.ndarray | None = None
    """bool [row], where there is nothing; None: nowhere."""
    words: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_text(self) -> bool:
        """Whether the column holds words."""
        return self.words is not None

    def shown(self, row: int) -> str:
        """Return the value of a row as an error says it."""
        if self.missing is not None and self.missing[row]:
            return "empty"
        if self.words is None:
            return str(self.values[row])
        word = self.words[int(self.values[row])]
        return repr(word if len(word) <= _SHOWN else word[:_SHOWN] + "...")


def open_columns(source: Any) -> dict[str, Column]:
    """Return the columns of a table by name.

    Args:
        source: as in `bookwarp.io.order_tables.read_orders`.

    Raises:
        ParameterError: it is no table, or its columns have unequal lengths.
        StoreError: the file cannot be read.
    """
    if isinstance(source, np.ndarray) and source.dtype.names:
        flat = source.reshape(-1)
        return {name: _from_array(name, flat[name]) for name in source.dtype.names}
    if isinstance(source, Mapping):
        columns = {str(n): _from_array(str(n), _as_array(str(n), v)) for n, v in source.items()}
        lengths = {len(column) for column in columns.values()}
        if len(lengths) > 1:
            found = ", ".join(f"{name} {len(column)}" for name, column in columns.items())
            raise ParameterError(f"the columns of orders have unequal lengths: {found}")
        return columns
    table = _import_table(source) if hasattr(source, "__arrow_c_stream__") else read_table(source)
    doubled = {name for name in table.column_names if table.column_names.count(name) > 1}
    if doubled:
        raise ParameterError(f"orders have more than one column {min(doubled)!r}")
    return {name: _from_arrow(name, table[name]) for name in table.column_names}


def _import_table(source: Any) -> Any:
    try:
        return pa.table(source)
    except (pa.ArrowException, TypeError) as error:
        raise ParameterError(f"orders are no table that Arrow can read: {error}") from None


def integer_column(
    name: str,
    column: Column,
    dtype: Any,
    looked_at: np.ndarray | None = None,
    missing: int | None = None,
) -> np.ndarray:
    """Return a column as integers, exactly. `dtype` [row].

    Args:
        name: of the column.
        column: what it holds.
        dtype: the integer type wanted.
        looked_at: bool [row], where a value is needed; it is 0 elsewhere if it is none.
        missing: what stands for an empty cell; None: it is refused where a value is needed.

    Raises:
        ParameterError: naming the first row that holds no such integer.
    """
    info = np.iinfo(dtype)
    if column.missing is None and np.can_cast(column.values.dtype, dtype) and not column.is_text:
        return column.values.astype(dtype, copy=False)
    limit = f"an integer {_power(info.min)} .. {_power(info.max)}"
    values, bad = column.values, np.zeros(len(column), bool)
    if column.words is not None:
        values, bad = _parse_words(column, info)
    elif values.dtype.kind == "f":
        bad = (values != np.rint(values)) | ~(np.abs(values) <= _EXACT_FLOAT)
        bad |= (values < info.min) | (values > info.max)
        limit += ", and exact as a floating-point number"
    else:
        # Compared in its own type: NumPy makes floats of int64 and uint64 together.
        own = np.iinfo(values.dtype)
        if own.min < info.min:
            bad |= values < info.min
        if own.max > info.max:
            bad |= values > np.array(info.max, values.dtype)
    if column.missing is not None:
        bad |= column.missing
    if not bad.any():
        return np.asarray(values.astype(dtype, copy=False))
    allowed = np.zeros(len(values), bool) if looked_at is None else ~looked_at
    if missing is not None and column.missing is not None:
        allowed |= column.missing
    refuse_rows(name, bad & ~allowed, column, limit)
    kept = np.where(bad, 0, values).astype(dtype)
    if missing is not None and column.missing is not None:
        kept[column.missing] = missing
    return np.asarray(kept)


def _parse_words(column: Column, info: np.iinfo[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return words as integers of a type, and where they are none. [row], bool [row]."""
    assert column.words is not None
    found = np.zeros(len(column.words) + 1, info.dtype)
    known = np.zeros(len(column.words) + 1, bool)
    for index, word in enumerate(column.words):
        if _INTEGER.fullmatch(word) and info.min <= int(word) <= info.max:
            found[index], known[index] = int(word), True
    return found[column.values], ~known[column.values]


def choose_words(
    name: str,
    column: Column,
    words: Mapping[str, int],
    limit: str,
    looked_at: np.ndarray | None = None,
) -> np.ndarray:
    """Return the codes of words, whatever their case. int8 [row], 0 where none is needed.

    Raises:
        ParameterError: naming the first row whose word is none of them.
    """
    assert column.words is not None
    table = np.zeros(len(column.words) + 1, np.int8)
    known = np.zeros(len(column.words) + 1, bool)
    for index, word in enumerate(column.words):
        key = word.strip().lower()
        known[index] = key in words
        table[index] = words.get(key, 0)
    chosen = column.values
    if column.missing is not None:
        chosen = np.where(column.missing, len(column.words), chosen)
    bad = ~known[chosen]
    if looked_at is None:
        refuse_rows(name, bad, column, limit)
        return np.asarray(table[chosen])
    refuse_rows(name, bad & looked_at, column, limit)
    return np.asarray(np.where(looked_at, table[chosen], 0))


def refuse_rows(name: str, bad: np.ndarray, column: Column, limit: str, start: int = 0) -> None:
    """Raise a ParameterError for the first row in which `bad` is true; row 0 is row `start`."""
    if np.any(bad):
        row = int(np.argmax(bad))
        raise ParameterError(
            f"orders: {name} in row {start + row} (counted from 0) is {column.shown(row)}; "
            f"it must be {limit}"
        )


def _as_array(name: str, value: Any) -> Any:
    """Return a column of a mapping as an array of one dimension."""
    if isinstance(value, pa.Array | pa.ChunkedArray):
        return value
    if isinstance(value, list | tuple):
        return np.array(value, object)
    array = np.asarray(value)
    if array.ndim != 1:
        raise ParameterError(f"orders: {name} has shape {array.shape}; it must have one dimension")
    return array


def _from_array(name: str, array: Any) -> Column:
    if isinstance(array, np.ndarray) and array.dtype.kind in "iuf":
        return Column(array)
    if isinstance(array, np.ndarray):
        return _from_arrow(name, _to_arrow(name, array))
    return _from_arrow(name, array)


def _to_arrow(name: str, array: np.ndarray) -> Any:
    """Return an array of objects, words or truth values as Arrow's."""
    try:
        return pa.array(array.tolist() if array.dtype.kind in "SUO" else array, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError):
        pass
    try:
        return pa.array(array.tolist(), pa.uint64(), from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError) as error:
        raise ParameterError(f"orders: {name} holds neither integers nor words: {error}") from None


def _from_arrow(name: str, array: Any) -> Column:
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
        if isinstance(array, pa.ChunkedArray):
            array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    kind = array.type
    missing = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    if pa.types.is_null(kind):
        return Column(np.zeros(len(array), np.int64), np.ones(len(array), bool))
    if _is_text(kind):
        array = array.dictionary_encode()
    if pa.types.is_dictionary(array.type):
        if not _is_text(array.type.value_type):
            return _from_arrow(name, array.dictionary_decode())
        return _from_dictionary(array, missing)
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        # Of ns, whatever the unit: a time that would not fit is refused by Arrow.
        to = pa.timestamp("ns") if pa.types.is_timestamp(kind) else pa.duration("ns")
        array = array.cast(to).cast(pa.int64())
    elif pa.types.is_decimal(kind):
        array = _cast(name, array, pa.int64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise ParameterError(f"orders: {name} holds {kind}, neither integers nor words")
    if missing is not None:
        array = array.fill_null(0)
    return Column(array.to_numpy(zero_copy_only=False), missing)


def _from_dictionary(array: Any, missing: np.ndarray | None) -> Column:
    words = [
        word.decode(errors="backslashreplace") if isinstance(word, bytes) else word
        for word in array.dictionary.to_pylist()
    ]
    if any(word is None for word in words):
        plain = array.dictionary_decode()
        missing = plain.is_null().to_numpy(zero_copy_only=False)
        words = ["" if word is None else word for word in words]
    indices = array.indices if array.indices.null_count == 0 else array.indices.fill_null(0)
    return Column(indices.to_numpy(zero_copy_only=False).astype(np.int64), missing, tuple(words))


def _cast(name: str, array: Any, to: Any) -> Any:
    try:
        return array.cast(to)
    except pa.ArrowException as error:
        raise ParameterError(f"orders: {name} does not hold integers: {error}") from None


def _is_text(kind: Any) -> bool:
    types = pa.types
    checks = ("is_string", "is_large_string", "is_string_view", "is_binary", "is_large_binary")
    return any(getattr(types, check)(kind) for check in checks if hasattr(types, check))


def _power(value: int) -> str:
    """Return a limit of an integer type as it is written: 2^63-1."""
    for bits in (32, 63, 64):
        for found, text in ((2**bits - 1, f"2^{bits}-1"), (-(2**bits), f"-2^{bits}")):
            if value == found:
                return text
    return str(value)
