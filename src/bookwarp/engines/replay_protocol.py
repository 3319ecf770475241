"""The seam between a replay and what applies market data to books."""

from importlib import import_module
from typing import Any, Protocol

import numpy as np

from bookwarp.spec.errors import ParameterError, unknown_name
from bookwarp.spec.market_data import MarketRows

REPLAY_ENGINES = {
    "cpu": "bookwarp.engines.cpu.replay",
    "reference": "bookwarp.reference.replay",
}


class ReplayBooks(Protocol):
    """Books that market data are applied to, each by its index; all are equal to the last bit."""

    def __init__(self, ids_grow: bool = True) -> None:
        """Hold empty books; `ids_grow` says that a lower id is an older order."""

    def open_depth(self, book: int, side: int, price: int, qty: int) -> None:
        """Add depth whose orders are not known, as a snapshot shows it."""

    def apply(
        self, rows: MarketRows, levels: np.ndarray, first: int, stop: int, pause: bool = False
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

    def depth(self, book: int, side: int) -> np.ndarray:
        """Return price and quantity of every level of a side, int64 [level, 2], best first."""

    def opening_depth(self, book: int, side: int) -> np.ndarray:
        """Return what is left of the opening depth of a side, int64 [level, 2], best first."""

    def orders(self, book: int, side: int) -> np.ndarray:
        """Return the live orders of a side, `RESTING_ORDER` [order], in the order of priority."""


def replay_books(engine: str, ids_grow: bool) -> ReplayBooks:
    """Return the books of an engine; "auto" is "cpu".

    Raises:
        ParameterError: there is no such engine for a replay.
    """
    name = "cpu" if engine == "auto" else engine
    if name not in REPLAY_ENGINES:
        raise ParameterError(unknown_name("engine", engine, ("auto", *REPLAY_ENGINES)))
    books: Any = import_module(REPLAY_ENGINES[name]).ReplayBooks
    made: ReplayBooks = books(ids_grow)
    return made
