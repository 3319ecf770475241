"""The kernel that reads the rows of a LOBSTER message file: text to columns, without a float.

It owns the columns it fills and the numbers of `cursor`. It is given whole lines, and stops at the
first that is not as it should be, or when the columns are full.
"""

from typing import Any

import numpy as np

from bookwarp.engines.cpu.compile import entry_point, inlined, source_digest
from bookwarp.spec.book_rules import INT64_MAX
from bookwarp.spec.market_data import MarketEvent, Oddity

# Numbers of a cursor: where in the text, the columns that a row has (0: not known), the time of the
# last row, and, of a row that cannot be read, what is wrong with which column.
POSITION, COLUMN_COUNT, LAST_TIME, FAULT, FAULTY_COLUMN = range(5)
CURSOR = 5
# What can be wrong with a row.
NO_FAULT, NOT_A_NUMBER, TOO_LARGE, OUTSIDE, TOO_FEW, TOO_MANY, EMPTY = range(7)

COLUMNS = ("time", "type", "order_id", "size", "price", "direction")
_TIME, _TYPE, _ID, _SIZE, _PRICE, _DIRECTION = range(6)
NEW, CANCEL, DELETION, EXECUTION, HIDDEN, CROSS, HALT = range(1, 8)

_EVENTS = np.array(
    [
        MarketEvent.OTHER,
        MarketEvent.ADD,
        MarketEvent.REDUCE,
        MarketEvent.DELETE,
        MarketEvent.EXECUTE,
        MarketEvent.HIDDEN,
        MarketEvent.CROSS,
        MarketEvent.HALT,
    ],
    np.int8,
)
_RESUME = np.int8(MarketEvent.RESUME)
_TIME_BACK, _TIME_ROUNDED = np.uint32(Oddity.TIME_BACK), np.uint32(Oddity.TIME_ROUNDED)
_COMMA, _NEWLINE, _RETURN, _MINUS, _DOT, _ZERO, _NINE = (np.uint8(ord(c)) for c in ",\n\r-.09")
_TEN, _MOST_ID = np.uint64(10), np.uint64(2**64 - 1)
_MOST = np.uint64(INT64_MAX)
# A number of so many digits fits 64 bits, whatever they are.
_SAFE_DIGITS = 18
_NS_DIGITS, _NS_PER_S = 9, np.uint64(10**9)


@inlined
def read_digits(text, at, most):  # type: ignore[no-untyped-def]
    """Read a number without a sign; return it, where it ends, and what is wrong with it."""
    value, start = np.uint64(0), at
    while _ZERO <= text[at] <= _NINE:
        value = value * _TEN + np.uint64(text[at] - _ZERO)
        at += 1
    fault = np.int64(NO_FAULT)
    if at - start > _SAFE_DIGITS:
        value = np.uint64(0)
        for place in range(start, at):
            digit = np.uint64(text[place] - _ZERO)
            if value > (most - digit) // _TEN:
                fault = np.int64(TOO_LARGE)
            value = value * _TEN + digit
    elif value > most:
        fault = np.int64(TOO_LARGE)
    if at == start:
        fault = np.int64(NOT_A_NUMBER)
    return value, at, fault


