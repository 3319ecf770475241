"""Recorded rows that stay on the GPU: steps write them where other libraries take them."""

from math import prod

import numpy as np

from bookwarp.engines.cuda.gpu import Gpu, Memory
from bookwarp.engines.cuda.layout import BOOK_SIDES, ROWS
from bookwarp.spec.record import BOOK, RecordPlan

_ROW = np.dtype(np.int64)


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
        self._memory = {
            name: Memory(gpu, capacity * prod(shape) * _ROW.itemsize)
            for name, shape in shapes.items()
        }
        # One more: steps that record nothing may follow the last row.
        self._table = Memory(gpu, (capacity + 1) * ROWS.itemsize)
        gpu.write(self._table, self._lay_out(plan))
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

    def places(self) -> dict[str, tuple[Memory, tuple[int, ...]]]:
        """Return the memory of everything that is recorded, and its shape, [row, ...]."""
        return {
            name: (memory, (self.filled, *self._shapes[name]))
            for name, memory in self._memory.items()
        }

    def read(self) -> dict[str, np.ndarray]:
        """Return all rows in host memory, int64 [row, ...], once the steps so far are done."""
        return {
            name: self._gpu.read(memory, np.empty(shape, _ROW))
            for name, (memory, shape) in self.places().items()
        }

    def _lay_out(self, plan: RecordPlan) -> np.ndarray:
        """Return a structure for every row that may be the first of a launch, ROWS [row]."""
        table = np.zeros(self._capacity + 1, ROWS)
        rows = np.arange(self._capacity + 1, dtype=np.uint64)
        for name, memory in self._memory.items():
            step = np.uint64(prod(self._shapes[name]) * _ROW.itemsize)
            table[name] = np.uint64(memory.pointer) + rows * step
        table["every"], table["depth_ticks"] = plan.every, plan.depth_ticks
        table["book_markets"] = self._shapes[BOOK_SIDES[0]][0] if BOOK in plan.names else 0
        return table
