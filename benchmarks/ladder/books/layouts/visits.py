"""Many books: in which order the messages of a batch are taken, with the engine's own books."""

from typing import Any

import numpy as np
from numba import njit

from bookwarp.engines.cpu.books.grouping import sort_bin
from bookwarp.engines.cpu.books.instructions import prefetch
from bookwarp.engines.cpu.books.layout import allocate_block, lay_out_rules, reserve
from bookwarp.engines.cpu.books.matching import apply_message
from bookwarp.engines.cpu.books.telling import Log
from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.events import EVENT
from layouts.matcher import OPTIONS

_NO_OWNER = np.uint64(0)


@njit(**OPTIONS)
def match_rows(block, rules, orders, rows, events, cursor, ahead):
    """Match messages in the order of `rows`, each where it lies, asked for so many before."""
    for position in range(len(rows)):
        row = np.int64(rows[position])
        if ahead:
            prefetch(orders, np.int64(rows[min(position + ahead, len(rows) - 1)]))
        message = orders[row]
        log = Log(events, cursor, 1, row, message.op)
        apply_message(block, rules, log, np.int64(message.book), message, _NO_OWNER)


def as_they_come(orders: np.ndarray, books: int) -> np.ndarray:
    """Return the rows of a batch as they are."""
    return np.arange(len(orders), dtype=np.uint32)


def by_book(orders: np.ndarray, books: int) -> np.ndarray:
    """Return the rows of a batch by book, stably."""
    starts, rows = np.empty(books + 1, np.int64), np.empty(len(orders), np.uint32)
    sort_bin(np.ascontiguousarray(orders["book"]), 0, starts, rows)
    return rows


def match_batch(
    orders: np.ndarray, books: int, rules: BookRules, visit: Any, ahead: int
) -> np.ndarray:
    """Match a batch on one thread, on all books at once; return the events in that order."""
    block = reserve(allocate_block(books, rules), rules, len(orders))
    events, cursor = np.empty(2 * len(orders), EVENT), np.zeros(1, np.int64)
    match_rows(block, lay_out_rules(rules), orders, visit(orders, books), events, cursor, ahead)
    return events[: cursor[0]]
