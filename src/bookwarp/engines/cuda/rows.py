"""Recorded rows on their way from a GPU: steps write them there, and the host fetches them later.

The memory has two halves. One is filled by the kernels; when it is full the other takes its place,
and what the first holds is copied beside the next kernels: in pieces through pinned memory, a few
of them at once, into the arrays that were given for it. So no kernel waits for a copy while the
rows of two halves are enough, and no copy is made step by step. Rows that fill no more than a piece
are brought without other threads: to hand work over takes longer than to copy them.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple

import numpy as np

from bookwarp.engines.cuda.gpu import Gpu, Memory
from bookwarp.engines.cuda.layout import BOOK_SIDES, ROWS
from bookwarp.spec.record import BOOK, RecordPlan

HALF_BYTES = 128 << 20
"""Most memory of a half, unless a row is larger."""
MOST_ROWS = 4096
PIECE_BYTES = 4 << 20
"""Least memory of a half, and pinned memory of a piece: a tenth of a millisecond of copying."""
_LEAST_ROWS = 16
_MOST_PIECES = 8
_SHARE_OF_FREE = 4

_BYTES = 8


@dataclass
class _Target:
    """Arrays of the caller's, and the rows of a half that belong there."""

    first: int
    count: int
    arrays: Mapping[str, np.ndarray]


@dataclass
class _Half:
    """Rows on the device, [row, ...] by name."""

    number: int
    addresses: dict[str, int]
    written: Any
    """Marks the end of the kernels that wrote the rows, once `sent`."""
    used: int = 0
    targets: list[_Target] = field(default_factory=list)
    sent: bool = False


class _Part(NamedTuple):
    """Some rows of one name in a half, no more than a piece holds."""

    name: str
    rows: range


@dataclass
class _Piece:
    """Pinned memory for some rows of one name, and the end of the copy into it."""

    memory: np.ndarray
    arrival: Any
    busy: Future[None] | None = None


def row_shapes(
    plan: RecordPlan, markets: int, books: int, levels: int
) -> dict[str, tuple[int, ...]]:
    """Return the shape of one row of everything that `plan` records, by name."""
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(plan.series, (markets,))
    if BOOK in plan.names:
        shapes |= dict.fromkeys(BOOK_SIDES, (books, levels))
    return shapes


def row_nbytes(shapes: Mapping[str, tuple[int, ...]]) -> int:
    """Return the bytes of one row."""
    return _BYTES * sum(prod(shape) for shape in shapes.values())


