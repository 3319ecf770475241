"""Climb the ladder on a GPU, rung by rung: `python benchmarks/ladder/auction/run.py`.

A rung is one idea that made the call-auction kernel faster, or did not: rungs.py has them, with
what each was expected to bring, and the folder rungs their kernels. A rung must end in the books of
the reference (8 markets, 40 steps) and in those of the cpu engine (all markets that are timed, all
steps). Then it is timed by the GPU's own clock. Each has a process of its own, so that one that
fails does not stop the others; one row for each rung and size is appended to
benchmarks/rows/ladder_auction.jsonl.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2]))

import ladder_tables
from alone import CallError, call_alone
from machine import REPOSITORY
from row_file import append_row, describe_run
from rungs import RUNGS, Rung, find_rung
from timing import cases_of, expected_digest, measure_rung

from bookwarp.engines.cuda.tuned import IGNORE_VARIABLE

ROWS = REPOSITORY / "benchmarks" / "rows" / "ladder_auction.jsonl"
_TIMEOUT_S = 90.0
"""Time of a rung at one size; it needs a few seconds."""


def common_fields(commit: str | None) -> dict[str, Any]:
    """Return what all rows of a run share; what was tuned to this GPU is left aside."""
    os.environ.setdefault(IGNORE_VARIABLE, "1")
    return describe_run("ladder/auction", commit, on_gpu=True)


def chosen_rungs(parser: argparse.ArgumentParser, names: str | None) -> list[Rung]:
    """Return the rungs that are asked for by name, with commas between; all of them if None."""
    if names is None:
        return list(RUNGS)
    known = [rung.name for rung in RUNGS]
    if set(names.split(",")) - set(known):
        parser.error(f"rungs are {', '.join(known)}")
    return [find_rung(name) for name in names.split(",")]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rungs", help="which of them, with commas between; all if not given")
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--rows", type=Path, default=ROWS, help="file to append to")
    parser.add_argument("--commit", help="the commit to note where there is no Git to ask")
    options = parser.parse_args(arguments)
    rungs = chosen_rungs(parser, options.rungs)
    common = common_fields(options.commit)
    digests: dict[tuple[str, int], str] = {}
    found, failed = [], []
    for rung in rungs:
        for case in cases_of(rung):
            size = case.stream, case.agents
            if size not in digests:
                digests[size] = expected_digest(case)
            call = (measure_rung, rung, case, digests[size], options.trials)
            try:
                row = common | call_alone(*call, timeout_s=_TIMEOUT_S)
            except CallError as error:
                failed.append(f"{rung.name}, {case.agents} agents")
                print(f"{failed[-1]}: FAILED\n{error}", flush=True)
                continue
            found.append(row)
            append_row(options.rows, row)
            rate = row["agent_events_per_s"]
            print(
                f"{rung.name:<18} {case.agents:>5} agents {rate['median'] / 1e9:>8.1f} G/s "
                f"({rate['min'] / 1e9:.1f} .. {rate['max'] / 1e9:.1f})",
                flush=True,
            )
    print(f"\n{ladder_tables.ladder(found)}\n")
    if failed:
        print(f"failed: {'; '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
