"""Orders that come in passes over the same books: they need no grouping."""

from typing import NamedTuple

import numpy as np

_FIRST_LOOK = 1024
_LOOK_GROWTH = 8


class Passes(NamedTuple):
    """Pass after pass, one order to each of `books` books from `first` on, in their sequence."""

    first: int
    books: int
    times: int


def find_passes(book: np.ndarray | None, orders: int) -> Passes | None:
    """Return the passes that orders are, or None if they are not.

    Args:
        book: the book of each order, int64 [order]; None: book 0 for all.
        orders: how many there are, > 0.
    """
    if book is None:
        return Passes(0, 1, orders)
    run = _first_run(book)
    count, rest = divmod(orders, run)
    if rest:
        return None
    passes = book.reshape(count, run)
    for part in (passes[1:2], passes):
        if not (part == passes[0]).all():
            return None
    return Passes(int(book[0]), run, count)


def _first_run(book: np.ndarray) -> int:
    """Return how many books at the start follow each other."""
    reach = _FIRST_LOOK
    while True:
        breaks = np.flatnonzero(np.diff(book[:reach]) != 1)
        if len(breaks):
            return int(breaks[0]) + 1
        if reach >= len(book):
            return len(book)
        reach *= _LOOK_GROWTH
