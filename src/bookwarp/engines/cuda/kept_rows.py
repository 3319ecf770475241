"""Recorded rows that stay on the GPU: steps write them where other libraries take them."""

from collections.abc import Mapping
from itertools import accumulate
from math import prod

import numpy as np

from bookwarp.engines.cuda.gpu import Gpu, Memory, MemoryPart
from bookwarp.engines.cuda.layout import BOOK_SIDES, ROWS, scalars_pitch
from bookwarp.spec.record import BOOK, RecordPlan

_ROW = np.dtype(np.int64)


def kept_nbytes(shapes: Mapping[str, tuple[int, ...]], capacity: int) -> int:
    """Return the memory of so many rows that stay on a GPU."""
    return sum(_array_nbytes(shapes, capacity)) + (capacity + 1) * ROWS.itemsize


def _array_nbytes(shapes: Mapping[str, tuple[int, ...]], capacity: int) -> list[int]:
    """Return the bytes from the start of each array to that of the next, where others want it."""
    return [scalars_pitch(capacity * prod(shape)) * _ROW.itemsize for shape in shapes.values()]


class KeptRows:
    """The rows of some markets.

    Args:
        gpu: where they are written, and stay.
        plan: what is recorded.
        shapes: as from `row_shapes`.
        capacity: how many rows there may be in all.
    """

    def __init__(
        self, gpu: Gpu, plan: RecordPlan, shapes: dict[str, tuple[int, ...]], capacity: int
    ) -> None:
        self._gpu = gpu
        self._shapes = shapes
        self._capacity = capacity
        sizes = _array_nbytes(shapes, capacity)
        # One for all: the driver takes as long for any as for a gigabyte.
        self._memory = Memory(gpu, sum(sizes))
        self._starts = dict(zip(shapes, accumulate(sizes, initial=0), strict=False))
        # One more: steps that record nothing may follow the last row.
        self._table = Memory(gpu, (capacity + 1) * ROWS.itemsize)
        gpu.write(self._table, self._lay_out(plan), beside=True)
        self.filled = 0
        """How many rows there are."""

    @property
    def room(self) -> int:
        """How many rows there may still be."""
        return self._capacity - self.filled

    @property
    def next_rows(self) -> int:
        """Address of the structure `Rows` whose first row is the next one."""
        return self._table.pointer + self.filled * ROWS.itemsize

    def expect(self, count: int) -> None:
        """Note that a kernel was started that writes `count` rows, no more than `room`."""
        self.filled += count

    @property
    def memory(self) -> Memory:
        """Where all rows are."""
        return self._memory

    def places(self) -> dict[str, tuple[int, tuple[int, ...]]]:
        """Return where in `memory` what is recorded starts, bytes, and its shape, [row, ...]."""
        return {
            name: (start, (self.filled, *self._shapes[name]))
            for name, start in self._starts.items()
        }

    def read(self) -> dict[str, np.ndarray]:
        """Return all rows in host memory, int64 [row, ...], once the steps so far are done."""
        found = {}
        for name, (start, shape) in self.places().items():
            array = np.empty(shape, _ROW)
            place = MemoryPart(self._memory.pointer + start, array.nbytes)
            found[name] = self._gpu.read(place, array)
        return found

    def _lay_out(self, plan: RecordPlan) -> np.ndarray:
        """Return a structure for every row that may be the first of a launch, ROWS [row]."""
        table = np.zeros(self._capacity + 1, ROWS)
        rows = np.arange(self._capacity + 1, dtype=np.uint64)
        for name, start in self._starts.items():
            step = np.uint64(prod(self._shapes[name]) * _ROW.itemsize)
            table[name] = np.uint64(self._memory.pointer + start) + rows * step
        table["every"], table["depth_ticks"] = plan.every, plan.depth_ticks
        table["book_markets"] = self._shapes[BOOK_SIDES[0]][0] if BOOK in plan.names else 0
        return table
