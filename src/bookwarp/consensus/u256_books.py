"""Books of 256-bit numbers for consensus, on any engine, with exact bytes in and out."""

import hashlib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bookwarp.consensus.book_ids import BookIds
from bookwarp.engines.registry import choose_book_engine, u256_engine_class
from bookwarp.engines.u256_protocol import U256Engine
from bookwarp.limits import check_threads
from bookwarp.signals import SignalsDeferred
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.u256 import DEFAULT_TILE, MAX_BOOKS, arena_bytes
from bookwarp.spec.u256_arenas import as_arenas, check_arenas
from bookwarp.spec.u256_orders import (
    as_book_numbers,
    as_calldata,
    check_integer,
    check_sizes,
)

# Arenas that are read and checked at a time take about this.
_PIECE_BYTES = 1 << 26


class U256Books:
    """Books of 256-bit numbers, which give the same bytes on every engine (docs/consensus.md).

    Args:
        books: how many there are, 1 .. 2**31 - 1.
        capacity: orders that can rest on a side of a book, 1 .. 2**24. What would rest on a full
            side is dropped.
        engine: "cuda", "cpu" or "reference", which give the same bytes; "auto" is the best one here
            that runs on the processor.
        threads: threads of the cpu engine; all available processors if None.
        book_ids: the index of the book of each id (32 bytes); then orders find their books by
            the ids in them.

    Raises:
        ParameterError: naming what is wrong, its value and the limit.
        EngineError: the engine does not work here, or there is not enough memory.
    """

    def __init__(
        self,
        books: int,
        capacity: int,
        engine: str = "auto",
        threads: int | None = None,
        book_ids: Mapping[bytes, int] | None = None,
    ) -> None:
        self.books, self.capacity = check_sizes(books, capacity)
        self.engine = choose_book_engine(engine)
        """Name of the engine."""
        self._ids = None if book_ids is None else BookIds.of(book_ids, self.books)
        threads = check_threads(threads)
        self._engine: U256Engine = u256_engine_class(self.engine)(
            self.books, self.capacity, threads
        )

    def __repr__(self) -> str:
        return f"<U256Books: {self.books:,} of capacity {self.capacity:,} on engine {self.engine}>"

    @property
    def book_ids(self) -> dict[bytes, int] | None:
        """The index of the book of each id, if ids were given."""
        return None if self._ids is None else self._ids.to_dict()

    def match(self, calldata: Any, book: Any = None, tile: int = DEFAULT_TILE) -> np.ndarray:
        """Match orders: those of a book in their sequence, books in parallel.

        Args:
            calldata: uint8 [order, 117], the bytes of one order after the other, or a sequence of
                bytes objects, one an order.
            book: the index of the book of each order, integers [order], or one for all. None:
                by the book id in the order where `book_ids` were given, else book 0 if there is no
                other.
            tile: books that are worked at a time; it makes no difference to what comes out.

        Returns:
            The results in the order of the orders, uint8 [order, 68].

        Raises:
            ParameterError: a length is wrong or a book does not exist, naming order, field and
                offset; nothing was matched.
            EngineError: there is not enough memory; nothing was matched.
        """
        orders = as_calldata(calldata)
        tile = check_integer("tile", tile, 1, MAX_BOOKS)
        numbers = self._numbers(orders, book)
        with SignalsDeferred():
            return self._engine.match(orders, numbers, tile)

    def match_order(self, order: bytes, book: int | None = None) -> bytes:
        """Match one order of 117 bytes, and return the 68 bytes of its result.

        Args:
            order: the order.
            book: the index of its book; None as for `match`.

        Raises:
            ParameterError: as of `match`.
        """
        orders = as_calldata([order])
        numbers = self._numbers(orders, book)
        with SignalsDeferred():
            return self._engine.match(orders, numbers).tobytes()

    def _numbers(self, orders: np.ndarray, book: Any) -> np.ndarray | None:
        if book is not None:
            return as_book_numbers(book, len(orders), self.books)
        if self._ids is not None:
            return self._ids.find(orders)
        if self.books > 1:
            raise ParameterError(
                f"there are {self.books} books: give the book of every order, or book_ids"
            )
        return None

    def arena(self, book: int = 0) -> bytes:
        """Return the exact bytes of a book, 8 + 128 * capacity of them."""
        number = check_integer("book", book, 0, self.books - 1)
        return self._engine.read_arenas(number, number + 1).tobytes()

    def arenas(self, first: int = 0, stop: int | None = None) -> np.ndarray:
        """Return the books `first` .. `stop`, half-open, uint8 [book, 8 + 128 * capacity]."""
        last = self.books if stop is None else check_integer("stop", stop, 0, self.books)
        return self._engine.read_arenas(check_integer("first", first, 0, last), last)

    def load_arena(self, book: int, arena: Any) -> None:
        """Set a book.

        Args:
            book: its index.
            arena: its bytes.

        Raises:
            ParameterError: they are those of no book, naming book, field and offset; nothing
                was changed.
        """
        arenas = as_arenas(arena, self.capacity)
        if len(arenas) != 1:
            raise ParameterError(f"there are {len(arenas)} arenas for one book")
        self.load_arenas(arenas, check_integer("book", book, 0, self.books - 1))

    def load_arenas(self, arenas: Any, first: int = 0) -> None:
        """Set the books from `first` on; arenas are uint8 [book, 8 + 128 * capacity].

        Raises:
            ParameterError: one is damaged, naming book, field and offset; nothing was changed.
        """
        given = as_arenas(arenas, self.capacity)
        check_integer("first", first, 0, self.books - 1)
        if first + len(given) > self.books:
            raise ParameterError(
                f"{len(given)} arenas from book {first} on are more than the {self.books} books"
            )
        step = self._piece_books()
        for at in range(0, len(given), step):
            check_arenas(given[at : at + step], self.capacity, first + at)
        with SignalsDeferred():
            self._engine.write_arenas(first, given)

    def digest(self) -> str:
        """Return the SHA-256 of all books, as 64 hexadecimal digits.

        It is that of a header line, the number of books and the capacity (int64 each,
        little-endian), and all arenas.
        """
        hasher = hashlib.sha256(b"bookwarp u256 books 1\n")
        hasher.update(np.array([self.books, self.capacity], "<i8").tobytes())
        for arenas in self.arena_pieces():
            hasher.update(arenas.data)
        return hasher.hexdigest()

    def arena_pieces(self) -> Iterator[np.ndarray]:
        """Yield all books in order, some at a time, so that they need not be in memory twice."""
        step = self._piece_books()
        for first in range(0, self.books, step):
            yield self._engine.read_arenas(first, min(first + step, self.books))

    def _piece_books(self) -> int:
        return max(1, _PIECE_BYTES // arena_bytes(self.capacity))

    def save(self, path: str | Path) -> None:
        """Write the books to a file, replacing those saved there; it appears whole or not at all.

        Raises:
            ParameterError: it is not a path.
            StoreError: it cannot be written, or would replace something else.
        """
        from bookwarp.results.u256_store import write_u256_books

        write_u256_books(path, self)

    @classmethod
    def load(
        cls, path: str | Path, engine: str = "auto", threads: int | None = None
    ) -> "U256Books":
        """Return the books that `save` wrote, on any engine.

        Raises:
            ParameterError: it is not a path, or the engine does not exist.
            StoreError: there is no such file, or it is damaged, or holds no such books.
            EngineError: the engine does not work here.
        """
        from bookwarp.results.u256_store import read_u256_books

        return read_u256_books(path, partial(cls, engine=engine, threads=threads))
