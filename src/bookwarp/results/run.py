"""`Run`: what came out of an ensemble, and what made it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from bookwarp.results.provenance import auction_keywords, made_now, plan_keywords
from bookwarp.results.summary import Summary, summarise
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.state import State

if TYPE_CHECKING:
    import pyarrow as pa
    import xarray as xr
    from matplotlib.figure import Figure

    from bookwarp.analysis.execution import ExecutionCosts


@final
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Run:
    """What an ensemble was, and what happened in it up to its last step.

    Prices are ticks, quantities are lots, steps count from 0. Arrays are int64.
    """

    auction: CallAuction
    """The ensemble, with all its parameters."""
    plan: RecordPlan
    """What was recorded."""
    state: State
    """The state after the last step."""
    history: dict[str, np.ndarray]
    """Recorded rows by name: [step, market]; books [step, chosen market, level]."""
    tape: np.ndarray | None
    """Recorded orders, a structured array by step, market, agent; None if there is no tape."""
    engine: str
    elapsed_s: float
    """Seconds spent in the engine."""
    made_by: Mapping[str, str | None] = field(default_factory=made_now)
    """Versions of bookwarp, Python, NumPy and Numba, and when the run was created."""

    @property
    def markets(self) -> int:
        """How many markets there are."""
        return self.auction.markets

    @property
    def agents(self) -> int:
        """How many agents each market has."""
        return self.auction.agents

    @property
    def levels(self) -> int:
        """How many ticks the grid has."""
        return self.auction.levels

    @property
    def steps(self) -> int:
        """How many steps were done."""
        return self.state.step

    @property
    def seed(self) -> "int | np.ndarray":
        """The seed, or one for each market, uint64 [market]."""
        seed = self.auction.seed
        return seed if isinstance(seed, np.ndarray) else int(seed)

    @property
    def stream(self) -> str:
        """Where draws came from: "default" or "paper"."""
        return self.auction.stream.name.lower()

    @property
    def window(self) -> str:
        """What the price grid did: "fixed" or "following"."""
        return self.auction.window.name.lower()

    @property
    def last_price(self) -> np.ndarray:
        """Price of the last auction that traded, [market], tick."""
        return self.state.last

    @property
    def volume(self) -> np.ndarray:
        """Lots traded in all steps, [market]."""
        return self.state.volume

    @property
    def trades(self) -> np.ndarray:
        """Auctions that traded, [market]."""
        return self.state.trades

    @property
    def bid(self) -> np.ndarray:
        """Lots that rest to buy, [market, level]; level 0 is the tick `base`."""
        return self.state.bid

    @property
    def ask(self) -> np.ndarray:
        """Lots that rest to sell, [market, level]; level 0 is the tick `base`."""
        return self.state.ask

    @property
    def prev_mid2(self) -> np.ndarray:
        """Twice the mid that agents saw in the last step, counted from `base`, [market]."""
        return self.state.prev_mid2

    @property
    def base(self) -> np.ndarray:
        """Tick of level 0, [market]; 0 with a fixed window."""
        return self.state.base

    @property
    def pruned_bid(self) -> np.ndarray:
        """Lots to buy that were cancelled because the window moved, [market]."""
        return self.state.pruned_bid

    @property
    def pruned_ask(self) -> np.ndarray:
        """Lots to sell that were cancelled because the window moved, [market]."""
        return self.state.pruned_ask

    @property
    def waiting_buy(self) -> np.ndarray:
        """Lots to buy that wait for the next auction, [market, level]; all 0 where none can."""
        return self._or_zeros(self.state.waiting_buy, self.bid.shape)

    @property
    def waiting_sell(self) -> np.ndarray:
        """Lots to sell that wait for the next auction, [market, level]; all 0 where none can."""
        return self._or_zeros(self.state.waiting_sell, self.bid.shape)

    @property
    def execution_waiting(self) -> np.ndarray:
        """Lots of each parent order that wait for the next auction, [market]."""
        return self._or_zeros(self.state.own_waiting, (self.markets,))

    @property
    def execution_filled(self) -> np.ndarray:
        """Lots of each parent order that were filled, [market]; 0 where there is none."""
        return self._or_zeros(self.state.own_filled, (self.markets,))

    @property
    def execution_cost(self) -> np.ndarray:
        """Lots filled times their price less `open_price`, summed, [market], lot tick."""
        return self._or_zeros(self.state.own_cost, (self.markets,))

    @property
    def arrival_mid2(self) -> np.ndarray:
        """Twice the mid when each parent order began, counted from `open_price`, [market]."""
        return self._or_zeros(self.state.arrival_mid2, (self.markets,))

    @property
    def start_volume(self) -> np.ndarray:
        """Lots that had traded when each parent order began, [market]."""
        return self._or_zeros(self.state.start_volume, (self.markets,))

    @staticmethod
    def _or_zeros(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Return an array of the state, or zeros if this ensemble has no such array."""
        return array if len(array) else np.broadcast_to(np.int64(0), shape)

    @property
    def history_steps(self) -> np.ndarray:
        """The step after which each row of `history` was taken, [row]."""
        return self.plan.row_steps(0, self.steps)

    @property
    def agent_events(self) -> int:
        """Orders sent: markets * agents * steps."""
        return self.markets * self.agents * self.steps

    @property
    def agent_events_per_s(self) -> float | None:
        """Orders sent for each second in the engine; None if no time was taken."""
        return self.agent_events / self.elapsed_s if self.elapsed_s else None

    def digest(self) -> str:
        """Return the SHA-256 of the final state: the same on every engine and for every cut."""
        return self.state.digest()

    def summary(self) -> Summary:
        """Return the run in a few numbers: a dict that prints as a table."""
        return summarise(self)

    def execution_costs(self) -> "ExecutionCosts":
        """Return what the parent orders cost: the implementation shortfall and its parts.

        Raises:
            ParameterError: the run has no parent order.
        """
        from bookwarp.analysis.execution import execution_costs

        return execution_costs(self)

    def to_xarray(self) -> "xr.Dataset":
        """Return everything as a Dataset that shares its arrays with this run.

        Final values have the names of the properties here, recorded ones are "history_last" and
        so on, orders "tape_price" and so on. Dimensions are market, level and step; parameters
        that differ by market are coordinates.
        """
        from bookwarp.results.dataset import run_to_dataset

        return run_to_dataset(self)

    def to_table(self) -> "pa.Table":
        """Return the recorded series as a table with one row for each step and market.

        Columns are step, market, the series, and the parameters that differ by market.

        Raises:
            ParameterError: no series was recorded.
        """
        from bookwarp.results.table import series_table

        return series_table(self)

    def tape_table(self) -> "pa.Table":
        """Return the recorded orders as a table with one row for each order.

        Raises:
            ParameterError: no tape was recorded.
        """
        from bookwarp.results.table import tape_table

        return tape_table(self)

    def save(self, path: str | Path, overwrite: bool = False) -> None:
        """Write the run to a file, which appears whole or not at all.

        Args:
            path: ends in .zarr (a folder) or .nc (NetCDF) for the whole run, which
                `bookwarp.load` reads; in .parquet for the table of `to_table`.
            overwrite: replace what is at `path`.

        Raises:
            ParameterError: another suffix, or a table when no series was recorded.
            StoreError: it exists or cannot be written.
        """
        from bookwarp.results.store import save_run

        save_run(self, path, overwrite)

    def rerun(self, engine: str = "auto", threads: int | None = None) -> "Run":
        """Run the same ensemble for as many steps again; the digest is the same.

        Args:
            engine, threads: as for `bookwarp.simulate`.

        Raises:
            EngineError: the engine does not work here.
        """
        from bookwarp.simulation import Simulation

        recording = plan_keywords(self.plan)
        if "tape_steps" in recording:
            done = self.plan.tape_steps < self.steps
            recording["tape_steps"] = self.plan.tape_steps[done]
        keywords = auction_keywords(self.auction) | recording
        return Simulation(**keywords, steps=self.steps, engine=engine, threads=threads).run()

    def plot(self, path: str | Path | None = None, overwrite: bool = False) -> "Figure":
        """Draw prices, volume and books, and return the matplotlib Figure.

        Args:
            path: file to write, .png, .svg or .pdf; none if None.
            overwrite: replace what is at `path`.

        Raises:
            ParameterError: another suffix.
            StoreError: it exists or cannot be written.
        """
        from bookwarp.analysis.plots import plot_run

        return plot_run(self, path, overwrite)

    def __repr__(self) -> str:
        made: dict[str, Any] = {
            "markets": self.markets,
            "agents": self.agents,
            "levels": self.levels,
            "steps": self.steps,
            "seed": "[market]" if isinstance(self.seed, np.ndarray) else self.seed,
            "stream": self.stream,
            "window": self.window,
            "engine": self.engine,
        }
        return f"Run({', '.join(f'{name}={value}' for name, value in made.items())})"
