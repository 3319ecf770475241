"""The cpu engine: blocks of markets on threads, each running a compiled kernel."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from bookwarp.engines.cpu.kernel import run_markets
from bookwarp.engines.cpu.layout import (
    StateArrays,
    allocate_scratch,
    lay_out_ensemble,
    lay_out_rows,
)
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.state import ALL_LAYOUT, State, opening_state

# Blocks a thread gets, so that one that is held up does not hold up the run.
_BLOCKS_PER_THREAD = 8
# A thread takes longer to start than this many agent events to run.
_EVENTS_PER_THREAD = 500_000


class CpuEngine:
    """Runs an ensemble on all cores; implements `bookwarp.engines.protocol.Engine`."""

    def __init__(self, auction: CallAuction, plan: RecordPlan, threads: int | None = None) -> None:
        """Allocate, and stand at the opening state; `threads` is 1 if None."""
        self._plan = plan
        self._threads = threads or 1
        self._agents = auction.agents
        self._ensemble = lay_out_ensemble(auction, plan)
        self._state = opening_state(auction)

    def run(self, steps: int, rows: Mapping[str, np.ndarray]) -> None:
        """Run `steps` steps and fill `rows`."""
        state = StateArrays(*(getattr(self._state, name) for name in ALL_LAYOUT))
        buffers = lay_out_rows(rows)

        def run_block(first: int, stop: int) -> None:
            run_markets(
                self._ensemble,
                state,
                buffers,
                allocate_scratch(self._ensemble),
                first,
                stop,
                self._state.step,
                steps,
                self._plan.every,
                self._plan.depth_ticks,
            )

        markets = len(state.last)
        events = markets * steps * self._agents
        threads = min(self._threads, markets, 1 + events // _EVENTS_PER_THREAD)
        if threads == 1:
            run_block(0, markets)
        else:
            blocks = min(markets, threads * _BLOCKS_PER_THREAD)
            edges = np.linspace(0, markets, blocks + 1).astype(int).tolist()
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(run_block, edges[:-1], edges[1:]))
        self._state.step += steps

    def wait(self) -> None:
        """Return at once: `run` has done all it was asked for."""

    def read_state(self) -> State:
        """Return a copy of the state."""
        return self._state.copy()

    def write_state(self, state: State) -> None:
        """Continue from a copy of `state`."""
        self._state = state.copy()
