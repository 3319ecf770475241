"""The one seam between bookwarp and an engine: allocate, run n steps, read and write state."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.runs import Runs
from bookwarp.spec.state import State


class Engine(Protocol):
    """Runs a call-auction ensemble. Engines are equal to the last bit."""

    def __init__(self, auction: CallAuction, plan: RecordPlan, threads: int | None = None) -> None:
        """Allocate, and stand at the opening state."""

    def run(self, steps: int, rows: Mapping[str, np.ndarray]) -> None:
        """Run `steps` steps and fill `rows`, as `RecordPlan.allocate` lays them out.

        `rows` holds exactly the rows that fall into these steps. An engine may return before all
        is done: `wait` and `read_state` return after it.
        """

    def wait(self) -> None:
        """Return when all steps are done and all rows are filled."""

    def read_state(self) -> State:
        """Return the state in host memory: a copy that later steps leave alone."""

    def write_state(self, state: State) -> None:
        """Continue from `state`, which has the shapes of this ensemble."""


@runtime_checkable
class DeviceEngine(Engine, Protocol):
    """An engine that keeps its state on devices, and returns from `run` at once."""

    @property
    def device_nbytes(self) -> int:
        """Most bytes that were allocated at once so far, on all devices together."""

    def device_arrays(self, part: int = 0) -> Mapping[str, Any]:
        """Return the state on one of the devices by name, as arrays to share by DLPack."""

    def device_rows(self, part: int = 0) -> Mapping[str, Any]:
        """Return the recorded rows that were kept on one of the devices, in the same way."""

    def send_scalars(self, found: Mapping[str, np.ndarray], places: Runs) -> Callable[[], None]:
        """Start to write arrays of the state after the steps so far into the caller's.

        Args:
            found: int64 by name; names are those of the state's arrays of one value a market.
            places: which entries belong to the markets.

        Returns:
            What waits until they are there.
        """

    def read_rows(self) -> dict[str, np.ndarray]:
        """Return the recorded rows that were kept on devices, as `RecordPlan.allocate` says."""
