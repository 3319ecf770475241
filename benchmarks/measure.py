"""One case: compare the contenders, let them take turns, and make rows of what they did."""

import time
from collections.abc import Iterator, Sequence

from cases import Case
from checks import check_sample, check_small
from contender import Contender, Outcome
from memory import METHOD, measure_in_fresh_process
from row_file import Row, spread

_CHEAP_SECONDS = 0.25
"""A trial that takes no longer is repeated also when the time of the case is spent."""
_DEVICE_METHOD = {
    "cuda": "allocations on the device",
    "naive-cuda": "allocations on the device",
    "torch": "PyTorch's peak of allocated memory, from building to the end",
    "jax": "XLA's account of the compiled program: state, constants and scratch",
}


def run_trials(
    case: Case, contenders: Sequence[Contender], trials: int, until: float | None
) -> tuple[dict[str, str], dict[str, list[Outcome]]]:
    """Compare every contender, then run them in turns.

    Args:
        case: what they run.
        contenders: those that run it.
        trials: turns that are wanted.
        until: time.monotonic() from when on only cheap trials are repeated; None for no limit.

    Returns:
        What was compared, and the outcomes, by contender.
    """
    checks = {each.name: check(each, case) for each in contenders}
    outcomes: dict[str, list[Outcome]] = {each.name: [] for each in contenders}
    took: dict[str, float] = {}
    for _ in range(trials):
        for each in contenders:
            late = until is not None and time.monotonic() > until
            if late and took.get(each.name, 0.0) > _CHEAP_SECONDS:
                continue
            began = time.monotonic()
            outcomes[each.name].append(each.run(case, each.steps(case)))
            took[each.name] = time.monotonic() - began
    return checks, outcomes


def check(contender: Contender, case: Case) -> str:
    """Compare a contender with the reference; the run of the whole case warms it up too."""
    words = []
    if not (contender.same_draws and contender.slow_to_build):
        words.append(check_small(contender, case))
    if contender.same_draws:
        outcome = contender.run(case, contender.steps(case))
        assert outcome.state is not None
        words.append(check_sample(contender, case, outcome.state))
    return "; ".join(words)


def common_digest(contender: Contender, case: Case, outcomes: Sequence[Outcome]) -> str | None:
    """Return the digest that all trials share."""
    if not contender.same_draws:
        return None
    digests = {outcome.state.digest() for outcome in outcomes if outcome.state is not None}
    if len(digests) != 1:
        raise SystemExit(f"{case.name}: the trials of {contender.name} end in {sorted(digests)}")
    return digests.pop()


def time_row(contender: Contender, case: Case, outcomes: Sequence[Outcome], wanted: int) -> Row:
    """Return the row of one contender: how long, how fast, on what, and where it ended."""
    steps = contender.steps(case)
    last = outcomes[-1]
    kernel = [each.kernel_seconds for each in outcomes if each.kernel_seconds is not None]
    clock = kernel or [each.seconds for each in outcomes]
    return {
        "kind": "time",
        "engine": contender.name,
        "stream": case.stream if contender.same_draws else "its own",
        "window": case.window,
        "sweeps": case.sweeps,
        **sizes(case, steps),
        "threads": contender.threads(case),
        "trials": len(outcomes),
        "trials_wanted": wanted,
        "clock": "kernel" if kernel else "wall",
        "wall_s": spread([each.seconds for each in outcomes]),
        "kernel_s": spread(kernel) if kernel else None,
        "us_per_step": spread([seconds / steps * 1e6 for seconds in clock]),
        "agent_events_per_s": spread(rates(contender, case, outcomes)),
        "mean_last_price": float(last.mean_price.mean()),
        "mean_volume": float(last.volume.mean()),
        "digest": common_digest(contender, case, outcomes),
    }


def memory_of(contender: Contender, case: Case, last: Outcome, quick: bool, host: bool) -> Row:
    """Return the peak memory of a run and how it was measured.

    On a GPU it is known already; a run on the processor takes a process of its own, if `host`.
    """
    if contender.on_device:
        peak, family = last.device_bytes, contender.name.partition("-")[0]
        method = _DEVICE_METHOD.get(contender.name, _DEVICE_METHOD.get(family))
    else:
        peak = measure_in_fresh_process(contender, case, quick) if host else None
        method = METHOD
    return {
        "peak_bytes": peak,
        "bytes_per_market": None if peak is None else peak / case.markets,
        "memory_method": None if peak is None else method,
    }


def ratio_rows(
    case: Case, running: Sequence[Contender], outcomes: dict[str, list[Outcome]]
) -> Iterator[Row]:
    """Yield how many times faster the engines are than the other contenders, trial by trial."""
    found = {each.name: rates(each, case, outcomes[each.name]) for each in running}
    for fast, over in (("cpu", ("numpy", "numpy-tuned")), ("cuda", tuple(found))):
        if fast not in found:
            continue
        threads = next(each.threads(case) for each in running if each.name == fast)
        for base in over:
            if base == fast or base not in found:
                continue
            ratios = [a / b for a, b in zip(found[fast], found[base], strict=False)]
            row = {"kind": "ratio", "engine": fast, "over": base, **sizes(case, case.steps)}
            row |= {"threads": threads, "trials": len(ratios)}
            if threads is None:
                yield row | {"ratio": spread(ratios)}
            else:
                yield row | {"ratio_per_core": spread([each / threads for each in ratios])}


def rates(contender: Contender, case: Case, outcomes: Sequence[Outcome]) -> list[float]:
    """Return agent events a second of each trial: by the GPU's clock, where there is one."""
    events = case.markets * case.agents * contender.steps(case)
    return [events / (each.kernel_seconds or each.seconds) for each in outcomes]


def sizes(case: Case, steps: int) -> Row:
    """Return the sizes of a case as they stand in a row."""
    return {
        "case": case.name,
        "group": case.group.value,
        "markets": case.markets,
        "agents": case.agents,
        "levels": case.levels,
        "steps": steps,
    }