@inlined
def read_time(text, at):  # type: ignore[no-untyped-def]
    """Read seconds as nanoseconds, to the nearest; return them, the end, the fault, what is odd."""
    seconds, at, fault = read_digits(text, at, _MOST // _NS_PER_S - np.uint64(1))
    part, digits, odd, up = np.uint64(0), 0, np.uint32(0), np.uint64(0)
    if text[at] == _DOT and fault == NO_FAULT:
        at += 1
        while _ZERO <= text[at] <= _NINE:
            digit = np.uint64(text[at] - _ZERO)
            if digits < _NS_DIGITS:
                part = part * _TEN + digit
            else:
                if digit != 0:
                    odd = _TIME_ROUNDED
                if digits == _NS_DIGITS and digit >= 5:
                    up = np.uint64(1)
            digits += 1
            at += 1
    while digits < _NS_DIGITS:
        part *= _TEN
        digits += 1
    return np.int64(seconds * _NS_PER_S + part + up), at, fault, odd


@inlined
def read_column(text, at, column, kind):  # type: ignore[no-untyped-def]
    """Read the integer of a column; return its bits, where it ends, and what is wrong with it."""
    negative = text[at] == _MINUS
    most = _MOST_ID if column == _ID and not negative else _MOST
    value, at, fault = read_digits(text, at + 1 if negative else at, most)
    if fault == NO_FAULT:
        if column == _TYPE and (negative or value < NEW or value > HALT):
            fault = np.int64(OUTSIDE)
        if column == _ID and negative and (value != 1 or kind < HIDDEN):
            fault = np.int64(OUTSIDE)
        if column == _DIRECTION and (value > 1 or (value == 0 and kind < HIDDEN)):
            fault = np.int64(OUTSIDE)
    return -np.int64(value) if negative else np.int64(value), at, fault


@inlined
def end_row(text, at, cursor):  # type: ignore[no-untyped-def]
    """Pass over further columns and the end of the line; return where the next row starts."""
    columns = len(COLUMNS)
    while text[at] != _NEWLINE:
        if text[at] == _COMMA:
            columns += 1
        elif columns == len(COLUMNS) and not (text[at] == _RETURN and text[at + 1] == _NEWLINE):
            cursor[FAULT], cursor[FAULTY_COLUMN] = NOT_A_NUMBER, _DIRECTION
        at += 1
    if cursor[COLUMN_COUNT] == 0:
        cursor[COLUMN_COUNT] = columns
    if columns != cursor[COLUMN_COUNT] and cursor[FAULT] == NO_FAULT:
        cursor[FAULT] = TOO_MANY if columns > cursor[COLUMN_COUNT] else TOO_FEW
    return at + 1


def _build(digest: str) -> Any:
    @entry_point
    def read_rows(text, stop, cursor, rows):  # type: ignore[no-untyped-def]
        """Read lines up to `stop`, which follows a line's end, into `rows`; return how many."""
        _ = digest  # in the closure, and so in the key of the cache
        for row in range(len(rows.time_ns)):
            at = cursor[POSITION]
            if at >= stop:
                return row
            if text[at] == _NEWLINE or (text[at] == _RETURN and text[at + 1] == _NEWLINE):
                cursor[FAULT] = EMPTY
                return row
            time_ns, at, fault, odd = read_time(text, at)
            cursor[FAULT], cursor[FAULTY_COLUMN] = fault, _TIME
            kind = order_id = size = price = direction = np.int64(0)
            for column in range(_TYPE, len(COLUMNS)):
                if cursor[FAULT] != NO_FAULT:
                    return row
                if text[at] != _COMMA:
                    line_ends = text[at] == _NEWLINE or text[at] == _RETURN
                    cursor[FAULT] = TOO_FEW if line_ends else NOT_A_NUMBER
                    return row
                value, at, fault = read_column(text, at + 1, column, kind)
                cursor[FAULT], cursor[FAULTY_COLUMN] = fault, column
                if column == _TYPE:
                    kind = value
                elif column == _ID:
                    order_id = value
                elif column == _SIZE:
                    size = value
                elif column == _PRICE:
                    price = value
                else:
                    direction = value
            if cursor[FAULT] == NO_FAULT:
                at = end_row(text, at, cursor)
            if cursor[FAULT] != NO_FAULT:
                return row
            if time_ns < cursor[LAST_TIME]:
                odd |= _TIME_BACK
            rows.time_ns[row], rows.oddity[row] = time_ns, odd
            rows.event[row], rows.source[row] = _EVENTS[kind], kind
            if kind == HALT and price != -1:
                rows.event[row] = _RESUME
            rows.order_id[row] = np.uint64(order_id)
            rows.qty[row], rows.price[row], rows.side[row] = size, price, direction
            cursor[LAST_TIME], cursor[POSITION] = time_ns, at
        return len(rows.time_ns)

    return read_rows


read_rows = _build(source_digest())
