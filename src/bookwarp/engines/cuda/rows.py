"""Recorded rows on their way from a GPU: steps write them there, and the host fetches them later.

The memory has two halves. One is filled by the kernels; when it is full the other takes its place,
and what the first holds is copied to pinned memory beside the next kernels, then into the arrays
that were given for it. So no kernel waits for a copy, and no copy is made step by step.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from bookwarp.engines.cuda.gpu import Gpu, Memory
from bookwarp.engines.cuda.layout import BOOK_SIDES, ROWS
from bookwarp.spec.record import BOOK, RecordPlan

HALF_BYTES = 16 << 20
"""Least memory of a half, if a row is smaller: some milliseconds of copying."""
MOST_ROWS = 4096

_BYTES = 8


@dataclass
class _Target:
    """Arrays of the caller's, and the rows of a half that belong there."""

    first: int
    count: int
    arrays: Mapping[str, np.ndarray]


@dataclass
class _Half:
    """Rows on the device and their image on the host, [row, ...] by name."""

    number: int
    image: dict[str, np.ndarray]
    addresses: dict[str, int]
    arrival: Any
    used: int = 0
    targets: list[_Target] = field(default_factory=list)
    sent: bool = False
    """Whether the rows are on their way to the image, whose end `arrival` marks."""


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


def choose_capacity(nbytes: int) -> int:
    """Return how many rows of `nbytes` bytes a half holds."""
    return max(1, min(MOST_ROWS, HALF_BYTES // max(1, nbytes)))


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
        self._capacity = capacity
        self._row_bytes = {name: _BYTES * prod(shape) for name, shape in shapes.items()}
        nbytes = capacity * row_nbytes(shapes)
        self._memory = Memory(gpu, 2 * nbytes)
        pinned = gpu.allocate_pinned(2 * nbytes)
        self._halves = []
        for number in range(2):
            image, addresses, at = {}, {}, number * nbytes
            for name, shape in shapes.items():
                size = capacity * self._row_bytes[name]
                block = pinned[at : at + size].view(np.int64)
                image[name] = block.reshape(capacity, *shape)
                addresses[name] = self._memory.pointer + at
                at += size
            self._halves.append(_Half(number, image, addresses, gpu.create_event()))
        self._filling, self._other = self._halves
        self._table = Memory(gpu, 2 * capacity * ROWS.itemsize)
        gpu.write(self._table, self._lay_out(plan, shapes))

    @property
    def room(self) -> int:
        """Rows that the half that is filling still takes."""
        return 0 if self._filling.sent else self._capacity - self._filling.used

    @property
    def next_rows(self) -> int:
        """Address of the structure `Rows` whose first row is the next one of this buffer."""
        place = self._filling.number * self._capacity + self._filling.used
        return self._table.pointer + place * ROWS.itemsize

    def expect(self, count: int, arrays: Mapping[str, np.ndarray]) -> None:
        """Note that a kernel was started that writes `count` rows, which belong into `arrays`.

        `next_rows` has no more than `room` rows.
        """
        if count:
            self._filling.targets.append(_Target(self._filling.used, count, arrays))
            self._filling.used += count

    def send(self) -> None:
        """Start to copy the rows of the half that is filling to the host."""
        half = self._filling
        if half.used and not half.sent:
            pieces = [(a[: half.used], half.addresses[name]) for name, a in half.image.items()]
            self._gpu.fetch(pieces, half.arrival)
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
        if not half.sent:
            return
        self._gpu.finish_fetch(half.arrival)
        for target in half.targets:
            rows = slice(target.first, target.first + target.count)
            for name, array in target.arrays.items():
                array[...] = half.image[name][rows]
        half.used, half.targets, half.sent = 0, [], False

    def _lay_out(self, plan: RecordPlan, shapes: dict[str, tuple[int, ...]]) -> np.ndarray:
        """Return a structure for every row that may be the first of a launch, ROWS [half, row]."""
        table = np.zeros((2, self._capacity), ROWS)
        rows = np.arange(self._capacity, dtype=np.uint64)
        for half in self._halves:
            for name, address in half.addresses.items():
                step = np.uint64(self._row_bytes[name])
                table[name][half.number] = np.uint64(address) + rows * step
        table["every"], table["depth_ticks"] = plan.every, plan.depth_ticks
        table["book_markets"] = shapes[BOOK_SIDES[0]][0] if BOOK in plan.names else 0
        return table
