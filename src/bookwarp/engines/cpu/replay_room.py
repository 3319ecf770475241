"""How the arrays that hold the books of a replay grow, between two calls of the kernel."""

import numpy as np

from bookwarp.engines.cpu.replay_kernel import enter_all
from bookwarp.engines.cpu.replay_layout import (
    LADDER_USED,
    LEAST_CAPACITY,
    LEVELS_LIVE,
    NONE,
    ORDERS_LIVE,
    SIDE_NODE,
    BooksArrays,
)

_LARGEST_POOL = 2**31 - 1


def make_room(books: BooksArrays, book_count: int, additions: int) -> BooksArrays:
    """Return arrays with room for `book_count` books and for as many more orders as `additions`.

    Each may need a level of its own. What does not have to grow is shared with what was given.

    Raises:
        MemoryError: more nodes than an index of 32 bits can name.
    """
    orders = _grow_pool(books.orders, int(books.counters[ORDERS_LIVE]) + additions)
    levels = _grow_pool(books.levels, int(books.counters[LEVELS_LIVE]) + additions)
    books = books._replace(orders=orders, levels=levels)
    if 2 * len(orders) > len(books.table):
        books = books._replace(table=_tabled(books))
    if 2 * book_count > len(books.sides):
        count = max(book_count, len(books.sides))  # twice the books that there are
        sides = np.zeros(2 * count, SIDE_NODE)
        sides[: len(books.sides)] = books.sides
        highest = np.zeros(count, np.uint64)
        highest[: len(books.highest_id)] = books.highest_id
        books = books._replace(sides=sides, highest_id=highest)
    return _room_in_ladder(books, additions)


def _grow_pool(pool: np.ndarray, wanted: int) -> np.ndarray:
    if wanted <= len(pool):
        return pool
    if wanted > _LARGEST_POOL:
        raise MemoryError(f"{wanted} orders or levels live at once are more than {_LARGEST_POOL}")
    grown = np.zeros(min(max(wanted, 2 * len(pool)), _LARGEST_POOL), pool.dtype)
    grown[: len(pool)] = pool
    return grown


def _tabled(books: BooksArrays) -> np.ndarray:
    """Return a table of at least twice as many places as there are nodes of orders."""
    table = np.full(1 << (2 * len(books.orders) - 1).bit_length(), NONE, np.int32)
    enter_all(books._replace(table=table))
    return table


def _room_in_ladder(books: BooksArrays, additions: int) -> BooksArrays:
    """Return books whose ladder has room for all the moves that `additions` levels can cause.

    A side that is full moves to the end of the ladder, to twice the room. With L levels and n more
    that adds up to less than 4 (L + n) over all moves, and `LEAST_CAPACITY` for each new side.
    """
    live = int(books.counters[LEVELS_LIVE])
    needed = (4 + LEAST_CAPACITY) * (live + additions)
    if int(books.counters[LADDER_USED]) + needed <= len(books.keys):
        return books
    sides = books.sides.copy()
    held = sides["count"].astype(np.int64)
    capacity = np.where(held > 0, np.maximum(2 * held, LEAST_CAPACITY), 0)
    start = np.cumsum(capacity) - capacity
    used = int(capacity.sum())
    keys, nodes = (np.zeros(used + 2 * needed, kept.dtype) for kept in (books.keys, books.nodes))
    for side in np.flatnonzero(held):
        old, new, count = books.sides["start"][side], start[side], held[side]
        keys[new : new + count] = books.keys[old : old + count]
        nodes[new : new + count] = books.nodes[old : old + count]
    sides["start"], sides["capacity"] = start, capacity
    counters = books.counters.copy()
    counters[LADDER_USED] = used
    return books._replace(sides=sides, keys=keys, nodes=nodes, counters=counters)
