"""Cut an ensemble into the markets of each device."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bookwarp.engines.cuda.layout import lay_out_parameters, lay_out_parents, lay_out_profile
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import BOOK, RecordPlan
from bookwarp.spec.state import State

NOT_RECORDED = -1


@dataclass(frozen=True, eq=False)
class Numbering:
    """A number for each market, as the kernel that lays markets out takes it."""

    numbers: np.ndarray | None
    """int64 [market]; None where the two below say it as well, and nothing need be brought."""
    first: int = 0
    period: int = 1
    """Markets until a setting comes that is one larger, or until numbers begin anew."""

    @classmethod
    def of_settings(cls, numbers: np.ndarray) -> "Numbering":
        """Take settings, int64 [market]: each may have as many markets that follow each other."""
        period = _places_until(numbers != numbers[0])
        if len(numbers) % period == 0:
            settings = numbers.reshape(-1, period)
            count = numbers[0] + np.arange(len(settings))
            if (settings == count[:, None]).all():
                return cls(None, int(numbers[0]), period)
        return cls(numbers)

    @classmethod
    def of_ids(cls, numbers: np.ndarray) -> "Numbering":
        """Take the numbers that markets draw as, int64 [market]: they may count up, or anew."""
        period = _places_until(numbers == numbers[0])
        if len(numbers) % period == 0:
            count = numbers[0] + np.arange(period)
            if (numbers.reshape(-1, period) == count).all():
                return cls(None, int(numbers[0]), period)
        return cls(numbers)


def _places_until(found: np.ndarray) -> int:
    """Return the first place but 0 where something was found; how many there are if nowhere."""
    place = int(np.argmax(found[1:])) + 1 if len(found) > 1 else 0
    return place if place and found[place] else len(found)


@dataclass(frozen=True, eq=False)
class Slice:
    """Consecutive markets of an ensemble, `first` .. `stop`, half-open, and what is theirs."""

    first: int
    stop: int
    parameters: np.ndarray
    """MARKET [entry]: of all markets one, or of each, or those that `settings` number."""
    depths: np.ndarray
    """int64 [entry] or [1]: lots of the two levels that a book opens with."""
    settings: Numbering
    """The entry of each market."""
    ids: Numbering
    """The number under which each market draws."""
    types: np.ndarray | None
    """int8 [market, agent], or None: agents are ordered by type."""
    first_book: int
    books: int
    """Which of the recorded books are theirs: `first_book` and `books` - 1 more."""
    book_rows: np.ndarray | None
    """int64 [market], the row of a market's book among these, or -1; None without any."""
    parents: np.ndarray | None
    profile: np.ndarray | None
    """PARENT [market], and what `lay_out_profile` returns; None without execution agents."""

    @property
    def count(self) -> int:
        """How many markets there are."""
        return self.stop - self.first

    def of_rows(self, rows: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return the part of recorded rows that belongs to these markets."""
        own = slice(self.first, self.stop), slice(self.first_book, self.first_book + self.books)
        return {name: array[:, own[array.ndim == 3]] for name, array in rows.items()}

    def of_state(self, state: State) -> State:
        """Return the part of a state that belongs to these markets."""
        own = {name: array[self.first : self.stop] for name, array in state.arrays().items()}
        return State(state.step, **own)


def split_markets(
    auction: CallAuction, type_counts: np.ndarray, plan: RecordPlan, parts: int
) -> list[Slice]:
    """Cut an ensemble into parts of as equal a number of markets as can be, none without any.

    Args:
        auction: the ensemble.
        type_counts: its agents by type, as `CallAuction.shared_type_counts` has them.
        plan: what is recorded.
        parts: how many parts.
    """
    parts = min(parts, auction.markets)
    edges = [auction.markets * part // parts for part in range(parts + 1)]
    books = np.searchsorted(plan.book_markets, edges).tolist()
    parameters = lay_out_parameters(auction, type_counts)
    depths = auction.shared("open_depth").astype(np.int64, copy=False)
    executes = auction.has_execution_agents
    parents = lay_out_parents(auction) if executes else None
    profile = lay_out_profile(auction) if executes else None

    def cut(part: int) -> Slice:
        own = slice(edges[part], edges[part + 1])

        def of_entries(entries: np.ndarray) -> np.ndarray:
            each = len(entries) > 1 and auction.market_settings is None
            return entries[own] if each else entries

        count = books[part + 1] - books[part]
        rows = None
        if BOOK in plan.names:
            rows = np.full(own.stop - own.start, NOT_RECORDED, np.int64)
            rows[plan.book_markets[books[part] : books[part + 1]] - own.start] = np.arange(count)
        settings = auction.market_settings
        return Slice(
            first=own.start,
            stop=own.stop,
            parameters=of_entries(parameters),
            depths=of_entries(depths),
            settings=Numbering(None) if settings is None else Numbering.of_settings(settings[own]),
            ids=Numbering.of_ids(auction.market_ids[own]),
            types=None if auction.agent_types is None else auction.agent_types[own],
            first_book=books[part],
            books=count,
            book_rows=rows,
            parents=None if parents is None else parents[own],
            profile=profile,
        )

    return [cut(part) for part in range(parts)]
