"""The contenders of a GPU in CUDA: bookwarp's engine and the naive baseline; what baselines share.

What takes long to build (a compiled program, a captured graph) is kept for the trials of a case and
set back to the opening state before each.
"""

import gc
from importlib.util import find_spec
from typing import Any

from cases import Case, Group
from contender import Outcome, call_auction, outcome_of
from gpu import gpu_present, time_on_stream

from bookwarp.engines.cuda.kernel_key import Arrangement, bound_orders, choose_key
from bookwarp.engines.registry import engine_class, engine_status
from bookwarp.simulation import Simulation
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.state import opening_state


class CudaEngine:
    """bookwarp's engine on a GPU, all steps of a run in one call, on a stream of ours.

    Args:
        arrangement: how it puts markets on warps; as it chooses to, if None.
    """

    name = "cuda"
    same_draws = True
    on_device = True
    slow_to_build = False

    def __init__(self, arrangement: Arrangement | None = None) -> None:
        self._arrangement = arrangement

    def unavailable(self) -> str | None:
        return engine_status().get(self.name, "this version of bookwarp has no such engine")

    def refusal(self, case: Case) -> str | None:
        if case.threads is not None:
            return "a case of threads"
        return self.unavailable()

    def steps(self, case: Case) -> int:
        return case.steps

    def threads(self, case: Case) -> int | None:
        return None

    def run(self, case: Case, steps: int) -> Outcome:
        if case.one_step_a_call:
            return self._run_calls(case, steps)
        auction = call_auction(case)
        plan = RecordPlan.of(auction, case.record)
        stream = make_current().create_stream()
        engine: Any = engine_class(self.name)(auction, plan, cuda_stream=stream)
        if self._arrangement is not None:
            flags = {"wide_lots": False, "recording": plan.has_rows, "shape": engine.shape}
            orders = bound_orders(auction, auction.type_counts())
            engine.use(choose_key(auction, orders, arrangement=self._arrangement, **flags))
        rows = plan.allocate(auction, plan.rows(0, steps))
        if plan.has_rows:
            # Memory for rows is made by the first steps that record.
            engine.run(steps, rows)
            engine.write_state(opening_state(auction))
        seconds, kernel_seconds = time_on_stream(
            lambda: engine.run(steps, rows), int(stream.handle), engine.wait
        )
        more = {"kernel_seconds": kernel_seconds, "device_bytes": engine.device_nbytes}
        return outcome_of(engine.read_state(), seconds, **more)

    def _run_calls(self, case: Case, steps: int) -> Outcome:
        """Time `Simulation.step(1)`, one call after the other, as a learner calls it."""
        simulation = Simulation(steps=steps, engine=self.name, **case.arguments())
        make_current()

        def call_all() -> None:
            for _ in range(steps):
                simulation.step(1)

        seconds, _ = time_on_stream(call_all, None)
        held = simulation.device_nbytes
        return outcome_of(simulation.state(), seconds, device_bytes=held)

    def release(self) -> None:
        """Nothing is kept between runs."""


class Baseline:
    """A baseline that keeps what it built for a size; `device` is "cuda", or "cpu" to try it."""

    package: str
    on_device = True
    device = "cuda"

    def __init__(self, name: str, same_draws: bool, slow_to_build: bool) -> None:
        self.name = name
        self.same_draws = same_draws
        self.slow_to_build = slow_to_build
        self._built: Any = None
        self._built_for: tuple[object, ...] | None = None
        self._held = 0

    def unavailable(self) -> str | None:
        if find_spec(self.package.partition(".")[0]) is None or find_spec(self.package) is None:
            return f"the package {self.package} is not installed"
        return None if self.device == "cpu" or self._sees_gpu() else "it finds no GPU"

    def refusal(self, case: Case) -> str | None:
        return self.unavailable() if case.sweeps else "not among its cases"

    def steps(self, case: Case) -> int:
        return case.steps

    def threads(self, case: Case) -> int | None:
        return None

    def run(self, case: Case, steps: int) -> Outcome:
        size = (case.markets, case.agents, case.levels, case.seed, case.stream)
        if self._built_for != size:
            self.release()
            self._build_for(case)
            self._built_for = size
        self._built.reset()
        seconds, kernel_seconds, held = self._time(steps)
        state = self._built.read_state()
        more = {"kernel_seconds": kernel_seconds, "device_bytes": held}
        return outcome_of(state, seconds, keep=self.same_draws, **more)

    def release(self) -> None:
        self._built = self._built_for = None
        gc.collect()

    def _sees_gpu(self) -> bool:
        raise NotImplementedError

    def _build_for(self, case: Case) -> None:
        """Build `self._built`, and note the memory that it takes in `self._held`."""
        raise NotImplementedError

    def _time(self, steps: int) -> tuple[float, float | None, int | None]:
        """Run; return seconds on the wall, seconds on the stream, and bytes held on the device."""
        raise NotImplementedError


class NaiveCudaBaseline(Baseline):
    """One thread a market, one launch a step."""

    package = "cuda.core"

    def __init__(self) -> None:
        super().__init__("naive-cuda", same_draws=True, slow_to_build=False)

    def refusal(self, case: Case) -> str | None:
        if case.stream == "paper" and case.group is Group.DEVICE:
            return self.unavailable()
        return super().refusal(case)

    def unavailable(self) -> str | None:
        return super().unavailable() or (None if gpu_present() else "it finds no GPU")

    def _sees_gpu(self) -> bool:
        return gpu_present()

    def _build_for(self, case: Case) -> None:
        from baselines.naive_cuda import NaiveCudaMarkets

        self._stream = make_current().create_stream()
        self._built = NaiveCudaMarkets(call_auction(case), self._stream)

    def _time(self, steps: int) -> tuple[float, float | None, int | None]:
        times = time_on_stream(lambda: self._built.run(steps), int(self._stream.handle))
        return (*times, self._built.device_nbytes)


def make_current() -> Any:
    """Return the first GPU, its context current."""
    from cuda.core import Device

    device = Device()
    device.set_current()
    return device
