"""Compare, time and write down: `python benchmarks/run.py auction`.

Each case is compared with the reference first. Then the contenders take turns, trial by trial, so
that a machine that drifts drifts for all of them. One JSON line per case and contender is appended
to benchmarks/rows/auction.jsonl; `python benchmarks/report.py` makes the tables of the
documentation from these lines.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from cases import AUCTION, Case
from checks import check_sample, check_small
from contenders import CONTENDERS, Contender, Outcome
from machine import REPOSITORY, describe_code, describe_machine
from memory import METHOD, measure_in_fresh_process

ROWS = REPOSITORY / "benchmarks" / "rows" / "auction.jsonl"
_FAST = "cpu"
_BASELINES = ("numpy", "numpy-tuned")
_QUICK_TRIALS = 2


def measure_case(
    case: Case, contenders: Sequence[Contender], trials: int, quick: bool
) -> Iterator[dict[str, Any]]:
    """Yield one row per contender that runs the case, then one per ratio to a baseline."""
    running = [each for each in contenders if each.refusal(case) is None]
    checks = {each.name: _check(each, case) for each in running}
    outcomes: dict[str, list[Outcome]] = {each.name: [] for each in running}
    for _ in range(trials):
        for each in running:
            outcomes[each.name].append(each.run(case, each.steps(case)))
    rates = {each.name: _rates(each, case, outcomes[each.name]) for each in running}
    for each in running:
        peak = measure_in_fresh_process(each, case, quick)
        yield {
            "kind": "time",
            "engine": each.name,
            "stream": case.stream if each.same_draws else "its own",
            "window": case.window,
            **_sizes(case, each.steps(case)),
            "threads": each.threads(case),
            "trials": trials,
            "agent_events_per_s": _spread(rates[each.name]),
            "check": checks[each.name],
            "digest": _digest(each, case, outcomes[each.name]),
            "peak_bytes": peak,
            "bytes_per_market": None if peak is None else peak / case.markets,
            "memory_method": None if peak is None else METHOD,
        }
    for base in _BASELINES:
        if base in rates and _FAST in rates:
            threads = CONTENDERS[_FAST].threads(case)
            pairs = zip(rates[_FAST], rates[base], strict=True)
            yield {
                "kind": "ratio",
                "engine": _FAST,
                "over": base,
                **_sizes(case, case.steps),
                "threads": threads,
                "trials": trials,
                "ratio_per_core": _spread([fast / threads / slow for fast, slow in pairs]),
            }


def _check(contender: Contender, case: Case) -> str:
    """Compare a contender with the reference; the run of the whole case warms it up too."""
    small = check_small(contender, case)
    if not contender.same_draws:
        return small
    outcome = contender.run(case, contender.steps(case))
    assert outcome.state is not None
    return f"{small}; {check_sample(contender, case, outcome.state)}"


def _digest(contender: Contender, case: Case, outcomes: list[Outcome]) -> str | None:
    """Return the digest that all trials share."""
    if not contender.same_draws:
        return None
    digests = {outcome.state.digest() for outcome in outcomes if outcome.state is not None}
    if len(digests) != 1:
        raise SystemExit(f"{case.name}: the trials of {contender.name} end in {sorted(digests)}")
    return digests.pop()


def _rates(contender: Contender, case: Case, outcomes: list[Outcome]) -> list[float]:
    events = case.markets * case.agents * contender.steps(case)
    return [events / outcome.seconds for outcome in outcomes]


def _sizes(case: Case, steps: int) -> dict[str, Any]:
    return {
        "case": case.name,
        "markets": case.markets,
        "agents": case.agents,
        "levels": case.levels,
        "steps": steps,
    }


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {"median": median(values), "min": min(values), "max": max(values)}


def _line(row: dict[str, Any]) -> str:
    what, unit = ("agent_events_per_s", 1e-6) if row["kind"] == "time" else ("ratio_per_core", 1)
    found = {name: value * unit for name, value in row[what].items()}
    name = row["engine"] if row["kind"] == "time" else f"{row['engine']} / {row['over']}"
    label = "M agent events/s" if row["kind"] == "time" else "times, per core"
    return (
        f"{row['case']:<26} {name:<18} {row['threads']:>2} threads {row['steps']:>4} steps "
        f"{found['median']:>9.1f} ({found['min']:.1f} .. {found['max']:.1f}) {label}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    names = [case.name for case in AUCTION]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("suite", choices=["auction"])
    parser.add_argument("--cases", nargs="+", choices=names, default=names, metavar="CASE")
    parser.add_argument(
        "--engines", default=",".join(CONTENDERS), help="which of them, with commas between"
    )
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="small sizes; writes no rows")
    parser.add_argument("--rows", type=Path, help=f"file to append to, else {ROWS.name}")
    options = parser.parse_args(arguments)
    unknown = set(options.engines.split(",")) - set(CONTENDERS)
    if unknown or options.trials < 1:
        parser.error(f"engines are {', '.join(CONTENDERS)}; trials are at least 1")

    if options.quick:
        print("quick: this shows that everything works; its rates say nothing about speed")
    contenders = [CONTENDERS[name] for name in options.engines.split(",")]
    trials = min(options.trials, _QUICK_TRIALS) if options.quick else options.trials
    target = options.rows or (None if options.quick else ROWS)
    common = {
        "suite": options.suite,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        **describe_machine(),
        **describe_code(),
    }
    for case in AUCTION:
        if case.name not in options.cases:
            continue
        for row in measure_case(
            case.quick() if options.quick else case, contenders, trials, options.quick
        ):
            print(_line(row), flush=True)
            if target is not None:
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(common | row) + "\n")


if __name__ == "__main__":
    main()
