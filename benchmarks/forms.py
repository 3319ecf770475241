"""Which form of a baseline is the fastest on this GPU: `python benchmarks/forms.py`.

A baseline must be as good as it can be made, and some of it can be written in more than one way.
Every form is compared with the reference to the last bit, then timed; the fastest that leaves an
order an order is the one to keep in `contenders.CONTENDERS`. Forms that count orders by code are
told apart.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any

from array_contenders import JaxBaseline, TorchGraphBaseline
from cases import Case
from checks import check_sample
from device_contenders import Baseline

_CASE = Case("forms", markets=8192, sweeps=("fixed",))
_TRIALS = 5


def jax_forms() -> Iterator[tuple[str, Callable[[], Baseline]]]:
    """Yield the forms in JAX: how orders are added, how levels are summed, steps a loop's turn."""
    for gather in ("scatter", "count", "matmul"):
        for sum_levels in ("scan", "matmul"):
            for unroll in (1, 5) if gather != "matmul" else (1,):
                form: dict[str, Any] = {
                    "gather": gather,
                    "sum_levels": sum_levels,
                    "unroll": unroll,
                }
                yield f"jax {form}", lambda form=form: JaxBaseline("jax", **form)


def torch_forms() -> Iterator[tuple[str, Callable[[], Baseline]]]:
    """Yield the forms in compiled PyTorch: orders added or counted, Inductor tuned or not."""
    for counted in (False, True):
        for tuned in (False, True):

            def build(counted: bool = counted, tuned: bool = tuned) -> Baseline:
                import torch._inductor.config as inductor

                inductor.max_autotune_pointwise = inductor.coordinate_descent_tuning = tuned
                return TorchGraphBaseline("torch-compile", compiled=True, counted=counted)

            yield f"torch-compile {{'counted': {counted}, 'tuned': {tuned}}}", build


def time_form(baseline: Baseline, case: Case) -> tuple[float, float, str]:
    """Return the median rate, the seconds of building and checking, and what was compared."""
    began = time.perf_counter()
    outcome = baseline.run(case, case.steps)
    assert outcome.state is not None
    compared = check_sample(baseline, case, outcome.state)
    building = time.perf_counter() - began
    trials = [baseline.run(case, case.steps) for _ in range(_TRIALS)]
    seconds = [each.kernel_seconds or each.seconds for each in trials]
    baseline.release()
    return case.markets * case.agents * case.steps / median(seconds), building, compared


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=["jax", "torch"])
    parser.add_argument("--try-on-cpu", action="store_true", help="small, to see that it works")
    options = parser.parse_args(arguments)
    forms = [*(jax_forms() if options.only != "torch" else ())]
    forms += [*(torch_forms() if options.only != "jax" else ())]
    for name, build in forms:
        baseline = build()
        if options.try_on_cpu:
            baseline.device = "cpu"
        reason = baseline.unavailable()
        if reason is not None:
            print(f"without {name}: {reason}")
            continue
        case = _CASE.quick() if options.try_on_cpu else _CASE
        rate, building, compared = time_form(baseline, case)
        print(
            f"{name:<85} {rate / 1e9:8.2f} G/s, {building:5.1f} s to build; {compared}", flush=True
        )


if __name__ == "__main__":
    main()
