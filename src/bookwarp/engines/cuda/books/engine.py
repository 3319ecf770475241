"""The cuda engine for continuous books: all books at once, a warp each."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from bookwarp.engines.cuda.availability import unavailable_reason
from bookwarp.engines.cuda.books.compile import load_kernels
from bookwarp.engines.cuda.books.grouping import group_messages, sum_counts
from bookwarp.engines.cuda.books.kernel_key import (
    BLOCK,
    LANES,
    SLOT_LADDER,
    GroupKey,
    match_key,
    slot_ladder,
)
from bookwarp.engines.cuda.books.known_answer import (
    BOOKS,
    KNOWN_ANSWERS,
    answer_of,
    known_rules,
    known_stream,
)
from bookwarp.engines.cuda.books.layout import BATCH, ROOM, lay_out_batch, lay_out_rooms
from bookwarp.engines.cuda.books.pieces import join_pieces
from bookwarp.engines.cuda.books.transfer import TableGpu
from bookwarp.engines.cuda.books.workspace import (
    BOOK_BYTES,
    MESSAGE_BYTES,
    RESTING_BYTES,
    Workspace,
)
from bookwarp.engines.cuda.gpu import Memory
from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.book_state import RESTING, BookState, empty_state
from bookwarp.spec.errors import EngineError
from bookwarp.spec.events import EVENT, LEVEL_COLUMNS, Counter, Matched
from bookwarp.spec.orders import ORDER

MOST_MESSAGES = 1 << 29
"""Messages of a launch: 32 bits then count whatever a book has of any one thing."""
_COUNTERS = np.dtype((np.int64, len(Counter)))
_NOT_STORED_BYTE = 0xFF
_DEPTH_BYTES = 8 * len(LEVEL_COLUMNS)


_WRONG_CODE = (
    "the code that was compiled for this GPU is wrong; install the newest compiler: "
    "pip install --upgrade 'bookwarp[cuda]'"
)


class _Piece(NamedTuple):
    """Messages that go to the GPU at once."""

    orders: np.ndarray
    owners: np.ndarray | None
    events: bool
    levels: int


class CudaBookEngine:
    """Matches on a GPU; implements `bookwarp.engines.book_protocol.BookEngine`.

    Books stay in the memory of the GPU from one batch to the next. Events come in pinned memory.
    """

    def __init__(self, rules: BookRules, books: int, threads: int | None = None) -> None:
        """Hold `books` empty books.

        Args:
            rules: what holds for all of them.
            books: how many there are.
            threads: that copy messages on their way to the GPU; None for as many as help.

        Raises:
            EngineError: CUDA does not work here, or there is too little memory, or the code that
                was compiled for this GPU is wrong.
        """
        reason = unavailable_reason()
        if reason is not None:
            raise EngineError(f"engine 'cuda' is not available: {reason}")
        self._begin(rules, books, threads)
        check_known_answers(known_rules(rules), self._gpu.arch)

    def _begin(self, rules: BookRules, books: int, threads: int | None) -> None:
        self._rules, self._books = rules, books
        self._gpu = TableGpu(0, threads)
        self._space = Workspace(self._gpu)
        with self._gpu:
            self._group = load_kernels(GroupKey(), self._gpu.arch)
        self.write_state(empty_state(books))

    def match(
        self,
        orders: np.ndarray,
        owners: np.ndarray | None,
        *,
        events: bool = True,
        levels: int = 0,
    ) -> Matched:
        """Match one batch; what does not fit into the memory at once goes in several pieces.

        Raises:
            EngineError: there is not enough memory; the books are as they were.
        """
        for slots in (*SLOT_LADDER, 0):
            self._kernel(slots, events, levels)
        before = self.read_state() if len(orders) > self._fitting_messages(levels) else None
        try:
            return self._match_all(orders, owners, events, levels)
        except EngineError as error:
            self._space.release()
            if before is not None:
                self.write_state(before)
            raise EngineError(f"{error} (in a batch of {len(orders)} messages)") from error

    def read_state(self) -> BookState:
        """Return a copy of the state in host memory."""
        gpu, books = self._gpu, self._books
        return BookState(
            orders=gpu.read(self._resting, np.empty(int(self._offsets[-1]), RESTING)),
            order_offsets=self._offsets.copy(),
            counters=gpu.read(self._counters, np.empty(books, _COUNTERS)),
            flags=gpu.read(self._flags, np.empty(books, np.uint32)),
        )

    def write_state(self, state: BookState) -> None:
        """Continue from a copy of `state`."""
        self._gpu.wait()
        self._offsets = np.array(state.order_offsets, np.int64)
        self._resting = self._upload(state.orders)
        self._counters = self._upload(state.counters)
        self._flags = self._upload(state.flags)
        self._first_resting = self._upload(self._offsets)

    def _match_all(
        self, orders: np.ndarray, owners: np.ndarray | None, events: bool, levels: int
    ) -> Matched:
        """Match in as few pieces as there must be."""
        found: list[Matched] = []
        starts: list[int] = []
        first = 0
        while first < len(orders) or not found:
            stop = min(len(orders), first + max(1, self._fitting_messages(levels)))
            own = None if owners is None else owners[first:stop]
            found.append(self._match_piece(_Piece(orders[first:stop], own, events, levels)))
            starts.append(first)
            first = stop
        return found[0] if len(found) == 1 else join_pieces(found, starts)

    def _fitting_messages(self, levels: int) -> int:
        """Return how many messages fit into the memory at once."""
        held = BOOK_BYTES * self._books + RESTING_BYTES * int(self._offsets[-1])
        owners = 8 if self._rules.tracks_owner else 0
        each = MESSAGE_BYTES + owners + levels * _DEPTH_BYTES
        free = self._gpu.free_bytes() + self._space.nbytes
        return int(min(MOST_MESSAGES, max(0, int(0.9 * free) - held) // each))

    def _match_piece(self, piece: _Piece) -> Matched:
        """Match messages and keep what the books are then, once all of it is known."""
        count, books, gpu = len(piece.orders), self._books, self._gpu
        if count == 0:
            nothing = np.zeros((0, piece.levels, len(LEVEL_COLUMNS)), np.int64)
            depth = nothing if piece.levels else None
            if not piece.events:
                return Matched(None, None, depth)
            return Matched(np.zeros(0, EVENT), np.zeros(books + 1, np.int64), depth)
        take = self._space.take
        after = {"counters": _COUNTERS.itemsize * books, "flags": 4 * books}
        for name, nbytes in after.items():
            gpu.copy(take(name, nbytes), getattr(self, f"_{name}"), nbytes)
        self._prepare(piece)
        self._run(piece)
        live_offsets = take("live offsets", 8 * (books + 1))
        sum_counts(gpu, self._group, take("live", 4 * books), books, live_offsets)
        events, offsets = self._gather_events(piece)
        depth = self._fetch_depth(piece)
        self._keep(live_offsets)
        return Matched(events, offsets, depth)

    def _prepare(self, piece: _Piece) -> None:
        """Send and group the messages, and describe the batch to the kernels."""
        count, books, gpu, take = len(piece.orders), self._books, self._gpu, self._space.take
        live = int(self._offsets[-1])
        messages = take("messages", ORDER.itemsize * count)
        gpu.send(messages, np.ascontiguousarray(piece.orders))
        pointers = {"messages": messages}
        if piece.owners is not None:
            pointers["owners"] = take("owners", 8 * count)
            gpu.send(pointers["owners"], np.ascontiguousarray(piece.owners))
        pointers["grouped"], pointers["first_message"] = group_messages(
            gpu, self._group, self._space, messages, count, books
        )
        pointers["resting"], pointers["first_resting"] = self._resting, self._first_resting
        sizes = {"resting_after": RESTING.itemsize * (live + count)}
        sizes |= {"stopped_count": 4, "overrun_count": 4}
        sizes |= dict.fromkeys(
            ("live", "done", "event_counts", "stopped", "stopped_room"), 4 * books
        )
        if piece.events:
            sizes["events"] = EVENT.itemsize * (live + 2 * count)
        if piece.levels:
            sizes["depth"] = _DEPTH_BYTES * count * piece.levels
        pointers |= {name: take(name, nbytes) for name, nbytes in sizes.items()}
        for name in ("counters", "flags"):
            pointers[name] = take(name, 0)
        gpu.fill(pointers["live"], _NOT_STORED_BYTE, 4 * books)
        for name in ("done", "event_counts", "overrun_count"):
            gpu.fill(pointers[name], 0, sizes[name])
        addresses = {name: memory.pointer for name, memory in pointers.items()}
        batch = lay_out_batch(self._rules, books, piece.levels, **addresses)
        gpu.write(take("batch", BATCH.itemsize), batch)

    def _kernel(self, slots: int, events: bool, levels: int) -> Any:
        """Return a kernel to match with, compiled if it never was."""
        key = match_key(self._rules, slots, events, levels > 0)
        with self._gpu:
            return load_kernels(key, self._gpu.arch).get_kernel(key.entry)

    def _configure(self, books: int) -> Any:
        """Return how a kernel is launched that matches some books: a warp each, a block each."""
        return self._gpu.configure(books, LANES, 0)

    def _ladder(self) -> tuple[int, ...]:
        """Return which kernels are tried in turn, as `slot_ladder` does."""
        return slot_ladder(self._rules, np.diff(self._offsets))

    def _run(self, piece: _Piece) -> None:
        """Match every book, each with the first of the kernels that has room for it."""
        gpu, take = self._gpu, self._space.take
        chosen, rooms, count = 0, 0, self._books
        stopped_count, stopped = take("stopped_count", 4), take("stopped", 0)
        for slots in self._ladder():
            if slots == 0:
                rooms = self._make_rooms(count, first=chosen == 0)
            kernel = self._kernel(slots, piece.events, piece.levels)
            gpu.fill(stopped_count, 0, 4)
            pointer = take("batch", 0).pointer
            gpu.launch(self._configure(count), kernel, 0, pointer, chosen, rooms)
            self._check_overrun()
            count = int(gpu.read(stopped_count, np.empty(1, np.uint32))[0])
            if count == 0:
                return
            kept = take("chosen", 4 * self._books)
            gpu.copy(kept, stopped, 4 * count)
            chosen = kept.pointer
        raise AssertionError("the last kernel takes every book")

    def _check_overrun(self) -> None:
        """Refuse what a kernel did that is not what its source says: a compiler can be wrong.

        Raises:
            EngineError: a book caused more events than it can.
        """
        books = int(self._gpu.read(self._space.take("overrun_count", 4), np.empty(1, np.uint32))[0])
        if books:
            raise EngineError(f"{books} books caused more events than they can: {_WRONG_CODE}")

    def _make_rooms(self, count: int, first: bool) -> int:
        """Make room for the books that have to lie in levels, and return where it is described.

        Args:
            count: how many books.
            first: whether no kernel ran before, and so these are all books.
        """
        gpu, take = self._gpu, self._space.take
        if first:
            messages = np.empty(self._books + 1, np.uint32)
            gpu.read(take("first message", 0), messages)
            orders = np.maximum(np.diff(messages) + np.diff(self._offsets), 1)
            if self._rules.order_capacity is not None:
                orders = np.minimum(orders, self._rules.order_capacity)
        else:
            orders = gpu.read(take("stopped_room", 0), np.empty(count, np.uint32))
        rooms, nbytes = lay_out_rooms(orders)
        rooms["address"] += np.uint64(take("room", nbytes).pointer)
        described = take("rooms", ROOM.itemsize * count)
        gpu.write(described, rooms)
        return described.pointer

    def _gather_events(self, piece: _Piece) -> tuple[np.ndarray | None, np.ndarray | None]:
        if not piece.events:
            return None, None
        gpu, take, books = self._gpu, self._space.take, self._books
        offsets = take("event offsets", 8 * (books + 1))
        sum_counts(gpu, self._group, take("event_counts", 0), books, offsets)
        found = gpu.read(offsets, np.empty(books + 1, np.int64))
        gathered = take("gathered events", EVENT.itemsize * int(found[-1]))
        self._launch_for_books("gather_events", offsets, gathered)
        return gpu.fetch_table(gathered, EVENT, int(found[-1])), found

    def _fetch_depth(self, piece: _Piece) -> np.ndarray | None:
        if not piece.levels:
            return None
        shape = len(piece.orders), piece.levels, len(LEVEL_COLUMNS)
        words = self._gpu.fetch_table(
            self._space.take("depth", 0), np.dtype(np.int64), int(np.prod(shape))
        )
        return words.reshape(shape)

    def _keep(self, live_offsets: Memory) -> None:
        """Take over what the kernels left."""
        gpu, books = self._gpu, self._books
        offsets = gpu.read(live_offsets, np.empty(books + 1, np.int64))
        resting = Memory(gpu, RESTING.itemsize * int(offsets[-1]))
        self._launch_for_books("gather_resting", live_offsets, resting)
        gpu.wait()
        self._resting, self._offsets = resting, offsets
        for name, nbytes in (("counters", _COUNTERS.itemsize * books), ("flags", 4 * books)):
            gpu.copy(getattr(self, f"_{name}"), self._space.take(name, 0), nbytes)
        gpu.copy(self._first_resting, live_offsets, 8 * (books + 1))
        gpu.wait()

    def _launch_for_books(self, name: str, offsets: Memory, target: Memory) -> None:
        gpu = self._gpu
        config = gpu.configure(self._books, BLOCK, 0)
        batch = self._space.take("batch", 0).pointer
        gpu.launch(config, self._group.get_kernel(name), batch, offsets.pointer, target.pointer)

    def _upload(self, array: np.ndarray) -> Memory:
        memory = Memory(self._gpu, array.nbytes)
        self._gpu.send(memory, np.ascontiguousarray(array))
        return memory


class _Probe(CudaBookEngine):
    """An engine that is asked for what is known, with one of the kernels."""

    def __init__(self, rules: BookRules, slots: int) -> None:
        self._slots = slots
        self._begin(rules, BOOKS, threads=1)

    def _ladder(self) -> tuple[int, ...]:
        return (self._slots, 0) if self._slots else (0,)


@cache
def check_known_answers(rules: BookRules, arch: str) -> None:
    """Let every kernel that is compiled for `rules` answer what is known, once in a process.

    Args:
        rules: as from `known_rules`.
        arch: the GPU's name for compilers.

    Raises:
        EngineError: one answers otherwise.
    """
    orders = known_stream()
    owners = np.zeros(len(orders), np.uint64) if rules.tracks_owner else None
    for slots in (*SLOT_LADDER, 0):
        probe = _Probe(rules, slots)
        answer = answer_of(probe.match(orders, owners), probe.read_state())
        if answer != KNOWN_ANSWERS[rules.tracks_filled]:
            kernel = f"{LANES * slots} slots" if slots else "levels"
            raise EngineError(f"the kernel of {kernel} on {arch} fails its check: {_WRONG_CODE}")
