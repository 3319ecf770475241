"""The markets of one device: their parameters and state in its memory, and kernels to run them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from bookwarp.engines.cuda.compile import load_kernel
from bookwarp.engines.cuda.extras import Extras, extras_nbytes, upload
from bookwarp.engines.cuda.gpu import Fetch, Gpu, Memory
from bookwarp.engines.cuda.kept_rows import KeptRows, kept_nbytes
from bookwarp.engines.cuda.kernel_key import KernelKey
from bookwarp.engines.cuda.layout import (
    MARKET,
    lay_out_book,
    lay_out_scalars,
    lay_out_types,
    scalar_names,
    scalars_pitch,
)
from bookwarp.engines.cuda.opening import extra_nbytes, open_markets
from bookwarp.engines.cuda.rows import (
    RowBuffer,
    buffer_nbytes,
    choose_capacity,
    row_nbytes,
    row_shapes,
)
from bookwarp.engines.cuda.slices import Slice
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.runs import Runs
from bookwarp.spec.state import State


@dataclass(frozen=True)
class _Prepared:
    """A kernel and all that a launch of it needs but the steps."""

    kernel: Any
    config: Any
    arguments: tuple[Any, ...]
    """From the parameters to the types."""


class Part:
    """Markets on a device.

    Args:
        gpu: the device.
        markets: which markets.
        plan: what is recorded.
        auction: the whole ensemble, which opens.
        lots: type of the lots at a level.
        kept_rows: how many recorded rows are to stay on the device; None to bring them.
    """

    def __init__(
        self,
        gpu: Gpu,
        markets: Slice,
        plan: RecordPlan,
        auction: CallAuction,
        lots: np.dtype,
        kept_rows: int | None = None,
    ) -> None:
        self.gpu = gpu
        self.slice = markets
        self._plan = plan
        self._levels = auction.levels
        self._count = np.uint32(markets.count)
        self._markets = Memory(gpu, markets.count * MARKET.itemsize)
        self._types = None if markets.types is None else upload(gpu, lay_out_types(markets.types))
        self.scalar_names = scalar_names(markets.parents is not None)
        self.scalars = Memory(gpu, scalars_nbytes(markets.count, len(self.scalar_names)))
        self.book, self.lots = self._allocate_book(lots), lots
        waiting = (markets.count, self._levels) if auction.has_waiting_orders else None
        self.extras = Extras(gpu, waiting, lots, markets.parents, markets.profile)
        self._scratch: Memory | None = None
        self._prepared: dict[KernelKey, _Prepared] = {}
        self._row_shapes = row_shapes(plan, markets.count, markets.books, self._levels)
        self._rows: RowBuffer | None = None
        self._wanted_rows = -1
        open_markets(
            gpu,
            auction,
            markets,
            parameters=self._markets,
            book=self.book,
            scalars=self.scalars,
            lots=lots,
        )
        self.extras.clear()
        self.kept: KeptRows | None = None
        if kept_rows is not None:
            self.kept = KeptRows(gpu, plan, self._row_shapes, kept_rows)

    def write(self, state: State, lots: np.dtype) -> None:
        """Continue from the part of `state` that is this one's, with lots of a type."""
        own = self.slice.of_state(state)
        if lots != self.lots:
            self.book, self.lots = self._allocate_book(lots), lots
            self.extras.allocate(lots)
            self._prepared.clear()
            self._scratch = None
        self.gpu.write(self.book, lay_out_book(own, lots))
        self.gpu.write(self.scalars, lay_out_scalars(own))
        self.extras.write(own)

    def read(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return the state.

        Returns:
            The signed books, lots [market, level]; scalars, int64 [scalar, pitch]; and what waits,
            lots [side, market, level], or None.
        """
        book = np.empty((self.slice.count, self._levels), self.lots)
        shape = len(self.scalar_names), scalars_pitch(self.slice.count)
        scalars = self.gpu.read(self.scalars, np.empty(shape, np.int64))
        return self.gpu.read(self.book, book), scalars, self.extras.read()

    def send_scalars(self, found: Mapping[str, np.ndarray], places: Runs) -> Callable[[], None]:
        """Start to write scalars into those entries of arrays that are these markets'.

        Args:
            found: int64 by name.
            places: entries of all markets.

        Returns:
            What waits until they are there.
        """
        self.gpu.send_rows(self._scalar_fetches(found, places))
        end = self.gpu.create_event()
        self.gpu.mark(end)
        return partial(self.gpu.finish_fetch, end)

    def _scalar_fetches(self, found: Mapping[str, np.ndarray], places: Runs) -> Iterator[Fetch]:
        size = np.dtype(np.int64).itemsize
        pitch = scalars_pitch(self.slice.count) * size
        for name, array in found.items():
            pointer = self.scalars.pointer + self.scalar_names.index(name) * pitch
            for own in places.between(self.slice.first, self.slice.stop):
                for before, view in own.views(array):
                    yield Fetch(view, pointer + before * size, view.shape[1] * size)
                pointer += len(own) * size

    def prepare(self, key: KernelKey) -> None:
        """Load a kernel, compiled if need be, and what it works in."""
        if key in self._prepared:
            return
        with self.gpu:
            kernel = load_kernel(key, self.gpu.arch)
        grid = grid_of(key, self.slice.count, self.gpu.multiprocessors)
        scratch = grid * key.scratch_bytes
        if scratch > (self._scratch.nbytes if self._scratch else 0):
            self._scratch = Memory(self.gpu, scratch)
        inputs = (self._markets, self.book, self.scalars, self._types)
        self._prepared[key] = _Prepared(
            kernel,
            self.gpu.configure(grid, key.block, key.shared_bytes),
            tuple(memory.pointer if memory else 0 for memory in inputs),
        )

    def launch(self, key: KernelKey, step: int, steps: int) -> None:
        """Start the steps `step` .. `step` + `steps`, half-open, and return at once.

        If the kernel records, its rows start at the next one of `kept`, if there is one, or `rows`.
        """
        ready = self._prepared[key]
        recorder = (self.kept or self.rows) if key.recording else None
        self.gpu.launch(
            ready.config,
            ready.kernel,
            *ready.arguments,
            recorder.next_rows if recorder else 0,
            self._scratch.pointer if self._scratch else 0,
            self._count,
            np.uint32(step),
            np.uint32(steps),
            self.extras.pointer,
        )

    def _allocate_book(self, lots: np.dtype) -> Memory:
        return Memory(self.gpu, self.slice.count * self._levels * lots.itemsize)

    @property
    def rows(self) -> RowBuffer:
        """What recorded rows are written to; `reserve_rows` makes it."""
        assert self._rows is not None
        return self._rows

    def reserve_rows(self, wanted: int) -> None:
        """Make room for rows, for all of `wanted` at once if that is no waste of memory."""
        if wanted <= self._wanted_rows:
            return
        self.drain()
        self._rows = None
        row = row_nbytes(self._row_shapes)
        capacity = choose_capacity(row, wanted, self.gpu.free_bytes())
        self._rows = RowBuffer(self.gpu, self._plan, self._row_shapes, capacity)
        self._wanted_rows = max(wanted, capacity)

    def send(self) -> None:
        """Start to bring the rows so far to the host."""
        if self._rows is not None:
            self._rows.send()

    def turn(self) -> None:
        """Bring the rows before them to where they belong, so that there is room for more."""
        if self._rows is not None:
            self._rows.turn()

    def drain(self) -> None:
        """Wait for all steps, and bring all rows to where they belong."""
        if self._rows is not None:
            self._rows.drain()
        self.gpu.wait()


def grid_of(key: KernelKey, markets: int, multiprocessors: int) -> int:
    """Return how many blocks run `markets` markets."""
    if key.kernel == "counted":
        return -(-markets // key.markets_per_warp)
    return min(markets, key.blocks_per_sm * multiprocessors)


def part_nbytes(
    key: KernelKey,
    markets: Slice,
    plan: RecordPlan,
    multiprocessors: int,
    kept_rows: int | None = None,
) -> int:
    """Return the most memory that a part takes at once: at least, if recorded rows are fetched."""
    shapes = row_shapes(plan, markets.count, markets.books, key.levels)
    types = 0 if markets.types is None else lay_out_types(markets.types[:1]).size * markets.count
    each = MARKET.itemsize + key.levels * key.lots.itemsize
    scratch = grid_of(key, markets.count, multiprocessors) * key.scratch_bytes
    names = scalar_names(key.executes)
    state = markets.count * each + scalars_nbytes(markets.count, len(names))
    waiting = key.waits * markets.count * key.levels * key.lots.itemsize
    state += extras_nbytes(waiting, markets.parents, markets.profile)
    if kept_rows is not None:
        rows = kept_nbytes(shapes, kept_rows)
    else:
        row = row_nbytes(shapes)
        rows = buffer_nbytes(choose_capacity(row), row) if row else 0
    opening = extra_nbytes(markets, markets.count * key.levels * key.lots.itemsize)
    return state + types + max(opening, scratch + rows)


def scalars_nbytes(markets: int, names: int) -> int:
    """Return the memory of as many scalars of some markets."""
    return names * scalars_pitch(markets) * 8
