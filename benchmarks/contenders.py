"""Who is measured: bookwarp's engines and the baselines, behind one interface.

Another contender (a baseline in another array library, say) is one more class with the members of
`contender.Contender` and one more entry in `CONTENDERS`.
"""

import time
from collections.abc import Callable

import numpy as np
from array_contenders import JaxBaseline, TorchBaseline, TorchGraphBaseline
from baselines.numpy_engine import NumpyMarkets
from baselines.numpy_tuned import TunedNumpyMarkets
from cases import Case, Group
from contender import Contender, Outcome, call_auction, outcome_of, plain_steps
from device_contenders import CudaEngine, NaiveCudaBaseline

from bookwarp.engines.registry import available_threads, engine_status
from bookwarp.simulation import Simulation
from bookwarp.spec.agents import exact_agent_types

_WIDEST_PLAIN_STEP = 4_194_304
"""Agent events of the largest step of the reference, which holds tens of arrays of that size."""


class BookwarpEngine:
    """An engine of bookwarp on the processor; `plain` if it is not built for speed."""

    same_draws = True
    on_device = False
    slow_to_build = False

    def __init__(self, name: str, plain: bool) -> None:
        self.name = name
        self._plain = plain

    def unavailable(self) -> str | None:
        return engine_status()[self.name]

    def refusal(self, case: Case) -> str | None:
        if case.group is Group.DEVICE:
            return "sized for a GPU"
        if self._plain and not case.plain_engines:
            return "timed in other cases"
        if self._plain and case.markets * case.agents > _WIDEST_PLAIN_STEP:
            return "too large for its way of working"
        return self.unavailable()

    def steps(self, case: Case) -> int:
        return plain_steps(case) if self._plain else case.steps

    def threads(self, case: Case) -> int | None:
        return 1 if self._plain else case.threads or available_threads()

    def run(self, case: Case, steps: int) -> Outcome:
        simulation = Simulation(steps=steps, engine=self.name, **case.arguments())
        simulation.step(steps)
        return outcome_of(simulation.state(), simulation.elapsed_s)

    def release(self) -> None:
        """Nothing is kept between runs."""


class NumpyBaseline:
    """A NumPy version of the model, on one core, with draws of its own."""

    same_draws = False
    on_device = False
    slow_to_build = False

    def __init__(self, name: str, build: Callable[..., NumpyMarkets]) -> None:
        self.name = name
        self._build = build

    def unavailable(self) -> str | None:
        return None

    def refusal(self, case: Case) -> str | None:
        return None if case.plain_engines else "not among its cases"

    def steps(self, case: Case) -> int:
        return plain_steps(case)

    def threads(self, case: Case) -> int | None:
        return 1

    def run(self, case: Case, steps: int) -> Outcome:
        auction = call_auction(case)
        markets = self._build(exact_agent_types(auction.type_counts()), case.levels, case.seed)
        began = time.perf_counter()
        markets.run(steps)
        seconds = time.perf_counter() - began
        return Outcome(seconds, markets.last.astype(np.float64), markets.volume, None)

    def release(self) -> None:
        """Nothing is kept between runs."""


CONTENDERS: dict[str, Contender] = {
    contender.name: contender
    for contender in (
        BookwarpEngine("cpu", plain=False),
        BookwarpEngine("reference", plain=True),
        NumpyBaseline("numpy", NumpyMarkets),
        NumpyBaseline("numpy-tuned", TunedNumpyMarkets),
        CudaEngine(),
        NaiveCudaBaseline(),
        TorchBaseline("torch"),
        TorchGraphBaseline("torch-graph"),
        TorchGraphBaseline("torch-compile", compiled=True),
        TorchGraphBaseline("torch-compile-counted", compiled=True, counted=True),
        JaxBaseline("jax"),
        JaxBaseline("jax-counted", gather="count"),
    )
}
