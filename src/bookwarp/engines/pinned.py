"""Host memory for results, which GPUs copy to by themselves while it is pinned."""

import mmap
import weakref
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from bookwarp.engines.cuda.gpu import Gpu

_LEAST_BYTES = 2**16
"""Below it a copy through memory of the driver's takes no longer than to pin an array."""
_TOUCHED_BYTES = 2**24
"""Bytes whose pages one thread gets from the system at a time."""


def new_array(shape: tuple[int, ...], dtype: Any = np.float64) -> np.ndarray:
    """Return an array on pages of its own, not initialised: a page can be pinned only once."""
    kind, page = np.dtype(dtype), mmap.PAGESIZE
    nbytes = prod(shape) * kind.itemsize
    whole = -(-nbytes // page) * page
    memory = np.empty(whole + page, np.uint8)
    start = -memory.ctypes.data % page
    own: np.ndarray = memory[start : start + nbytes].view(kind)
    return own.reshape(shape)


class Pinned:
    """Arrays of `new_array`, not yet written to, that stay pinned as long as this object is there.

    A system may refuse to pin memory. A GPU copies to it all the same, but slower.

    Args:
        device: number of a GPU; all of them copy by themselves.
        arrays: what to pin.
        threads: how many get pages from the system at once, which takes most of the time.
    """

    def __init__(self, device: int, arrays: Iterable[np.ndarray], threads: int) -> None:
        from bookwarp.engines.cuda.gpu import Gpu

        large = [array for array in arrays if array.nbytes >= _LEAST_BYTES]
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(_touch, (piece for array in large for piece in _pieces(array))))
        gpu = Gpu(device)
        pinned = [array for array in large if gpu.pin(array)]
        self.release = weakref.finalize(self, _unpin, gpu, pinned)
        """Unpins the arrays, once nothing is copied to them any longer."""

    def __enter__(self) -> "Pinned":
        return self

    def __exit__(self, *raised: object) -> None:
        self.release()


def _unpin(gpu: "Gpu", arrays: list[np.ndarray]) -> None:
    for array in arrays:
        gpu.unpin(array)


def _pieces(array: np.ndarray) -> Iterable[np.ndarray]:
    flat = array.reshape(-1).view(np.uint8)
    return (flat[first : first + _TOUCHED_BYTES] for first in range(0, len(flat), _TOUCHED_BYTES))


def _touch(memory: np.ndarray) -> None:
    memory[:: mmap.PAGESIZE] = 0
