"""Blocks of flat orders through an engine of `bw.match`, a tile of books at a time.

Only the books that a block has orders for are loaded. There the id of an order is its row: those
that rest come first, then those that come in, so that equal order ids do no harm, and what an event
names is found without looking for it.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from bookwarp.consensus.flat.messages import write_messages, write_resting
from bookwarp.consensus.flat.pieces import in_pieces, wholes
from bookwarp.consensus.flat.prices import PriceTicks
from bookwarp.consensus.flat.rows import MAX_ORDERS, MAX_QUANTITY
from bookwarp.engines.registry import book_engine_class
from bookwarp.results.event_order import by_message
from bookwarp.signals import SignalsDeferred
from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.book_state import BookState
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.events import EVENT, Counter, EventType, Matched
from bookwarp.spec.flat import FLAT_ORDER, FlatState

_EVENT_WORDS = EVENT.itemsize // 8


class Loaded(NamedTuple):
    """The books of a block with what rests in them, and all rows that take part."""

    books: np.ndarray
    """int64 [loaded book], ascending, of all books."""
    book: np.ndarray
    """int64 [order], which of the loaded books each order that comes in is for."""
    offsets: np.ndarray
    """int64 [loaded book + 1]: which of the rows rest in a book."""
    rows: np.ndarray
    """`FLAT_ORDER` [row]: those that rest, by book, then those that come in."""

    @property
    def resting_count(self) -> int:
        """How many rows rest."""
        return int(self.offsets[-1])


class Fills(NamedTuple):
    """Trades, and what rests afterwards."""

    taker: np.ndarray
    """int64 [trade], by the taker's arrival: which of the orders that came in."""
    maker: np.ndarray
    """int64 [trade], row."""
    lots: np.ndarray
    """int64 [trade]."""
    resting: np.ndarray
    """int64 [resting order], row, by book and priority."""
    resting_counts: np.ndarray
    """int64 [loaded book]."""


