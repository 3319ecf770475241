"""A replayed day as the orders that would have caused it: matching them gives its trades again.

Market data say which order traded; orders leave that to the rules of a book. A row becomes:

| row | orders |
|---|---|
| add | a limit order, GTC |
| reduce | a modification to what is left open, or a cancellation |
| delete | a cancellation |
| execute | a limit order of the other side, IOC, at the price of the trade |
| replace | a cancellation and a limit order |
| change | a modification |
| hidden and auction trades, halts, and so on | nothing |

Executions that follow each other in a book, at one time and of one side, become one order.

A matching book would trade otherwise where an execution is off the front, off the best price, or
at another price than the order's, and where the order was never announced. There the orders that
stand before the maker are cancelled, the maker is entered alone at the price of the trade, the
incoming order comes, and all that was cancelled is entered again, in its old order. An order that
crosses the book in the data cannot rest in a matching book: it is kept back until it fits, and
trades as above.

The depth that a book opened with, whose orders are not known, is an order a level. Incoming orders
and these get ids from 2^63 on that no live order has.
"""

from collections import defaultdict
from dataclasses import asdict, dataclass, field

import numpy as np

from bookwarp.engines.replay_protocol import ReplayBooks
from bookwarp.io.order_writer import FIRST_OWN_ID, OrderWriter
from bookwarp.spec.codes import NO_PRICE, Side
from bookwarp.spec.market_data import EXECUTIONS, NO_BOOK, MarketEvent, MarketRows

_SIDES = (Side.BUY, Side.SELL)
Place = tuple[int, int, int]
"""Side, price and open quantity of an order."""


@dataclass
class OrderCounts:
    """What came of the rows."""

    orders: int = 0
    """Orders written."""
    trades: int = 0
    """Executions that the orders reproduce."""
    forced: int = 0
    """Those among them for which other orders had to make room."""
    left_out: int = 0
    """Executions of orders that were never announced, at a price that is not said."""
    kept_back: int = 0
    """Times that an order crossed the book, and was kept back."""


