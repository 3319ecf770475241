"""A replayed day: what was counted, and the rows with the books after them, if they were kept."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bookwarp.spec.errors import ParameterError, unknown_name
from bookwarp.spec.market_data import (
    EXECUTIONS,
    NO_BOOK,
    UNKNOWN_IDS,
    MarketRows,
    Oddity,
    ReplayBlock,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from bookwarp.io.lobster_book import BookCheck


@dataclass(eq=False)
class DayCounts:
    """What is counted of all rows."""

    rows: int = 0
    sources: np.ndarray = field(default_factory=lambda: np.zeros(256, np.int64))
    """Rows by the type that the data give them, int64 [code]."""
    oddities: Counter[int] = field(default_factory=Counter)
    """Rows by `Oddity`."""
    trades: int = 0
    """Executions of visible orders, also of those that were never announced."""
    lots: int = 0
    """Their quantity; what is not to be counted as volume is left out."""
    first_ns: int | None = None
    last_ns: int | None = None
    books: set[int] = field(default_factory=set)
    """Every book that a row belongs to."""

    def add(self, rows: MarketRows) -> None:
        """Count applied rows."""
        if self.first_ns is None:
            self.first_ns = int(rows.time_ns[0])
        self.last_ns = int(rows.time_ns[-1])
        self.rows += rows.row_count
        one, other = int(rows.book.min()), int(rows.book.max())
        self.books.update((one,) if one == other else np.unique(rows.book).tolist())
        self.books.discard(NO_BOOK)
        self.sources += np.bincount(rows.source, minlength=256)
        odd = rows.oddity[rows.oddity != 0]
        seen = int(np.bitwise_or.reduce(odd)) if len(odd) else 0
        for oddity in Oddity(seen):
            self.oddities[oddity] += int(np.count_nonzero(odd & np.uint32(oddity)))
        executed = (rows.event == EXECUTIONS[0]) | (rows.event == EXECUTIONS[1])
        executed &= rows.oddity & np.uint32(Oddity.BAD_QTY) == 0
        self.trades += int(np.count_nonzero(executed))
        printed = executed & (rows.oddity & np.uint32(Oddity.UNPRINTED) == 0)
        self.lots += sum(rows.qty[printed].tolist())


@dataclass(eq=False)
class Day:
    """What `bookwarp.replay` returns.

    Example:
        >>> day = bw.replay("AAPL_2012-06-21_message.csv", initial="AAPL_orderbook_50.csv")
        >>> day.oddities["unknown_delete"], day.levels[-1, 0]
    """

    path: Path
    format: str
    symbols: Mapping[int, str]
    """Symbol by book, of the books that have a name."""
    price_unit: str
    """What a tick is, as decimal text."""
    qty_unit: str
    """What a lot is, as decimal text."""
    counts: DayCounts
    messages: Mapping[str, int]
    """Rows by the type that the data give them."""
    elapsed_s: float
    """Time spent in waiting for rows and applying them; reading goes on beside it."""
    rows: MarketRows | None = None
    """All rows, applied; None if they were not kept."""
    levels: np.ndarray | None = None
    """int64 [row, level, LEVEL_COLUMNS], the row's book after it; None if rows were not kept."""
    check: "BookCheck | None" = None
    """How the books agree with published ones; None if there were none."""
    order_counts: Mapping[str, int] | None = None
    """What came of the rows as orders; None if they were not exported."""

    @property
    def oddities(self) -> dict[str, int]:
        """How many rows have each oddity, by its name in small letters; see docs/replay.md."""
        return {str(o.name).lower(): self.counts.oddities[o] for o in Oddity}

    @property
    def unknown_ids(self) -> int:
        """Rows that name an id which is not live."""
        return sum(self.counts.oddities[oddity] for oddity in UNKNOWN_IDS)

    def summary(self) -> dict[str, Any]:
        """Return what happened, for people and for JSON."""
        counts = self.counts
        seconds = self.elapsed_s
        found: dict[str, Any] = {
            "path": str(self.path),
            "format": self.format,
            "rows": counts.rows,
            "messages": dict(self.messages),
            "books": len(counts.books),
            "trades": counts.trades,
            "lots": counts.lots,
            "unknown_ids": self.unknown_ids,
            "oddities": self.oddities,
            "first_ns": counts.first_ns,
            "last_ns": counts.last_ns,
            "price_unit": self.price_unit,
            "qty_unit": self.qty_unit,
            "elapsed_s": seconds,
            "rows_per_s": counts.rows / seconds if seconds > 0 else None,
        }
        if self.check is not None:
            found["check"] = self.check.summary()
        if self.order_counts is not None:
            found["orders"] = dict(self.order_counts)
        return found

    def to_table(self) -> "pa.Table":
        """Return all rows and their books as an Arrow table; see docs/replay.md for its columns.

        Raises:
            ParameterError: the rows were not kept.
        """
        from bookwarp.io.replay_table import block_table

        rows, levels = self._kept()
        return block_table(ReplayBlock(0, rows, levels), self.format, self.symbols)

    def trades(self) -> "pa.Table":
        """Return the rows that are executions of visible orders, as `to_table` does.

        Raises:
            ParameterError: the rows were not kept.
        """
        import pyarrow as pa

        from bookwarp.io.replay_table import block_table

        rows, levels = self._kept()
        (chosen,) = np.nonzero(np.isin(rows.event, EXECUTIONS))
        picked = MarketRows(*(column[chosen] for column in rows))
        table = block_table(ReplayBlock(0, picked, levels[chosen]), self.format, self.symbols)
        return table.set_column(0, table.schema.field("row"), pa.array(chosen, pa.int64()))

    def rows_with(self, oddity: Oddity | str) -> np.ndarray:
        """Return the rows, from 0, that have an oddity. int64 [row].

        Raises:
            ParameterError: there is no such oddity, or the rows were not kept.
        """
        if not isinstance(oddity, Oddity):
            names = {str(each.name).lower(): each for each in Oddity}
            if oddity not in names:
                raise ParameterError(unknown_name("oddity", oddity, names))
            oddity = names[oddity]
        rows, _ = self._kept()
        return np.flatnonzero(rows.oddity & np.uint32(oddity))

    def _kept(self) -> tuple[MarketRows, np.ndarray]:
        if self.rows is None or self.levels is None:
            raise ParameterError("the rows of this day were not kept: replay it with collect=True")
        return self.rows, self.levels
