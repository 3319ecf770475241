"""What a contender is: something that runs a case and is measured."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from cases import Case

from bookwarp.spec.market import CallAuction
from bookwarp.spec.state import State

_PLAIN_EVENTS = 4_000_000
"""Agent events of a timed run of a plain engine: about a second."""


@dataclass(frozen=True)
class Outcome:
    """One timed run."""

    seconds: float
    """Time of the steps alone by the clock on the wall, without building the ensemble."""
    mean_price: np.ndarray
    """Last price of each market, tick, float64 [market]."""
    volume: np.ndarray
    """Volume of each market, lot, float64 [market]."""
    state: State | None
    """The state at the end; None for a baseline with draws of its own."""
    kernel_seconds: float | None = None
    """Time of the steps on the GPU's stream, by its events; None if there are none."""
    device_bytes: int | None = None
    """Peak of the GPU's memory that the run held."""


class Contender(Protocol):
    """Something that runs a case."""

    name: str
    same_draws: bool
    """Whether its bits must equal the reference's; else it is compared in distribution."""
    on_device: bool
    """Whether it runs on a GPU."""
    slow_to_build: bool
    """Whether it compiles for every size, so that no small version of a case is tried first."""

    def unavailable(self) -> str | None:
        """Return why it does not work on this machine, or None if it does."""

    def refusal(self, case: Case) -> str | None:
        """Return why it does not run this case, or None if it does."""

    def steps(self, case: Case) -> int:
        """Return how many steps of the case it is timed over."""

    def threads(self, case: Case) -> int | None:
        """Return how many threads work; None on a GPU."""

    def run(self, case: Case, steps: int) -> Outcome:
        """Build the ensemble, run it, and time the steps."""

    def release(self) -> None:
        """Give back what is kept between the runs of a case."""


def plain_steps(case: Case) -> int:
    """Return the steps over which a plain engine is timed: about `_PLAIN_EVENTS` agent events."""
    return max(2, min(case.steps, _PLAIN_EVENTS // (case.markets * case.agents)))


def call_auction(case: Case) -> CallAuction:
    """Return the description of the ensemble."""
    keywords: dict[str, Any] = case.arguments()
    for name in ("threads", "record"):
        del keywords[name]
    return CallAuction.of(**keywords)


def outcome_of(state: State, seconds: float, keep: bool = True, **more: Any) -> Outcome:
    """Return the outcome of a run that ended in `state`; `keep` if its bits will be compared."""
    price, volume = (array.astype(np.float64) for array in (state.last, state.volume))
    return Outcome(seconds, price, volume, state if keep else None, **more)
