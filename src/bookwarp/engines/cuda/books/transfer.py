"""Tables between the host and a GPU, as fast as the bus: through pinned memory, by several threads.

A copy from ordinary memory goes through a buffer of the driver's that one thread fills, which is a
fraction of what the bus does. Here several threads fill pinned buffers of their own, each with a
stream of its own; and what comes back is written by the GPU into pinned memory that the caller gets
as it is, and that is used again when nothing refers to it any more.
"""

import os
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from bookwarp.engines.cuda.gpu import Gpu, Memory, MemoryPart, checked

CHUNK_BYTES = 8 << 20
"""What a thread copies at a time: some tenths of a millisecond of the bus."""
PINNED_BYTES = 4 << 20
"""Tables of fewer bytes take the driver's way, which costs no memory that is kept."""
MOST_THREADS = 8
_BUFFERS = 2
_KEPT_BLOCKS = 4
_STREAM_NON_BLOCKING = 1
_EVENT_WITHOUT_TIMING = 2


class TableGpu(Gpu):
    """A GPU that tables are sent to and fetched from.

    Args:
        ordinal: number of the device.
        threads: that copy to pinned memory; None for as many as help.
    """

    def __init__(self, ordinal: int = 0, threads: int | None = None) -> None:
        super().__init__(ordinal)
        self._threads = min(threads or _available_threads(), MOST_THREADS)
        self._senders: list[_Sender] = []
        self._free: list[np.ndarray] = []

    def send(self, memory: Memory | MemoryPart, array: np.ndarray) -> None:
        """Copy a contiguous array to the start of `memory`; it may change as soon as this returns.

        What was put on the stream before may still be using `memory`: wait for it first.
        """
        if array.nbytes < PINNED_BYTES:
            self.write(memory, array)
            return
        if not self._senders:
            self._senders = [_Sender(self) for _ in range(self._threads)]
        data = array.reshape(-1).view(np.uint8)
        starts = range(0, data.nbytes, CHUNK_BYTES)
        with ThreadPoolExecutor(self._threads) as pool:
            work = [
                pool.submit(sender.send, memory.pointer, data, starts[number :: self._threads])
                for number, sender in enumerate(self._senders)
            ]
            for each in work:
                each.result()

    def fetch_table(self, memory: Memory, dtype: np.dtype, count: int) -> np.ndarray:
        """Return the first `count` records of `memory`, once all work before is done."""
        nbytes = count * dtype.itemsize
        if nbytes < PINNED_BYTES:
            return self.read(memory, np.empty(count, dtype))
        return self.read(memory, self._take_pinned(nbytes).view(dtype))

    def copy(self, target: Memory, source: Memory, nbytes: int) -> None:
        """Copy the first bytes of one memory to another, after the work so far."""
        with self:
            checked(
                self._driver.cuMemcpyDtoDAsync(
                    target.pointer, source.pointer, nbytes, self.stream_handle
                )
            )

    def _take_pinned(self, nbytes: int) -> np.ndarray:
        """Return pinned memory, uint8 [byte], that comes back when nothing refers to it."""
        fitting = [block for block in self._free if nbytes <= block.nbytes <= 2 * nbytes]
        if fitting:
            block = min(fitting, key=lambda each: each.nbytes)
            self._free = [each for each in self._free if each is not block]
        else:
            block = self.allocate_pinned(nbytes)
        lent = _Lent(block[:nbytes])
        weakref.finalize(lent, self._take_back, block).atexit = False
        return np.asarray(lent)

    def _take_back(self, block: np.ndarray) -> None:
        self._free = [*self._free[1 - _KEPT_BLOCKS :], block]


class _Lent:
    """Pinned memory that arrays refer to; when the last of them is gone, so is this."""

    def __init__(self, block: np.ndarray) -> None:
        self._block = block
        self.__array_interface__ = block.__array_interface__


class _Sender:
    """A stream and pinned buffers of one thread."""

    def __init__(self, gpu: Gpu) -> None:
        from cuda.bindings import driver

        self._driver, self._gpu = driver, gpu
        with gpu:
            self._stream = checked(driver.cuStreamCreate(_STREAM_NON_BLOCKING))
            self._events = [
                checked(driver.cuEventCreate(_EVENT_WITHOUT_TIMING)) for _ in range(_BUFFERS)
            ]
        self._buffers = [gpu.allocate_pinned(CHUNK_BYTES) for _ in range(_BUFFERS)]
        weakref.finalize(self, _destroy, gpu, self._stream, self._events).atexit = False

    def send(self, pointer: int, data: np.ndarray, starts: range) -> None:
        """Copy the chunks of `data` that begin at `starts`, and wait until they are there."""
        driver = self._driver
        with self._gpu:
            for turn, start in enumerate(starts):
                buffer, event = self._buffers[turn % _BUFFERS], self._events[turn % _BUFFERS]
                if turn >= _BUFFERS:
                    checked(driver.cuEventSynchronize(event))
                chunk = data[start : start + CHUNK_BYTES]
                np.copyto(buffer[: chunk.nbytes], chunk)
                checked(
                    driver.cuMemcpyHtoDAsync(
                        pointer + start, buffer.ctypes.data, chunk.nbytes, self._stream
                    )
                )
                checked(driver.cuEventRecord(event, self._stream))
            checked(driver.cuStreamSynchronize(self._stream))


def _destroy(gpu: Gpu, stream: Any, events: list[Any]) -> None:
    from cuda.bindings import driver

    with gpu:
        for event in events:
            driver.cuEventDestroy(event)
        driver.cuStreamDestroy(stream)


def _available_threads() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
