"""Arrays of the state where it is, in the memory of a GPU, for libraries that work there."""

from math import prod
from typing import Any

import numpy as np

from bookwarp.engines.cuda.gpu import Gpu, Memory
from bookwarp.engines.cuda.layout import scalars_pitch
from bookwarp.engines.cuda.part import Part

# name of the array -> which of the scalars
_SCALARS = {
    "last_price": "last",
    "volume": "volume",
    "trades": "trades",
    "prev_mid2": "prev_mid2",
    "base": "base",
    "pruned_bid": "pruned_bid",
    "pruned_ask": "pruned_ask",
    "best_bid_level": "best_bid",
    "best_ask_level": "best_ask",
    "execution_waiting": "own_waiting",
    "execution_filled": "own_filled",
    "execution_cost": "own_cost",
    "arrival_mid2": "arrival_mid2",
    "start_volume": "start_volume",
}

_WIDE = np.dtype(np.int64)
_CUDA = 2
"""Code of CUDA memory in DLPack."""


class DeviceArray:
    """An array in the memory of a GPU: what CuPy, PyTorch and JAX take without a copy.

    It shows the state as it is: the steps that follow change it. What is written there is taken as
    the state, and not checked: a market may be set to what all arrays held of it, or of another
    market of the ensemble, before some step.

    Attributes:
        shape, dtype: as of a NumPy array in C order.
        device: number of the GPU.
    """

    def __init__(
        self, memory: Memory, offset: int, shape: tuple[int, ...], dtype: np.dtype
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.device = memory.gpu.ordinal
        self._memory = memory
        self._pointer = memory.pointer + offset

    @property
    def gpu(self) -> Gpu:
        """The GPU that it is on."""
        return self._memory.gpu

    @property
    def pointer(self) -> int:
        """Address of its first entry."""
        return self._pointer

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Version 3 of the interface: who takes it waits for the steps that were started."""
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": self.dtype.str,
            "strides": None,
            "data": (self._pointer, False),
            "stream": self._memory.gpu.stream_handle,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CUDA, self.device

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return the array for `from_dlpack` of another library.

        Args:
            stream: stream of that library, which waits for the steps that were started; -1 not to
                wait; the legacy default stream if None.
            max_version: newest version of DLPack that it knows.
            dl_device, copy: refused if they ask for another device or for a copy.

        Raises:
            BufferError: another device or a copy is wanted.
        """
        from cuda.core import Buffer
        from cuda.core.utils import StridedMemoryView

        if copy:
            raise BufferError("the array is shared, not copied")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the array is on GPU {self.device}, not on device {dl_device}")
        gpu = self._memory.gpu
        if stream != -1:
            gpu.order_before(stream or 1)
        size = prod(self.shape) * self.dtype.itemsize
        with gpu:
            view = StridedMemoryView.from_buffer(
                Buffer.from_handle(self._pointer, size, owner=self._memory),
                self.shape,
                dtype=self.dtype,
            )
            return view.__dlpack__(max_version=max_version)

    def __repr__(self) -> str:
        return f"DeviceArray({self.dtype} {self.shape} on GPU {self.device})"


def row_arrays(part: Part) -> dict[str, DeviceArray]:
    """Return the rows that were kept on a device by name, int64: series are [row, market].

    What is called "volume" in other places is the lots between two rows; here it is
    "total_volume", the lots so far.
    """
    assert part.kept is not None
    memory = part.kept.memory
    return {
        "total_volume" if name == "volume" else name: DeviceArray(memory, start, shape, _WIDE)
        for name, (start, shape) in part.kept.places().items()
    }


def device_arrays(part: Part, levels: int) -> dict[str, DeviceArray]:
    """Return the state of a part by name.

    "book" is signed lots, [market, level]: buys positive, sells negative. The others are [market],
    as the properties of `Run` are; "best_bid_level" is -1 and "best_ask_level" is `levels` where a
    side is empty. "waiting_buy" and "waiting_sell", lots [market, level], are there where lots can
    wait, and what is of execution agents where there are any.
    """
    markets, names = part.slice.count, part.scalar_names
    arrays = {}
    for name, scalar in _SCALARS.items():
        if scalar in names:
            offset = names.index(scalar) * scalars_pitch(markets) * _WIDE.itemsize
            arrays[name] = DeviceArray(part.scalars, offset, (markets,), _WIDE)
    for name, memory in {"book": part.book, **part.extras.waiting}.items():
        arrays[name] = DeviceArray(memory, 0, (markets, levels), part.lots)
    return arrays
