"""A block of flat orders for many books, and what it did."""

import hashlib
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from bookwarp.consensus.flat.matcher import FlatMatcher, load_books
from bookwarp.consensus.flat.outcome import MAX_TRADE_ID, number_trades, update_orders, write_trades
from bookwarp.consensus.flat.pieces import wholes
from bookwarp.consensus.flat.rows import as_orders, check_orders
from bookwarp.consensus.flat.states import check_state, replace_books
from bookwarp.engines.registry import choose_book_engine
from bookwarp.limits import check_threads
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.flat import (
    DEFAULT_TILE,
    FLAT_ORDER,
    FlatState,
    FlatStatus,
    empty_flat_state,
)
from bookwarp.spec.u256 import MAX_BOOKS
from bookwarp.spec.u256_orders import as_book_numbers, check_integer

_HEADER = b"bookwarp flat block 1\n"


@dataclass(frozen=True, eq=False, repr=False)
class FlatBlock:
    """What a block of flat orders did."""

    orders: np.ndarray
    """`FLAT_ORDER` [order], in the order of arrival: what remains of each after the last order of
    the block, and its status."""
    trades: np.ndarray
    """`FLAT_TRADE` [trade], by the taker's arrival, then in the order in which they happened."""
    state: FlatState
    """All books after the block."""
    arrived: np.ndarray
    """uint64 [order], what remained of each when it came in."""

    def __repr__(self) -> str:
        return f"<FlatBlock of {len(self.orders):,} orders: {len(self.trades):,} trades>"

    @property
    def received(self) -> np.ndarray:
        """The orders as they came in, `FLAT_ORDER` [order], a copy."""
        rows = wholes(self.orders).copy().view(FLAT_ORDER)
        rows["remaining"] = self.arrived
        is_whole = self.arrived == rows["quantity"]
        rows["status"] = np.where(is_whole, FlatStatus.OPEN, FlatStatus.PARTIAL)
        return rows

    @property
    def fills_per_order(self) -> float:
        """Trades for each order that came in; 0 if none did."""
        return len(self.trades) / max(1, len(self.orders))

    def digest(self) -> str:
        """Return the SHA-256 of all that came out, as 64 hexadecimal digits.

        It is that of a header line; the number of orders (u64) and the orders; the number of trades
        and the trades; the number of books, how many orders rest before each book and in all (u64
        each), and the resting orders by book and priority. All is little-endian.
        """
        hasher = hashlib.sha256(_HEADER)
        for rows in (self.orders, self.trades):
            hasher.update(struct.pack("<Q", len(rows)))
            hasher.update(np.ascontiguousarray(rows).view(np.uint8).data)
        hasher.update(struct.pack("<Q", self.state.books))
        hasher.update(self.state.order_offsets.astype("<u8").data)
        hasher.update(np.ascontiguousarray(self.state.orders).view(np.uint8).data)
        return hasher.hexdigest()

    def root(self, parent: bytes, height: int) -> bytes:
        """Return the execution root of the block, 32 bytes.

        Args:
            parent: the execution root of the block before, 32 bytes.
            height: of the block, 0 .. 2**64 - 1.

        Raises:
            ParameterError: `parent` or `height` is wrong, or the package for keccak256 is not
                installed.

        Cost: three hashes a row of orders, trades and resting orders.
        """
        from bookwarp.consensus.roots import execution_root

        return execution_root(parent, self.state, self.trades, self.received, height)


def match_block(
    orders: Any,
    book: Any = None,
    state: FlatState | None = None,
    *,
    books: int | None = None,
    base_trade_id: Any = 0,
    tile: int = DEFAULT_TILE,
    engine: str = "auto",
    threads: int | None = None,
) -> FlatBlock:
    """Match a block of flat orders: those of a book in their sequence, books in parallel.

    The bytes that come out do not depend on `tile`, `engine` and `threads`.

    Args:
        orders: array of `FLAT_ORDER`, uint8 [order, 64], or bytes, in the order of arrival.
        book: the book of each order, integers [order], or one for all; None if there is one book.
        state: the books, as another block left them; None: nothing rests in them. It is left as
            it is.
        books: how many there are, if not one more than the highest number in `book`; with `state`
            it is known.
        base_trade_id: the id of the first trade, from which all trades of the block are numbered
            on; or of each order the id of its first trade, integers [order], from which its trades
            are.
        tile: books that are matched at a time.
        engine: "cuda", "cpu" or "reference"; "auto" is the best here that runs on the processor.
        threads: threads of the cpu engine; all available processors if None.

    Raises:
        ParameterError: an argument or an order is wrong, naming order, field, offset and value.
        EngineError: the engine does not work here, or there is not enough memory.
    """
    rows = as_orders(orders)
    if state is not None:
        before = check_state(state, books)
        count = before.books
    else:
        count = _count_books(book, books, len(rows))
        before = empty_flat_state(count)
    matcher = make_matcher(count, tile, engine, threads)
    return run_block(matcher, before, rows, book, base_trade_id)


def _count_books(book: Any, books: Any, orders: int) -> int:
    if books is not None:
        return check_integer("books", books, 1, MAX_BOOKS)
    if book is None:
        return 1
    numbers = as_book_numbers(book, orders, MAX_BOOKS)
    return int(numbers.max(initial=0)) + 1


def make_matcher(books: int, tile: Any, engine: str, threads: Any) -> FlatMatcher:
    """Return a matcher for blocks of so many books, its arguments checked."""
    size = check_integer("tile", tile, 1, MAX_BOOKS)
    return FlatMatcher(books, size, choose_book_engine(engine), check_threads(threads))


def run_block(
    matcher: FlatMatcher, before: FlatState, orders: np.ndarray, book: Any, base_trade_id: Any
) -> FlatBlock:
    """Check a block and match it.

    Args:
        matcher: for as many books as there are.
        before: the books, sound.
        orders: `FLAT_ORDER` [order].
        book, base_trade_id: as of `match_block`.
    """
    if book is None and before.books > 1:
        raise ParameterError(f"there are {before.books} books: give the book of every order")
    numbers = as_book_numbers(0 if book is None else book, len(orders), before.books)
    check_orders(orders, matcher.threads)
    bases = _check_bases(base_trade_id, len(orders))
    arrived = orders["remaining"].copy()
    loaded = load_books(before, orders, numbers, matcher.threads)
    fills = matcher.match(loaded)
    ids = number_trades(fills.taker, bases)
    update_orders(loaded, fills, matcher.threads)
    trades = write_trades(loaded, fills, ids, matcher.threads)
    offsets = np.concatenate([[0], np.cumsum(fills.resting_counts)])
    part = FlatState(wholes(loaded.rows)[fills.resting].view(FLAT_ORDER), offsets)
    after = replace_books(before, loaded.books, part)
    return FlatBlock(loaded.rows[loaded.resting_count :], trades, after, arrived)


def _check_bases(base_trade_id: Any, orders: int) -> int | np.ndarray:
    """Return the id of the first trade, or of the first of each order, uint64 [order]."""
    bases = np.asarray(base_trade_id)
    if bases.ndim == 0:
        return check_integer("base_trade_id", base_trade_id, 0, MAX_TRADE_ID)
    if bases.shape != (orders,) or (bases.dtype.kind not in "iu" and orders):
        raise ParameterError(
            f"base_trade_id must be one integer, or integers [{orders}], one for each order"
        )
    if orders and bases.min() < 0:
        at = int(np.argmax(bases < 0))
        raise ParameterError(f"base_trade_id of order {at} is {bases[at]}, below 0")
    return bases.astype(np.uint64)
