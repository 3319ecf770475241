"""Compare, time and write down: `python benchmarks/run.py auction`.

Each case is compared with the reference first. Then the contenders take turns, trial by trial, so
that a machine that drifts drifts for all of them. One JSON line per case and contender is appended
to benchmarks/rows/auction.jsonl; `python benchmarks/report.py` makes the tables and figures of the
documentation from these lines.
"""

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import paper_tables
import report
from cases import AUCTION, Case, Group
from contender import Contender
from contenders import CONTENDERS
from device_contenders import Baseline
from gpu import describe_gpu
from machine import REPOSITORY
from measure import common_digest as _digest  # noqa: F401  (the name that the tests know)
from measure import memory_of, ratio_rows, run_trials, time_row
from row_file import append_row, describe_run

from bookwarp.engines.cuda.tuned import IGNORE_VARIABLE

ROWS = REPOSITORY / "benchmarks" / "rows" / "auction.jsonl"
_QUICK_TRIALS = 2


def measure_case(
    case: Case,
    contenders: Sequence[Contender],
    trials: int,
    quick: bool,
    until: float | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield one row per contender that runs the case, then one per ratio to another.

    From `until` (time.monotonic) on only cheap trials are repeated.
    """
    running = [each for each in contenders if each.refusal(case) is None]
    wanted = trials if case.trials is None or quick else case.trials
    checks, outcomes = run_trials(case, running, wanted, until)
    gpu = describe_gpu() if any(each.on_device for each in running) else {}
    for each in running:
        mine = outcomes[each.name]
        row = time_row(each, case, mine, wanted) | {"check": checks[each.name]}
        row |= memory_of(each, case, mine[-1], quick, host=until is None)
        yield row | (gpu if each.on_device else {})
    yield from ratio_rows(case, running, outcomes)
    for each in running:
        each.release()


def _line(row: dict[str, Any]) -> str:
    timed = row["kind"] == "time"
    what = next(n for n in ("agent_events_per_s", "ratio_per_core", "ratio") if n in row)
    found = {name: value * (1e-6 if timed else 1) for name, value in row[what].items()}
    name = row["engine"] if timed else f"{row['engine']} / {row['over']}"
    where = f"{row['threads']:>3} threads" if row["threads"] else "        GPU"
    label = "M agent events/s" if timed else "times, per core" if row["threads"] else "times"
    repeats = f"{row['trials']} trials"
    if timed and row["trials"] < row["trials_wanted"]:
        repeats += f" of {row['trials_wanted']}"
    return (
        f"{row['case']:<29} {name:<28} {where} {row['steps']:>4} steps {found['median']:>10.1f} "
        f"({found['min']:.1f} .. {found['max']:.1f}) {label}, {repeats}"
    )


def _parser() -> argparse.ArgumentParser:
    groups = [group.value for group in Group]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("suite", choices=["auction"])
    parser.add_argument(
        "--cases",
        nargs="+",
        choices=[*groups, *(case.name for case in AUCTION)],
        metavar="CASE",
        help=f"names of cases, or of groups: {', '.join(groups)}; else the paper's evaluation and "
        f"the cases sized for what the engines run on",
    )
    parser.add_argument(
        "--engines", default=",".join(CONTENDERS), help="which of them, with commas between"
    )
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument(
        "--budget-s",
        type=float,
        help="seconds in all: slow contenders are repeated less often, as their rows then say, and "
        "host memory is not measured",
    )
    parser.add_argument("--quick", action="store_true", help="small sizes; writes no rows")
    parser.add_argument("--rows", type=Path, help=f"file to append to, else {ROWS.name}")
    parser.add_argument("--commit", help="the commit to note where there is no Git to ask")
    parser.add_argument(
        "--device",
        choices=["cuda", "cpu"],
        default="cuda",
        help="where PyTorch and JAX run; cpu goes with --quick",
    )
    return parser


def _chosen_cases(names: Sequence[str] | None, contenders: Sequence[Contender]) -> list[Case]:
    if names is None:
        on_gpu = any(each.name == "cuda" and each.unavailable() is None for each in contenders)
        names = [Group.PAPER.value, (Group.DEVICE if on_gpu else Group.PROCESSOR).value]
    return [case for case in AUCTION if case.name in names or case.group.value in names]


def _working(contenders: Sequence[Contender]) -> list[Contender]:
    """Return those that work here; say why the others do not."""
    reasons = {each.name: each.unavailable() for each in contenders}
    for name, reason in reasons.items():
        if reason is not None:
            print(f"without {name}: {reason}")
    return [each for each in contenders if reasons[each.name] is None]


def _fast(case: Case, contenders: Sequence[Contender]) -> list[Contender]:
    """Return those that run and compile in a moment; say who is left out."""
    fast = [each for each in contenders if each.on_device and not each.slow_to_build]
    slow = ", ".join(each.name for each in contenders if each not in fast)
    print(f"{case.name}: the budget is spent: without {slow}")
    return fast


def _show_evaluation(rows: Sequence[dict[str, Any]], draw: bool) -> None:
    """Print the paper's tables for this machine, and draw its figures from all rows there are."""
    if not paper_tables.paper_rows(rows):
        return
    shown = {
        "Table III, throughput, 10^9 agent events a second": paper_tables.throughput,
        "Table III, times faster": paper_tables.speedup,
        "Table IV, one workload": paper_tables.fixed_workload,
        "Table V, memory of the GPU, MB": paper_tables.device_memory,
    }
    for title, table in shown.items():
        print(f"\n{title}\n\n{table(rows)}")
    if draw:
        print("\ndrawn:", ", ".join(path.name for path in report.draw_figures()))


def main(arguments: Sequence[str] | None = None) -> None:
    began = time.monotonic()
    parser = _parser()
    options = parser.parse_args(arguments)
    # Rows of one machine can be compared with those of another only if neither was tuned.
    os.environ.setdefault(IGNORE_VARIABLE, "1")
    names = options.engines.split(",")
    if set(names) - set(CONTENDERS) or options.trials < 1:
        parser.error(f"engines are {', '.join(CONTENDERS)}; trials are at least 1")
    if options.device == "cpu" and not options.quick:
        parser.error("--device cpu shows that everything works, and goes with --quick")
    if options.quick:
        print("quick: this shows that everything works; its rates say nothing about speed")
    for each in CONTENDERS.values():
        if isinstance(each, Baseline):
            each.device = options.device
    contenders = _working([CONTENDERS[name] for name in names])
    trials = min(options.trials, _QUICK_TRIALS) if options.quick else options.trials
    target = options.rows or (None if options.quick else ROWS)
    on_gpu = any(each.on_device for each in contenders) and options.device == "cuda"
    common = describe_run(options.suite, options.commit, on_gpu=on_gpu)
    common["tuned"] = not os.environ[IGNORE_VARIABLE]
    cases = _chosen_cases(options.cases, contenders)
    found: list[dict[str, Any]] = []
    for number, case in enumerate(cases):
        until, running = None, contenders
        if options.budget_s is not None:
            now = time.monotonic()
            left = began + options.budget_s - now
            until = now + left / (len(cases) - number)
            running = contenders if left > 0 else _fast(case, contenders)
        chosen = case.quick() if options.quick else case
        for row in measure_case(chosen, running, trials, options.quick, until):
            print(_line(row), flush=True)
            found.append(common | row)
            if target is not None:
                append_row(target, found[-1])
    if not options.quick:
        _show_evaluation(found, draw=target == ROWS)


if __name__ == "__main__":
    main()
