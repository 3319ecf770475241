"""Market data applied to books, one rule a function: the books as the data say that they were."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from bookwarp.spec.book_rules import INT64_MAX
from bookwarp.spec.codes import NO_PRICE, Side
from bookwarp.spec.events import LEVEL_COLUMNS
from bookwarp.spec.market_data import (
    EXECUTIONS,
    NO_BOOK,
    RESTING_ORDER,
    TAKES_FROM_ORDER,
    MarketEvent,
    MarketRows,
    Oddity,
)

_OF_ITSELF = {
    MarketEvent.HIDDEN: Oddity.HIDDEN,
    MarketEvent.CROSS: Oddity.CROSS,
    MarketEvent.BROKEN: Oddity.BROKEN,
    MarketEvent.HALT: Oddity.HALT,
}
_UNKNOWN = {
    MarketEvent.REDUCE: Oddity.UNKNOWN_REDUCE,
    MarketEvent.DELETE: Oddity.UNKNOWN_DELETE,
    MarketEvent.EXECUTE: Oddity.UNKNOWN_EXECUTE,
    MarketEvent.EXECUTE_AT: Oddity.UNKNOWN_EXECUTE,
    MarketEvent.REPLACE: Oddity.UNKNOWN_REPLACE,
    MarketEvent.CHANGE: Oddity.UNKNOWN_CHANGE,
}
NOTHING = Oddity(0)


class Row(NamedTuple):
    """A row of market data in Python's own numbers."""

    event: MarketEvent
    order_id: int
    new_id: int
    side: int
    price: int
    qty: int


class Applied(NamedTuple):
    """What a row comes to: what it left to the order that it names is filled in."""

    side: int
    price: int
    qty: int
    open_qty: int
    oddity: Oddity
    old_price: int = 0
    old_qty: int = 0


@dataclass
class Level:
    """What rests at a price."""

    queue: dict[int, int] = field(default_factory=dict)
    """Open quantity by id, in the order of arrival."""
    opening_qty: int = 0
    """Depth that the book opened with, whose orders are not known."""

    @property
    def qty(self) -> int:
        """All that rests here."""
        return sum(self.queue.values()) + self.opening_qty


