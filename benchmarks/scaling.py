"""How much faster several GPUs are than one: `python benchmarks/scaling.py`.

Strong scaling splits one ensemble over the GPUs; weak scaling gives each as many markets as one
had. All numbers of GPUs take turns, trial by trial, and end every ensemble in one digest; three of
its markets are held against the reference. One JSON line a case and number of GPUs is appended to
benchmarks/rows/scaling.jsonl.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cases import Case
from checks import check_sample
from contender import call_auction
from contenders import CONTENDERS
from machine import REPOSITORY
from measure import sizes
from row_file import Row, append_row, describe_run, spread

from bookwarp.engines.cuda.availability import unavailable_reason
from bookwarp.engines.cuda.engine import CudaEngine
from bookwarp.engines.cuda.gpu import device_count
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.state import State, opening_state

ROWS = REPOSITORY / "benchmarks" / "rows" / "scaling.jsonl"


@dataclass(frozen=True)
class Scaling:
    """An ensemble for one GPU, and what becomes of it on several."""

    case: Case
    weak: bool = False
    """Whether every GPU gets as many markets, or all GPUs share them."""

    def on(self, count: int) -> Case:
        """Return what `count` GPUs run."""
        case = self.case
        return replace(case, markets=case.markets * count) if self.weak else case

    @property
    def name(self) -> str:
        """The case in words."""
        return f"{'weak' if self.weak else 'strong'}: {self.case.name}"


SCALINGS = (
    Scaling(Case("8192 markets of 256", 8192)),
    Scaling(Case("65536 markets of 256", 65_536)),
    Scaling(Case("65536 markets of 1024", 65_536, agents=1024)),
    Scaling(Case("price and volume recorded", 8192, record=("last", "volume"))),
    Scaling(Case("8192 markets of 256", 8192), weak=True),
    Scaling(Case("65536 markets of 256", 65_536), weak=True),
)


class Devices:
    """An ensemble on some GPUs, to be run again and again from its opening."""

    def __init__(self, case: Case, count: int) -> None:
        self.case = case
        self.auction = call_auction(case)
        self.plan = RecordPlan.of(self.auction, case.record)
        self.engine = CudaEngine(self.auction, self.plan, devices=list(range(count)))
        self.seconds: list[float] = []
        self.kernel_seconds: list[float] = []

    def run(self) -> State:
        """Run all steps, time them, and return the state at the end."""
        self.engine.write_state(opening_state(self.auction))
        rows = self.plan.allocate(self.auction, self.plan.rows(0, self.case.steps))
        began = time.perf_counter()
        kernel_seconds = self.engine.time(self.case.steps, rows)
        self.engine.wait()
        self.seconds.append(time.perf_counter() - began)
        self.kernel_seconds.append(max(kernel_seconds))
        return self.engine.read_state()

    def forget_times(self) -> None:
        """Let the next run be the first one timed."""
        self.seconds, self.kernel_seconds = [], []


def measure_scaling(scaling: Scaling, counts: Sequence[int], trials: int) -> Iterator[Row]:
    """Yield one row for every number of GPUs, that of one first.

    Raises:
        SystemExit: two runs of an ensemble end in different bits.
    """
    running = {count: Devices(scaling.on(count), count) for count in counts}
    checks = {count: _compare(each, count) for count, each in running.items()}
    for _ in range(trials):
        for count, devices in running.items():
            if devices.run().digest() != checks[count][0]:
                raise SystemExit(f"{scaling.name}: a trial on {count} GPUs ends in other bits")
    alone = running[counts[0]]
    for count, devices in running.items():
        events = devices.case.markets * devices.case.agents * devices.case.steps
        share = 1 if scaling.weak else count
        pairs = list(zip(alone.seconds, devices.seconds, strict=True))
        digest, check = checks[count]
        yield {
            "kind": "scaling",
            "engine": "cuda",
            "scaling": "weak" if scaling.weak else "strong",
            **sizes(devices.case, devices.case.steps),
            "case": f"{scaling.name}, {count} GPU{'s' if count > 1 else ''}",
            "of": scaling.case.name,
            "record": devices.case.record,
            "devices": count,
            "gpus": [gpu.name for gpu in devices.engine.gpus],
            "trials": trials,
            "wall_s": spread(devices.seconds),
            "kernel_s": spread(devices.kernel_seconds),
            "agent_events_per_s": spread([events / seconds for seconds in devices.seconds]),
            "times_faster": spread([count / share * a / b for a, b in pairs]),
            "efficiency": spread([a / (share * b) for a, b in pairs]),
            "digest": digest,
            "check": check,
        }


def _compare(devices: Devices, count: int) -> tuple[str, str]:
    """Run once untimed; return the digest, and what it was compared with.

    Raises:
        SystemExit: one GPU ends in other bits than several.
    """
    state = devices.run()
    words = [check_sample(CONTENDERS["cuda"], devices.case, state)]
    digest = state.digest()
    if count > 1:
        alone = Devices(devices.case, 1).run().digest()
        if alone != digest:
            raise SystemExit(f"{devices.case.name}: {count} GPUs end in {digest}, one in {alone}")
        words.append("digest equals that of one GPU")
    devices.forget_times()
    return digest, "; ".join(words)


def _line(row: Row) -> str:
    rate, times = row["agent_events_per_s"], row["times_faster"]
    return (
        f"{row['case']:<44} {row['markets']:>7} markets {rate['median'] / 1e9:>8.1f} G agent "
        f"events/s, {times['median']:.2f} times one GPU ({times['min']:.2f} .. "
        f"{times['max']:.2f}), efficiency {row['efficiency']['median']:.3f}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--devices", type=int, nargs="+", help="numbers of GPUs, else 1, 2, 4 ...")
    parser.add_argument("--trials", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="small sizes; writes no rows")
    parser.add_argument("--rows", type=Path, help=f"file to append to, else {ROWS.name}")
    parser.add_argument("--commit", help="the commit to note where there is no Git to ask")
    options = parser.parse_args(arguments)
    reason = unavailable_reason()
    if reason is not None:
        parser.error(f"needs GPUs: {reason}")
    here = device_count()
    counts = sorted({1, *(options.devices or [n for n in (2, 4, 8) if n <= here])})
    if counts[0] < 1 or counts[-1] > here or options.trials < 1:
        parser.error(f"there are {here} GPUs here; trials are at least 1")
    common = describe_run("scaling", options.commit, on_gpu=True)
    target = options.rows or (None if options.quick else ROWS)
    for scaling in SCALINGS:
        chosen = replace(scaling, case=scaling.case.quick()) if options.quick else scaling
        for row in measure_scaling(chosen, counts, options.trials):
            print(_line(row), flush=True)
            if target is not None:
                append_row(target, common | row)


if __name__ == "__main__":
    main()
