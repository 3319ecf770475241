"""The one seam between bookwarp and an engine: allocate, run n steps, read and write state."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.state import State


class Engine(Protocol):
    """Runs a call-auction ensemble. Engines are equal to the last bit."""

    def __init__(self, auction: CallAuction, plan: RecordPlan, threads: int | None = None) -> None:
        """Allocate, and stand at the opening state."""

    def run(self, steps: int, rows: Mapping[str, np.ndarray]) -> None:
        """Run `steps` steps and fill `rows`, as `RecordPlan.allocate` lays them out.

        `rows` holds exactly the rows that fall into these steps.
        """

    def read_state(self) -> State:
        """Return the state in host memory: a copy that later steps leave alone."""

    def write_state(self, state: State) -> None:
        """Continue from `state`, which has the shapes of this ensemble."""
