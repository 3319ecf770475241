"""What measures cost beside the run that they are of: `python benchmarks/measure_cost.py`.

The same ensemble is run bare, and with all that the measures read recorded; then it is measured,
and each group of facts alone. They take turns, trial by trial. The facts of three of its markets
are held against the reference first. One JSON line is appended to
benchmarks/rows/measure_cost.jsonl.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from machine import REPOSITORY
from row_file import Row, append_row, describe_run, spread

import bookwarp as bw
from bookwarp.engines.registry import ENGINES, engine_status
from bookwarp.measures import FactMeasure
from bookwarp.simulation import Simulation

ROWS = REPOSITORY / "benchmarks" / "rows" / "measure_cost.jsonl"
MEASURE = bw.measures.stylised_facts


@dataclass(frozen=True)
class Ensemble:
    """What is run, on what."""

    engine: str
    markets: int
    steps: int
    agents: int = 256
    levels: int = 128
    threads: int | None = None

    def simulation(self, record: Sequence[str], markets: Sequence[int] | None = None) -> Simulation:
        """Return the ensemble before its first step; or some of its markets on the reference."""
        chosen = range(self.markets) if markets is None else markets
        return Simulation(
            len(chosen),
            self.agents,
            self.levels,
            self.steps,
            market_ids=np.array(chosen),
            engine=self.engine if markets is None else "reference",
            threads=self.threads,
            record=tuple(record),
            keep_on_device=self.engine == "cuda" and markets is None and bool(record),
        )

    def run(self, record: Sequence[str]) -> tuple[Simulation, float]:
        """Run all steps; return the simulation and the seconds they took, without compiling."""
        simulation = self.simulation(record).step(self.steps)
        return simulation, simulation.elapsed_s


def check_facts(ensemble: Ensemble) -> str:
    """Compare the facts of three markets with those of the reference.

    Raises:
        SystemExit: they differ.
    """
    found = MEASURE.of_simulation(ensemble.run(MEASURE.series)[0])
    markets = np.unique([0, ensemble.markets // 2, ensemble.markets - 1]).tolist()
    alone = ensemble.simulation(MEASURE.series, markets).step(ensemble.steps)
    for name, values in MEASURE.of_simulation(alone).items():
        if found[name][markets].tobytes() != values.tobytes():
            raise SystemExit(f"{name} of the markets {markets} is not that of the reference")
    return f"facts of {len(markets)} whole markets equal the reference's, in every byte"


def measure_cost(ensemble: Ensemble, trials: int) -> Row:
    """Return a row: seconds bare, recorded, of all measures and of each group."""
    checked = check_facts(ensemble)
    groups = {group.name: FactMeasure((group,)) for group in MEASURE.groups}
    bare: list[float] = []
    recorded: list[float] = []
    measured: list[float] = []
    alone: dict[str, list[float]] = {name: [] for name in groups}
    for _ in range(trials):
        bare.append(ensemble.run(())[1])
        simulation, seconds = ensemble.run(MEASURE.series)
        recorded.append(seconds)
        measured.append(_seconds_of(lambda s=simulation: MEASURE.of_simulation(s)))
        for name, group in groups.items():
            alone[name].append(_seconds_of(lambda s=simulation, g=group: g.of_simulation(s)))
    shares = [(r + m) / b - 1 for b, r, m in zip(bare, recorded, measured, strict=True)]
    market_steps = ensemble.markets * ensemble.steps
    return {
        "kind": "measure cost",
        "engine": ensemble.engine,
        "markets": ensemble.markets,
        "agents": ensemble.agents,
        "levels": ensemble.levels,
        "steps": ensemble.steps,
        "threads": ensemble.threads,
        "trials": trials,
        "bare_s": spread(bare),
        "recorded_s": spread(recorded),
        "measured_s": spread(measured),
        "group_s": {name: spread(seconds) for name, seconds in alone.items()},
        "more_than_bare": spread(shares),
        "measure_ns_per_market_step": spread([s / market_steps * 1e9 for s in measured]),
        "check": checked,
    }


def _seconds_of(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _lines(row: Row) -> str:
    groups = ", ".join(f"{n} {s['median']:.3f}" for n, s in row["group_s"].items())
    return (
        f"{row['engine']}, {row['markets']} markets x {row['steps']} steps: bare "
        f"{row['bare_s']['median']:.3f} s, recorded {row['recorded_s']['median']:.3f} s, measures "
        f"{row['measured_s']['median']:.3f} s ({groups}); together "
        f"{100 * row['more_than_bare']['median']:+.1f} % of bare"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    working = [name for name, reason in engine_status().items() if reason is None]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--engine", choices=ENGINES, default=working[0])
    parser.add_argument("--markets", type=int, help="else 640000 on a GPU and 1000 a thread")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--rows", type=Path, default=ROWS, help=f"file to append to ({ROWS.name})")
    parser.add_argument("--commit", help="the commit to note where there is no Git to ask")
    options = parser.parse_args(arguments)
    if options.engine not in working or options.trials < 1:
        parser.error(f"engines that work here: {', '.join(working)}; trials are at least 1")
    markets = options.markets or (640_000 if options.engine == "cuda" else 1000)
    ensemble = Ensemble(options.engine, markets, options.steps, threads=options.threads)
    row: dict[str, Any] = measure_cost(ensemble, options.trials)
    common = describe_run("measure cost", options.commit, on_gpu=options.engine == "cuda")
    print(_lines(row), flush=True)
    append_row(options.rows, common | row)


if __name__ == "__main__":
    main()
