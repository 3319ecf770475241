"""The cpu engine for books of 256-bit numbers: bins of books on threads."""

from typing import Any

import numpy as np

from bookwarp.engines.cpu.books.grouping import on_threads
from bookwarp.engines.cpu.u256.division import SCRATCH_WORDS, SUM_WORDS
from bookwarp.engines.cpu.u256.grouping import Grouping, compile_grouping, group
from bookwarp.engines.cpu.u256.kernel import match_bins
from bookwarp.engines.cpu.u256.layout import (
    Pools,
    allocate_pools,
    read_bytes,
    read_only,
    write_bytes,
)
from bookwarp.spec.errors import EngineError
from bookwarp.spec.u256 import ORDER_BYTES, RESULT_BYTES, arena_bytes

# A thread takes longer to start than this many orders to match.
_ORDERS_PER_THREAD = 8192


class CpuU256Engine:
    """Matches on all cores; implements `bookwarp.engines.u256_protocol.U256Engine`."""

    def __init__(
        self, books: int, capacity: int, threads: int | None = None, **options: Any
    ) -> None:
        """Hold `books` empty books; `threads` is 1 if None."""
        self._books, self._capacity = books, capacity
        self._threads = min(threads or 1, books)
        try:
            self._pools: Pools = allocate_pools(books, capacity)
        except MemoryError as error:
            raise EngineError(f"there is not enough memory: {error}") from error
        # Compiles what is not compiled yet, which is not matching.
        compile_grouping()
        self.match(np.empty((0, ORDER_BYTES), np.uint8), None)

    def match(
        self, calldata: np.ndarray, book: np.ndarray | None, tile: int | None = None
    ) -> np.ndarray:
        """Match orders."""
        count = len(calldata)
        threads = min(self._threads, 1 + count // _ORDERS_PER_THREAD)
        try:
            results = np.empty((count, RESULT_BYTES), np.uint8)
            grouped = group(book, count, self._books, tile, threads)
        except MemoryError as error:
            raise EngineError(f"there is not enough memory: {error}") from error
        flat = read_only(calldata.reshape(-1))
        on_threads(
            threads,
            lambda part: self._match_part(grouped, part, flat, results.reshape(-1)),
            range(len(grouped.edges) - 1),
        )
        return results

    def _match_part(
        self, grouped: Grouping, part: int, calldata: np.ndarray, results: np.ndarray
    ) -> None:
        first, stop = grouped.edges[part : part + 2]
        words = np.empty(SUM_WORDS + SCRATCH_WORDS, np.uint64)
        match_bins(
            self._pools,
            self._capacity,
            calldata,
            grouped.book,
            grouped.places,
            first,
            stop,
            words,
            results,
        )

    def read_arenas(self, first: int, stop: int) -> np.ndarray:
        """Return the bytes of some books."""
        arenas = np.zeros((stop - first, arena_bytes(self._capacity)), np.uint8)
        write_bytes(self._pools, self._capacity, first, arenas)
        return arenas

    def write_arenas(self, first: int, arenas: np.ndarray) -> None:
        """Set some books."""
        read_bytes(self._pools, self._capacity, first, read_only(arenas))
