"""The cpu engine for continuous books: blocks of books on threads."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from bookwarp.engines.cpu.books.grouping import Dealt, deal, on_threads, sort_rows
from bookwarp.engines.cpu.books.kernel import enter_orders, list_orders, match_block, move_down
from bookwarp.engines.cpu.books.layout import Block, allocate_block, lay_out_rules, reserve
from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.book_state import RESTING, BookState
from bookwarp.spec.errors import EngineError
from bookwarp.spec.events import EVENT, LEVEL_COLUMNS, Matched, event_bound

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
        blocks = 1 if self._threads == 1 else min(books, self._threads * _BLOCKS_PER_THREAD)
        self._block_books = -(-books // blocks)
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
            orders = _read_only(orders)
            dealt = deal(orders, len(self._blocks), self._block_books, threads)
            self._blocks = [
                reserve(block, self._rules, int(entering))
                for block, entering in zip(self._blocks, dealt.entering, strict=True)
            ]
            batch = _Batch(self._blocks, self._rules, orders, owners, dealt, events, levels)
        # An empty batch is matched too, and so is everything compiled.
        numbers = np.flatnonzero(np.diff(dealt.starts)) if len(orders) else [0]
        on_threads(threads, batch.match_block, numbers)
        return batch.gather()

    def read_state(self) -> BookState:
        """Return a copy of the state."""
        with _says_if_memory_lacks():
            counts = np.concatenate([block.books["orders"] for block in self._blocks])
            offsets = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
            orders = np.empty(offsets[-1], RESTING)
            for first, block in self._by_first_book():
                found = orders[offsets[first] : offsets[first + len(block.books)]]
                list_orders(block, first, found)
            counters = np.concatenate([block.counters for block in self._blocks])
            flags = np.concatenate([block.books["flags"] for block in self._blocks])
        return BookState(orders, offsets, counters, flags)

    def write_state(self, state: BookState) -> None:
        """Continue from a copy of `state`."""
        with _says_if_memory_lacks():
            self._blocks = self._empty_blocks()
            for number, (first, block) in enumerate(self._by_first_book()):
                stop = first + len(block.books)
                start_order, stop_order = state.order_offsets[[first, stop]]
                block = reserve(block, self._rules, int(stop_order - start_order))
                enter_orders(block, first, state.orders[start_order:stop_order])
                block.counters[:] = state.counters[first:stop]
                block.books["flags"] = state.flags[first:stop]
                self._blocks[number] = block

    def _by_first_book(self) -> Iterator[tuple[int, Block]]:
        return zip(range(0, self._books, self._block_books), self._blocks, strict=True)

    def _empty_blocks(self) -> list[Block]:
        firsts = range(0, self._books, self._block_books)
        sizes = [min(self._block_books, self._books - first) for first in firsts]
        return [allocate_block(size, self._rules) for size in sizes]


class _Batch:
    """One batch on its way: its messages by block, and what comes out, allocated beforehand."""

    def __init__(
        self,
        blocks: list[Block],
        rules: BookRules,
        orders: np.ndarray,
        owners: np.ndarray | None,
        dealt: Dealt,
        events: bool,
        levels: int,
    ) -> None:
        self._blocks = blocks
        self._rules = lay_out_rules(rules)
        self._orders = orders
        self._owners = _read_only(np.zeros(0, np.uint64) if owners is None else owners)
        self._dealt = dealt
        self._by_book = np.empty(len(orders), np.uint32)
        books = [len(block.books) for block in blocks]
        self._first_books = np.concatenate([[0], np.cumsum(books)])
        self._starts = [np.empty(count + 1, np.int64) for count in books]
        self._event_counts = np.zeros(self._first_books[-1], np.int64)
        self._step = int(events)
        bounds = [
            event_bound(int(messages), int(block.books["orders"].sum())) if events else 1
            for messages, block in zip(np.diff(dealt.starts), blocks, strict=True)
        ]
        # What events start and end at in each block; what is not written is never touched.
        self._first_event = np.concatenate([[0], np.cumsum(bounds)])[:-1]
        self._next_event = self._first_event.copy()
        self._events = np.empty(sum(bounds), EVENT)
        self._depth = np.empty((len(orders) if levels else 0, levels, len(LEVEL_COLUMNS)), np.int64)

    def match_block(self, number: int) -> None:
        """Sort the messages of a block by book, and match them."""
        dealt, starts = self._dealt, self._starts[number]
        mine = slice(*dealt.starts[number : number + 2])
        books = slice(*self._first_books[number : number + 2])
        sort_rows(dealt.rows[mine], dealt.books[mine], starts, self._by_book[mine])
        match_block(
            self._blocks[number],
            self._rules,
            self._orders,
            self._owners,
            self._by_book[mine],
            starts,
            self._events,
            self._next_event[number : number + 1],
            self._step,
            self._event_counts[books],
            self._depth,
        )

    def gather(self) -> Matched:
        """Close the gaps between the events of blocks, and return what came out."""
        depth = self._depth if self._depth.shape[1] else None
        if not self._step:
            return Matched(None, None, depth)
        place = 0
        for start, stop in zip(self._first_event, self._next_event, strict=True):
            move_down(self._events, start, stop, place)
            place += stop - start
        self._events.resize(place, refcheck=False)
        offsets = np.concatenate([[0], np.cumsum(self._event_counts)])
        return Matched(self._events, offsets, depth)


def _read_only(array: np.ndarray) -> np.ndarray:
    """Return a view that kernels see as read only, so that they are compiled for no other."""
    view = array.view()
    view.flags.writeable = False
    return view


@contextmanager
def _says_if_memory_lacks() -> Iterator[None]:
    try:
        yield
    except MemoryError as error:
        raise EngineError(f"there is not enough memory: {error}") from error
