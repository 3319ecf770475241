"""How books of 256-bit numbers lie in memory, and how their bytes come in and out.

A slot is one cache line: four words of the price, four of the quantity, the lowest first. The slots
of a side are a ring: taking the best one moves its head, whatever else rests, and a new order moves
the slots on the nearer end. Counts and heads of the sides lie apart, four books in a cache line.
"""

from typing import Any, NamedTuple

import numpy as np

from bookwarp.engines.cpu.books.pools import at
from bookwarp.engines.cpu.compile import entry_point, inlined, source_digest
from bookwarp.engines.cpu.u256.numbers import load_number, store_number
from bookwarp.spec.u256 import NUMBER_BYTES, SLOTS_AT

SLOT_WORDS = 8
_LINE_BYTES = 64
_NONE = np.uint64(0)

SIDE = np.dtype([("head", "<u4"), ("count", "<u4")], align=True)
"""The first slot of a side, and how many are used."""


class Pools(NamedTuple):
    """The books; side 2 * book is that of the bids, the next one that of the asks."""

    sides: np.ndarray
    """`SIDE` [side]."""
    slots: np.ndarray
    """uint64 [side * capacity * SLOT_WORDS], aligned to cache lines."""


def allocate_pools(books: int, capacity: int) -> Pools:
    """Return empty books.

    Raises:
        MemoryError: there is not enough.
    """
    words = 2 * books * capacity * SLOT_WORDS
    loose = np.zeros(words + SLOT_WORDS, np.uint64)
    first = -loose.ctypes.data % _LINE_BYTES // loose.itemsize
    return Pools(np.zeros(2 * books, SIDE), loose[first : first + words])


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a view that kernels are compiled for: callers may hold theirs read only or not."""
    view = array.view()
    view.flags.writeable = False
    return view


@inlined
def slot_at(side, index, head, capacity):  # type: ignore[no-untyped-def]
    """Return where the slot of that index lies in `Pools.slots`; index 0 is the best."""
    place = head + index
    if place >= capacity:
        place -= capacity
    return (side * capacity + place) * SLOT_WORDS


@inlined
def slot_price(slots, place):  # type: ignore[no-untyped-def]
    """Return the price of a slot."""
    return at(slots, place), at(slots, place + 1), at(slots, place + 2), at(slots, place + 3)


@inlined
def slot_qty(slots, place):  # type: ignore[no-untyped-def]
    """Return the quantity of a slot."""
    return at(slots, place + 4), at(slots, place + 5), at(slots, place + 6), at(slots, place + 7)


@inlined
def set_slot_qty(slots, place, qty):  # type: ignore[no-untyped-def]
    """Set the quantity of a slot."""
    for word in range(4):
        slots[np.uint64(place + 4 + word)] = qty[word]


@inlined
def set_slot(slots, place, price, qty):  # type: ignore[no-untyped-def]
    """Set a slot."""
    for word in range(4):
        slots[np.uint64(place + word)] = price[word]
    set_slot_qty(slots, place, qty)


def _build(digest: str) -> Any:
    @entry_point
    def write_bytes(pools, capacity, first, arenas):  # type: ignore[no-untyped-def]
        """Write the bytes of the books from `first` on; `arenas` is uint8 [book, byte], zeros."""
        _ = digest  # in the closure, and so in the key of the cache
        for book in range(len(arenas)):
            arena = arenas[book]
            for number in range(2):
                side = 2 * (first + book) + number
                head = np.int64(pools.sides[side].head)
                count = np.int64(pools.sides[side].count)
                for byte in range(4):
                    arena[4 * number + byte] = (count >> (8 * byte)) & 255
                column = SLOTS_AT + 2 * number * NUMBER_BYTES * capacity
                for index in range(count):
                    place = slot_at(side, index, head, capacity)
                    to = column + NUMBER_BYTES * index
                    store_number(arena, to, slot_price(pools.slots, place))
                    to += NUMBER_BYTES * capacity
                    store_number(arena, to, slot_qty(pools.slots, place))

    @entry_point
    def read_bytes(pools, capacity, first, arenas):  # type: ignore[no-untyped-def]
        """Set the books from `first` on to sound bytes, uint8 [book, byte]."""
        _ = digest
        for book in range(len(arenas)):
            arena = arenas[book]
            for number in range(2):
                side = 2 * (first + book) + number
                count = np.int64(0)
                for byte in range(4):
                    count |= np.int64(arena[4 * number + byte]) << (8 * byte)
                pools.sides[side].head = 0
                pools.sides[side].count = count
                column = SLOTS_AT + 2 * number * NUMBER_BYTES * capacity
                for index in range(count):
                    price_at = column + NUMBER_BYTES * index
                    price = load_number(arena, price_at)
                    qty = load_number(arena, price_at + NUMBER_BYTES * capacity)
                    set_slot(pools.slots, slot_at(side, index, 0, capacity), price, qty)

    return write_bytes, read_bytes


write_bytes, read_bytes = _build(source_digest())
