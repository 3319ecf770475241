"""The reference engine for books of 256-bit numbers: one order after the other."""

from typing import Any

import numpy as np

from bookwarp.reference.u256 import U256Book, match_order, read_arena, write_arena
from bookwarp.spec.u256 import RESULT_BYTES, arena_bytes


class ReferenceU256Engine:
    """The specification, executable; implements `bookwarp.engines.u256_protocol.U256Engine`."""

    def __init__(
        self, books: int, capacity: int, threads: int | None = None, **options: Any
    ) -> None:
        """Hold `books` empty books; `threads` makes no difference here."""
        self._capacity = capacity
        # A book is made when its first order comes.
        self._books: dict[int, U256Book] = {}

    def match(
        self, calldata: np.ndarray, book: np.ndarray | None, tile: int | None = None
    ) -> np.ndarray:
        """Match orders in the sequence of the array; `tile` makes no difference here."""
        numbers = [0] * len(calldata) if book is None else book.tolist()
        results = [
            match_order(self._book(number), order.tobytes())
            for number, order in zip(numbers, calldata, strict=True)
        ]
        joined = np.frombuffer(bytearray(b"".join(results)), np.uint8)
        return joined.reshape(len(calldata), RESULT_BYTES)

    def _book(self, number: int) -> U256Book:
        return self._books.setdefault(number, U256Book(self._capacity))

    def read_arenas(self, first: int, stop: int) -> np.ndarray:
        """Return the bytes of some books."""
        arenas = np.zeros((stop - first, arena_bytes(self._capacity)), np.uint8)
        for number in range(first, stop):
            if number in self._books:
                data = write_arena(self._books[number])
                arenas[number - first] = np.frombuffer(data, np.uint8)
        return arenas

    def write_arenas(self, first: int, arenas: np.ndarray) -> None:
        """Set some books."""
        for number, arena in enumerate(arenas, first):
            self._books[number] = read_arena(arena.tobytes(), self._capacity)
