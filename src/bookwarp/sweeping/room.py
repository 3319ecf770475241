"""Memory for the results of markets, pinned beside the simulations where GPUs copy to it."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import numpy as np

from bookwarp.engines.pinned import Pinned, new_array
from bookwarp.sweeping.machine import Machine
from bookwarp.sweeping.plan import SweepPlan

_PINNED_SHARE = 0.5
"""Of the memory that may be used: other programs cannot have what is pinned."""


class Room:
    """Memory for the results of some markets, which is written to after `prepare`.

    Threads may use it at once.

    Args:
        plan: of the sweep.
        markets: how many.
        machine: what they run on.
    """

    def __init__(self, plan: SweepPlan, markets: int, machine: Machine) -> None:
        facts = {name: new_array((markets, *out.shape)) for name, out in plan.outputs.items()}
        exact = {name: new_array((markets,), np.int64) for name in plan.exact}
        self.results: Mapping[str, np.ndarray] = facts | exact
        """By name, [market, ...]: float64 of the measure, int64 of the exact results."""
        self._machine = machine
        self._left = markets
        self._lock = Lock()
        self._pinned: Pinned | None = None

    def prepare(self) -> None:
        """Return when results may be written, by GPUs or otherwise.

        To pin memory takes less than most simulations: it is best done while one runs.
        """
        with self._lock:
            if self._pinned is None and self._may_be_pinned():
                arrays, device = self.results.values(), self._machine.devices[0]
                self._pinned = Pinned(device, arrays, self._machine.threads)

    def done(self, markets: int) -> None:
        """Note that there are the results of some more markets.

        When there are those of all, the memory is unpinned, beside whatever is done with them.
        """
        with self._lock:
            self._left -= markets
            if self._left == 0 and self._pinned is not None:
                beside = ThreadPoolExecutor(1)
                beside.submit(self._pinned.release)
                beside.shutdown(wait=False)

    def let_go(self) -> None:
        """Unpin the memory, whatever is there: nothing is copied to it any longer.

        An error may keep it for as long as it is looked at.
        """
        if self._pinned is not None:
            self._pinned.release()

    def _may_be_pinned(self) -> bool:
        nbytes = sum(array.nbytes for array in self.results.values())
        return bool(self._machine.devices) and nbytes <= _PINNED_SHARE * self._machine.memory
