"""Where a kernel's time goes, by Nsight Compute: `python benchmarks/ladder/auction/account.py`.

Runs `ncu` on one launch of a rung, by default of the engine's kernel, and sets what it counted
against what the GPU could do: how many instructions an agent event takes, how busy the schedulers
and the pipes are, what warps wait for, and the rates that the instruction counts allow. Appends one
row for each rung and size to benchmarks/rows/ladder_auction.jsonl, as run.py does.

Needs `ncu` and the right to read the counters of the GPU. Clocks are left as they are.
"""

import argparse
import csv
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2]))

import ladder_tables
from cases import Case
from gpu import call_driver
from row_file import append_row
from run import ROWS, chosen_rungs, common_fields
from rungs import Rung, find_rung
from timing import cases_of, contender_of, engine_name

SECTIONS = (
    "SpeedOfLight",
    "ComputeWorkloadAnalysis",
    "MemoryWorkloadAnalysis",
    "SchedulerStats",
    "WarpStateStats",
    "LaunchStats",
    "Occupancy",
)
"""What Nsight Compute measures in any case."""
METRICS = (
    "gpu__time_duration.sum",
    "sm__cycles_elapsed.max",
    "smsp__inst_executed.sum",
    "sm__inst_executed_pipe_alu.sum",
    "sm__inst_executed_pipe_fma.sum",
    "sm__inst_executed_pipe_fmaheavy.sum",
    "sm__inst_executed_pipe_lsu.sum",
    "sm__inst_executed_pipe_xu.sum",
    "sm__inst_executed_pipe_uniform.sum",
    "sm__inst_executed_pipe_tensor_op_imma.sum",
    "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active",
    "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
    "sm__pipe_fmaheavy_cycles_active.avg.pct_of_peak_sustained_active",
    "sm__pipe_tensor_op_imma_cycles_active.avg.pct_of_peak_sustained_active",
    "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active",
    "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "sm__warps_active.avg.per_cycle_active",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "lts__t_bytes.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
)
"""What is asked for beside that, where this GPU has it."""
KEPT = re.compile(
    r"gpu__time_duration\.sum|sm__cycles_elapsed\.max|smsp__inst_executed\.sum"
    r"|sm__inst_executed_pipe_\w+\.(sum|avg\.pct_of_peak_sustained_active)"
    r"|sm__pipe_\w+_cycles_active\.avg\.pct_of_peak_sustained_active"
    r"|smsp__issue_active\.avg\.pct\w*|sm__warps_active\.avg\.\w+|sm__inst_executed\.avg\.\w+"
    r"|smsp__average_warps_issue_stalled_\w+_per_issue_active\.ratio"
    r"|dram__bytes_(read|write)\.sum|lts__t_bytes\.sum|l1tex__data_pipe_lsu_\w+\.sum"
    r"|launch__(registers_per_thread|waves_per_multiprocessor|occupancy_limit_\w+)"
)
"""What a row keeps of all that comes back."""
_TIMEOUT_S = 240.0


def metrics_here() -> list[str]:
    """Return those of `METRICS` that Nsight Compute knows of this GPU."""
    done = subprocess.run(
        ["ncu", "--query-metrics"], capture_output=True, text=True, timeout=_TIMEOUT_S
    )
    known = set(re.findall(r"^ *(\w+__\w+)", done.stdout, re.MULTILINE))
    # Without an answer all are asked for; ncu then says which it does not know.
    return [name for name in METRICS if not known or name.partition(".")[0] in known]


def ncu_command(rung: Rung, case: Case, metrics: Sequence[str]) -> list[str]:
    """Return the command that profiles the second run of a rung: one launch of it."""
    launches = case.steps if _steps_of_a_launch(rung, case) == 1 else 1
    command = ["ncu", "--clock-control", "none", "--cache-control", "none", "--csv"]
    command += ["--page", "raw", "--print-units", "base", "--kernel-name", "regex:^run"]
    command += ["--launch-skip", str(launches), "--launch-count", "1"]
    for section in SECTIONS:
        command += ["--section", section]
    if metrics:
        command += ["--metrics", ",".join(metrics)]
    inside = [sys.executable, str(Path(__file__).resolve()), "--inside"]
    return [*command, *inside, "--rungs", rung.name, "--agents", str(case.agents)]


