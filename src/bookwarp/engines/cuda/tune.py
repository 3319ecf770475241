"""Which of the kernels that end in the same bits is fastest on a GPU: run all, and remember."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from typing import Any

import numpy as np

from bookwarp.engines.cuda.engine import CudaEngine
from bookwarp.engines.cuda.kernel_key import KernelKey
from bookwarp.engines.cuda.tuned import remember_choice, size_class
from bookwarp.engines.cuda.variants import choice_of
from bookwarp.spec.errors import EngineError
from bookwarp.spec.state import opening_state

_LEAST_GAIN = 1.01
"""How many times faster another choice must be: less is noise."""


@dataclass(frozen=True)
class Timing:
    """What a choice takes, in seconds on the GPU for all steps: median, least and most."""

    choice: Mapping[str, int]
    median_s: float
    min_s: float
    max_s: float


@dataclass(frozen=True)
class Tuning:
    """What was tried on a GPU and what is best there; all of it ended in `digest`."""

    gpu: str
    kernel: str
    markets: int
    """The choice is for as many markets as this, down to half of it."""
    agents: int
    levels: int
    steps: int
    digest: str
    default: Timing
    best: Timing
    """The default unless another is at least 1 % faster."""
    timings: tuple[Timing, ...]
    """The default first."""
    remembered: bool
    """Whether the choice could be kept for later processes."""

    @property
    def gain(self) -> float:
        """How many times faster the best is than the default."""
        return self.default.median_s / self.best.median_s


def count_runs(engine: CudaEngine, steps: int, trials: int) -> int:
    """Return how often `tune_engine` runs the ensemble."""
    return len(engine.equivalent_keys(steps)) * (trials + 1)


def tune_engine(
    engine: CudaEngine,
    steps: int,
    trials: int,
    report: Callable[[int, int], None] = lambda done, wanted: None,
) -> Tuning:
    """Run an ensemble by every kernel that can, in turns, and remember the fastest.

    Args:
        engine: on one device, at its opening state; it has run `steps` steps at the end.
        steps: of a trial.
        trials: of each kernel, after one that compares the result and is not timed.
        report: told (runs done, runs wanted).

    Raises:
        EngineError: a kernel ends in other bits than the default; nothing is remembered.
    """
    keys = engine.equivalent_keys(steps)
    runs = count_runs(engine, steps, trials)
    digest = _compare(engine, keys, steps, lambda done: report(done, runs))
    seconds: list[list[float]] = [[] for _ in keys]
    for trial in range(trials):
        for number, (key, own) in enumerate(zip(keys, seconds, strict=True), 1):
            own.append(_time(engine, key, steps))
            report(len(keys) * (trial + 1) + number, runs)
    timings = tuple(
        Timing(choice_of(key), median(own), min(own), max(own))
        for key, own in zip(keys, seconds, strict=True)
    )
    best = min(timings, key=lambda timing: timing.median_s)
    if timings[0].median_s < _LEAST_GAIN * best.median_s:
        best = timings[0]
    return _remember(engine, keys[0], steps, digest, timings, best)


def _compare(
    engine: CudaEngine, keys: list[KernelKey], steps: int, report: Callable[[int], None]
) -> str:
    """Run every kernel once and return the digest that they share."""
    digest, rows = _run(engine, keys[0], steps)
    report(1)
    for done, key in enumerate(keys[1:], 2):
        own_digest, own_rows = _run(engine, key, steps)
        report(done)
        same_rows = all(np.array_equal(own_rows[name], array) for name, array in rows.items())
        if own_digest != digest or not same_rows:
            raise EngineError(
                f"the kernel {choice_of(key)} ends in {own_digest}, the kernel "
                f"{choice_of(keys[0])} in {digest}"
                f"{'' if same_rows else ', and they record other rows'}: this is a bug of "
                f"bookwarp or of the CUDA compiler; nothing was remembered"
            )
    return digest


def _run(engine: CudaEngine, key: KernelKey, steps: int) -> tuple[str, dict[str, np.ndarray]]:
    rows = _start(engine, key, steps)
    engine.run(steps, rows)
    return engine.read_state().digest(), rows


def _time(engine: CudaEngine, key: KernelKey, steps: int) -> float:
    rows = _start(engine, key, steps)
    (seconds,) = engine.time(steps, rows)
    engine.wait()
    return seconds


def _start(engine: CudaEngine, key: KernelKey, steps: int) -> dict[str, np.ndarray]:
    """Stand at the opening state with a kernel that is loaded, and return memory for its rows."""
    engine.write_state(opening_state(engine.auction))
    engine.use(key)
    return engine.plan.allocate(engine.auction, engine.plan.rows(0, steps))


def _remember(
    engine: CudaEngine,
    key: KernelKey,
    steps: int,
    digest: str,
    timings: tuple[Timing, ...],
    best: Timing,
) -> Tuning:
    gpu, auction = engine.gpus[0], engine.auction
    found: dict[str, Any] = {
        "kernel": key.kernel,
        "markets": size_class(auction.markets),
        "agents": auction.agents,
        "levels": auction.levels,
        "stream": auction.stream.name.lower(),
        "window": auction.window.name.lower(),
        "records": key.recording,
        "default_s": timings[0].median_s,
        "best_s": best.median_s,
        "steps": steps,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    kept = remember_choice(gpu.name, gpu.arch, key, auction.markets, best.choice, found)
    return Tuning(
        gpu=gpu.name,
        kernel=key.kernel,
        markets=size_class(auction.markets),
        agents=auction.agents,
        levels=auction.levels,
        steps=steps,
        digest=digest,
        default=timings[0],
        best=best,
        timings=timings,
        remembered=kept,
    )
