"""One batch of messages on its way: by block and bin of books, with all that it needs allocated."""

import numpy as np

from bookwarp.engines.cpu.books.collecting import EventCollector
from bookwarp.engines.cpu.books.grouping import Dealt, sort_bin
from bookwarp.engines.cpu.books.kernel import match_bin
from bookwarp.engines.cpu.books.layout import Block, lay_out_rules, reserve
from bookwarp.engines.cpu.books.room import Room
from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.events import LEVEL_COLUMNS, Matched, event_bound


class Batch:
    """Messages of a batch, dealt to bins, several of which make a block."""

    def __init__(self, dealt: Dealt, books: int, block_shift: int, room: Room) -> None:
        """Find the bins of each block of 2**block_shift books."""
        self._dealt = dealt
        self._books = books
        self._room = room
        bins = len(dealt.entering)
        self._first_bins = np.append(np.arange(0, bins, 1 << (block_shift - dealt.shift)), bins)
        self._messages = np.diff(dealt.starts[self._first_bins])
        self._entering = np.add.reduceat(dealt.entering, self._first_bins[:-1])

    def allocate(
        self,
        blocks: list[Block],
        rules: BookRules,
        owners: np.ndarray | None,
        events: bool,
        levels: int,
        threads: int,
    ) -> None:
        """Make room in the blocks, in place, and for what comes out; no book changes.

        Raises:
            MemoryError: there is not enough.
        """
        messages = len(self._dealt.messages)
        # Of an empty batch a block is matched too, and so is everything compiled.
        self._numbers = np.flatnonzero(self._messages) if messages else np.arange(1)
        for number in self._numbers:
            blocks[number] = reserve(blocks[number], rules, int(self._entering[number]))
        self._blocks = blocks
        self._rules = lay_out_rules(rules)
        given = np.empty(0, np.uint64) if owners is None else owners
        self._owners = read_only(given, np.dtype(np.uint64))
        # What is not used of this is never touched. A single book has its messages in order.
        self._places = self._room.array("places", len(self._dealt.books), np.dtype(np.uint32))
        self._starts = np.empty(self._books + len(self._dealt.entering), np.int64)
        self._depth = np.empty((messages if levels else 0, levels, len(LEVEL_COLUMNS)), np.int64)
        self._with_events = events
        self._event_counts = np.zeros(self._books, np.int64)
        self._collector = EventCollector(self._event_bounds(), threads, self._room)

    def _event_bounds(self) -> np.ndarray:
        if not self._with_events:
            return np.ones(len(self._numbers), np.int64)
        live = [int(self._blocks[number].books["orders"].sum()) for number in self._numbers]
        messages = self._messages[self._numbers].tolist()
        return np.array([event_bound(*each) for each in zip(messages, live, strict=True)])

    def match_blocks(self, _thread: int) -> None:
        """Match blocks that no other thread has, until there is none left."""
        while taken := self._collector.take_block():
            turn, events = taken
            written = self._match_block(int(self._numbers[turn]), events)
            self._collector.put_events(turn, events, written)

    def _match_block(self, number: int, events: np.ndarray) -> int:
        first_bin, stop_bin = self._first_bins[number : number + 2].tolist()
        block_book = first_bin << self._dealt.shift
        written = 0
        for each in range(first_bin, stop_bin):
            rest = events[written:]
            written += self._match_bin(each, block_book, self._blocks[number], rest)
        return written

    def _match_bin(self, number: int, block_book: int, block: Block, events: np.ndarray) -> int:
        dealt = self._dealt
        first_book = number << dealt.shift
        stop_book = min(first_book + (1 << dealt.shift), self._books)
        mine = slice(*dealt.starts[number : number + 2].tolist())
        messages, places = dealt.messages[mine], self._places[mine]
        starts = self._starts[first_book + number : stop_book + number + 1]
        if self._books == 1:
            starts[:] = 0, len(messages)
        else:
            sort_bin(dealt.books[mine], first_book, starts, places)
        written: int = match_bin(
            block,
            self._rules,
            first_book - block_book,
            messages,
            places,
            starts,
            self._owners,
            events,
            int(self._with_events),
            self._event_counts[first_book:stop_book],
            self._depth,
        )
        return written

    def gather(self) -> Matched:
        """Return what came out."""
        depth = self._depth if self._depth.shape[1] else None
        events = self._collector.close()
        if not self._with_events:
            return Matched(None, None, depth)
        return Matched(events, np.concatenate([[0], np.cumsum(self._event_counts)]), depth)


def read_only(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return a view that kernels are compiled for: read only, and of this very type.

    Two types that are equal to NumPy may be two to Numba: what was read from a file does not know
    that it is aligned.
    """
    view = array.view(dtype)
    view.flags.writeable = False
    return view
