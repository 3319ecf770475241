"""The cuda engine for books of 256-bit numbers: all books at once, a thread each."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from bookwarp.engines.cuda.availability import unavailable_reason
from bookwarp.engines.cuda.books import compile as book_kernels
from bookwarp.engines.cuda.books.grouping import group_by_book, take_keys
from bookwarp.engines.cuda.books.kernel_key import GroupKey
from bookwarp.engines.cuda.books.transfer import TableGpu
from bookwarp.engines.cuda.books.workspace import Workspace
from bookwarp.engines.cuda.gpu import Memory, MemoryPart
from bookwarp.engines.cuda.u256.books_on_gpu import BooksOnGpu
from bookwarp.engines.cuda.u256.compile import load_kernels
from bookwarp.engines.cuda.u256.kernel_key import ARENAS, MATCHING, U256Key
from bookwarp.engines.cuda.u256.known_answer import BOOKS, CAPACITY, KNOWN_ANSWER, answer_of
from bookwarp.engines.cuda.u256.layout import READ_AHEAD
from bookwarp.engines.cuda.u256.passes import Passes, find_passes
from bookwarp.engines.cuda.u256.single_order import SingleOrder
from bookwarp.spec.errors import EngineError
from bookwarp.spec.u256 import ORDER_BYTES, RESULT_BYTES

MOST_ORDERS = 1 << 27
"""Orders of a launch: they are counted by 32 bits, and take 25 GB."""
_BYTE = np.dtype(np.uint8)
_KEY_BYTES = 4


class _Batch(NamedTuple):
    """Orders on the GPU that are matched at once."""

    calldata: Memory
    results: Memory
    orders: int
    first_row: int
    passes: Passes | None
    """What they are, if they need no grouping."""
    keys: Memory | None
    """The book of each, uint32 [order], if they do."""


class CudaU256Engine:
    """Matches on a GPU; implements `bookwarp.engines.u256_protocol.U256DeviceEngine`.

    Books stay in the memory of the GPU.
    """

    def __init__(
        self, books: int, capacity: int, threads: int | None = None, **options: Any
    ) -> None:
        """Hold `books` empty books of `capacity` slots a side.

        Args:
            books, capacity: how many books there are, and slots a side.
            threads: that copy orders on their way to the GPU; None for as many as help.
            options: none.

        Raises:
            EngineError: CUDA does not work here, or there is too little memory, or the code that
                was compiled for this GPU is wrong.
        """
        if options:
            raise EngineError(f"engine 'cuda' has no options {', '.join(options)}")
        reason = unavailable_reason()
        if reason is not None:
            raise EngineError(f"engine 'cuda' is not available: {reason}")
        self._begin(books, capacity, threads)
        check_known_answer(self._gpu.arch)

    def _begin(self, books: int, capacity: int, threads: int | None) -> None:
        self._book_count = books
        gpu = self._gpu = TableGpu(0, threads)
        with gpu:
            self._grouping = book_kernels.load_kernels(GroupKey(), gpu.arch)
            matching, arenas = (self._load(key) for key in (MATCHING, ARENAS))
            try:
                self._books = BooksOnGpu(gpu, matching, arenas, books, capacity)
            except EngineError as error:
                raise EngineError(f"{books} books of capacity {capacity}: {error}") from error
        self._space = Workspace(gpu)
        self._single = SingleOrder(gpu, self._books)

    def match(
        self, calldata: np.ndarray, book: np.ndarray | None, tile: int | None = None
    ) -> np.ndarray:
        """Match orders; see the protocol. `tile`: books of a launch, all if None.

        Raises:
            EngineError: there is not enough memory; the books are as they were.
        """
        count = len(calldata)
        if count == 1:
            return self._single.match(calldata, 0 if book is None else int(book[0]))
        try:
            return self._match_all(calldata, book, tile)
        except EngineError as error:
            self._space.release()
            raise EngineError(f"{error} (in a batch of {count} orders)") from error

    def _match_all(
        self, calldata: np.ndarray, book: np.ndarray | None, tile: int | None
    ) -> np.ndarray:
        """Match in as few pieces as there must be."""
        count = len(calldata)
        if count <= MOST_ORDERS:
            return self._match_piece(calldata, book, tile)
        # The first piece is the largest, and takes all memory that there is to take.
        results = np.empty((count, RESULT_BYTES), np.uint8)
        for start in range(0, count, MOST_ORDERS):
            piece = slice(start, start + MOST_ORDERS)
            own = None if book is None else book[piece]
            results[piece] = self._match_piece(calldata[piece], own, tile)
        return results

    def _load(self, key: U256Key) -> Any:
        """Return the code of some kernels."""
        return load_kernels(key, self._gpu.arch)

    def read_arenas(self, first: int, stop: int) -> np.ndarray:
        """Return the books `first` .. `stop`, half-open, uint8 [book, byte]."""
        return self._books.read_arenas(first, stop)

    def write_arenas(self, first: int, arenas: np.ndarray) -> None:
        """Set the books from `first` on; arenas are uint8 [book, byte]."""
        self._books.write_arenas(first, arenas)

    def time_passes(
        self, calldata: np.ndarray, book: np.ndarray | None, together: bool
    ) -> tuple[np.ndarray, float]:
        """Match passes whose orders lie on the device already, and time the device.

        Grouping by book, where `book` wants it, is in the time.

        Args:
            calldata: uint8 [pass, order, 117]; each pass lies by itself on the device, also where
                the stride between passes is 0 here.
            book: int64 [order], the same in every pass; None: order i goes to book i.
            together: one launch for all passes; else one launch for each.

        Returns:
            uint8 [pass, order, 68], and the seconds from the first launch to the end of the last,
            copies left out.
        """
        passes, orders, _ = calldata.shape
        launches, rows = (1, passes * orders) if together else (passes, orders)
        if book is None:
            found: Passes | None = Passes(0, orders, rows // orders)
            keys = None
        else:
            numbers = np.tile(book, passes) if together else book
            found = find_passes(numbers, rows)
            keys = self._send_keys(numbers, found)
        sent, results = self._take_rows(passes * orders)
        for number in range(passes):
            self._send_rows(sent, calldata[number], number * orders)
        begin = self._gpu.mark_time()
        for number in range(launches):
            self._launch(_Batch(sent, results, rows, number * rows, found, keys), None)
        seconds = self._gpu.seconds_between(begin, self._gpu.mark_time())
        return self._fetch(results, passes * orders).reshape(passes, orders, -1), seconds

    def _match_piece(
        self, calldata: np.ndarray, book: np.ndarray | None, tile: int | None
    ) -> np.ndarray:
        """Match orders that go to the GPU at once."""
        count = len(calldata)
        if count == 0:
            return np.empty((0, RESULT_BYTES), np.uint8)
        passes = find_passes(book, count)
        sent, results = self._take_rows(count)
        keys = None if book is None else self._send_keys(book, passes)
        self._send_rows(sent, calldata, 0)
        self._launch(_Batch(sent, results, count, 0, passes, keys), tile)
        return self._fetch(results, count)

    def _launch(self, batch: "_Batch", tile: int | None) -> None:
        """Put the matching of a batch on the stream, and its grouping where it needs one."""
        gpu, space = self._gpu, self._space
        calldata = batch.calldata.pointer + batch.first_row * ORDER_BYTES
        results = batch.results.pointer + batch.first_row * RESULT_BYTES
        tile = tile or self._book_count
        if batch.passes is not None:
            self._books.match_passes(calldata, results, batch.passes, tile)
            return
        assert batch.keys is not None
        # Grouping writes over what it groups.
        gpu.copy(take_keys(space, batch.orders), batch.keys, _KEY_BYTES * batch.orders)
        grouped, first = group_by_book(gpu, self._grouping, space, batch.orders, self._book_count)
        self._books.match_grouped(calldata, results, grouped, first, tile)

    def _take_rows(self, count: int) -> tuple[Memory, Memory]:
        take = self._space.take
        calldata = take("calldata", ORDER_BYTES * count + READ_AHEAD)
        return calldata, take("results", RESULT_BYTES * count)

    def _send_keys(self, book: np.ndarray, passes: Passes | None) -> Memory | None:
        """Send the books of orders if they are to be grouped."""
        if passes is not None:
            return None
        keys = self._space.take("keys", _KEY_BYTES * len(book))
        self._gpu.send(keys, book.astype(np.uint32))
        return keys

    def _send_rows(self, memory: Memory, calldata: np.ndarray, first_row: int) -> None:
        where = MemoryPart(memory.pointer + first_row * ORDER_BYTES, calldata.nbytes)
        self._gpu.send(where, np.ascontiguousarray(calldata))

    def _fetch(self, results: Memory, count: int) -> np.ndarray:
        table = self._gpu.fetch_table(results, _BYTE, RESULT_BYTES * count)
        return table.reshape(count, RESULT_BYTES)


class _Probe(CudaU256Engine):
    """An engine that is asked for what is known."""

    def __init__(self) -> None:
        self._begin(BOOKS, CAPACITY, threads=1)


@cache
def check_known_answer(arch: str) -> None:
    """Let the kernels for GPUs of kind `arch` answer what is known, once in a process.

    Raises:
        EngineError: they answer otherwise.
    """
    if answer_of(_Probe()) != KNOWN_ANSWER:
        raise EngineError(
            f"the kernels for 256-bit numbers on {arch} fail their check: the code that was "
            f"compiled for this GPU is wrong; install the newest compiler: "
            f"pip install --upgrade 'bookwarp[cuda]'"
        )