def choose_capacity(nbytes: int, wanted: int = 0, free: int | None = None) -> int:
    """Return how many rows a half holds, one at least; `PIECE_BYTES` of them if they are small.

    Args:
        nbytes: of a row.
        wanted: rows that are to come; who takes one step at a time wants one, again and again.
        free: bytes of the device's memory that nobody has; None if that does not matter.
    """
    nbytes = max(1, nbytes)
    rounded = 1 << (max(wanted, _LEAST_ROWS, PIECE_BYTES // nbytes) - 1).bit_length()
    most = min(MOST_ROWS, HALF_BYTES // nbytes, rounded)
    if free is not None:
        most = min(most, free // _SHARE_OF_FREE // (2 * nbytes))
    return max(1, most)


def buffer_nbytes(capacity: int, nbytes: int) -> int:
    """Return the memory of both halves, for rows of `nbytes` bytes."""
    return 2 * capacity * (nbytes + ROWS.itemsize)


class RowBuffer:
    """The rows of some markets.

    Args:
        gpu: where they are written.
        plan: what is recorded.
        shapes: as from `row_shapes`.
        capacity: rows of a half.
    """

    def __init__(
        self, gpu: Gpu, plan: RecordPlan, shapes: dict[str, tuple[int, ...]], capacity: int
    ) -> None:
        self._gpu = gpu
        self.capacity = capacity
        self._shapes = shapes
        self._row_bytes = {name: _BYTES * prod(shape) for name, shape in shapes.items()}
        nbytes = capacity * row_nbytes(shapes)
        self._memory = Memory(gpu, 2 * nbytes)
        self._halves = []
        for number in range(2):
            addresses, at = {}, self._memory.pointer + number * nbytes
            for name, size in self._row_bytes.items():
                addresses[name] = at
                at += capacity * size
            self._halves.append(_Half(number, addresses, gpu.create_event()))
        self._filling, self._other = self._halves
        self._piece_bytes = min(max(PIECE_BYTES, *self._row_bytes.values()), nbytes)
        self._pieces: list[_Piece] = []
        self._table = Memory(gpu, 2 * capacity * ROWS.itemsize)
        gpu.write(self._table, self._lay_out(plan, shapes))

    @property
    def room(self) -> int:
        """Rows that the half that is filling still takes."""
        return 0 if self._filling.sent else self.capacity - self._filling.used

    @property
    def next_rows(self) -> int:
        """Address of the structure `Rows` whose first row is the next one of this buffer."""
        place = self._filling.number * self.capacity + self._filling.used
        return self._table.pointer + place * ROWS.itemsize

    def expect(self, count: int, arrays: Mapping[str, np.ndarray]) -> None:
        """Note that a kernel was started that writes `count` rows, which belong into `arrays`.

        `next_rows` has no more than `room` rows.
        """
        if count:
            self._filling.targets.append(_Target(self._filling.used, count, arrays))
            self._filling.used += count

    def send(self) -> None:
        """Let the rows of the half that is filling be fetched once the steps so far are done."""
        half = self._filling
        if half.used and not half.sent:
            self._gpu.mark(half.written)
            half.sent = True

    def turn(self) -> None:
        """Fill the other half from now on, once its rows are where they belong."""
        self._deliver(self._other)
        self._filling, self._other = self._other, self._filling

    def drain(self) -> None:
        """Bring every row to where it belongs."""
        self.send()
        self._deliver(self._other)
        self._deliver(self._filling)

    def _deliver(self, half: _Half) -> None:
        """Bring the rows of a half that were sent to where they belong."""
        if not half.sent:
            return
        parts = list(self._cut(half))
        self._make_pieces(len(parts))
        for piece in self._pieces:
            piece.busy = None  # whatever came of it, if an earlier delivery was interrupted
        if half.used * sum(self._row_bytes.values()) <= PIECE_BYTES:
            self._deliver_here(half, parts)
        else:
            self._deliver_in_threads(half, parts)
        half.used, half.targets, half.sent = 0, [], False

    def _make_pieces(self, wanted: int) -> None:
        """Make pinned memory for as many pieces as are wanted, if that is not too many.

        Not before: kernels do not wait for this memory, which takes some milliseconds.
        """
        while len(self._pieces) < min(wanted, _MOST_PIECES, os.cpu_count() or 1):
            memory = self._gpu.allocate_pinned(self._piece_bytes)
            self._pieces.append(_Piece(memory, self._gpu.create_event()))

    def _deliver_here(self, half: _Half, parts: Sequence[_Part]) -> None:
        """Copy rows on this thread, when as many copies as there are pieces are on their way."""
        for first in range(0, len(parts), len(self._pieces)):
            pairs = list(zip(self._pieces, parts[first:], strict=False))
            images = [self._fetch(piece, half, part) for piece, part in pairs]
            for (piece, part), image in zip(pairs, images, strict=True):
                self._spread(half, part, image, piece.arrival)

    def _deliver_in_threads(self, half: _Half, parts: Sequence[_Part]) -> None:
        """Copy rows piece by piece, and each on a thread of its own from there."""
        with ThreadPoolExecutor(len(self._pieces)) as threads:
            for number, part in enumerate(parts):
                piece = self._pieces[number % len(self._pieces)]
                if piece.busy is not None:
                    piece.busy.result()
                image = self._fetch(piece, half, part)
                piece.busy = threads.submit(self._spread, half, part, image, piece.arrival)
            for piece in self._pieces:
                if piece.busy is not None:
                    piece.busy.result()

    def _fetch(self, piece: _Piece, half: _Half, part: _Part) -> np.ndarray:
        """Start to copy a part of a half to a piece, and return it there, int64 [row, ...]."""
        size = self._row_bytes[part.name]
        memory = piece.memory[: len(part.rows) * size].view(np.int64)
        image = memory.reshape(len(part.rows), *self._shapes[part.name])
        address = half.addresses[part.name] + part.rows.start * size
        self._gpu.fetch(image, address, half.written, piece.arrival)
        return image

    def _cut(self, half: _Half) -> Iterator[_Part]:
        """Yield the parts of a half that are pieces."""
        for name, size in self._row_bytes.items():
            count = max(1, self._piece_bytes // max(1, size))
            for first in range(0, half.used, count):
                yield _Part(name, range(first, min(first + count, half.used)))

    def _spread(self, half: _Half, part: _Part, image: np.ndarray, arrival: Any) -> None:
        """Copy rows that have arrived, or soon do, into the arrays that they belong to."""
        self._gpu.finish_fetch(arrival)
        for target in half.targets:
            first = max(part.rows.start, target.first)
            stop = min(part.rows.stop, target.first + target.count)
            if first < stop and part.name in target.arrays:
                into = target.arrays[part.name][first - target.first : stop - target.first]
                into[...] = image[first - part.rows.start : stop - part.rows.start]

    def _lay_out(self, plan: RecordPlan, shapes: dict[str, tuple[int, ...]]) -> np.ndarray:
        """Return a structure for every row that may be the first of a launch, ROWS [half, row]."""
        table = np.zeros((2, self.capacity), ROWS)
        rows = np.arange(self.capacity, dtype=np.uint64)
        for half in self._halves:
            for name, address in half.addresses.items():
                step = np.uint64(self._row_bytes[name])
                table[name][half.number] = np.uint64(address) + rows * step
        table["every"], table["depth_ticks"] = plan.every, plan.depth_ticks
        table["book_markets"] = shapes[BOOK_SIDES[0]][0] if BOOK in plan.names else 0
        return table
