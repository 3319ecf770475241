"""Books of flat rows that take block after block."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bookwarp.consensus.flat.block import FlatBlock, make_matcher, run_block
from bookwarp.consensus.flat.outcome import MAX_TRADE_ID
from bookwarp.consensus.flat.rows import as_orders
from bookwarp.consensus.flat.states import check_state
from bookwarp.engines.registry import choose_book_engine
from bookwarp.spec.flat import DEFAULT_TILE, FlatState, empty_flat_state
from bookwarp.spec.u256 import MAX_BOOKS
from bookwarp.spec.u256_orders import check_integer


@dataclass(frozen=True)
class _Position:
    """Where the books are after a block, in one object: they change at once or not at all."""

    state: FlatState
    next_trade_id: int
    block_count: int


class FlatBooks:
    """Books of flat rows that take blocks of orders; a block is taken whole or not at all.

    Args:
        books: how many there are, 1 .. 2**31 - 1.
        state: what rests in them at first, of as many books; None is nothing.
        first_trade_id: the id of the first trade; the trades of later blocks are numbered on.
        tile: books that are matched at a time.
        engine: "cuda", "cpu" or "reference", which give the same bytes; "auto" is the best one here
            that runs on the processor.
        threads: threads of the cpu engine; all available processors if None.

    Raises:
        ParameterError: naming what is wrong, its value and the limit.
        EngineError: the engine does not work here, or there is not enough memory.
    """

    def __init__(
        self,
        books: int,
        *,
        state: FlatState | None = None,
        first_trade_id: int = 0,
        tile: int = DEFAULT_TILE,
        engine: str = "auto",
        threads: int | None = None,
    ) -> None:
        self.books = check_integer("books", books, 1, MAX_BOOKS)
        """How many books there are."""
        first = check_integer("first_trade_id", first_trade_id, 0, MAX_TRADE_ID)
        opening = empty_flat_state(self.books) if state is None else check_state(state, self.books)
        self.engine = choose_book_engine(engine)
        """Name of the engine."""
        self._matcher = make_matcher(self.books, tile, self.engine, threads)
        self._position = _Position(opening, first, 0)

    def __repr__(self) -> str:
        return f"<FlatBooks: {self.books:,} on engine {self.engine}, {self.block_count:,} blocks>"

    @property
    def state(self) -> FlatState:
        """What rests in the books; see `bookwarp.spec.flat.FlatState`."""
        return self._position.state

    @property
    def next_trade_id(self) -> int:
        """The id that the next trade will have."""
        return self._position.next_trade_id

    @property
    def block_count(self) -> int:
        """Blocks taken so far."""
        return self._position.block_count

    def execute(self, orders: Any, book: Any = None) -> FlatBlock:
        """Match a block: orders of a book in their sequence, books in parallel.

        Args:
            orders: array of `FLAT_ORDER`, uint8 [order, 64], or bytes, in the order of arrival.
            book: the book of each order, integers [order], or one for all; None if there is one
                book.

        Returns:
            `FlatBlock`: orders and trades in the order of arrival, and a digest.

        Raises:
            ParameterError: an order is wrong, naming order, field, offset and value; nothing was
                changed.
            EngineError: there is not enough memory; nothing was changed.
        """
        before = self._position
        first = before.next_trade_id
        block = run_block(self._matcher, before.state, as_orders(orders), book, first)
        after = first + len(block.trades)
        self._position = _Position(block.state, after, before.block_count + 1)
        return block

    def resting(self, book: int = 0) -> np.ndarray:
        """Return what rests in a book: bids, then asks, the first to trade first.

        Raises:
            ParameterError: there is no such book.
        """
        return self.state.of_book(check_integer("book", book, 0, self.books - 1))

    def save(self, path: str | Path) -> None:
        """Write the books to a file, replacing those saved there; it appears whole or not at all.

        Raises:
            ParameterError: it is not a path.
            StoreError: it cannot be written, or would replace something else.
        """
        from bookwarp.results.flat_store import SavedFlatBooks, write_flat_books

        at = self._position
        write_flat_books(path, SavedFlatBooks(at.state, at.next_trade_id, at.block_count))

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        tile: int = DEFAULT_TILE,
        engine: str = "auto",
        threads: int | None = None,
    ) -> "FlatBooks":
        """Return the books that `save` wrote, on any engine, to go on as if nothing had happened.

        Raises:
            ParameterError: it is not a path, or the engine does not exist.
            StoreError: there is no such file, or it is damaged, or holds no such books.
            EngineError: the engine does not work here.
        """
        from bookwarp.results.flat_store import read_flat_books

        saved = read_flat_books(path)
        books = cls(saved.state.books, tile=tile, engine=engine, threads=threads)
        books._position = _Position(saved.state, saved.next_trade_id, saved.block_count)
        return books
