"""The contenders of a GPU in PyTorch and JAX."""

import gc
import time
from collections.abc import Callable
from typing import Any

from cases import Case
from contender import call_auction
from device_contenders import Baseline, make_current
from gpu import synchronize, time_on_stream


class TorchBaseline(Baseline):
    """PyTorch, one operation after the other."""

    package = "torch"

    def __init__(self, name: str, same_draws: bool = False, slow_to_build: bool = False) -> None:
        super().__init__(name, same_draws, slow_to_build)

    def _sees_gpu(self) -> bool:
        import torch

        return bool(torch.cuda.is_available())

    def _markets(self, case: Case) -> Any:
        from baselines.torch_engine import TorchMarkets

        return TorchMarkets(call_auction(case), self.device)

    def _build_for(self, case: Case) -> None:
        if self.device != "cpu":
            make_current()
        before = self._watch()
        self._built = self._markets(case)
        self._held = self._peak() - before

    def _time(self, steps: int) -> tuple[float, float | None, int | None]:
        if self.device == "cpu":
            return (*_time_on_wall(lambda: self._built.run(steps)), None)
        import torch

        before = self._watch()
        stream = torch.cuda.current_stream().cuda_stream
        times = time_on_stream(lambda: self._built.run(steps), stream)
        # What was built, its scratch included, or what it is now with the scratch of these steps.
        now = self._markets_nbytes() + self._peak() - before
        return (*times, max(self._held, now))

    def _markets_nbytes(self) -> int:
        import torch

        held = [each for each in vars(self._built).values() if isinstance(each, torch.Tensor)]
        return sum(each.nbytes for each in held)

    def _watch(self) -> int:
        """Set the peak of PyTorch's memory back and return what is in use."""
        import torch

        if self.device == "cpu":
            return 0
        _settle()
        torch.cuda.reset_peak_memory_stats()
        return int(torch.cuda.memory_allocated())

    def _peak(self) -> int:
        import torch

        return 0 if self.device == "cpu" else int(torch.cuda.max_memory_allocated())


class TorchGraphBaseline(TorchBaseline):
    """PyTorch in CUDA graphs; `compiled` first, and then with the draws of stream "default"."""

    def __init__(self, name: str, compiled: bool = False, counted: bool = False) -> None:
        super().__init__(name, same_draws=compiled, slow_to_build=compiled)
        self._compiled = compiled
        self._counted = counted

    def _markets(self, case: Case) -> Any:
        from baselines.torch_counted import CountedTorchMarkets
        from baselines.torch_graph import GraphTorchMarkets

        build = CountedTorchMarkets if self._counted else GraphTorchMarkets
        return build(call_auction(case), self.device, self._compiled)


class JaxBaseline(Baseline):
    """JAX, one jitted scan; its streams are its own, so the wall is its only clock."""

    package = "jax"

    def __init__(self, name: str, **form: Any) -> None:
        super().__init__(name, same_draws=True, slow_to_build=True)
        self._form = form

    def _sees_gpu(self) -> bool:
        import jax

        return any(device.platform == "gpu" for device in jax.devices())

    def _build_for(self, case: Case) -> None:
        from baselines.jax_engine import JaxMarkets

        self._built = JaxMarkets(call_auction(case), self.device, **self._form)

    def _time(self, steps: int) -> tuple[float, float | None, int | None]:
        self._built.prepare(steps)
        held = self._built.device_nbytes(steps)
        return (*_time_on_wall(lambda: self._built.run(steps)), held)


def _time_on_wall(work: Callable[[], object]) -> tuple[float, None]:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began, None


def _settle() -> None:
    """Let pending work end and dropped arrays go, so that memory in use is what is kept."""
    gc.collect()
    synchronize()
