"""What the picture of a day is drawn from, gathered in one pass, in memory that does not grow.

Time is cut in cells; a book is kept at the end of each in which something happened. When there are
too many, cells are made twice as wide.
"""

from collections import defaultdict
from collections.abc import Callable

import numpy as np

from bookwarp.engines.replay_protocol import ReplayBooks
from bookwarp.spec.codes import Side
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.market_data import EXECUTIONS, NO_BOOK, MarketEvent, MarketRows, Oddity

_FIRST_CELL_NS = 1_000_000
_MOST_CELLS = 1600
_MOST_LEVELS = 1000
_LEFT_OUT = np.uint32(Oddity.BAD_QTY | Oddity.UNPRINTED)


class DayCanvas:
    """Gathers depth and trades of one symbol while it is replayed.

    `apply` takes the place of what applies rows to books, and calls it piece by piece.
    """

    def __init__(self) -> None:
        self.cell_ns = _FIRST_CELL_NS
        """Width of a cell of time [ns]."""
        self.depths: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        """Depth of the bids and of the asks, int64 [level, 2], at the end of a cell."""
        self.trades: dict[tuple[int, int, int], int] = defaultdict(int)
        """Lots by cell, price, and side of the incoming order; 0: of a hidden order."""
        self.book: int | None = None

    def apply(
        self,
        books: ReplayBooks,
        rows: MarketRows,
        levels: np.ndarray,
        apply: Callable[[ReplayBooks, MarketRows, np.ndarray], None],
    ) -> None:
        """Apply rows by `apply`, and look at the book whenever a cell of time is over.

        Raises:
            ParameterError: there are rows of a second symbol.
        """
        self._check_book(rows)
        first, count = 0, rows.row_count
        cells = np.maximum.accumulate(rows.time_ns) // self.cell_ns
        while first < count:
            stop = first + int(np.searchsorted(cells[first:], cells[first], "right"))
            apply(books, rows.cut(first, stop), levels[first:stop])
            self._look(books, int(cells[first]))
            if len(self.depths) > _MOST_CELLS:
                self._widen()
                cells //= 2
            first = stop
        self._add_trades(rows, cells)

    def _check_book(self, rows: MarketRows) -> None:
        for book in np.unique(rows.book[rows.book != NO_BOOK]).tolist():
            if self.book not in (None, book):
                raise ParameterError(
                    "a picture shows one symbol, and there are rows of more: name one in symbols"
                )
            self.book = book

    def _look(self, books: ReplayBooks, cell: int) -> None:
        if self.book is not None:
            bids, asks = (books.depth(self.book, side) for side in (Side.BUY, Side.SELL))
            self.depths[cell] = bids[:_MOST_LEVELS].copy(), asks[:_MOST_LEVELS].copy()

    def _add_trades(self, rows: MarketRows, cells: np.ndarray) -> None:
        hidden = rows.event == MarketEvent.HIDDEN
        traded = (np.isin(rows.event, EXECUTIONS) | hidden) & (rows.oddity & _LEFT_OUT == 0)
        sides = np.where(hidden, 0, -rows.side.astype(np.int64))
        for i in np.flatnonzero(traded).tolist():
            key = int(cells[i]), int(rows.price[i]), int(sides[i])
            self.trades[key] += int(rows.qty[i])

    def _widen(self) -> None:
        """Make cells twice as wide; of two that become one, the later book is kept."""
        self.cell_ns *= 2
        self.depths = {cell // 2: depth for cell, depth in sorted(self.depths.items())}
        trades: dict[tuple[int, int, int], int] = defaultdict(int)
        for (cell, price, side), lots in self.trades.items():
            trades[cell // 2, price, side] += lots
        self.trades = trades
