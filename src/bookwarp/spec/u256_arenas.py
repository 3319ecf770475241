"""Whether the bytes of books of 256-bit numbers are those of books, and where not."""

from typing import Any, NamedTuple

import numpy as np

from bookwarp.spec.errors import ParameterError
from bookwarp.spec.u256 import (
    ARENA_COLUMNS,
    ASK_COUNT_AT,
    BID_COUNT_AT,
    NUMBER_BYTES,
    SLOTS_AT,
    arena_bytes,
    column_at,
)

_LIMBS = 4
_COUNT_AT = {"bid": BID_COUNT_AT, "ask": ASK_COUNT_AT}


class _Side(NamedTuple):
    """One side of some books."""

    name: str
    counts: np.ndarray
    """int64 [book]."""
    prices: np.ndarray
    """uint64 [book, slot, limb], the highest limb first."""
    qtys: np.ndarray


class _Fault(NamedTuple):
    book: int
    field: str
    offset: int
    words: str


def as_arenas(given: Any, capacity: int) -> np.ndarray:
    """Return arenas as uint8 [book, 8 + 128 * capacity], C-contiguous.

    Args:
        given: such an array, the array of one arena, or the bytes of one.
        capacity: slots a side.

    Raises:
        ParameterError: the length is wrong, or it is nothing of the above.
    """
    if isinstance(given, bytes | bytearray | memoryview):
        given = np.frombuffer(bytes(given), np.uint8)
    if not isinstance(given, np.ndarray) or given.dtype != np.uint8 or given.ndim not in (1, 2):
        what = type(given).__name__ if not isinstance(given, np.ndarray) else str(given.dtype)
        raise ParameterError(f"an arena must be bytes or uint8 [book, byte], not {what}")
    arenas = given.reshape(-1, given.shape[-1]) if given.shape[-1] else given.reshape(1, 0)
    expected = arena_bytes(capacity)
    if arenas.shape[1] != expected:
        raise ParameterError(
            f"the arena has {arenas.shape[1]} bytes, and with capacity {capacity} it has {expected}"
        )
    return np.ascontiguousarray(arenas)


def check_arenas(arenas: np.ndarray, capacity: int, first: int = 0) -> None:
    """Refuse arenas that no sequence of orders leaves.

    Args:
        arenas: as from `as_arenas`.
        capacity: slots a side.
        first: the book of the first arena, for the error.

    Raises:
        ParameterError: a count is above the capacity, a used slot holds no quantity, a side is not
            in order, a byte beyond the used slots is not zero, or a bid crosses an ask; naming
            book, field and offset.
    """
    counts = arenas[:, :SLOTS_AT].copy().view("<u4").astype(np.int64)
    columns = arenas[:, SLOTS_AT:].view(">u8").astype(np.uint64)
    columns = columns.reshape(len(arenas), len(ARENA_COLUMNS), capacity, _LIMBS)
    bids = _Side("bid", counts[:, 0], columns[:, 0], columns[:, 1])
    asks = _Side("ask", counts[:, 1], columns[:, 2], columns[:, 3])
    for side in (bids, asks):
        for find in (_find_count, _find_unused, _find_empty, _find_disorder):
            _refuse(find(side, capacity), first)
    _refuse(_find_crossed(bids, asks, capacity), first)


def _refuse(fault: _Fault | None, first: int) -> None:
    if fault is not None:
        raise ParameterError(
            f"the arena of book {first + fault.book} is damaged: {fault.field} at offset "
            f"{fault.offset} {fault.words}"
        )


def _find_count(side: _Side, capacity: int) -> _Fault | None:
    (books,) = np.nonzero(side.counts > capacity)
    if not len(books):
        return None
    book = int(books[0])
    words = f"is {side.counts[book]}, above the capacity {capacity}"
    return _Fault(book, f"n_{side.name}s", _COUNT_AT[side.name], words)


def _find_unused(side: _Side, capacity: int) -> _Fault | None:
    unused = np.arange(capacity) >= side.counts[:, np.newaxis]
    for name, column in (("price", side.prices), ("qty", side.qtys)):
        fault = _at_first(side, name, capacity, unused & column.any(axis=-1))
        if fault is not None:
            count = side.counts[fault.book]
            return fault._replace(words=f"is beyond the {count} used slots, and not zero")
    return None


def _find_empty(side: _Side, capacity: int) -> _Fault | None:
    used = np.arange(capacity) < side.counts[:, np.newaxis]
    fault = _at_first(side, "qty", capacity, used & ~side.qtys.any(axis=-1))
    return None if fault is None else fault._replace(words="is zero in a used slot")


def _find_disorder(side: _Side, capacity: int) -> _Fault | None:
    used = np.arange(1, capacity) < side.counts[:, np.newaxis]
    earlier, later = side.prices[:, :-1], side.prices[:, 1:]
    wrong = _less(earlier, later) if side.name == "bid" else _less(later, earlier)
    after_first = np.zeros((len(wrong), capacity), bool)
    after_first[:, 1:] = used & wrong
    fault = _at_first(side, "price", capacity, after_first)
    better = "above" if side.name == "bid" else "below"
    return None if fault is None else fault._replace(words=f"is {better} the price before it")


def _find_crossed(bids: _Side, asks: _Side, capacity: int) -> _Fault | None:
    both = (bids.counts > 0) & (asks.counts > 0)
    (books,) = np.nonzero(both & ~_less(bids.prices[:, 0], asks.prices[:, 0]))
    if not len(books):
        return None
    offset = column_at("bid_price", capacity)
    return _Fault(int(books[0]), "bid_price[0]", offset, "is not below ask_price[0]")


def _at_first(side: _Side, name: str, capacity: int, wrong: np.ndarray) -> _Fault | None:
    """Return the first slot that is wrong, without words for it; `wrong` is bool [book, slot]."""
    if not wrong.any():
        return None
    book, slot = (int(each) for each in np.argwhere(wrong)[0])
    column = f"{side.name}_{name}"
    offset = column_at(column, capacity) + NUMBER_BYTES * slot
    return _Fault(book, f"{column}[{slot}]", offset, "")


def _less(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return whether numbers are less than others; uint64 [..., limb] gives bool [...]."""
    less = np.zeros(one.shape[:-1], bool)
    equal = np.ones(one.shape[:-1], bool)
    for limb in range(_LIMBS):
        less |= equal & (one[..., limb] < other[..., limb])
        equal &= one[..., limb] == other[..., limb]
    return less
