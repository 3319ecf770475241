"""One GPU as the engine uses it: memory, copies, launches, in the order of one stream.

Calls of the driver are made with the GPU's context current, and the one before is put back: a
program that also uses CuPy or PyTorch finds the device that it had.
"""

import ctypes
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Condition
from typing import Any, NamedTuple

import numpy as np

from bookwarp.engines.cuda.availability import LOWEST_CAPABILITY, old_gpu_sentence
from bookwarp.spec.errors import EngineError, ParameterError

_PINNED_PORTABLE = 1
_EVENT_WITH_TIMING, _EVENT_WITHOUT_TIMING = 0, 2
_STREAM_NON_BLOCKING = 1
_LEGACY_STREAM = 1

_LEAVING: Counter[int] = Counter()
"""By number of the GPU, in how many places memory of it is being given back."""
_LEFT = Condition()


@contextmanager
def giving_back(ordinal: int) -> Iterator[None]:
    """Let all who want memory of a GPU wait until what is dropped within is freed.

    To free gigabytes takes hundredths of a second. This is how to do that beside other work, and
    have nobody find that there is less memory than there should be.
    """
    with _LEFT:
        _LEAVING[ordinal] += 1
    try:
        yield
    finally:
        with _LEFT:
            _LEAVING[ordinal] -= 1
            _LEFT.notify_all()


def _await_what_leaves(ordinal: int) -> None:
    with _LEFT:
        _LEFT.wait_for(lambda: _LEAVING[ordinal] == 0)


def _at_the_end_of(thing: Any, call: Callable[..., None], *arguments: Any) -> None:
    """Call a function when `thing` is gone; what is left at the end of a process goes with it."""
    weakref.finalize(thing, call, *arguments).atexit = False


class Memory:
    """Bytes on a GPU; they are freed when nothing refers to this object."""

    def __init__(self, gpu: "Gpu", nbytes: int) -> None:
        self.gpu = gpu
        self.nbytes = nbytes
        self.pointer = gpu.claim(nbytes)
        _at_the_end_of(self, gpu.release, self.pointer)


class MemoryPart(NamedTuple):
    """Bytes within a `Memory` that somebody else holds."""

    pointer: int
    nbytes: int


class Fetch(NamedTuple):
    """A copy of rows of memory to the host."""

    array: np.ndarray
    """Where to, [row, ...]: every row is contiguous, and they are equally far from each other."""
    pointer: int
    """Where the first row is."""
    pitch: int
    """Bytes from one row to the next."""


class _Event:
    """A mark in a stream, destroyed when nothing refers to this object."""

    def __init__(self, gpu: "Gpu", handle: Any) -> None:
        self.handle = handle
        _at_the_end_of(self, gpu.destroy_event, handle)


