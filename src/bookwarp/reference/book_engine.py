"""The reference engine for continuous books: one message after the other, in plain Python."""

from collections import defaultdict
from itertools import islice

import numpy as np

from bookwarp.reference.book import Book, Order
from bookwarp.reference.matching import Message, apply_message
from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.book_state import RESTING, BookState
from bookwarp.spec.codes import NO_PRICE, Side
from bookwarp.spec.events import EVENT, LEVEL_COLUMNS, Counter, Flag, Matched


class ReferenceBookEngine:
    """The specification, executable; implements `bookwarp.engines.book_protocol.BookEngine`."""

    def __init__(self, rules: BookRules, books: int, threads: int | None = None) -> None:
        """Hold `books` empty books; `threads` makes no difference here."""
        self._rules = rules
        self._count = books
        # A book is made when its first message comes.
        self._books: dict[int, Book] = defaultdict(Book)

    def match(
        self,
        orders: np.ndarray,
        owners: np.ndarray | None,
        *,
        events: bool = True,
        levels: int = 0,
    ) -> Matched:
        """Match one batch."""
        happened: dict[int, list[tuple[int, ...]]] = defaultdict(list)
        depth = np.zeros((len(orders), levels, len(LEVEL_COLUMNS)), np.int64) if levels else None
        whose = [0] * len(orders) if owners is None else owners.tolist()
        for index, (row, owner) in enumerate(zip(orders.tolist(), whose, strict=True)):
            order_id, price, qty, number, op, side, kind, tif = row
            book = self._books[number]
            message = Message(op, order_id, side, kind, tif, price, qty, owner)
            for event in apply_message(book, self._rules, message):
                if events:
                    happened[number].append(
                        (
                            *(event.order_id, event.price, event.qty, index),
                            *(event.type, event.side, event.reason, op),
                        )
                    )
            if depth is not None:
                depth[index] = book_levels(book, levels)
        if not events:
            return Matched(None, None, depth)
        numbers = sorted(happened)
        counts = np.zeros(self._count, np.int64)
        counts[numbers] = [len(happened[number]) for number in numbers]
        rows = [event for number in numbers for event in happened[number]]
        return Matched(np.array(rows, EVENT), _offsets(counts), depth)

    def read_state(self) -> BookState:
        """Return a copy of the state."""
        counts = np.zeros(self._count, np.int64)
        counters = np.zeros((self._count, len(Counter)), np.int64)
        flags = np.zeros(self._count, np.uint32)
        rows: list[tuple[int, ...]] = []
        for number in sorted(self._books):
            book = self._books[number]
            counts[number] = len(book.live)
            counters[number] = list(book.counters.values())
            flags[number] = book.flags
            for side in (Side.BUY, Side.SELL):
                rows += [self._resting(number, order) for order in book.sides[side].orders()]
        return BookState(np.array(rows, RESTING), _offsets(counts), counters, flags)

    def _resting(self, number: int, order: Order) -> tuple[int, ...]:
        assert order.price is not None
        filled = order.filled if self._rules.tracks_filled else 0
        return (
            *(order.order_id, order.price, order.qty, filled, order.owner),
            *(number, order.side, order.tif, 0),
        )

    def write_state(self, state: BookState) -> None:
        """Continue from a copy of `state`."""
        self._books.clear()
        for number in range(self._count):
            if state.counters[number].any() or state.flags[number]:
                book = self._books[number]
                book.counters = dict(enumerate(state.counters[number].tolist()))
                book.flags = Flag(int(state.flags[number]))
        for row in state.orders.tolist():
            order_id, price, qty, filled, owner, number, side, tif, _ = row
            order = Order(order_id, side, price, qty, tif, owner, filled)
            self._books[number].add(order)


def book_levels(book: Book, levels: int) -> np.ndarray:
    """Return the best prices of a book and what rests there. int64 [level, `LEVEL_COLUMNS`]."""
    found = np.zeros((levels, len(LEVEL_COLUMNS)), np.int64)
    found[:, 0::2] = NO_PRICE
    for column, side in ((0, book.sides[Side.SELL]), (2, book.sides[Side.BUY])):
        for level, price in enumerate(islice(side.prices(), levels)):
            found[level, column : column + 2] = price, side.lots(price)
    return found


def _offsets(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
