"""Run every kind of kernel under NVIDIA's compute-sanitizer, on a GPU, and compare the results.

    python tools/sanitize_kernels.py
    python tools/sanitize_kernels.py --tools memcheck racecheck initcheck synccheck

Small ensembles that between them run all paths of the kernels are run once without a tool, which
also compiles the kernels, and then under each tool. Memory that is accessed wrongly, races for
shared memory, and results that differ from those of the cpu engine end in exit code 1.
"""

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import numpy as np

import bookwarp as bw
from bookwarp.engines.cuda.availability import unavailable_reason
from bookwarp.engines.registry import choose_engine, engine_class
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import SERIES, RecordPlan

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
_DEFAULT_TOOLS = ("memcheck", "racecheck")
_PROGRAM = "compute-sanitizer"
_SHOWN = 10_000
"""Characters that are shown of what a process printed, where something is wrong."""
_WHEEL = "nvidia-cuda-sanitizer-api"
_RUNAWAY = {"noise": 0.1, "momentum": 0.9}
_ALL_TYPES = {"noise": 0.25, "momentum": 0.25, "maker": 0.25, "fundamental": 0.25}
_EVERYTHING = {"record": (*SERIES, "book"), "record_every": 3, "depth_ticks": 3}
_TYPES = np.arange(9 * 77).reshape(9, 77) % 4
# Intervals of all kinds in a warp, parent orders of every schedule.
_WORKED = {
    "clearing_interval": np.arange(9) % 7 + 1,
    "parent_qty": np.arange(9) % 4 * 500,
    "parent_side": np.where(np.arange(9) % 2, 1, -1),
    "parent_start": np.arange(9) % 3,
    "parent_horizon": np.arange(9) * 3 + 1,
    "schedule": np.arange(9) // 2 % 3,
    "volume_profile": (3, 0, 1),
}

# name -> what it adds to 9 markets of 77 agents on 100 levels, 20 steps
CASES: dict[str, dict[str, Any]] = {
    "default": {"markets": 33, "agents": 256, "levels": 128},
    "one agent on 8 levels": {"agents": 1, "levels": 8},
    "all types": {"mix": _ALL_TYPES},
    "given types": {"agent_types": _TYPES},
    "parameters per market": {
        "max_qty": np.arange(1, 10),
        "noise_spread": np.arange(9) % 4,
        "maker_half_spread": np.arange(9) % 8,
        "market_order_prob": np.linspace(0, 1, 9),
        "open_price": np.arange(1, 99, 11),
    },
    "empty sides": {"agents": 5, "open_depth": 0, "market_order_prob": 0.5, "steps": 60},
    "following": {"window": "following", "mix": _RUNAWAY, "levels": 24, "steps": 60},
    "recorded": {"mix": _ALL_TYPES, "window": "following", **_EVERYTHING},
    "worked": {"mix": _RUNAWAY, "window": "following", "levels": 24, **_WORKED, **_EVERYTHING},
    "worked near the edges": {"levels": 9, **_WORKED},
    "waiting": {"clearing_interval": 3},
    "executing": {"parent_qty": 100, "parent_horizon": 20},
    "paper": {"stream": "paper"},
    "paper recorded": {"stream": "paper", "agent_types": _TYPES, **_EVERYTHING},
    "wide lots": {"open_depth": 2**40},
    "large levels": {"markets": 3, "levels": 65_536, "steps": 4},
    "general": {"noise_spread": 9},
    "general paper": {"noise_spread": 9, "stream": "paper"},
    "general with two hashes": {"noise_spread": 2**30 - 1, "max_qty": 2**31 - 1, "steps": 5},
    "general recorded": {"noise_spread": 9, "window": "following", "mix": _RUNAWAY, **_EVERYTHING},
    "general worked": {"noise_spread": 9, **_WORKED},
    "general in memory": {"markets": 3, "levels": 65_536, "noise_spread": 9000, "steps": 3},
}
MEASURES = "measures"
"""The case of the kernels that sum recorded rows; it has no ensemble of its own in the table."""


def build(name: str) -> tuple[CallAuction, RecordPlan, int]:
    """Return the ensemble of a case, what it records, and its steps."""
    given = {"markets": 9, "agents": 77, "levels": 100, "steps": 20, **CASES[name]}
    recording = {each: given.pop(each) for each in _EVERYTHING if each in given}
    steps = given.pop("steps")
    auction = CallAuction.of(**given)
    if recording:
        recording["every"] = recording.pop("record_every")
        recording["book_markets"] = range(0, auction.markets, 2)
    return auction, RecordPlan.of(auction, **recording), steps


def run_case(engine: Any, plan: RecordPlan, auction: CallAuction, steps: int) -> str:
    """Return what identifies all that comes out of a run in two pieces: state and rows."""
    half = steps // 2
    rows, first = plan.allocate(auction, plan.rows(0, steps)), plan.rows(0, half)
    engine.run(half, {name: array[:first] for name, array in rows.items()})
    engine.run(steps - half, {name: array[first:] for name, array in rows.items()})
    found = hashlib.sha256(engine.read_state().digest().encode())
    for name in sorted(rows):
        found.update(rows[name].tobytes())
    return found.hexdigest()


