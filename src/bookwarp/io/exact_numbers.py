"""Decimal numbers of a column as exact integers, in a unit that is said; nothing is rounded."""

from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bookwarp.spec.errors import ParameterError

_DIGITS = 38
_MOST_DECIMALS = 18
_INT64_BYTES = 8


class NotExactError(ValueError):
    """A cell holds no number, or none that is a whole multiple of the unit."""

    def __init__(self, row: int, value: object) -> None:
        super().__init__(row, value)
        self.row = row
        self.value = value


def parse_unit(name: str, unit: Any) -> tuple[int, int]:
    """Return a unit such as "0.01" as (m, s), which stands for m / 10^s.

    Raises:
        ParameterError: it is not decimal text above 0, of at most 18 decimals and 18 digits.
    """
    try:
        if isinstance(unit, bool | float):
            raise InvalidOperation
        value = Decimal(str(unit))
        if not value.is_finite() or value <= 0:
            raise InvalidOperation
    except InvalidOperation:
        raise ParameterError(
            f'{name} = {unit!r} is not decimal text above 0, as in "0.01"'
        ) from None
    _, digits, exponent = value.normalize().as_tuple()
    decimals = max(-int(exponent), 0)
    mantissa = int(value.scaleb(decimals))
    if decimals > _MOST_DECIMALS or len(digits) + max(int(exponent), 0) > _MOST_DECIMALS:
        raise ParameterError(f"{name} = {unit} has more than {_MOST_DECIMALS} digits")
    return mantissa, decimals


def read_exact(column: Any, unit: tuple[int, int], missing: int) -> np.ndarray:
    """Return a column as whole multiples of a unit, int64 [row]; `missing` where there is nothing.

    Text and decimals are taken as they stand, and a floating-point number as its shortest text.

    Raises:
        NotExactError: with the first row that holds no such number.
    """
    mantissa, decimals = unit
    empty = pc.is_null(column)
    if _is_text(column.type):
        column = pc.utf8_trim_whitespace(column)
        blank = pc.fill_null(pc.equal(column, ""), fill_value=False)
        empty = pc.or_(empty, blank)
        column = pc.if_else(empty, None, column)
    plain = column
    try:
        if pa.types.is_floating(column.type):
            column = pc.cast(column, pa.string())
        scaled = pc.cast(column, pa.decimal128(_DIGITS, decimals))
    except pa.ArrowException:
        raise _first_fault(plain, mantissa, decimals) from None
    words = np.frombuffer(scaled.buffers()[1], np.int64)
    words = words.reshape(-1, 2)[scaled.offset : scaled.offset + len(scaled)]
    low, high = words[:, 0], words[:, 1]
    filled = ~np.asarray(empty)
    if np.any(((high != low >> 63) | (low % mantissa != 0)) & filled):
        raise _first_fault(plain, mantissa, decimals)
    return np.asarray(np.where(filled, low // mantissa, missing))


def _first_fault(column: Any, mantissa: int, decimals: int) -> NotExactError:
    """Return the fault of the first row that holds no multiple of the unit within 64 bits."""
    for row, value in enumerate(column.to_pylist()):
        if value is None:
            continue
        try:
            number = Decimal(str(value)).scaleb(decimals)
            whole = int(number)
            if whole == number and whole % mantissa == 0 and -(2**63) <= whole < 2**63:
                continue
        except (InvalidOperation, OverflowError, ValueError):
            pass
        return NotExactError(row, value)
    return NotExactError(0, column[0])


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
