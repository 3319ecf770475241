"""The kernels that read ITCH messages: bytes to rows of market data, and where each message lies.

They own what they fill and the numbers of `cursor`, stop before a message that is not all there,
and before one that cannot be what it should be.
"""

from typing import Any

import numpy as np

from bookwarp.engines.cpu.compile import entry_point, inlined, source_digest
from bookwarp.io.itch_layout import (
    EVENT,
    ID_AT,
    LENGTH,
    NEW_ID_AT,
    PRICE_AT,
    PRINTABLE_AT,
    QTY_AT,
    QTY_BYTES,
    SIDE_AT,
    STATE_AT,
    STOCK_AT,
)
from bookwarp.spec.codes import NO_PRICE, Side
from bookwarp.spec.market_data import NO_BOOK, MarketEvent, Oddity

# Numbers of a cursor: where in the bytes, messages read, the last time, and what is wrong.
POSITION, MESSAGES, LAST_TIME, FAULT = range(4)
CURSOR = 4
NO_FAULT, UNKNOWN_TYPE, WRONG_LENGTH, WRONG_SIDE = range(4)

_PREFIX = 2
# A type that is not known is passed over if its length could be that of a message.
LEAST_LENGTH, LARGEST_LENGTH = 11, 256
_LOCATE_AT, _TIME_AT = 1, 5
_OTHER, _HALT = np.int8(MarketEvent.OTHER), np.int8(MarketEvent.HALT)
_RESUME = np.int8(MarketEvent.RESUME)
_BUY, _SELL = np.int8(Side.BUY), np.int8(Side.SELL)
_TIME_BACK, _UNPRINTED = np.uint32(Oddity.TIME_BACK), np.uint32(Oddity.UNPRINTED)
_UNKNOWN_TYPE = np.uint32(Oddity.UNKNOWN_TYPE)
_B, _S, _H, _P, _Q, _N = (np.uint8(ord(letter)) for letter in "BSHPQN")
_BYTE = np.uint64(8)


@inlined
def read_number(data, at, size):  # type: ignore[no-untyped-def]
    """Read a big-endian number of up to 8 bytes."""
    value = np.uint64(0)
    for i in range(size):
        value = (value << _BYTE) | np.uint64(data[at + i])
    return value


@inlined
def next_frame(data, stop, cursor, table):  # type: ignore[no-untyped-def]
    """Return where the next message starts and its length; a length of 0 if there is none.

    A prefix of 0 leaves the length to the type.
    """
    at = cursor[POSITION]
    if stop - at <= _PREFIX:
        return at, np.int64(0)
    length = np.int64(read_number(data, at, _PREFIX))
    start = at + _PREFIX
    known = table[data[start], LENGTH]
    if known < 0 and not LEAST_LENGTH <= length <= LARGEST_LENGTH:
        cursor[FAULT] = UNKNOWN_TYPE
        return start, np.int64(0)
    if known >= 0:
        if length not in (0, known):
            cursor[FAULT] = WRONG_LENGTH
            return start, np.int64(0)
        length = known
    return start, length if start + length <= stop else np.int64(0)


@inlined
def is_wanted(wanted, name, locate):  # type: ignore[no-untyped-def]
    """Say whether the messages of a symbol are kept."""
    if len(wanted) == 0:
        return True
    if locate > 0:
        for each in range(len(wanted)):
            if wanted[each] == name:
                return True
    return False


@inlined
def read_state(data, start, columns):  # type: ignore[no-untyped-def]
    """Return the event of a trading action, and -1, 0 or 1: halted, quoted, traded."""
    state = data[start + columns[STATE_AT]]
    if state in (_H, _P):
        return _HALT, np.int64(-1)
    return _RESUME, np.int64(0) if state == _Q else np.int64(1)


@inlined
def read_message(data, start, columns, rows, row):  # type: ignore[no-untyped-def]
    """Fill a row, but for its book and time; return what is odd about it, and what is wrong."""
    rows.event[row], rows.price[row] = columns[EVENT], NO_PRICE
    odd, fault = np.uint32(0), np.int64(NO_FAULT)
    if columns[ID_AT] > 0:
        rows.order_id[row] = read_number(data, start + columns[ID_AT], 8)
    if columns[NEW_ID_AT] > 0:
        rows.new_id[row] = read_number(data, start + columns[NEW_ID_AT], 8)
    if columns[QTY_AT] > 0:
        size = 4 if columns[QTY_BYTES] == 4 else 8
        # More than 2^63 shares are no quantity; they show as less than 0.
        rows.qty[row] = np.int64(read_number(data, start + columns[QTY_AT], size))
    if columns[PRICE_AT] > 0:
        rows.price[row] = np.int64(read_number(data, start + columns[PRICE_AT], 4))
    if columns[SIDE_AT] > 0:
        side = data[start + columns[SIDE_AT]]
        rows.side[row] = _BUY if side == _B else _SELL
        if side not in (_B, _S):
            fault = np.int64(WRONG_SIDE)
    if columns[EVENT] == _HALT:
        rows.event[row], rows.price[row] = read_state(data, start, columns)
    if columns[PRINTABLE_AT] > 0 and data[start + columns[PRINTABLE_AT]] == _N:
        odd = _UNPRINTED
    return odd, fault


def _build(digest: str) -> Any:
    @entry_point
    def read_messages(data, stop, cursor, table, names, wanted, rows):  # type: ignore[no-untyped-def]
        """Read messages into `rows`, and symbols into `names`; return how many rows.

        Args:
            data, stop: bytes, uint8, and where they end.
            cursor: see above.
            table: `itch_layout.lookup_table`.
            names: uint64 [locate], the 8 letters of a symbol, big-endian; 0 if not known.
            wanted: the symbols to keep, uint64; all if empty.
            rows: filled.
        """
        _ = digest  # in the closure, and so in the key of the cache
        row = 0
        while row < len(rows.time_ns):
            start, length = next_frame(data, stop, cursor, table)
            if length == 0:
                break
            columns = table[data[start]]
            locate = np.int64(read_number(data, start + _LOCATE_AT, 2))
            time_ns = np.int64(read_number(data, start + _TIME_AT, 6))
            if columns[STOCK_AT] > 0 and locate > 0 and names[locate] == 0:
                names[locate] = read_number(data, start + columns[STOCK_AT], 8)
            if is_wanted(wanted, names[locate], locate):
                if columns[LENGTH] > 0:
                    odd, fault = read_message(data, start, columns, rows, row)
                    if fault != NO_FAULT:
                        cursor[FAULT] = fault
                        break
                else:
                    rows.event[row], rows.price[row], odd = _OTHER, NO_PRICE, _UNKNOWN_TYPE
                if time_ns < cursor[LAST_TIME]:
                    odd |= _TIME_BACK
                cursor[LAST_TIME] = time_ns
                rows.oddity[row], rows.time_ns[row] = odd, time_ns
                rows.book[row] = locate if locate > 0 else NO_BOOK
                rows.source[row] = data[start]
                row += 1
            cursor[MESSAGES] += 1
            cursor[POSITION] = start + length
        return row

    @entry_point
    def find_messages(data, stop, cursor, table, starts):  # type: ignore[no-untyped-def]
        """Write where each message starts, behind its length; return how many."""
        _ = digest
        for message in range(len(starts)):
            start, length = next_frame(data, stop, cursor, table)
            if length == 0:
                return message
            starts[message] = start
            cursor[MESSAGES] += 1
            cursor[POSITION] = start + length
        return len(starts)

    return read_messages, find_messages


read_messages, find_messages = _build(source_digest())