@dataclass
class _Held:
    """What a matching book holds otherwise than the replayed one."""

    kept_back: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Side and price of live orders that are not entered."""
    places: dict[tuple[int, int], set[int]] = field(default_factory=dict)
    """The same by side and price."""
    opening_ids: dict[tuple[int, int], int] = field(default_factory=dict)
    """Id of the order that stands for the opening depth of a side and price."""

    def keep(self, order_id: int, side: int, price: int) -> None:
        """Keep an order back."""
        self.kept_back[order_id] = (side, price)
        self.places.setdefault((side, price), set()).add(order_id)

    def release(self, order_id: int) -> None:
        """Keep an order back no more, if it was."""
        place = self.kept_back.pop(order_id, None)
        if place is not None:
            self.places[place].discard(order_id)
            if not self.places[place]:
                del self.places[place]


class OrdersExport:
    """Applies rows to replayed books and writes the orders that would have caused them.

    `apply` takes the place of `ReplayBooks.apply`; `take` then gives what was written.
    """

    def __init__(self) -> None:
        self.counts = OrderCounts()
        self._held: dict[int, _Held] = defaultdict(_Held)
        self._writer = OrderWriter()
        self._began = False

    def apply(self, books: ReplayBooks, rows: MarketRows, levels: np.ndarray) -> None:
        """Apply rows to `books`, filling `levels`, and write their orders."""
        first, count = 0, rows.row_count
        if count and not self._began:
            self._began = True
            self._writer.now = int(rows.time_ns[0])
            self._enter_opening(books)
        while first < count:
            stop = self._next_looked_at(rows, first)
            if stop == first:
                self._free_own_ids(books, rows, first)
            if stop == first and self._names_kept_back(rows, first):
                self._apply_odd(books, rows, levels, first)
                first += 1
                continue
            reached = books.apply(rows, levels, first, max(stop, first + 1), pause=True)
            if reached == first:
                self._apply_odd(books, rows, levels, first)
                first += 1
            else:
                self.counts.trades += self._writer.write_plain(rows.cut(first, reached))
                first = reached
                self._enter_fitting(books, int(rows.book[first - 1]))

    def take(self) -> tuple[np.ndarray, np.ndarray]:
        """Return what was written since the last call: `ORDER` [order], and int64 [order], ns."""
        orders, times = self._writer.take()
        self.counts.orders += len(orders)
        return orders, times

    def summary(self) -> dict[str, int]:
        """Return the counts by name."""
        return asdict(self.counts)

    def _next_looked_at(self, rows: MarketRows, first: int) -> int:
        """Return the next row of a book that keeps orders back, or that names an id of ours."""
        books = [index for index, held in self._held.items() if held.kept_back]
        own = [order_id for held in self._held.values() for order_id in held.opening_ids.values()]
        stop = rows.row_count
        if books:
            (found,) = np.nonzero(np.isin(rows.book[first:], books))
            stop = first + int(found[0]) if len(found) else stop
        if own and max(rows.order_id[first:].max(), rows.new_id[first:].max()) >= FIRST_OWN_ID:
            ids = np.array(own, np.uint64)
            named = np.isin(rows.order_id[first:], ids) | np.isin(rows.new_id[first:], ids)
            (found,) = np.nonzero(named)
            stop = min(stop, first + int(found[0])) if len(found) else stop
        return stop

    def _free_own_ids(self, books: ReplayBooks, rows: MarketRows, i: int) -> None:
        """Give opening depth another id where a row names its id as that of an order."""
        book, named = int(rows.book[i]), (int(rows.order_id[i]), int(rows.new_id[i]))
        self._writer.now = int(rows.time_ns[i])
        for place, order_id in tuple(self._held[book].opening_ids.items()):
            if order_id in named:
                free_id = self._writer.own_id({*named, *self._held[book].kept_back})
                self._cancel_level(books, book, *place)
                self._held[book].opening_ids[place] = free_id
                self._enter_level(books, book, *place)

    def _names_kept_back(self, rows: MarketRows, i: int) -> bool:
        kept = self._held[int(rows.book[i])].kept_back
        return int(rows.order_id[i]) in kept or int(rows.new_id[i]) in kept

    def _apply_odd(self, books: ReplayBooks, rows: MarketRows, levels: np.ndarray, i: int) -> None:
        """Apply a row that a matching book would see in another way."""
        book = int(rows.book[i])
        self._writer.now = int(rows.time_ns[i])
        if rows.event[i] in EXECUTIONS:
            self._force_trade(books, rows, levels, i)
        else:
            ids = dict.fromkeys((int(rows.order_id[i]), int(rows.new_id[i])))
            before = {each: find_order(books, book, each) for each in ids}
            books.apply(rows, levels, i, i + 1)
            added = added_id(rows, i)
            for each in ids:
                after = find_order(books, book, each)
                self._follow(books, book, each, before[each], after, each == added)
            self._follow_opening(books, book, int(rows.side[i]), int(rows.price[i]))
        self._enter_fitting(books, book)

    def _follow(
        self,
        books: ReplayBooks,
        book: int,
        order_id: int,
        before: Place | None,
        after: Place | None,
        added: bool,
    ) -> None:
        """Write what makes an order be as it is after a row that is no execution."""
        held = self._held[book]
        if before == after and not added:
            return
        entered = before is not None and order_id not in held.kept_back
        places = {None if each is None else each[:2] for each in (before, after)}
        if entered and after is not None and not added and len(places) == 1:
            self._writer.modify(book, order_id, *after[1:])
            return
        held.release(order_id)
        if entered:
            self._writer.cancel(book, order_id)
        if after is None:
            return
        if would_trade(books, book, *after[:2]):
            held.keep(order_id, *after[:2])
            self.counts.kept_back += 1
        else:
            self._writer.enter(book, order_id, *after)

    def _force_trade(
        self, books: ReplayBooks, rows: MarketRows, levels: np.ndarray, i: int
    ) -> None:
        """Make room so that the maker is the only order that the incoming one can meet."""
        book, maker, qty = int(rows.book[i]), int(rows.order_id[i]), int(rows.qty[i])
        place = find_order(books, book, maker)
        stated = (int(rows.side[i]), int(rows.price[i]), qty)
        side, price, open_qty = stated if place is None else place
        if qty < 1 or (place is None and (side == 0 or price == NO_PRICE)):
            books.apply(rows, levels, i, i + 1)
            self.counts.left_out += qty > 0
            return
        own_price = price
        if rows.event[i] == MarketEvent.EXECUTE_AT and rows.price[i] != NO_PRICE:
            price = int(rows.price[i])
        cleared = [
            (each, int(level))
            for each in _SIDES
            for level in books.depth(book, each)[:, 0].tolist()
            if in_the_way(each, level, side, price) or (each, level) == (side, own_price)
        ]
        for each in cleared:
            self._cancel_level(books, book, *each)
        self._writer.enter(book, maker, side, price, min(qty, open_qty))
        self._writer.take_from(book, side, price, min(qty, open_qty))
        books.apply(rows, levels, i, i + 1)
        for each in cleared:
            self._enter_level(books, book, *each)
            if opening_qty(books, book, *each) == 0:
                self._held[book].opening_ids.pop(each, None)
        if find_order(books, book, maker) is None:
            self._held[book].release(maker)
            self._writer.forget(maker)
        self.counts.trades += 1
        self.counts.forced += 1

    def _enter_fitting(self, books: ReplayBooks, book: int) -> None:
        """Enter the orders kept back that do not cross the book any more, at their old places."""
        if book == NO_BOOK or not self._held[book].places:
            return
        held = self._held[book]
        best = {int(side): books.depth(book, side)[:1, 0].tolist() for side in _SIDES}
        fitting = [at for at in held.places if not meets(*at, best[-at[0]])]
        for place in sorted(fitting):
            self._cancel_level(books, book, *place)
            for order_id in tuple(held.places[place]):
                held.release(order_id)
            self._enter_level(books, book, *place)

    def _level(self, books: ReplayBooks, book: int, side: int, price: int) -> list[tuple[int, int]]:
        """Return id and quantity of the orders that a matching book has at a price, in order."""
        held = self._held[book]
        found = []
        if (side, price) in held.opening_ids:
            qty = opening_qty(books, book, side, price)
            found = [(held.opening_ids[side, price], qty)] if qty else []
        orders = books.orders(book, side)
        for order_id, _, qty in orders[orders["price"] == price].tolist():
            if order_id not in held.kept_back:
                found.append((order_id, qty))
        return found

    def _cancel_level(self, books: ReplayBooks, book: int, side: int, price: int) -> None:
        for order_id, _ in self._level(books, book, side, price):
            self._writer.cancel(book, order_id)

    def _enter_level(self, books: ReplayBooks, book: int, side: int, price: int) -> None:
        for order_id, qty in self._level(books, book, side, price):
            self._writer.enter(book, order_id, side, price, qty)

    def _enter_opening(self, books: ReplayBooks) -> None:
        """Enter an order for each level of the depth that the book opened with."""
        for side in _SIDES:
            for price, qty in books.opening_depth(0, side).tolist():
                order_id = self._writer.own_id()
                self._held[0].opening_ids[side, price] = order_id
                self._writer.enter(0, order_id, side, price, qty)

    def _follow_opening(self, books: ReplayBooks, book: int, side: int, price: int) -> None:
        """Write what a row that is no execution took from the opening depth, if anything."""
        order_id = self._held[book].opening_ids.get((side, price))
        if order_id is None:
            return
        qty = opening_qty(books, book, side, price)
        if qty:
            self._writer.modify(book, order_id, price, qty)
        else:
            self._writer.cancel(book, order_id)
            del self._held[book].opening_ids[side, price]


def added_id(rows: MarketRows, i: int) -> int | None:
    """Return the id of the order that a row added, or let go to the end; None if there is none."""
    if rows.open_qty[i] == 0 or rows.event[i] not in (MarketEvent.ADD, MarketEvent.REPLACE):
        return None
    replaced = rows.event[i] == MarketEvent.REPLACE
    return int(rows.new_id[i] if replaced else rows.order_id[i])


def find_order(books: ReplayBooks, book: int, order_id: int) -> Place | None:
    """Return side, price and open quantity of an order; None if it is not live."""
    for side in _SIDES:
        orders = books.orders(book, side)
        (found,) = np.nonzero(orders["order_id"] == np.uint64(order_id))
        if len(found):
            order = orders[found[0]]
            return int(side), int(order["price"]), int(order["qty"])
    return None


def opening_qty(books: ReplayBooks, book: int, side: int, price: int) -> int:
    """Return what is left of the opening depth at a price."""
    depth = books.opening_depth(book, side)
    return int(depth[depth[:, 0] == price, 1].sum())


def would_trade(books: ReplayBooks, book: int, side: int, price: int) -> bool:
    """Say whether a limit order would trade with the other side of the replayed book."""
    return meets(side, price, books.depth(book, -side)[:1, 0].tolist())


def meets(side: int, price: int, opposite: list[int]) -> bool:
    """Say whether a limit order meets the best opposite price, given in a list, empty if none."""
    if not opposite:
        return False
    return price >= opposite[0] if side == Side.BUY else price <= opposite[0]


def in_the_way(side: int, price: int, maker_side: int, maker_price: int) -> bool:
    """Say whether what rests at a price would trade before, or with, a maker at its price."""
    at_or_below = price <= maker_price
    at_or_above = price >= maker_price
    if maker_side == Side.BUY:
        return at_or_above if side == Side.BUY else at_or_below
    return at_or_below if side == Side.SELL else at_or_above