class FlatMatcher:
    """Holds an engine for `tile` books, which are others for every tile and every block."""

    def __init__(self, books: int, tile: int, engine: str, threads: int) -> None:
        self.threads = threads
        self._tile = min(books, tile)
        self._engine = book_engine_class(engine)(BookRules(), self._tile, threads)

    def match(self, loaded: Loaded) -> Fills:
        """Match the orders that came in.

        Raises:
            ParameterError: more lots would rest at a price than an engine can hold, naming the
                order.
            EngineError: there is not enough memory.
        """
        rows, first = loaded.rows, loaded.resting_count
        if len(rows) > MAX_ORDERS:
            raise ParameterError(
                f"{len(rows) - first} orders and {first} that rest in their books are more than "
                f"{MAX_ORDERS}"
            )
        ids = np.arange(len(rows))
        ticks = PriceTicks.of(rows)[1]
        columns = (rows[first:], ticks[first:], loaded.book, ids[first:])
        messages = write_messages(*columns, self.threads)
        own_book = np.repeat(np.arange(len(loaded.books)), np.diff(loaded.offsets))
        resting = write_resting(rows[:first], ticks[:first], own_book, ids[:first])
        found = []
        for tile, index in self._tiles(loaded):
            offsets = loaded.offsets[tile : tile + self._tile + 1]
            found.append(self._match_tile(messages, index, tile, resting, offsets))
        return _join(found, len(messages))

    def _tiles(self, loaded: Loaded) -> Iterator[tuple[int, Any]]:
        """Yield the first book of every tile, and which orders are for it, by arrival."""
        if len(loaded.books) <= self._tile:
            yield 0, slice(None)
            return
        tile = loaded.book // self._tile
        tiles = -(-len(loaded.books) // self._tile)
        # Short integers are sorted by their digits.
        order = np.argsort(tile.astype(np.uint16 if tiles < 1 << 16 else np.int64), kind="stable")
        stops = np.cumsum(np.bincount(tile, minlength=tiles))
        for number, index in enumerate(np.split(order, stops[:-1])):
            yield number * self._tile, index

    def _match_tile(
        self,
        messages: np.ndarray,
        index: Any,
        first_book: int,
        resting: np.ndarray,
        offsets: np.ndarray,
    ) -> "_TileFills":
        own, orders = messages[index], resting[offsets[0] : offsets[-1]]
        own["book"] -= np.uint32(first_book)
        orders["book"] -= np.uint32(first_book)
        before = self._state_of(orders, offsets - offsets[0])
        # Cut short, threads of the engine could still work when the next block comes.
        with SignalsDeferred():
            self._engine.write_state(before)
            matched = self._engine.match(own, None, events=True)
            after = self._engine.read_state()
        taker, maker, lots, refused = _read_trades(matched)
        counts = np.diff(after.order_offsets[: len(offsets)])
        if not isinstance(index, slice):
            taker, refused = index[taker], index[refused]
        return _TileFills(
            taker, maker, lots, after.orders["order_id"].astype(np.int64), counts, refused
        )

    def _state_of(self, orders: np.ndarray, offsets: np.ndarray) -> BookState:
        """Return the state of the engine's books, the last of which are empty in the last tile."""
        offsets = np.pad(offsets, (0, self._tile + 1 - len(offsets)), mode="edge")
        counters = np.zeros((self._tile, len(Counter)), np.int64)
        return BookState(orders, offsets, counters, np.zeros(self._tile, np.uint32))


class _TileFills(NamedTuple):
    """`Fills` of a tile, by book; and the orders that an engine could not hold."""

    taker: np.ndarray
    maker: np.ndarray
    lots: np.ndarray
    resting: np.ndarray
    resting_counts: np.ndarray
    refused: np.ndarray


def _read_trades(matched: Matched) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return taker, maker and lots of every trade, and the messages that were rejected."""
    events = matched.events
    assert events is not None
    types = np.ascontiguousarray(events["type"])
    trades = wholes(events)[types == EventType.TRADE].view("<u8").reshape(-1, _EVENT_WORDS)
    refused = events["message"][types == EventType.REJECTED].astype(np.int64)
    taker = (trades[:, 3] & np.uint64(0xFFFFFFFF)).astype(np.int64)
    return taker, trades[:, 0].astype(np.int64), trades[:, 2].astype(np.int64), refused


def _join(found: list[_TileFills], orders: int) -> Fills:
    """Put the trades of all tiles in the order of their takers."""
    taker, maker, lots, resting, counts, refused = map(np.concatenate, zip(*found, strict=True))
    if len(refused):
        raise ParameterError(
            f"order {refused.min()}: with what remains of it more than {MAX_QUANTITY} lots would "
            f"rest at its price"
        )
    order = by_message(taker, orders)
    return Fills(taker[order], maker[order], lots[order], resting, counts)


def load_books(state: FlatState, orders: np.ndarray, book: np.ndarray, threads: int = 1) -> Loaded:
    """Return the books that orders are for.

    Args:
        state: of all books.
        orders: `FLAT_ORDER` [order].
        book: int64 [order].
        threads: how many copy.
    """
    wanted = np.zeros(state.books, bool)
    wanted[book] = True
    books = np.flatnonzero(wanted)
    number = np.cumsum(wanted) - 1
    counts = np.diff(state.order_offsets)
    offsets = np.concatenate([[0], np.cumsum(counts[books])])
    first = offsets[-1]
    rows = np.empty(first + len(orders), FLAT_ORDER)
    wholes(rows[:first])[:] = wholes(state.orders)[np.repeat(wanted, counts)]
    given, entering = wholes(orders), wholes(rows[first:])

    def copy_piece(piece: slice) -> None:
        entering[piece] = given[piece]

    in_pieces(copy_piece, len(orders), threads)
    return Loaded(books, number[book], offsets, rows)
