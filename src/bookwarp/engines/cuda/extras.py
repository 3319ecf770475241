"""What only some ensembles have on a device: lots that wait, and orders of execution agents."""

import numpy as np

from bookwarp.engines.cuda.gpu import Gpu, Memory
from bookwarp.engines.cuda.layout import EXTRAS, WAITING_SIDES
from bookwarp.spec.state import State


class Extras:
    """The extras of some markets.

    Args:
        gpu: the device.
        waiting: shape of what waits on a side, (markets, levels); None where nothing can wait.
        lots: type of the lots at a level.
        parents, profile: of execution agents, as laid out for the kernels; None without any.
    """

    def __init__(
        self,
        gpu: Gpu,
        waiting: tuple[int, int] | None,
        lots: np.dtype,
        parents: np.ndarray | None,
        profile: np.ndarray | None,
    ) -> None:
        self._gpu = gpu
        self._shape = waiting
        self._orders = {
            name: upload(gpu, array)
            for name, array in (("parents", parents), ("profile", profile))
            if array is not None
        }
        self.waiting: dict[str, Memory] = {}
        """Lots that wait, [market, level], by name; nothing where none can."""
        self._table: Memory | None = None
        if waiting or self._orders:
            self._table = Memory(gpu, EXTRAS.itemsize)
        self.allocate(lots)

    def allocate(self, lots: np.dtype) -> None:
        """Make room for waiting lots of a type, in place of those before."""
        self.lots = lots
        if self._shape is not None:
            nbytes = int(np.prod(self._shape)) * lots.itemsize
            self.waiting = {name: Memory(self._gpu, nbytes) for name in WAITING_SIDES}
        if self._table is not None:
            row = np.zeros(1, EXTRAS)
            for name, memory in (*self.waiting.items(), *self._orders.items()):
                row[name] = memory.pointer
            self._gpu.write(self._table, row)

    @property
    def pointer(self) -> int:
        """Address of the structure `Extras`; 0 where there is nothing in it."""
        return self._table.pointer if self._table else 0

    def clear(self) -> None:
        """Let nothing wait."""
        for memory in self.waiting.values():
            self._gpu.fill(memory, 0, memory.nbytes)

    def write(self, state: State) -> None:
        """Let those lots wait that do in a state of these markets."""
        for name, memory in self.waiting.items():
            self._gpu.write(memory, getattr(state, name).astype(self.lots))

    def read(self) -> np.ndarray | None:
        """Return what waits, [side, market, level]; None where nothing can."""
        if self._shape is None:
            return None
        sides = np.empty((len(self.waiting), *self._shape), self.lots)
        for side, memory in zip(sides, self.waiting.values(), strict=True):
            self._gpu.read(memory, side)
        return sides


def extras_nbytes(waiting_nbytes: int, *orders: np.ndarray | None) -> int:
    """Return the memory of extras: waiting lots of a side, and arrays of execution agents."""
    nbytes = len(WAITING_SIDES) * waiting_nbytes + sum(a.nbytes for a in orders if a is not None)
    return nbytes + EXTRAS.itemsize if nbytes else 0


def upload(gpu: Gpu, array: np.ndarray) -> Memory:
    """Return an array's bytes on a GPU."""
    memory = Memory(gpu, array.nbytes)
    gpu.write(memory, array)
    return memory
