"""One rung: compared with the reference and with the cpu engine, then timed."""

from typing import Any

from cases import Case, Group
from checks import ParityError, check_small
from contender import Contender, Outcome, call_auction
from contenders import CONTENDERS
from device_contenders import Baseline, CudaEngine, make_current
from gpu import describe_gpu, gpu_present, time_on_stream
from measure import time_row
from rungs import Rung

from bookwarp.engines.cuda.kernel_key import Arrangement

Row = dict[str, Any]

_WARM_SECONDS = 0.3
"""Time on the GPU before anything is timed: clocks are up then."""
_WARM_RUNS = 10
_MARKETS, _AGENTS, _MORE_AGENTS = 8192, 256, 1024


class LadderBaseline(Baseline):
    """A rung with a kernel of its own."""

    package = "cuda.core"

    def __init__(self, rung: Rung) -> None:
        super().__init__(engine_name(rung), same_draws=True, slow_to_build=False)
        self._rung = rung

    def _sees_gpu(self) -> bool:
        return gpu_present()

    def _build_for(self, case: Case) -> None:
        from markets import LadderMarkets

        self._stream = make_current().create_stream()
        self._built = LadderMarkets(self._rung, call_auction(case), self._stream)

    def _time(self, steps: int) -> tuple[float, float | None, int | None]:
        times = time_on_stream(lambda: self._built.run(steps), int(self._stream.handle))
        return (*times, self._built.device_nbytes)


def engine_name(rung: Rung) -> str:
    """Return what a row calls a rung."""
    return f"ladder: {rung.name}"


def contender_of(rung: Rung) -> Contender:
    """Return what runs a rung."""
    if rung.contender == "cuda" and rung.markets_per_warp:
        return CudaEngine(Arrangement(rung.markets_per_warp, draws_ahead=False))
    return CONTENDERS[rung.contender] if rung.contender else LadderBaseline(rung)


def cases_of(rung: Rung) -> list[Case]:
    """Return the sizes at which a rung is timed; the larger for those with the default stream."""
    sizes = [_AGENTS] + ([_MORE_AGENTS] if rung.stream == "default" else [])
    return [
        Case(
            f"ladder: {_MARKETS} markets of {agents}",
            _MARKETS,
            agents=agents,
            stream=rung.stream,
            group=Group.DEVICE,
        )
        for agents in sizes
    ]


def expected_digest(case: Case) -> str:
    """Return the digest that the cpu engine ends in."""
    outcome = CONTENDERS["cpu"].run(case, case.steps)
    assert outcome.state is not None
    return outcome.state.digest()


def measure_rung(rung: Rung, case: Case, digest: str, trials: int) -> Row:
    """Return the row of a rung at one size; of `digest` must be where it ends.

    Raises:
        ParityError: it ends in other books.
    """
    return measure(rung, contender_of(rung), case, digest, trials)


def measure(rung: Rung, contender: Contender, case: Case, digest: str, trials: int) -> Row:
    """Do so with a given contender."""
    reason = contender.unavailable()
    if reason is not None:
        raise RuntimeError(f"{contender.name} cannot run here: {reason}")
    checks = [check_small(contender, case)]
    warm = [contender.run(case, case.steps)]
    if _digest_of(warm[0]) != digest:
        raise ParityError(f"{case.name}: {rung.name} differs from the cpu engine")
    checks.append(f"digest equals the cpu engine's: {case.markets} markets, {case.steps} steps")
    while sum(_seconds(run) for run in warm) < _WARM_SECONDS and len(warm) < _WARM_RUNS:
        warm.append(contender.run(case, case.steps))
    outcomes = [contender.run(case, case.steps) for _ in range(trials)]
    row = time_row(contender, case, outcomes, trials)
    if row["digest"] != digest:
        raise ParityError(f"{case.name}: the trials of {rung.name} differ from the cpu engine")
    clocks = describe_gpu() if contender.on_device else {}
    contender.release()
    return row | {
        "kind": "rung",
        "engine": engine_name(rung),
        "rung": rung.name,
        "idea": rung.idea,
        "over": rung.over,
        "expected": rung.expected,
        "because": rung.because,
        "kept": rung.kept,
        "check": "; ".join(checks),
        "peak_bytes": outcomes[-1].device_bytes,
        **clocks,
    }


def _digest_of(outcome: Outcome) -> str:
    assert outcome.state is not None
    return outcome.state.digest()


def _seconds(outcome: Outcome) -> float:
    return outcome.kernel_seconds or outcome.seconds
