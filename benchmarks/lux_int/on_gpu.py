"""Books of a workload in the memory of a GPU, matched there, compared there, timed there."""

import weakref
from statistics import median
from typing import Any

import numpy as np
from gpu import call_driver, time_on_stream

from lux_int.kernel_forms import SUPPORT_THREADS, Form, compile_source, support_source
from lux_int.layout import MOST_BOOKS, WORD, Image

_POISON = 0xDEADBEEF
_COPY_BYTES = 1 << 31


class ParityError(Exception):
    """A kernel computes something else than the reference."""


class Words:
    """Words of 32 bits on the current GPU.

    What is written is there on return: kernels run on a stream that does not wait for copies.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.pointer = int(call_driver("cuMemAlloc", WORD.itemsize * count))
        weakref.finalize(self, call_driver, "cuMemFree", self.pointer).atexit = False

    def write(self, array: np.ndarray) -> None:
        data = np.ascontiguousarray(array)
        call_driver("cuMemcpyHtoD", self.pointer, data.ctypes.data, data.nbytes)
        call_driver("cuCtxSynchronize")

    def read(self) -> np.ndarray:
        array = np.empty(self.count, WORD)
        call_driver("cuMemcpyDtoH", array.ctypes.data, self.pointer, array.nbytes)
        return array

    def fill(self, word: int) -> None:
        call_driver("cuMemsetD32", self.pointer, word, self.count)
        call_driver("cuCtxSynchronize")


class ManyBooks:
    """`books` books of an image on a GPU; book b is that of row b mod the image's variety.

    Args:
        image: words of the books, and what is to be left of them.
        fills: what every book is to fill, uint32 [variety].
        books: how many there are.
        stream: of cuda.core, on the current device.
    """

    def __init__(self, image: Image, fills: np.ndarray, books: int, stream: Any) -> None:
        if books > MOST_BOOKS:
            raise ValueError(f"{books} books: at most {MOST_BOOKS}")
        self.books = books
        self._stream = stream
        self._planes = np.uint32(image.planes)
        self._arch = f"sm_{_current_arch()}"
        support = compile_source(support_source(), self._arch)
        self._repeat = support.get_kernel("repeat_books")
        self._compare = support.get_kernel("count_differences")
        self._resting = self._repeated(image.resting)
        self._own = image.own_orders
        place = self._repeated if self._own else _uploaded
        self._incoming = place(image.incoming)
        self._remaining = Words(books * image.remaining.shape[1])
        self._fills = Words(books)
        self._wanted = (
            (self._remaining, image.remaining, _uploaded(image.remaining)),
            (self._fills, fills[:, None], _uploaded(fills)),
        )

    def prepare(self, form: Form) -> Any:
        """Return a function that puts the matching of all books on the stream once."""
        from cuda.bindings import driver
        from cuda.core import LaunchConfig, launch

        code = compile_source(form.source(self._own), self._arch)
        kernel = code.get_kernel("match_books")
        # More than 48 KiB a block has to be asked for.
        most = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        call_driver("cuKernelSetAttribute", most, form.shared_bytes, kernel.handle, 0)
        config = LaunchConfig(
            grid=-(-self.books // form.threads), block=form.threads, shmem_size=form.shared_bytes
        )
        memory = (self._resting, self._incoming, self._remaining, self._fills)
        arguments = (*(each.pointer for each in memory), np.uint32(self.books))
        return lambda: launch(self._stream, config, kernel, *arguments)

    def check(self, form: Form, on_host: bool) -> str:
        """Match poisoned outputs and compare every word of every book with the reference.

        Args:
            form: how they are matched.
            on_host: whether the words are copied back and compared by NumPy as well.

        Returns:
            What was compared, in words.

        Raises:
            ParityError: something differs.
        """
        self._remaining.fill(_POISON)
        self._fills.fill(_POISON)
        self.prepare(form)()
        call_driver("cuCtxSynchronize")
        for found, wanted, uploaded in self._wanted:
            different = self._count_differences(found, wanted, uploaded)
            if on_host:
                different += self._differences_on_host(found, wanted)
            if different:
                raise ParityError(f"{form.label}: {different} words differ from the reference")
        where = "on the GPU and on the host" if on_host else "on the GPU"
        return f"fills and every remaining quantity of all {self.books} books, {where}"

    def time(self, form: Form, trials: int) -> list[float]:
        """Return how long the kernel takes, seconds, one launch a trial."""
        work = self.prepare(form)
        handle = int(self._stream.handle)
        for _ in range(2):
            work()
        found = [time_on_stream(work, handle)[1] for _ in range(trials)]
        return [seconds for seconds in found if seconds is not None]

    def _repeated(self, table: np.ndarray) -> Words:
        target, source = Words(self.books * table.shape[1]), _uploaded(table)
        self._launch(self._repeat, table, source, target)
        call_driver("cuCtxSynchronize")
        return target

    def _count_differences(self, found: Words, table: np.ndarray, uploaded: Words) -> int:
        count = Words(2)
        count.fill(0)
        self._launch(self._compare, table, uploaded, found, count.pointer)
        call_driver("cuCtxSynchronize")
        return int(count.read().view(np.uint64)[0])

    def _differences_on_host(self, found: Words, table: np.ndarray) -> int:
        words = table.shape[1]
        shape = (words, self.books) if self._planes else (self.books, words)
        array = found.read().reshape(shape)
        rows = array.T if self._planes else array
        whole = self.books // len(table) * len(table)
        parts = rows[:whole].reshape(-1, *table.shape), rows[whole:]
        return int(sum((each != table[: each.shape[-2]]).sum() for each in parts))

    def _launch(self, kernel: Any, table: np.ndarray, *memory: Any) -> None:
        from cuda.core import LaunchConfig, launch

        variety, words = table.shape
        grid = (-(-self.books // SUPPORT_THREADS), words)
        config = LaunchConfig(grid=grid, block=SUPPORT_THREADS)
        first, second, *rest = memory
        sizes = (np.uint32(self.books), np.uint32(words), np.uint32(variety), self._planes)
        pointers = first.pointer, second.pointer
        launch(self._stream, config, kernel, *pointers, *sizes, *rest)


def measure_copy(stream: Any) -> float:
    """Return how many bytes a second a copy on the device moves, read and written."""
    half = _COPY_BYTES // WORD.itemsize
    source, target = Words(half), Words(half)
    source.write(np.random.default_rng(0).integers(0, 2**32, half, dtype=np.uint32))
    handle = int(stream.handle)

    def copy() -> None:
        call_driver("cuMemcpyDtoDAsync", target.pointer, source.pointer, _COPY_BYTES, handle)

    copy()
    seconds = [time_on_stream(copy, handle)[1] for _ in range(7)]
    return 2 * _COPY_BYTES / median(each for each in seconds if each is not None)


def _uploaded(array: np.ndarray) -> Words:
    words = Words(array.size)
    words.write(array.astype(WORD, copy=False))
    return words


def _current_arch() -> str:
    from cuda.core import Device

    return str(Device().arch)
