"""Who is measured: bookwarp's engines and the baselines, behind one interface.

Another contender (an engine of bookwarp on a GPU, a baseline in another array library) is one more
class with these four members and one more entry in `CONTENDERS`.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from baselines.numpy_engine import NumpyMarkets
from baselines.numpy_tuned import TunedNumpyMarkets
from cases import Case

from bookwarp.engines.registry import available_threads, engine_status
from bookwarp.simulate import Simulation
from bookwarp.spec.agents import exact_agent_types
from bookwarp.spec.market import CallAuction
from bookwarp.spec.state import State

_PLAIN_EVENTS = 4_000_000
"""Agent events of a timed run of a plain engine: about a second."""


@dataclass(frozen=True)
class Outcome:
    """One timed run."""

    seconds: float
    """Time of the steps alone, without building the ensemble."""
    mean_price: np.ndarray
    """Last price of each market, tick, float64 [market]."""
    volume: np.ndarray
    """Volume of each market, lot, float64 [market]."""
    state: State | None
    """The state at the end; None for a baseline with draws of its own."""


class Contender(Protocol):
    """Something that runs a case."""

    name: str
    same_draws: bool
    """Whether its bits must equal the reference's; else it is compared in distribution."""

    def refusal(self, case: Case) -> str | None:
        """Return why it does not run this case, or None if it does."""

    def steps(self, case: Case) -> int:
        """Return how many steps of the case it is timed over."""

    def threads(self, case: Case) -> int:
        """Return how many threads work."""

    def run(self, case: Case, steps: int) -> Outcome:
        """Build the ensemble, run it, and time the steps."""


class BookwarpEngine:
    """An engine of bookwarp; `plain` if it is not built for speed."""

    same_draws = True

    def __init__(self, name: str, plain: bool) -> None:
        self.name = name
        self._plain = plain

    def refusal(self, case: Case) -> str | None:
        if self._plain and not case.plain_engines:
            return "timed in other cases"
        return engine_status()[self.name]

    def steps(self, case: Case) -> int:
        return plain_steps(case) if self._plain else case.steps

    def threads(self, case: Case) -> int:
        return 1 if self._plain else case.threads or available_threads()

    def run(self, case: Case, steps: int) -> Outcome:
        simulation = Simulation(steps=steps, engine=self.name, **case.arguments())
        simulation.step(steps)
        state = simulation.state()
        return Outcome(
            simulation.elapsed_s,
            state.last.astype(np.float64),
            state.volume.astype(np.float64),
            state,
        )


class NumpyBaseline:
    """A NumPy version of the model, on one core, with draws of its own."""

    same_draws = False

    def __init__(self, name: str, build: Callable[..., NumpyMarkets]) -> None:
        self.name = name
        self._build = build

    def refusal(self, case: Case) -> str | None:
        return None if case.plain_engines else "not among its cases"

    def steps(self, case: Case) -> int:
        return plain_steps(case)

    def threads(self, case: Case) -> int:
        return 1

    def run(self, case: Case, steps: int) -> Outcome:
        auction = call_auction(case)
        markets = self._build(exact_agent_types(auction.type_counts()), case.levels, case.seed)
        began = time.perf_counter()
        markets.run(steps)
        seconds = time.perf_counter() - began
        return Outcome(seconds, markets.last.astype(np.float64), markets.volume, None)


CONTENDERS: dict[str, Contender] = {
    contender.name: contender
    for contender in (
        BookwarpEngine("cpu", plain=False),
        BookwarpEngine("reference", plain=True),
        NumpyBaseline("numpy", NumpyMarkets),
        NumpyBaseline("numpy-tuned", TunedNumpyMarkets),
    )
}


def plain_steps(case: Case) -> int:
    """Return the steps over which a plain engine is timed: about `_PLAIN_EVENTS` agent events."""
    return max(2, min(case.steps, _PLAIN_EVENTS // (case.markets * case.agents)))


def call_auction(case: Case) -> CallAuction:
    """Return the description of the ensemble."""
    keywords: dict[str, Any] = case.arguments()
    for name in ("threads", "record"):
        del keywords[name]
    return CallAuction.of(**keywords)
