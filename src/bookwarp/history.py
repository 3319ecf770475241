"""The recorded rows of a simulation, piece after piece, in host memory."""

import numpy as np

from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan

Rows = dict[str, np.ndarray]
"""By name, as the engine writes them: volume since the start."""


class History:
    """Rows in the order of the steps: those that are done, and those of a `step` that runs."""

    def __init__(self, auction: CallAuction, plan: RecordPlan) -> None:
        self._auction, self._plan = auction, plan
        self._done: list[Rows] = []
        self._filling: list[Rows] = []

    def allocate(self, start: int, stop: int) -> Rows:
        """Return the memory for the rows of the steps `start` .. `stop`, half-open."""
        return self._plan.allocate(self._auction, self._plan.rows(start, stop))

    def add(self, rows: Rows) -> None:
        """Keep rows that are filled."""
        self._done.append(rows)

    def show(self, rows: Rows) -> None:
        """Show the rows that are filled of those of a `step` that runs, in place of any before."""
        self._filling = [rows]

    def close(self) -> None:
        """Keep what was shown: the `step` is over."""
        self._done += self._filling
        self._filling = []

    def join(self, more: list[Rows]) -> Rows:
        """Return all rows there are, and behind them those in `more`."""
        if len(self._done) > 1:
            self._done = [_join(self._done)]
        found = [*self._done, *self._filling, *more]
        return _join(found or [self.allocate(0, 0)])


def with_volume_between_rows(rows: Rows) -> Rows:
    """Return rows in which the volume is that between two of them, not that since the start."""
    if "volume" in rows:
        so_far = rows["volume"]
        between = so_far.copy()
        between[1:] -= so_far[:-1]
        rows = rows | {"volume": between}
    return rows


def _join(pieces: list[Rows]) -> Rows:
    if len(pieces) == 1:
        return dict(pieces[0])
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
