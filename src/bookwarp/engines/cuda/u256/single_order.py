"""One order from host to host, as fast as a launch is."""

import numpy as np

from bookwarp.engines.cuda.books.transfer import TableGpu
from bookwarp.engines.cuda.u256.books_on_gpu import BooksOnGpu
from bookwarp.engines.cuda.u256.layout import READ_AHEAD
from bookwarp.spec.u256 import ORDER_BYTES, RESULT_BYTES


class SingleOrder:
    """Memory of the host that one order and its result are in, where the GPU reads and writes it.

    Args:
        gpu: the GPU.
        books: its books.
    """

    def __init__(self, gpu: TableGpu, books: BooksOnGpu) -> None:
        self._gpu, self._books = gpu, books
        self._order = gpu.allocate_pinned(ORDER_BYTES + READ_AHEAD)
        self.result = gpu.allocate_pinned(RESULT_BYTES)
        """Of the last order, uint8 [68]."""
        self._addresses = self._order.ctypes.data, self.result.ctypes.data

    def match(self, calldata: np.ndarray, book: int) -> np.ndarray:
        """Match one order, uint8 [1, 117], and return its result, uint8 [1, 68]."""
        self._order[:ORDER_BYTES] = calldata[0]
        self.launch(book)
        return self.result[np.newaxis].copy()

    def launch(self, book: int) -> None:
        """Let the GPU match the order that is in its memory, and wait for that."""
        self._books.match_one(*self._addresses, book)
        self._gpu.wait()
