"""The cpu engine for continuous books: blocks of books on threads."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import numpy as np

from bookwarp.engines.cpu.books.batch import Batch, read_only
from bookwarp.engines.cpu.books.grouping import deal, on_threads
from bookwarp.engines.cpu.books.kernel import enter_orders, list_orders
from bookwarp.engines.cpu.books.layout import Block, allocate_block, reserve
from bookwarp.engines.cpu.books.room import Room
from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.book_state import RESTING, BookState
from bookwarp.spec.errors import EngineError
from bookwarp.spec.events import Matched
from bookwarp.spec.orders import ORDER

# Blocks a thread gets, so that one that is held up does not hold up the batch.
_BLOCKS_PER_THREAD = 8
# A thread takes longer to start than this many messages to match.
_MESSAGES_PER_THREAD = 20_000


class CpuBookEngine:
    """Matches on all cores; implements `bookwarp.engines.book_protocol.BookEngine`."""

    def __init__(self, rules: BookRules, books: int, threads: int | None = None) -> None:
        """Hold `books` empty books; `threads` is 1 if None."""
        self._rules = rules
        self._books = books
        self._threads = min(threads or 1, books)
        # A block has 2**shift books.
        self._shift = ((books - 1) // (self._threads * _BLOCKS_PER_THREAD)).bit_length()
        self._first_books = np.append(np.arange(0, books, 1 << self._shift), books)
        self._room = Room()
        with _says_if_memory_lacks():
            self._blocks = self._empty_blocks()

    def match(
        self,
        orders: np.ndarray,
        owners: np.ndarray | None,
        *,
        events: bool = True,
        levels: int = 0,
    ) -> Matched:
        """Match one batch."""
        threads = min(self._threads, 1 + len(orders) // _MESSAGES_PER_THREAD)
        with _says_if_memory_lacks():
            dealt = deal(read_only(orders, ORDER), self._books, self._shift, threads, self._room)
            batch = Batch(dealt, self._books, self._shift, self._room)
            batch.allocate(self._blocks, self._rules, owners, events, levels, threads)
        on_threads(threads, batch.match_blocks, range(threads))
        return batch.gather()

    def read_state(self) -> BookState:
        """Return a copy of the state."""
        with _says_if_memory_lacks():
            counts = np.concatenate([block.books["orders"] for block in self._blocks])
            offsets = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
            orders = np.empty(offsets[-1], RESTING)
            for block, (first, stop) in zip(self._blocks, pairwise(self._first_books), strict=True):
                list_orders(block, first, orders[offsets[first] : offsets[stop]])
            counters = np.concatenate([block.counters for block in self._blocks])
            flags = np.concatenate([block.books["flags"] for block in self._blocks])
        return BookState(orders, offsets, counters, flags)

    def write_state(self, state: BookState) -> None:
        """Continue from a copy of `state`."""
        with _says_if_memory_lacks():
            blocks = self._empty_blocks()
            orders = read_only(state.orders, RESTING)
            for number, (first, stop) in enumerate(pairwise(self._first_books)):
                given = orders[slice(*state.order_offsets[[first, stop]])]
                block = blocks[number] = reserve(blocks[number], self._rules, len(given))
                enter_orders(block, first, given)
                block.counters[:] = state.counters[first:stop]
                block.books["flags"] = state.flags[first:stop]
        self._blocks = blocks

    def _empty_blocks(self) -> list[Block]:
        sizes = np.diff(self._first_books).tolist()
        return [allocate_block(size, self._rules) for size in sizes]


@contextmanager
def _says_if_memory_lacks() -> Iterator[None]:
    try:
        yield
    except MemoryError as error:
        raise EngineError(f"there is not enough memory: {error}") from error
