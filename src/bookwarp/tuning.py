"""Find the fastest kernel for an ensemble on the GPU at hand, once, for all runs that follow."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bookwarp.progress import Progress, check_progress, progress_bar
from bookwarp.simulation import Simulation
from bookwarp.spec.errors import ParameterError

if TYPE_CHECKING:
    from bookwarp.engines.cuda.tune import Tuning

_FIXED = ("engine", "threads", "devices", "cuda_stream", "keep_on_device")
_MOST_TRIALS = 1000


def tune(
    markets: int,
    agents: int = 256,
    levels: int = 128,
    steps: int = 500,
    *,
    device: int = 0,
    trials: int = 5,
    progress: Progress = None,
    **parameters: Any,
) -> "Tuning":
    """Run an ensemble by every kernel that ends it in the same bits, and remember the fastest.

    Runs that follow on such a GPU, of as many markets up to the next power of two and else of the
    same kind, use it without being told, in this process and in others. No result changes by a bit:
    all digests and recorded rows are compared before anything is timed.

    What was found is kept in the user's folder for cached files, or in that of BOOKWARP_CACHE_DIR.
    It no longer counts where kernels, compiler or GPU are others. `bookwarp info` shows it,
    `bookwarp tune --forget` removes it, and BOOKWARP_IGNORE_TUNED=1 lets a process ignore it.

    Args:
        markets, agents, levels, parameters: the ensemble and what it records, as for `simulate`.
        steps: steps of a trial.
        device: number of the GPU.
        trials: timed runs of each kernel, in turns.
        progress: True for a bar on stderr, or a function of (runs done, runs wanted).

    Returns:
        What was tried, how long each took, and what is used from now on.

    Raises:
        ParameterError: a parameter is outside its domain, before any work.
        EngineError: the cuda engine does not work here, or two kernels differ in a bit.

    Cost: up to some fifty kernels are compiled, each a fraction of a second, and run `trials` + 1
    times.
    """
    _check_count("trials", trials, _MOST_TRIALS)
    check_progress(progress)
    for name in _FIXED:
        if name in parameters:
            raise ParameterError(f"tune takes no {name}: it is for the cuda engine on one device")
    # Refuses what a simulation refuses, and gives its memory back.
    asked = Simulation(markets, agents, levels, steps, engine="cuda", devices=device, **parameters)
    auction, plan, steps = asked.auction, asked.plan, asked.steps
    del asked
    _check_count("steps", steps, 2**32)
    from bookwarp.engines.cuda.engine import CudaEngine
    from bookwarp.engines.cuda.tune import count_runs, tune_engine

    engine = CudaEngine(auction, plan, devices=device)
    with progress_bar(progress, count_runs(engine, steps, trials)) as report:
        return tune_engine(engine, steps, trials, report)


def _check_count(name: str, value: Any, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ParameterError(f"{name} must be an integer, not {value!r}")
    if not 1 <= value <= most:
        raise ParameterError(f"{name} = {value} is outside 1 .. {most}")