def read_metrics(output: str) -> dict[str, float]:
    """Return the metrics in what `ncu --csv --page raw` prints.

    Raises:
        ValueError: there is no table in it.
    """
    lines = [line for line in output.splitlines() if line.startswith('"')]
    rows = list(csv.reader(lines))
    start = next((n for n, row in enumerate(rows) if "Kernel Name" in row), None)
    if start is None or len(rows) < start + 3:
        raise ValueError(f"ncu measured nothing: {output[-2000:]}")
    found = {}
    for name, value in zip(rows[start], rows[start + 2], strict=True):  # between them: units
        if KEPT.fullmatch(name):
            try:
                found[name] = float(value.replace(",", ""))
            except ValueError:
                continue  # a metric that this GPU does not have
    return found


def derive(metrics: dict[str, float], events: float, schedulers: int, clock_hz: float) -> Any:
    """Return instructions an agent event, the rates that they allow, and the rate that was.

    Args:
        metrics: what was measured of one launch.
        events: agent events of the launch.
        schedulers: of the GPU; each issues one instruction of a warp in a cycle.
        clock_hz: its highest clock.
    """
    instructions = metrics["smsp__inst_executed.sum"]
    slots = schedulers * clock_hz
    derived = {
        "instructions_per_event": 32 * instructions / events,
        "events_per_s_by_issue": events * slots / instructions,
        "events_per_s_profiled": events / (metrics["gpu__time_duration.sum"] * 1e-9),
    }
    alu = metrics.get("sm__inst_executed_pipe_alu.sum")
    if alu:
        # 16 lanes a scheduler: an instruction of a warp takes two cycles.
        derived["events_per_s_by_alu"] = events * slots / (2 * alu)
    return derived


def account(rung: Rung, case: Case, metrics: Sequence[str], schedulers: int) -> dict[str, Any]:
    """Return the row of a rung at one size, without what all rows share."""
    done = subprocess.run(
        ncu_command(rung, case, metrics), capture_output=True, text=True, timeout=_TIMEOUT_S
    )
    measured = read_metrics(done.stdout + done.stderr)
    steps = _steps_of_a_launch(rung, case)
    return {
        "kind": "account",
        "case": case.name,
        "engine": engine_name(rung),
        "rung": rung.name,
        **{name: getattr(case, name) for name in ("markets", "agents", "levels", "stream")},
        "steps": steps,
        "schedulers": schedulers,
        "metrics": measured,
        "derived": derive(
            measured, case.markets * case.agents * steps, schedulers, _highest_clock()
        ),
    }


def _steps_of_a_launch(rung: Rung, case: Case) -> int:
    return 1 if rung.launch_every_step or rung.contender == "naive-cuda" else case.steps


def _highest_clock() -> float:
    """Return the highest clock of the multiprocessors, Hz."""
    return 1e3 * float(_attribute("CLOCK_RATE"))


def _schedulers() -> int:
    return 4 * _attribute("MULTIPROCESSOR_COUNT")


def _attribute(name: str) -> int:
    from cuda.bindings import driver

    call_driver("cuInit", 0)
    attribute = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
    return int(call_driver("cuDeviceGetAttribute", attribute, call_driver("cuDeviceGet", 0)))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rungs", default="product", help="which of them, with commas between")
    parser.add_argument("--agents", type=int, help="only the size with so many")
    parser.add_argument("--rows", type=Path, default=ROWS, help="file to append to")
    parser.add_argument("--commit", help="the commit to note where there is no Git to ask")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    work = [
        (rung, case)
        for rung in chosen_rungs(parser, options.rungs)
        for case in cases_of(rung)
        if options.agents in (None, case.agents)
    ]
    if options.inside:
        for rung, case in work:
            contender = contender_of(find_rung(rung.name))
            for _ in range(2):
                contender.run(case, case.steps)
        return 0
    if shutil.which("ncu") is None:
        parser.error("Nsight Compute (ncu) is not on the path")
    metrics = metrics_here()
    common, schedulers, found, failed = common_fields(options.commit), _schedulers(), [], []
    for rung, case in work:
        try:
            row = common | account(rung, case, metrics, schedulers)
        except (ValueError, KeyError, subprocess.SubprocessError) as error:
            failed.append(f"{rung.name}, {case.agents} agents")
            print(f"{failed[-1]}: FAILED: {error}", flush=True)
            continue
        found.append(row)
        append_row(options.rows, row)
    print(f"\n{ladder_tables.account(found)}\n\n{ladder_tables.stalls(found)}\n")
    if failed:
        print(f"failed: {'; '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
