"""Writes orders one by one, or for many rows of market data at a time."""

from collections.abc import Collection

import numpy as np

from bookwarp.spec.errors import ParameterError
from bookwarp.spec.market_data import EXECUTIONS, NO_BOOK, MarketEvent, MarketRows, Oddity
from bookwarp.spec.orders import ORDER, Kind, Op, TimeInForce

FIRST_OWN_ID = 2**63
_BAD_QTY = np.uint32(Oddity.BAD_QTY)
_ADD, _REDUCE, _DELETE = MarketEvent.ADD, MarketEvent.REDUCE, MarketEvent.DELETE
_REPLACE, _CHANGE = MarketEvent.REPLACE, MarketEvent.CHANGE
# Orders that a row of an event becomes; of executions, only the first of a run becomes one.
_ORDERS_A_ROW = np.zeros(len(MarketEvent), np.int64)
_ORDERS_A_ROW[[_ADD, _REDUCE, _DELETE, *EXECUTIONS, _CHANGE]] = 1
_ORDERS_A_ROW[_REPLACE] = 2


class OrderWriter:
    """Collects orders and their times, and gives out ids that no live order of the data has."""

    def __init__(self) -> None:
        self.now = 0
        """Time of the orders that are written one by one [ns]."""
        self._next_id = FIRST_OWN_ID
        self._live_high: set[int] = set()
        self._single: list[tuple[int, ...]] = []
        self._written: list[tuple[np.ndarray, np.ndarray]] = []

    def enter(self, book: int, order_id: int, side: int, price: int, qty: int) -> None:
        """Write a limit order that rests."""
        if order_id >= FIRST_OWN_ID:
            self._live_high.add(order_id)
        self._add(order_id, price, qty, book, Op.NEW, side, TimeInForce.GTC)

    def take_from(self, book: int, side: int, price: int, qty: int) -> None:
        """Write the order that trades with what rests on a side, and does not rest itself."""
        self._add(self.own_id(), price, qty, book, Op.NEW, -side, TimeInForce.IOC)

    def modify(self, book: int, order_id: int, price: int, qty: int) -> None:
        """Write that an order has another price or open quantity."""
        self._add(order_id, price, qty, book, Op.MODIFY, 0, TimeInForce.GTC)

    def cancel(self, book: int, order_id: int) -> None:
        """Write that an order is cancelled."""
        self._live_high.discard(order_id)
        self._add(order_id, 0, 0, book, Op.CANCEL, 0, TimeInForce.GTC)

    def forget(self, order_id: int) -> None:
        """Note that an order has traded whole."""
        self._live_high.discard(order_id)

    def own_id(self, taken: Collection[int] = ()) -> int:
        """Return an id that no live order has, and none of those that are `taken`."""
        while self._next_id in self._live_high or self._next_id in taken:
            self._next_id += 1
        if self._next_id >= 2**64:
            raise ParameterError("there are no ids left for incoming orders: they begin at 2^63")
        self._next_id += 1
        return self._next_id - 1

    def take(self) -> tuple[np.ndarray, np.ndarray]:
        """Return what was written since the last call: `ORDER` [order], and int64 [order], ns."""
        self._flush()
        written, self._written = self._written, []
        if not written:
            return np.zeros(0, ORDER), np.zeros(0, np.int64)
        orders, times = zip(*written, strict=True)
        return np.concatenate(orders), np.concatenate(times)

    def write_plain(self, rows: MarketRows) -> int:
        """Write the orders of applied rows that a matching book sees as they are.

        Returns:
            How many of the rows are executions.
        """
        self._flush()
        seen = (_ORDERS_A_ROW[rows.event] > 0) & (rows.book != NO_BOOK)
        # What was refused became nothing; but an order that it was to replace has left.
        (chosen,) = np.nonzero(seen & ((rows.oddity & _BAD_QTY == 0) | (rows.old_qty > 0)))
        rows = MarketRows(*(column[chosen] for column in rows))
        busy = self._live_high | self._note_high(rows)
        executed = np.isin(rows.event, EXECUTIONS)
        run = self._runs(rows, executed)
        starts = ~executed
        starts[np.unique(run[executed], return_index=False)] = True
        lots, worst = self._totals(rows, executed, run)
        counts = np.where(starts, _ORDERS_A_ROW[rows.event], 0)
        counts[rows.oddity & _BAD_QTY != 0] = 1
        order = np.repeat(np.arange(len(chosen)), counts)
        orders = self._orders(rows, executed, lots, worst)[order]
        second = np.flatnonzero(np.diff(order, prepend=-1) == 0)  # what replaces
        orders["order_id"][second] = rows.new_id[order[second]]
        orders["op"][second] = Op.NEW
        incoming = np.flatnonzero(executed[order])
        orders["order_id"][incoming] = self._own_ids(len(incoming), busy)
        self._written.append((orders, rows.time_ns[order]))
        return int(np.count_nonzero(executed))

    def _add(
        self, order_id: int, price: int, qty: int, book: int, op: int, side: int, tif: int
    ) -> None:
        kind = Kind.LIMIT
        self._single.append((order_id, price, qty, book, op, side, kind, tif, self.now))

    def _flush(self) -> None:
        """Move what was written one by one behind the rest."""
        if self._single:
            orders = np.array([each[:-1] for each in self._single], ORDER)
            self._written.append((orders, np.array([each[-1] for each in self._single], np.int64)))
            self._single = []

    def _own_ids(self, count: int, busy: Collection[int]) -> np.ndarray:
        """Return ids for incoming orders, none of which is `busy`."""
        if busy or self._next_id + count > 2**64:
            return np.array([self.own_id(busy) for _ in range(count)], np.uint64)
        ids = np.arange(count, dtype=np.uint64) + np.uint64(self._next_id)
        self._next_id += count
        return ids

    def _note_high(self, rows: MarketRows) -> set[int]:
        """Remember the live orders of the data whose ids could be taken for own ones.

        Returns:
            The ids of all of them that rows name.
        """
        (high,) = np.nonzero((rows.order_id | rows.new_id) >= np.uint64(FIRST_OWN_ID))
        named = {*rows.order_id[high].tolist(), *rows.new_id[high].tolist()}
        for i in high.tolist():
            replaced = rows.event[i] == _REPLACE
            if replaced or not rows.open_qty[i]:
                self._live_high.discard(int(rows.order_id[i]))
            if rows.open_qty[i]:
                self._live_high.add(int(rows.new_id[i] if replaced else rows.order_id[i]))
        return named

    @staticmethod
    def _runs(rows: MarketRows, executed: np.ndarray) -> np.ndarray:
        """Return the first row of the run that each execution belongs to. int64 [row].

        A run are executions of one book, time and side with no other row of the book between.
        """
        by_book = np.argsort(rows.book, kind="stable")
        same = executed[by_book].copy()
        for column in (rows.book, rows.time_ns, rows.side):
            values = column[by_book]
            same[1:] &= values[1:] == values[:-1]
        same[1:] &= executed[by_book][:-1]
        same[:1] = False
        first = np.maximum.accumulate(np.where(same, 0, np.arange(len(same))))
        run = np.empty(len(same), np.int64)
        run[by_book] = by_book[first]
        return run

    @staticmethod
    def _totals(
        rows: MarketRows, executed: np.ndarray, run: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the quantity and the last price of the run that starts at each row."""
        lots = np.zeros(rows.row_count, np.int64)
        worst = np.zeros(rows.row_count, np.int64)
        np.add.at(lots, run[executed], rows.qty[executed])
        worst[run[executed]] = rows.price[executed]  # the last one assigned is the last row's
        return lots, worst

    @staticmethod
    def _orders(
        rows: MarketRows, executed: np.ndarray, lots: np.ndarray, worst: np.ndarray
    ) -> np.ndarray:
        """Return the order that each row becomes; of a replacement, the cancellation."""
        orders = np.zeros(rows.row_count, ORDER)
        orders["order_id"], orders["book"] = rows.order_id, rows.book
        orders["price"] = np.where(executed, worst, rows.price)
        reduced = rows.event == _REDUCE
        orders["qty"] = np.where(executed, lots, np.where(reduced, rows.open_qty, rows.qty))
        orders["side"] = np.where(executed, -rows.side, rows.side)
        orders["tif"] = np.where(executed, TimeInForce.IOC, TimeInForce.GTC)
        modified = ((rows.event == _CHANGE) | reduced) & (rows.open_qty > 0)
        entered = executed | (rows.event == _ADD)
        orders["op"] = np.where(entered, Op.NEW, np.where(modified, Op.MODIFY, Op.CANCEL))
        return orders
