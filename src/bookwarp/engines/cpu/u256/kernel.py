"""The kernels: sort orders into bins of neighbouring books, and match the orders of bins.

Owns: the books of its bins, which no other thread touches, and the results of their orders. In a
bin orders come as they arrived, so that those of a book keep their sequence; a bin is small enough
that its books stay in the core's cache while all its orders are matched.
"""

from typing import Any

import numpy as np

from bookwarp.engines.cpu.books.instructions import prefetch
from bookwarp.engines.cpu.books.pools import at
from bookwarp.engines.cpu.compile import entry_point, inlined, source_digest
from bookwarp.engines.cpu.u256.division import SUM_WORDS
from bookwarp.engines.cpu.u256.layout import slot_at
from bookwarp.engines.cpu.u256.matching import match_order
from bookwarp.engines.cpu.u256.numbers import store_number
from bookwarp.spec.u256 import (
    FILL_COUNT_AT,
    FILLED_AT,
    ORDER_BYTES,
    RESULT_BYTES,
    SIDE_AT,
    VWAP_AT,
)

# What an order needs comes from memory in two steps: first the order and the counts of its book,
# this many orders ahead; then, by those, the best slot.
_AHEAD, _NEAR = 16, 8
_LINE_BYTES = 64


@inlined
def row_of(places, position):  # type: ignore[no-untyped-def]
    """Return which order comes at a position; without `places` they come as they lie."""
    return np.int64(at(places, position)) if len(places) else position


@inlined
def book_of(book, row):  # type: ignore[no-untyped-def]
    """Return the book of an order; without `book` there is one only."""
    return at(book, row) if len(book) else np.int64(0)


@inlined
def fetch_order(pools, calldata, book, row):  # type: ignore[no-untyped-def]
    """Begin to load an order and the counts of its book."""
    start = row * ORDER_BYTES
    prefetch(calldata, start)
    prefetch(calldata, start + _LINE_BYTES)
    prefetch(pools.sides, 2 * book_of(book, row))


@inlined
def fetch_slot(pools, capacity, calldata, book, row, results):  # type: ignore[no-untyped-def]
    """Begin to load the best slot that an order meets."""
    side = 2 * book_of(book, row) + (1 if at(calldata, row * ORDER_BYTES + SIDE_AT) == 0 else 0)
    head = np.int64(at(pools.sides, side).head)
    prefetch(pools.slots, slot_at(side, 0, head, capacity))
    prefetch(results, row * RESULT_BYTES)


@inlined
def store_count(results, to, count):  # type: ignore[no-untyped-def]
    """Write four bytes, big-endian."""
    for byte in range(4):
        results[np.uint64(to + byte)] = (count >> (24 - 8 * byte)) & 255


def _build(digest: str) -> Any:
    @entry_point
    def count_bins(book, first, stop, shift, counts):  # type: ignore[no-untyped-def]
        """Count the orders `first` .. `stop` by bin; return whether their bins never fall.

        Args:
            book: int64 [order].
            first, stop: which of them.
            shift: a bin has 2**shift books.
            counts: int64 [bin], of zeros.
        """
        _ = digest  # in the closure, and so in the key of the cache
        rises, before = True, np.int64(0)
        for row in range(first, stop):
            number = at(book, row) >> shift
            counts[np.uint64(number)] += 1
            rises &= number >= before
            before = number
        return rises

    @entry_point
    def place_orders(book, first, stop, shift, next_places, places):  # type: ignore[no-untyped-def]
        """Put the orders `first` .. `stop` behind each other by bin.

        Args:
            book, first, stop, shift: as of `count_bins`.
            next_places: int64 [bin], where the next order of each bin goes; moved on.
            places: uint32 [order], set to the order that comes there.
        """
        _ = digest
        for row in range(first, stop):
            number = np.uint64(at(book, row) >> shift)
            places[np.uint64(next_places[number])] = row
            next_places[number] += 1

    @entry_point
    def match_bins(pools, capacity, calldata, book, places, first, stop, words, results):  # type: ignore[no-untyped-def]
        """Match the orders at the positions `first` .. `stop`.

        Args:
            pools: see layout.py.
            capacity: slots a side.
            calldata: uint8 [byte], orders behind each other.
            book: int64 [order]; empty: all go to book 0.
            places: uint32 [order], which order comes at a position; empty: as they lie.
            first, stop: which positions.
            words: uint64 [SUM_WORDS + SCRATCH_WORDS], to work in.
            results: uint8 [byte], set to the results of these orders.
        """
        _ = digest
        scratch = words[:SUM_WORDS], words[SUM_WORDS:]
        last = len(results) // RESULT_BYTES - 1
        for position in range(first, stop):
            ahead = row_of(places, min(position + _AHEAD, last))
            fetch_order(pools, calldata, book, ahead)
            near = row_of(places, min(position + _NEAR, last))
            fetch_slot(pools, capacity, calldata, book, near, results)
            row = row_of(places, position)
            filled, vwap, fill_count = match_order(
                pools, capacity, book_of(book, row), calldata, row * ORDER_BYTES, scratch
            )
            to = row * RESULT_BYTES
            store_number(results, to + FILLED_AT, filled)
            store_number(results, to + VWAP_AT, vwap)
            store_count(results, to + FILL_COUNT_AT, fill_count)

    return count_bins, place_orders, match_bins


count_bins, place_orders, match_bins = _build(source_digest())