@dataclass
class Book:
    """The book of one symbol."""

    levels: dict[int, dict[int, Level]] = field(
        default_factory=lambda: {Side.BUY: {}, Side.SELL: {}}
    )
    """By side and price; a level at which nothing rests is not here."""
    places: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Side and price of every live order."""
    highest_id: int = 0
    """Highest id that was ever added."""

    def level_of(self, order_id: int) -> Level:
        """Return the level at which a live order rests."""
        side, price = self.places[order_id]
        return self.levels[side][price]

    def best(self, side: int) -> int | None:
        """Return the best price of a side; None if it is empty."""
        prices = self.levels[side]
        if not prices:
            return None
        return max(prices) if side == Side.BUY else min(prices)

    def prices(self, side: int) -> list[int]:
        """Return the prices of a side, best first."""
        return sorted(self.levels[side], reverse=side == Side.BUY)


class ReplayBooks:
    """Books that market data are applied to, each by its index.

    Args:
        ids_grow: whether the venue gives out rising ids, so that a lower one is an older order.
    """

    def __init__(self, ids_grow: bool = True) -> None:
        self._ids_grow = ids_grow
        self._books: dict[int, Book] = {}

    def open_depth(self, book: int, side: int, price: int, qty: int) -> None:
        """Add depth whose orders are not known, as a snapshot shows it."""
        levels = self._book(book).levels[side]
        levels.setdefault(price, Level()).opening_qty += qty

    def apply(
        self,
        rows: MarketRows,
        levels: np.ndarray,
        first: int,
        stop: int,
        pause: bool = False,
    ) -> int:
        """Apply the rows `first` .. `stop`, half-open.

        Args:
            rows: market data; what a row left to the order it names is filled in.
            levels: int64 [row, level, LEVEL_COLUMNS], filled with the row's book after it.
            first, stop: the rows to apply.
            pause: whether to end before a row that a matching book would see in another way.

        Returns:
            The row that comes next: `stop`, or that before which it paused.
        """
        for i in range(first, stop):
            index = int(rows.book[i])
            if index == NO_BOOK:
                levels[i] = [NO_PRICE, 0, NO_PRICE, 0]
                continue
            book = self._book(index)
            row = Row(MarketEvent(rows.event[i]), *(int(column[i]) for column in rows[4:9]))
            if pause and not is_matched_alike(book, row):
                return i
            before = Oddity(int(rows.oddity[i]))
            done = self._apply_row(book, row)
            rows.side[i], rows.price[i] = done.side, done.price
            rows.qty[i], rows.open_qty[i] = done.qty, done.open_qty
            rows.old_price[i], rows.old_qty[i] = done.old_price, done.old_qty
            rows.oddity[i] = before | done.oddity | find_crossing(book)
            levels[i] = read_levels(book, levels.shape[1])
        return stop

    def depth(self, book: int, side: int) -> np.ndarray:
        """Return price and quantity of every level of a side, int64 [level, 2], best first."""
        held = self._book(book)
        pairs = [(price, held.levels[side][price].qty) for price in held.prices(side)]
        return np.array(pairs, np.int64).reshape(-1, 2)

    def opening_depth(self, book: int, side: int) -> np.ndarray:
        """Return what is left of the opening depth of a side, int64 [level, 2], best first."""
        held = self._book(book)
        found = [(price, held.levels[side][price].opening_qty) for price in held.prices(side)]
        return np.array([pair for pair in found if pair[1]], np.int64).reshape(-1, 2)

    def orders(self, book: int, side: int) -> np.ndarray:
        """Return the live orders of a side, `RESTING_ORDER` [order], in the order of priority."""
        held = self._book(book)
        found = [
            (order_id, price, qty)
            for price in held.prices(side)
            for order_id, qty in held.levels[side][price].queue.items()
        ]
        return np.array(found, RESTING_ORDER)

    def _book(self, index: int) -> Book:
        return self._books.setdefault(index, Book())

    def _apply_row(self, book: Book, row: Row) -> Applied:
        if row.event in TAKES_FROM_ORDER:
            return take(book, row, self._ids_grow)
        if row.event is MarketEvent.ADD:
            return add(book, row, row.order_id, self._ids_grow)
        if row.event is MarketEvent.REPLACE:
            return replace(book, row, self._ids_grow)
        if row.event is MarketEvent.CHANGE:
            return change(book, row, self._ids_grow)
        return Applied(row.side, row.price, row.qty, 0, _OF_ITSELF.get(row.event, NOTHING))


def add(book: Book, row: Row, order_id: int, ids_grow: bool) -> Applied:
    """Let an order rest at the end of its queue."""
    refused = Applied(row.side, row.price, row.qty, 0, Oddity.BAD_QTY)
    if row.qty < 1 or row.price == NO_PRICE or row.side not in (Side.BUY, Side.SELL):
        return refused
    oddity = NOTHING
    if order_id in book.places:
        remove(book, order_id)
        oddity |= Oddity.DUPLICATE_ID
    level = book.levels[row.side].get(row.price, Level())
    if level.qty > INT64_MAX - row.qty:
        return refused._replace(oddity=oddity | Oddity.BAD_QTY)
    level.queue[order_id] = row.qty
    book.levels[row.side][row.price] = level
    book.places[order_id] = (row.side, row.price)
    if ids_grow and order_id < book.highest_id:
        oddity |= Oddity.OLD_ORDER
    book.highest_id = max(book.highest_id, order_id)
    return Applied(row.side, row.price, row.qty, row.qty, oddity)


def take(book: Book, row: Row, ids_grow: bool) -> Applied:
    """Take from an order what was cancelled or executed of it; all if it is deleted."""
    whole = row.event is MarketEvent.DELETE
    if row.qty < (0 if whole else 1):
        return Applied(row.side, row.price, row.qty, 0, Oddity.BAD_QTY)
    if row.order_id not in book.places:
        return take_unknown(book, row)
    oddity = find_wrong_place(book, row)
    if row.event in EXECUTIONS:
        oddity |= find_priority(book, row.order_id, ids_grow)
    side, price = book.places[row.order_id]
    queue = book.levels[side][price].queue
    open_qty = queue[row.order_id]
    if whole and row.qty not in (0, open_qty):
        oddity |= Oddity.WRONG_QTY
    if not whole and row.qty > open_qty:
        oddity |= Oddity.TOO_MUCH
    taken = open_qty if whole else min(row.qty, open_qty)
    queue[row.order_id] -= taken
    if taken == open_qty:
        remove(book, row.order_id)
    return Applied(side, traded_price(row, price), taken, open_qty - taken, oddity)


def take_unknown(book: Book, row: Row) -> Applied:
    """Take from the opening depth what an order that was never announced is said to lose."""
    oddity = _UNKNOWN[row.event]
    level = book.levels.get(row.side, {}).get(row.price)
    if level is not None and level.opening_qty and row.qty:
        oddity |= Oddity.OPENING_DEPTH
        if row.qty > level.opening_qty:
            oddity |= Oddity.TOO_MUCH
        level.opening_qty -= min(row.qty, level.opening_qty)
        drop_empty_level(book, row.side, row.price)
    return Applied(row.side, row.price, row.qty, 0, oddity)


def replace(book: Book, row: Row, ids_grow: bool) -> Applied:
    """Let a new order take over the side of one that leaves."""
    if row.order_id not in book.places:
        return add_unknown(book, row, row.new_id, ids_grow)
    side, price = book.places[row.order_id]
    open_qty = book.levels[side][price].queue[row.order_id]
    oddity = Oddity.WRONG_PRICE if row.side not in (0, side) else NOTHING
    remove(book, row.order_id)
    done = add(book, row._replace(side=side), row.new_id, ids_grow)
    return done._replace(oddity=done.oddity | oddity, old_price=price, old_qty=open_qty)


def change(book: Book, row: Row, ids_grow: bool) -> Applied:
    """Set what is open of an order; it keeps its place if that is not more, at the same price."""
    if row.qty < 1:
        return Applied(row.side, row.price, row.qty, 0, Oddity.BAD_QTY)
    if row.order_id not in book.places:
        return add_unknown(book, row, row.order_id, ids_grow)
    side, price = book.places[row.order_id]
    oddity = Oddity.WRONG_PRICE if row.side not in (0, side) else NOTHING
    wanted = price if row.price == NO_PRICE else row.price
    queue = book.levels[side][price].queue
    open_qty = queue[row.order_id]
    if wanted == price and row.qty <= open_qty:
        queue[row.order_id] = row.qty
        return Applied(side, price, row.qty, row.qty, oddity, price, open_qty)
    remove(book, row.order_id)
    done = add(book, row._replace(side=side, price=wanted), row.order_id, False)
    return done._replace(oddity=done.oddity | oddity, old_price=price, old_qty=open_qty)


def add_unknown(book: Book, row: Row, order_id: int, ids_grow: bool) -> Applied:
    """Add the order that a row leaves behind, though not known before, if the row says enough."""
    if row.side == 0 or row.price == NO_PRICE:
        return Applied(row.side, row.price, row.qty, 0, _UNKNOWN[row.event])
    done = add(book, row, order_id, ids_grow)
    return done._replace(oddity=done.oddity | _UNKNOWN[row.event])


def remove(book: Book, order_id: int) -> None:
    """Take an order out of its book."""
    side, price = book.places.pop(order_id)
    del book.levels[side][price].queue[order_id]
    drop_empty_level(book, side, price)


def drop_empty_level(book: Book, side: int, price: int) -> None:
    """Forget a level at which nothing rests any more."""
    level = book.levels[side][price]
    if not level.queue and not level.opening_qty:
        del book.levels[side][price]


def traded_price(row: Row, own_price: int) -> int:
    """Return the price that a row says an order traded at; its own if it does not say."""
    says = row.event is MarketEvent.EXECUTE_AT and row.price != NO_PRICE
    return row.price if says else own_price


def find_wrong_place(book: Book, row: Row) -> Oddity:
    """Say whether a row gives an order another side or price than it has."""
    side, price = book.places[row.order_id]
    wrong_side = row.side not in (0, side)
    may_differ = row.event is MarketEvent.EXECUTE_AT
    wrong_price = row.price not in (NO_PRICE, price) and not may_differ
    return Oddity.WRONG_PRICE if wrong_side or wrong_price else NOTHING


def find_priority(book: Book, order_id: int, ids_grow: bool) -> Oddity:
    """Say how an order that is executed stands apart from the one whose turn it was."""
    side, price = book.places[order_id]
    queue = book.level_of(order_id).queue
    oddity = NOTHING
    if next(iter(queue)) != order_id:
        oddity |= Oddity.OFF_FRONT
    if ids_grow and min(queue) != order_id:
        oddity |= Oddity.OFF_FRONT_BY_ID
    if book.best(side) != price:
        oddity |= Oddity.OFF_BEST
    return oddity


def find_crossing(book: Book) -> Oddity:
    """Say whether the best prices meet."""
    bid, ask = book.best(Side.BUY), book.best(Side.SELL)
    if bid is None or ask is None or bid < ask:
        return NOTHING
    return Oddity.CROSSED if bid > ask else Oddity.LOCKED


def is_matched_alike(book: Book, row: Row) -> bool:
    """Say whether orders that stand for a row do in a matching book what the row says."""
    known = row.order_id in book.places
    if row.event is MarketEvent.ADD:
        return not known and not would_trade(book, row.side, row.price)
    if row.event in (MarketEvent.REPLACE, MarketEvent.CHANGE):
        return known and _is_plain_move(book, row)
    if row.event in TAKES_FROM_ORDER and not known:
        return False
    if row.event in EXECUTIONS:
        _, price = book.places[row.order_id]
        odd = find_priority(book, row.order_id, False) is not NOTHING
        return (
            not odd
            and not book.level_of(row.order_id).opening_qty
            and traded_price(row, price) == price
        )
    return True


def _is_plain_move(book: Book, row: Row) -> bool:
    side, price = book.places[row.order_id]
    if row.event is MarketEvent.REPLACE:
        doubled = row.new_id != row.order_id and row.new_id in book.places
        return not doubled and not would_trade(book, side, row.price)
    return not would_trade(book, side, price if row.price == NO_PRICE else row.price)


def would_trade(book: Book, side: int, price: int) -> bool:
    """Say whether a limit order would trade in a matching book."""
    opposite = book.best(-side) if side in (Side.BUY, Side.SELL) else None
    if opposite is None:
        return False
    return price >= opposite if side == Side.BUY else price <= opposite


def read_levels(book: Book, count: int) -> np.ndarray:
    """Return the best levels of both sides, int64 [level, LEVEL_COLUMNS]."""
    found = np.zeros((count, len(LEVEL_COLUMNS)), np.int64)
    found[:, ::2] = NO_PRICE
    for column, side in ((0, Side.SELL), (2, Side.BUY)):
        for level, price in enumerate(book.prices(side)[:count]):
            found[level, column : column + 2] = price, book.levels[side][price].qty
    return found