class Gpu:
    """A GPU and the stream that work is put on; `with gpu:` makes its context current.

    Args:
        ordinal: number of the device.
        stream: a stream of the caller's, an object with __cuda_stream__, or of CuPy or PyTorch;
            the legacy default stream if None.

    Raises:
        EngineError: the GPU is too old.
        ParameterError: there is no such device, or the stream is none, or of another device.
    """

    def __init__(self, ordinal: int, stream: Any = None) -> None:
        from cuda.bindings import driver
        from cuda.core import LaunchConfig, Stream, launch

        self.ordinal = ordinal
        self.peak_nbytes = 0
        """Most bytes that `claim` had given out at once; not what the driver rounds them up to."""
        self._held: dict[int, int] = {}
        self._driver = driver
        self._launch, self._config = launch, LaunchConfig
        self._device, self._context = _device_and_context(ordinal)
        major, minor = (f"COMPUTE_CAPABILITY_{part}" for part in ("MAJOR", "MINOR"))
        capability = self._attribute(major), self._attribute(minor)
        if capability < LOWEST_CAPABILITY:
            raise EngineError(f"device {ordinal} cannot be used: {old_gpu_sentence(capability)}")
        self.arch = "sm_{}{}".format(*capability)
        self.name = _name_of_device(self._device)
        self.multiprocessors = self._attribute("MULTIPROCESSOR_COUNT")
        self.blocks_per_multiprocessor = self._attribute("MAX_BLOCKS_PER_MULTIPROCESSOR")
        self.stream_handle = _LEGACY_STREAM if stream is None else handle_of_stream(stream)
        self._owner = stream
        with self:
            if stream is not None:
                self._check_stream()
            self._stream = Stream.from_handle(self.stream_handle)
            self._copies = checked(driver.cuStreamCreate(_STREAM_NON_BLOCKING))
        _at_the_end_of(self, _destroy_stream, self._context, self._copies)

    def __enter__(self) -> "Gpu":
        checked(self._driver.cuCtxPushCurrent(self._context))
        return self

    def __exit__(self, *raised: object) -> None:
        self._driver.cuCtxPopCurrent()

    def free_bytes(self) -> int:
        """Return how much memory of the GPU is free."""
        _await_what_leaves(self.ordinal)
        with self:
            free, _ = checked(self._driver.cuMemGetInfo())
        return int(free)

    def claim(self, nbytes: int) -> int:
        """Return the address of `nbytes` new bytes; `Memory` is how to hold them."""
        _await_what_leaves(self.ordinal)
        with self:
            try:
                pointer = int(checked(self._driver.cuMemAlloc(max(1, nbytes))))
            except EngineError as error:
                raise EngineError(
                    f"GPU {self.ordinal} has no {nbytes / 1e9:.3g} GB of memory left: lower "
                    f"markets or levels, or use more devices ({error})"
                ) from error
        self._held[pointer] = nbytes
        self.peak_nbytes = max(self.peak_nbytes, sum(self._held.values()))
        return pointer

    def release(self, pointer: int) -> None:
        """Free what `claim` returned."""
        del self._held[pointer]
        with self:
            self._driver.cuMemFree(pointer)

    def destroy_event(self, handle: Any) -> None:
        """Destroy what an event of `create_event` holds."""
        with self:
            self._driver.cuEventDestroy(handle)

    def allocate_pinned(self, nbytes: int) -> np.ndarray:
        """Return host memory that the GPU copies to by itself, uint8 [byte]."""
        with self:
            pointer = int(checked(self._driver.cuMemHostAlloc(max(1, nbytes), _PINNED_PORTABLE)))
        block = (ctypes.c_uint8 * nbytes).from_address(pointer)
        _at_the_end_of(block, self._release_pinned, pointer)
        return np.frombuffer(memoryview(block), np.uint8)

    def _release_pinned(self, pointer: int) -> None:
        with self:
            self._driver.cuMemFreeHost(pointer)

    def pin(self, array: np.ndarray) -> bool:
        """Have memory of the caller's copied to by all GPUs by themselves, until `unpin`.

        Returns:
            Whether it is. A system may refuse that; copies to it take longer then.
        """
        with self:
            status, *_ = self._driver.cuMemHostRegister(
                array.ctypes.data, array.nbytes, _PINNED_PORTABLE
            )
        return int(status) == 0

    def unpin(self, array: np.ndarray) -> None:
        """Undo `pin`."""
        with self:
            self._driver.cuMemHostUnregister(array.ctypes.data)

    def write(self, memory: Memory | MemoryPart, array: np.ndarray, beside: bool = False) -> None:
        """Copy an array to the start of `memory`; it may change as soon as this returns.

        Args:
            memory: where to.
            array: what.
            beside: whether it need not wait for the work so far, which has no part in `memory`.
        """
        data = np.ascontiguousarray(array)
        stream = self._copies if beside else self.stream_handle
        with self:
            if data.nbytes:
                checked(
                    self._driver.cuMemcpyHtoDAsync(
                        memory.pointer, data.ctypes.data, data.nbytes, stream
                    )
                )
            checked(self._driver.cuStreamSynchronize(stream))

    def fill(self, memory: Memory, byte: int, nbytes: int) -> None:
        """Set the first bytes of `memory`, after the work so far."""
        with self:
            checked(self._driver.cuMemsetD8Async(memory.pointer, byte, nbytes, self.stream_handle))

    def read(self, memory: Memory | MemoryPart, array: np.ndarray) -> np.ndarray:
        """Fill a contiguous array from the start of `memory`, once all work before is done."""
        with self:
            if array.nbytes:
                checked(
                    self._driver.cuMemcpyDtoHAsync(
                        array.ctypes.data, memory.pointer, array.nbytes, self.stream_handle
                    )
                )
            self.wait()
        return array

    def send_rows(self, fetches: Iterable[Fetch]) -> None:
        """Start to copy rows of memory to the host, after the work so far.

        Where an array is not pinned, this returns when it is filled.
        """
        with self:
            self._copy_rows(fetches, self.stream_handle)

    def wait(self) -> None:
        """Return when all work on the stream is done.

        Raises:
            EngineError: some of it failed.
        """
        with self:
            checked(self._driver.cuStreamSynchronize(self.stream_handle))

    def create_event(self) -> Any:
        """Return a mark that `mark` and `fetch` put behind what they are about.

        `finish_fetch` waits for it.
        """
        with self:
            return _Event(self, checked(self._driver.cuEventCreate(_EVENT_WITHOUT_TIMING)))

    def mark(self, event: Any) -> None:
        """Let an event mark the end of the work so far."""
        with self:
            checked(self._driver.cuEventRecord(event.handle, self.stream_handle))

    def fetch(self, array: np.ndarray, pointer: int, after: Any, event: Any) -> None:
        """Start to copy memory to a pinned array, beside the work on the stream.

        Args:
            array: where to.
            pointer: where from.
            after: marks the work that is done before.
            event: what `finish_fetch` is to wait for.
        """
        driver, size = self._driver, array.nbytes
        with self:
            checked(driver.cuStreamWaitEvent(self._copies, after.handle, 0))
            checked(driver.cuMemcpyDtoHAsync(array.ctypes.data, pointer, size, self._copies))
            checked(driver.cuEventRecord(event.handle, self._copies))

    def finish_fetch(self, event: Any) -> None:
        """Wait for what an event marks: so the array of the last `fetch` with it is filled."""
        with self:
            checked(self._driver.cuEventSynchronize(event.handle))

    def fetch_rows(self, fetches: Iterable[Fetch], after: Any) -> None:
        """Start to copy rows of memory to the host, beside the work on the stream.

        Args:
            fetches: what; arrays that are pinned are copied to without the host.
            after: marks the work that is done before.
        """
        with self:
            checked(self._driver.cuStreamWaitEvent(self._copies, after.handle, 0))
            self._copy_rows(fetches, self._copies)

    def _copy_rows(self, fetches: Iterable[Fetch], stream: int) -> None:
        driver = self._driver
        for array, pointer, pitch in fetches:
            if len(array) == 1:
                # Of any length, where the distance of two rows has a limit (2 GB).
                address, nbytes = array.ctypes.data, array.nbytes
                checked(driver.cuMemcpyDtoHAsync(address, pointer, nbytes, stream))
                continue
            copy = driver.CUDA_MEMCPY2D()
            copy.srcMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_DEVICE
            copy.srcDevice, copy.srcPitch = pointer, pitch
            copy.dstMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_HOST
            copy.dstHost, copy.dstPitch = array.ctypes.data, array.strides[0]
            copy.WidthInBytes, copy.Height = array[0].nbytes, len(array)
            checked(driver.cuMemcpy2DAsync(copy, stream))

    def finish_fetches(self) -> None:
        """Wait until the arrays of all `fetch_rows` are filled."""
        with self:
            checked(self._driver.cuStreamSynchronize(self._copies))

    def mark_time(self) -> Any:
        """Return a mark on the stream, for `seconds_between`."""
        with self:
            event = _Event(self, checked(self._driver.cuEventCreate(_EVENT_WITH_TIMING)))
            checked(self._driver.cuEventRecord(event.handle, self.stream_handle))
        return event

    def seconds_between(self, begin: Any, end: Any) -> float:
        """Return how long the work between two marks took, once it is done."""
        with self:
            checked(self._driver.cuEventSynchronize(end.handle))
            found = checked(self._driver.cuEventElapsedTime(begin.handle, end.handle))
        return float(found) / 1e3

    def order_before(self, consumer: int) -> None:
        """Let work to come on the stream `consumer` wait for the work so far on ours."""
        if consumer == self.stream_handle:
            return
        event = self.create_event()
        with self:
            checked(self._driver.cuEventRecord(event.handle, self.stream_handle))
            checked(self._driver.cuStreamWaitEvent(consumer, event.handle, 0))

    def configure(self, grid: int, block: int, shared_bytes: int) -> Any:
        """Return how a kernel is launched, for `launch`."""
        return self._config(grid=grid, block=block, shmem_size=shared_bytes)

    def launch(self, config: Any, kernel: Any, *arguments: Any) -> None:
        """Start a kernel after the work so far; Python integers are passed as addresses."""
        with self:
            self._launch(self._stream, config, kernel, *arguments)

    def _attribute(self, name: str) -> int:
        attribute = getattr(self._driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(checked(self._driver.cuDeviceGetAttribute(attribute, self._device)))

    def _check_stream(self) -> None:
        """Refuse a stream of another GPU."""
        with self:
            theirs = int(checked(self._driver.cuStreamGetCtx(self.stream_handle)))
            ours = int(checked(self._driver.cuCtxGetCurrent()))
        if theirs != ours:
            raise ParameterError(f"cuda_stream is not a stream of device {self.ordinal}")


def _destroy_stream(context: Any, stream: Any) -> None:
    from cuda.bindings import driver

    driver.cuCtxPushCurrent(context)
    driver.cuStreamDestroy(stream)
    driver.cuCtxPopCurrent()


def handle_of_stream(stream: Any) -> int:
    """Return the address of a stream: of __cuda_stream__, or as PyTorch or CuPy hold it.

    Raises:
        ParameterError: it is no stream.
    """
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        handle = (protocol() if callable(protocol) else protocol)[1]
    else:
        handle = getattr(stream, "cuda_stream", getattr(stream, "ptr", None))
    if not isinstance(handle, int):
        raise ParameterError(
            f"cuda_stream must be a stream of CUDA, with __cuda_stream__, not {stream!r}"
        )
    return handle or _LEGACY_STREAM


def device_count() -> int:
    """Return how many GPUs this process may use."""
    from cuda.bindings import driver

    checked(driver.cuInit(0))
    return int(checked(driver.cuDeviceGetCount()))


def _name_of_device(device: Any) -> str:
    from cuda.bindings import driver

    name: bytes = checked(driver.cuDeviceGetName(256, device))
    return name.split(b"\0")[0].decode()


@cache
def _device_and_context(ordinal: int) -> tuple[Any, Any]:
    """Return a GPU, and its context that the runtime, and so other libraries, use as well."""
    from cuda.bindings import driver

    checked(driver.cuInit(0))
    device = checked(driver.cuDeviceGet(ordinal))
    return device, checked(driver.cuDevicePrimaryCtxRetain(device))


def checked(result: tuple[Any, ...]) -> Any:
    """Return what a call of the driver returned beside its status.

    Raises:
        EngineError: the status is not success.
    """
    status, *values = result
    if int(status) != 0:
        from cuda.bindings import driver

        name, text = (
            call(status)[1].decode() for call in (driver.cuGetErrorName, driver.cuGetErrorString)
        )
        raise EngineError(f"the GPU failed: {text} ({name})")
    if not values:
        return None
    return values[0] if len(values) == 1 else tuple(values)
