"""Bring a flat batch of messages into the order of their books, stably, on several threads.

Twice a counting sort: first every thread deals its part of the batch to the blocks of books; then
whoever matches a block sorts what was dealt to it by book.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from bookwarp.engines.cpu.compile import entry_point, source_digest
from bookwarp.spec.orders import Kind, Op, TimeInForce

_NEW, _MARKET = int(Op.NEW), int(Kind.MARKET)
_GTC, _POST_ONLY = int(TimeInForce.GTC), int(TimeInForce.POST_ONLY)

MESSAGES, ENTERING = 0, 1
"""Columns of what is counted of a block: messages, and those of orders that may come to rest."""


def _build(digest: str) -> Any:
    @entry_point
    def count_blocks(orders, first, stop, block_books, counts):  # type: ignore[no-untyped-def]
        """Count the messages `first` .. `stop` by block; `counts` is int64 [block, 2], of zeros."""
        _ = digest  # in the closure, and so in the key of the cache
        for row in range(first, stop):
            message = orders[row]
            block = np.int64(message.book) // block_books
            counts[block, MESSAGES] += 1
            rests = message.tif == _GTC or message.tif == _POST_ONLY
            if message.op == _NEW and message.kind != _MARKET and rests:
                counts[block, ENTERING] += 1

    @entry_point
    def deal_rows(orders, first, stop, block_books, places, rows, books):  # type: ignore[no-untyped-def]
        """Deal the messages `first` .. `stop` to blocks.

        Args:
            orders: ORDER [message].
            first, stop: which of them.
            block_books: books of a block.
            places: int64 [block], where the next message of each block goes; moved on.
            rows, books: uint32 [message], set to the message, and to its book in the block.
        """
        _ = digest
        for row in range(first, stop):
            book = np.int64(orders[row].book)
            block = book // block_books
            place = places[block]
            rows[place], books[place] = row, book - block * block_books
            places[block] = place + 1

    @entry_point
    def sort_rows(rows, books, starts, by_book):  # type: ignore[no-untyped-def]
        """Sort the messages of a block by book.

        Args:
            rows, books: uint32 [message of the block], as dealt.
            starts: int64 [book of the block + 1], set to where in `by_book` a book starts.
            by_book: uint32 [message of the block], set to the messages.
        """
        _ = digest
        starts[:] = 0
        for place in range(len(books)):
            starts[np.int64(books[place]) + 1] += 1
        before = np.int64(0)
        for book in range(len(starts) - 1):
            count = starts[book + 1]
            starts[book + 1] = before  # where the next message of this book goes
            before += count
        for place in range(len(books)):
            book = np.int64(books[place])
            by_book[starts[book + 1]] = rows[place]
            starts[book + 1] += 1

    return count_blocks, deal_rows, sort_rows


count_blocks, deal_rows, sort_rows = _build(source_digest())


class Dealt(NamedTuple):
    """The messages of a batch by block, in a block in the order in which they came."""

    rows: np.ndarray
    """uint32 [message]: the messages of a block are `rows[starts[block] : starts[block + 1]]`."""
    books: np.ndarray
    """uint32 [message]: the book of each, counted from the first of its block."""
    starts: np.ndarray
    """int64 [block + 1]."""
    entering: np.ndarray
    """int64 [block], messages of orders that may come to rest."""


def deal(orders: np.ndarray, blocks: int, block_books: int, threads: int) -> Dealt:
    """Deal messages to blocks of `block_books` books, on several threads.

    Args:
        orders: `ORDER` [message].
        blocks, block_books: how many blocks there are, and how many books in each.
        threads: how many parts of the batch are dealt at once.
    """
    edges = np.linspace(0, len(orders), threads + 1).astype(np.int64)
    counts = np.zeros((threads, blocks, 2), np.int64)
    rows, books = np.empty((2, len(orders)), np.uint32)

    def count_part(part: int) -> None:
        count_blocks(orders, edges[part], edges[part + 1], block_books, counts[part])

    def deal_part(part: int) -> None:
        first, stop = edges[part], edges[part + 1]
        deal_rows(orders, first, stop, block_books, places[part], rows, books)

    on_threads(threads, count_part, range(threads))
    # A block gets what the first part has for it, then what the second has.
    in_turn = counts[:, :, MESSAGES].T.ravel()
    before = np.concatenate([[0], np.cumsum(in_turn)])
    places = before[:-1].reshape(blocks, threads).T.copy()
    on_threads(threads, deal_part, range(threads))
    return Dealt(rows, books, before[::threads].copy(), counts[:, :, ENTERING].sum(axis=0))


def on_threads(threads: int, function: Callable[[int], None], parts: Iterable[int]) -> None:
    """Call a function for every part, on several threads; raises what it raises."""
    if threads == 1:
        for part in parts:
            function(part)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(function, parts):
            pass
