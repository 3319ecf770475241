"""What a run reports step by step, and how much memory that takes."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from bookwarp.spec.errors import ParameterError, unknown_name
from bookwarp.spec.market import CallAuction
from bookwarp.spec.parameters import regular_array

# name -> (unit, meaning). Rows are taken after every `every`-th step.
SERIES: dict[str, tuple[str, str]] = {
    "last": ("tick", "price of the last auction that traded"),
    "volume": ("lot", "lots traded since the previous row"),
    "mid2": ("half tick", "twice the mid that the agents saw in this step"),
    "best_bid": ("tick", "highest price with a resting buy after the step"),
    "best_ask": ("tick", "lowest price with a resting sell after the step"),
    "bid_depth": ("lot", "buy lots within depth_ticks of the best bid after the step"),
    "ask_depth": ("lot", "sell lots within depth_ticks of the best ask after the step"),
}
BOOK, TAPE = "book", "tape"
RECORDABLE = (*SERIES, BOOK, TAPE)

_BYTES = 8


@dataclass(frozen=True, eq=False)
class RecordPlan:
    """What to record; build one with `RecordPlan.of`, which checks it against the ensemble."""

    names: tuple[str, ...] = ()
    every: int = 1
    """A row is taken after step `s` (counted from 0) when (s + 1) is a multiple of this."""
    depth_ticks: int = 5
    book_markets: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    tape_markets: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    tape_steps: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def of(
        cls,
        auction: CallAuction,
        record: Any = (),
        every: Any = 1,
        depth_ticks: Any = 5,
        book_markets: Any = None,
        tape_markets: Any = None,
        tape_steps: Any = None,
    ) -> "RecordPlan":
        """Check a request to record.

        Args:
            auction: the ensemble it is for.
            record: names of `RECORDABLE`, or one name, or None.
            every: steps between rows.
            depth_ticks: reach of bid_depth and ask_depth, in ticks from the best price.
            book_markets: markets whose whole book is recorded ("book").
            tape_markets, tape_steps: markets and steps whose orders are recorded ("tape").

        Raises:
            ParameterError: naming the field, the value and the limit.
        """
        names = _names(record)
        for name in names:
            if name not in RECORDABLE:
                raise ParameterError(unknown_name("record", name, RECORDABLE))
        asked = {
            BOOK: (book_markets is not None, "book_markets"),
            TAPE: (tape_markets is not None or tape_steps is not None, "tape_markets, tape_steps"),
        }
        for name, (given, needs) in asked.items():
            if given and name not in names:
                raise ParameterError(f"{needs} needs {name!r} in record")
            if name in names and not given:
                raise ParameterError(f"record {name!r} needs {needs}: it is made for a chosen few")
        if TAPE in names and (tape_markets is None or tape_steps is None):
            raise ParameterError("record 'tape' needs both tape_markets and tape_steps")
        return cls(
            names=tuple(dict.fromkeys(names)),
            every=_positive("record_every", every, 1),
            depth_ticks=_positive("depth_ticks", depth_ticks, 0),
            book_markets=_indices("book_markets", book_markets, auction.markets),
            tape_markets=_indices("tape_markets", tape_markets, auction.markets),
            tape_steps=_indices("tape_steps", tape_steps, 2**32 - 1),
        )

    @cached_property
    def series(self) -> tuple[str, ...]:
        """The recorded series, one value per market and row, in the order of `SERIES`."""
        return tuple(name for name in SERIES if name in self.names)

    @property
    def has_rows(self) -> bool:
        """Whether anything is recorded row by row: a series, or the book of a market."""
        return bool(self.series) or len(self.book_markets) > 0

    def rows(self, start: int, stop: int) -> int:
        """Return how many rows the steps `start` .. `stop` (half-open) give."""
        return stop // self.every - start // self.every

    def row_steps(self, start: int, stop: int) -> np.ndarray:
        """Return the steps (counted from 0) after which those rows are taken, int64 [row]."""
        first, last = start // self.every + 1, stop // self.every
        return np.arange(first, last + 1, dtype=np.int64) * self.every - 1

    def allocate(self, auction: CallAuction, rows: int) -> dict[str, np.ndarray]:
        """Return empty buffers for `rows` rows, int64.

        Series are [row, market]; "book_bid" and "book_ask" are [row, chosen market, level].
        An engine writes cumulative volume; `bookwarp.history` takes differences.
        """
        shapes = self._shapes(auction, rows)
        return {name: np.empty(shape, np.int64) for name, shape in shapes.items()}

    def nbytes(self, auction: CallAuction, rows: int) -> int:
        """Return the bytes that `allocate` takes, without allocating."""
        sizes = [
            _BYTES * int(np.prod(s, dtype=object)) for s in self._shapes(auction, rows).values()
        ]
        return sum(sizes)

    def _shapes(self, auction: CallAuction, rows: int) -> dict[str, tuple[int, ...]]:
        shapes: dict[str, tuple[int, ...]] = dict.fromkeys(self.series, (rows, auction.markets))
        if BOOK in self.names:
            for side in ("book_bid", "book_ask"):
                shapes[side] = (rows, len(self.book_markets), auction.levels)
        return shapes


def _names(record: Any) -> tuple[Any, ...]:
    if record is None:
        return ()
    if isinstance(record, str):
        return (record,)
    if not isinstance(record, Iterable):
        raise ParameterError(f"record must be a name or a list of names, not {record!r}")
    return tuple(record)


def _positive(name: str, value: Any, low: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ParameterError(f"{name} must be an integer, not {value!r}")
    if not low <= value < 2**32:
        raise ParameterError(f"{name} = {value} is outside {low} .. {2**32 - 1}")
    return int(value)


def _indices(name: str, value: Any, stop: int) -> np.ndarray:
    indices = np.atleast_1d(regular_array(name, () if value is None else value))
    if indices.size == 0:
        return np.zeros(0, np.int64)
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise ParameterError(f"{name} must be a list of integers, not {value!r}")
    bad = (indices < 0) | (indices >= stop)
    if np.any(bad):
        first = indices[int(np.argmax(bad))]
        raise ParameterError(f"{name}: {first} is outside 0 .. {stop - 1}")
    return np.unique(indices).astype(np.int64)
