"""Books of 256-bit numbers in the memory of a GPU, and the kernels that work on them."""

from typing import Any

import numpy as np

from bookwarp.engines.cuda.books.transfer import TableGpu
from bookwarp.engines.cuda.gpu import Memory
from bookwarp.engines.cuda.u256.kernel_key import BLOCK, LANES
from bookwarp.engines.cuda.u256.layout import ENDS, slots_bytes
from bookwarp.engines.cuda.u256.passes import Passes
from bookwarp.spec.u256 import ARENA_COLUMNS, arena_bytes

_PIECE_BYTES = 1 << 28
"""Arenas that are on the GPU at once take about this."""


class BooksOnGpu:
    """Some books, empty at first.

    Args:
        gpu: where.
        matching: the code of match.cu.
        arenas: the code of arenas.cu.
        books, capacity: how many books there are, and slots a side.

    Raises:
        EngineError: there is not enough memory.
    """

    def __init__(
        self, gpu: TableGpu, matching: Any, arenas: Any, books: int, capacity: int
    ) -> None:
        self._gpu, self._arena_code = gpu, arenas
        self._matching = matching
        self._kernels: dict[str, Any] = {}
        self._books, self._capacity = books, capacity
        self._slots = Memory(gpu, slots_bytes(books, capacity))
        self._ends = Memory(gpu, ENDS.itemsize * books)
        gpu.fill(self._ends, 0, ENDS.itemsize * books)
        self._shape = np.uint32(books), np.uint32(capacity)
        self._one_warp = gpu.configure(1, LANES, 0)

    def match_passes(self, calldata: int, results: int, passes: Passes, tile: int) -> None:
        """Put the matching of passes on the stream.

        Args:
            calldata, results: addresses of the first rows; of results, a multiple of 4.
            passes: the passes.
            tile: books of a launch.
        """
        pass_rows, count = np.uint32(passes.books), np.uint32(passes.times)
        for start in range(0, passes.books, tile):
            books = min(tile, passes.books - start)
            self._launch(
                "match_passes",
                books,
                *(calldata, results, *self._shape),
                *(np.uint32(passes.first + start), np.uint32(start)),
                *(np.uint32(books), pass_rows, count),
            )

    def match_grouped(
        self, calldata: int, results: int, grouped: Memory, first_order: Memory, tile: int
    ) -> None:
        """Put the matching of orders that were grouped by book on the stream.

        Args:
            calldata, results: as for `match_passes`.
            grouped: rows by book, uint32 [order].
            first_order: where those of each book start, uint32 [book + 1].
            tile: books of a launch.
        """
        for start in range(0, self._books, tile):
            books = min(tile, self._books - start)
            self._launch(
                "match_grouped",
                books,
                *(calldata, results, grouped.pointer, first_order.pointer, *self._shape),
                *(np.uint32(start), np.uint32(books)),
            )

    def match_one(self, calldata: int, result: int, book: int) -> None:
        """Put the matching of one order on the stream."""
        memory = self._slots.pointer, self._ends.pointer, calldata, result
        kernel = self._kernel("match_one")
        self._gpu.launch(self._one_warp, kernel, *memory, *self._shape, np.uint32(book))

    def read_arenas(self, first: int, stop: int) -> np.ndarray:
        """Return the books `first` .. `stop`, half-open, uint8 [book, byte]."""
        arenas = np.empty((stop - first, arena_bytes(self._capacity)), np.uint8)
        for start, memory in self._pieces(len(arenas)):
            piece = arenas[start : start + self._piece_books()]
            self._launch_arenas("write_arenas", memory, first + start, len(piece))
            self._gpu.read(memory, piece)
        return arenas

    def write_arenas(self, first: int, arenas: np.ndarray) -> None:
        """Set the books from `first` on; arenas are uint8 [book, byte]."""
        for start, memory in self._pieces(len(arenas)):
            piece = arenas[start : start + self._piece_books()]
            self._gpu.wait()
            self._gpu.send(memory, np.ascontiguousarray(piece))
            self._launch_arenas("read_arenas", memory, first + start, len(piece))
        self._gpu.wait()

    def _pieces(self, count: int) -> list[tuple[int, Memory]]:
        """Return where each piece of so many arenas starts, and the memory that it has for a while.

        It is claimed before anything changes.
        """
        step = self._piece_books()
        memory = Memory(self._gpu, min(step, count) * arena_bytes(self._capacity))
        return [(start, memory) for start in range(0, count, step)]

    def _piece_books(self) -> int:
        return max(1, _PIECE_BYTES // arena_bytes(self._capacity))

    def _launch(self, name: str, books: int, *arguments: Any) -> None:
        """Put a kernel on the stream, with a thread for each of some books."""
        gpu = self._gpu
        config = gpu.configure(-(-books // BLOCK), BLOCK, 0)
        memory = self._slots.pointer, self._ends.pointer
        gpu.launch(config, self._kernel(name), *memory, *arguments)

    def _kernel(self, name: str) -> Any:
        if name not in self._kernels:
            self._kernels[name] = self._matching.get_kernel(name)
        return self._kernels[name]

    def _launch_arenas(self, name: str, arenas: Memory, first: int, books: int) -> None:
        gpu = self._gpu
        numbers = books * len(ARENA_COLUMNS) * self._capacity
        config = gpu.configure(-(-numbers // BLOCK), BLOCK, 0)
        memory = self._slots.pointer, self._ends.pointer, arenas.pointer
        sizes = *self._shape, np.uint32(first), np.uint32(books)
        gpu.launch(config, self._arena_code.get_kernel(name), *memory, *sizes)