def run_measures(engine: str) -> str:
    """Return what identifies all measures of rows that stay where the engine wrote them."""
    measure = bw.measures.stylised_facts
    simulation = bw.Simulation(
        *(70, 40, 24, 61),
        window="following",
        engine=engine,
        record=measure.series,
        keep_on_device=engine == "cuda",
    )
    found = hashlib.sha256()
    for facts in measure.of_simulation(simulation.step(61)).values():
        found.update(facts.tobytes())
    return found.hexdigest()


def run_on_gpu(names: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield case, kernel, and what came out, for every kind of kernel that can run a case."""
    from bookwarp.engines.cuda.engine import CudaEngine

    for name in names:
        if name == MEASURES:
            yield name, "sums", run_measures("cuda")
            continue
        auction, plan, steps = build(name)
        for kernel, key in kernels_of(CudaEngine(auction, plan), steps).items():
            engine = CudaEngine(auction, plan)
            engine.use(key)
            yield name, kernel, run_case(engine, plan, auction, steps)


def kernels_of(engine: Any, steps: int) -> dict[str, Any]:
    """Return the key of every kind of kernel that can run an ensemble, in words."""
    found: dict[str, Any] = {}
    for key in engine.equivalent_keys(steps):
        ahead = ", draws ahead" if key.draws_ahead else ""
        found.setdefault(f"{key.kernel}, {key.markets_per_warp} a warp{ahead}", key)
    return found


def expected_results(names: list[str]) -> dict[str, str]:
    """Return what comes out of every case on the processor."""
    make, found = engine_class(choose_engine("auto", devices=False)), {}
    for name in names:
        if name == MEASURES:
            found[name] = run_measures("cpu")
            continue
        auction, plan, steps = build(name)
        found[name] = run_case(make(auction, plan), plan, auction, steps)
    return found


def find_sanitizer() -> str | None:
    """Return the program: on the PATH, of a CUDA toolkit, or of the wheel; None without one."""
    homes = [Path(os.environ[n]) for n in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(n)]
    homes += sorted(Path("/usr/local").glob("cuda*"), reverse=True)
    places = [home / part / _PROGRAM for home in homes for part in ("bin", _PROGRAM)]
    try:
        wheel = files(_WHEEL) or []
    except PackageNotFoundError:
        wheel = []
    places += [Path(str(each.locate())) for each in wheel if each.name == _PROGRAM]
    return shutil.which(_PROGRAM) or next((str(each) for each in places if each.is_file()), None)


def wrong_results(lines: list[str], expected: Mapping[str, str]) -> list[str]:
    """Return what is wrong with the lines that a process printed: one JSON list a run."""
    found = [json.loads(line) for line in lines if line.startswith("[")]
    wrong = [
        f"{name}, {kernel}: {result} is not {expected[name]}"
        for name, kernel, result in found
        if result != expected[name]
    ]
    missing = set(expected) - {name for name, _, _ in found}
    return wrong + [f"{name}: no result" for name in sorted(missing)]


def check(tool: str | None, sanitizer: str, expected: Mapping[str, str], timeout_s: float) -> bool:
    """Run all cases in a process of their own, under a tool if one is given; say how it went."""
    # Statuses of the driver are the engine's to look at; bindings ask for functions it has not.
    options = ["--error-exitcode", "1", "--report-api-errors", "no"]
    under = [sanitizer, "--tool", tool, *options] if tool else []
    command = [*under, sys.executable, __file__, "--child", "--cases", *expected]
    began = time.monotonic()
    printed, code = run_process(command, timeout_s)
    lines = printed.splitlines()
    wrong = wrong_results(lines, expected)
    good = code == 0 and not wrong
    runs = sum(line.startswith("[") for line in lines)
    spent = time.monotonic() - began
    print(f"{tool or 'no tool'}: {'clean' if good else 'FAILED'}, {runs} runs in {spent:.0f} s")
    for line in lines:
        if "SUMMARY" in line:
            print(line)
    if not good:
        how = f"exit code {code}" if code is not None else f"not done after {timeout_s:.0f} s"
        print(how, *wrong, printed[-_SHOWN:], sep="\n")
    return good


def run_process(command: list[str], timeout_s: float) -> tuple[str, int | None]:
    """Return what a command prints, and its exit code; None if it took too long and was ended."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # what a tool starts ends with it
    )
    try:
        printed, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        printed, _ = process.communicate()
        return printed, None
    return printed, process.returncode


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=_DEFAULT_TOOLS)
    cases = [*CASES, MEASURES]
    parser.add_argument("--cases", nargs="+", choices=cases, default=cases, metavar="CASE")
    parser.add_argument("--timeout-s", type=float, default=240, help="of each tool")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        for found in run_on_gpu(options.cases):
            print(json.dumps(found), flush=True)
        return 0
    reason = unavailable_reason()
    if reason is not None:
        print(f"no GPU: {reason}")
        return 1
    sanitizer = find_sanitizer()
    if sanitizer is None:
        print(
            f"{_PROGRAM} is not here: neither on the PATH, nor in a CUDA toolkit (CUDA_HOME, "
            f"/usr/local/cuda), nor by pip install {_WHEEL}"
        )
        return 1
    expected = expected_results(options.cases)
    good = check(None, sanitizer, expected, options.timeout_s)
    for tool in options.tools if good else ():
        good &= check(tool, sanitizer, expected, options.timeout_s)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
