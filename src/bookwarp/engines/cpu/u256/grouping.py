"""Which order a thread takes when: by bins of neighbouring books, in a bin as they arrived."""

from typing import NamedTuple

import numpy as np

from bookwarp.engines.cpu.books.grouping import on_threads
from bookwarp.engines.cpu.u256.kernel import count_bins, place_orders
from bookwarp.engines.cpu.u256.layout import read_only

# Parts a thread gets, so that one that is held up does not hold up the batch.
_PARTS_PER_THREAD = 8
# Books of a bin when they get several orders each: their best slots stay in the core's cache.
_BIN_BOOKS = 128
_SEVERAL = 4
# Fewer orders than this are matched as they arrived: to group them takes longer.
_FEW = 4096
# More bins than this cannot be written to side by side without going to memory for each order.
_MOST_BINS = 1 << 12


class Grouping(NamedTuple):
    """Orders by bin."""

    book: np.ndarray
    """int64 [order], the book of each; empty: all go to book 0."""
    places: np.ndarray
    """uint32 [order], which order comes at a position; empty: as they lie."""
    edges: list[int]
    """Positions at which parts begin, and the end of the last: no book is in two parts."""


def group(
    book: np.ndarray | None, orders: int, books: int, tile: int | None, threads: int
) -> Grouping:
    """Group orders stably, on several threads.

    Args:
        book: int64 [order]; None: all go to book 0.
        orders: how many there are.
        books: how many books there are.
        tile: most books of a bin; None is no limit.
        threads: how many parts of the orders are grouped at once.
    """
    none = np.empty(0, np.uint32)
    if book is None:
        return Grouping(read_only(np.empty(0, np.int64)), none, [0, orders])
    book = read_only(book)
    if orders < _FEW:
        return Grouping(book, none, [0, orders])
    wanted = threads * _PARTS_PER_THREAD
    if orders >= _SEVERAL * books:
        wanted = max(wanted, min(books // _BIN_BOOKS, _MOST_BINS))
    shift = ((books - 1) // wanted).bit_length()
    if tile is not None:
        shift = min(shift, tile.bit_length() - 1)
    bins = ((books - 1) >> shift) + 1
    cuts = np.linspace(0, orders, threads + 1).astype(np.int64)
    counts = np.zeros((threads, bins), np.int64)
    rises = np.zeros(threads, bool)

    def count_part(part: int) -> None:
        rises[part] = count_bins(book, cuts[part], cuts[part + 1], shift, counts[part])

    on_threads(threads, count_part, range(threads))
    starts = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    edges = _edges(starts, threads * _PARTS_PER_THREAD)
    starts_of_parts = (book[cuts[1:-1]] >> shift) >= (book[cuts[1:-1] - 1] >> shift)
    if rises.all() and starts_of_parts.all():
        return Grouping(book, none, edges)
    # A bin gets what the first part has for it, then what the second has.
    next_places = starts[:-1] + np.cumsum(counts, axis=0) - counts
    places = np.empty(orders, np.uint32)

    def place_part(part: int) -> None:
        first, stop = cuts[part], cuts[part + 1]
        place_orders(book, first, stop, shift, next_places[part], places)

    on_threads(threads, place_part, range(threads))
    return Grouping(book, places, edges)


def compile_grouping() -> None:
    """Compile what is not compiled yet."""
    none = np.empty(0, np.int64)
    count_bins(read_only(none), 0, 0, 0, none)
    place_orders(read_only(none), 0, 0, 0, none, np.empty(0, np.uint32))


def _edges(starts: np.ndarray, parts: int) -> list[int]:
    """Return about equal parts of the positions, cut where a bin begins; int64 [bin + 1]."""
    wanted = np.linspace(0, starts[-1], parts + 1)
    found: list[int] = np.unique(starts[np.searchsorted(starts, wanted)]).tolist()
    return found
