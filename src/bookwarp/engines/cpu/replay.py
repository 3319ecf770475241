"""Books that market data are applied to, by compiled kernels; twin of the reference's."""

import numpy as np

from bookwarp.engines.cpu.replay_kernel import add_depth, apply_rows, enter_all, list_orders
from bookwarp.engines.cpu.replay_layout import allocate_books
from bookwarp.engines.cpu.replay_room import make_room
from bookwarp.spec.codes import Side
from bookwarp.spec.events import LEVEL_COLUMNS
from bookwarp.spec.market_data import RESTING_ORDER, MarketRows, allocate_rows

_FIRST_ORDERS = 1024
_NO_LEVELS = np.zeros((0, 1, len(LEVEL_COLUMNS)), np.int64)


class ReplayBooks:
    """Books that market data are applied to, each by its index.

    Args:
        ids_grow: whether the venue gives out rising ids, so that a lower one is an older order.
    """

    def __init__(self, ids_grow: bool = True) -> None:
        self._ids_grow = bool(ids_grow)
        self._books = allocate_books()
        # No rows, so that all is compiled before the first come.
        apply_rows(self._books, allocate_rows(0), _NO_LEVELS, 0, 0, self._ids_grow, False)
        enter_all(self._books)
        add_depth(self._books, 0, np.zeros(0, np.int64), np.zeros(0, np.int64))

    def open_depth(self, book: int, side: int, price: int, qty: int) -> None:
        """Add depth whose orders are not known, as a snapshot shows it."""
        self._books = make_room(self._books, book + 1, 1)
        key = np.array([price if side == Side.BUY else ~price], np.int64)
        add_depth(self._books, _side(book, side), key, np.array([qty], np.int64))

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

        Raises:
            MemoryError: more orders or levels are live than an index of 32 bits can name.
        """
        if first >= stop:
            return stop
        book_count = int(rows.book[first:stop].max()) + 1
        self._books = make_room(self._books, book_count, stop - first)
        return int(apply_rows(self._books, rows, levels, first, stop, self._ids_grow, pause))

    def depth(self, book: int, side: int) -> np.ndarray:
        """Return price and quantity of every level of a side, int64 [level, 2], best first."""
        return self._depth(book, side, "qty")

    def opening_depth(self, book: int, side: int) -> np.ndarray:
        """Return what is left of the opening depth of a side, int64 [level, 2], best first."""
        found = self._depth(book, side, "opening_qty")
        return found[found[:, 1] > 0]

    def orders(self, book: int, side: int) -> np.ndarray:
        """Return the live orders of a side, `RESTING_ORDER` [order], in the order of priority."""
        self._books = make_room(self._books, book + 1, 0)
        found = np.zeros(_FIRST_ORDERS, RESTING_ORDER)
        count = list_orders(self._books, _side(book, side), found)
        if count > len(found):
            found = np.zeros(count, RESTING_ORDER)
            list_orders(self._books, _side(book, side), found)
        return found[:count]

    def _depth(self, book: int, side: int, name: str) -> np.ndarray:
        self._books = make_room(self._books, book + 1, 0)
        part = self._books.sides[_side(book, side)]
        held = slice(int(part["start"]), int(part["start"]) + int(part["count"]))
        keys = self._books.keys[held][::-1]
        qty = self._books.levels[name][self._books.nodes[held][::-1]]
        return np.stack([keys if side == Side.BUY else ~keys, qty], axis=1)


def _side(book: int, side: int) -> int:
    return 2 * book + (0 if side == Side.BUY else 1)
