"""The paper's evaluation again: who runs what, within which time, and what is shown of it."""

import json
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
# The benchmarks are programs and no part of the package: they import each other as such.
sys.path.insert(0, str(REPOSITORY / "benchmarks"))

import cases  # noqa: E402
import contenders  # noqa: E402
import gpu  # noqa: E402
import measure  # noqa: E402
import paper_figures  # noqa: E402
import paper_tables  # noqa: E402
import published  # noqa: E402
import run as run_benchmarks  # noqa: E402
from contender import Outcome  # noqa: E402
from device_contenders import Baseline  # noqa: E402

PAPER = [case for case in cases.AUCTION if case.group is cases.Group.PAPER]
DEVICE = [case for case in cases.AUCTION if case.group is cases.Group.DEVICE]


def row(case: cases.Case, engine: str, rate: float, **more) -> dict[str, object]:
    step_us = case.markets * case.agents / rate * 1e6
    known = {
        "kind": "time",
        "engine": engine,
        "sweeps": list(case.sweeps),
        **measure.sizes(case, case.steps),
        "threads": None,
        "trials": 5,
        "clock": "kernel",
        "agent_events_per_s": measure.spread([0.9 * rate, rate, 1.1 * rate]),
        "us_per_step": measure.spread([0.9 * step_us, step_us, 1.1 * step_us]),
        "mean_last_price": 64.0,
        "mean_volume": 96_400.0,
        "peak_bytes": 1024 * case.markets,
        "cpu": "a processor",
        "cores": 16,
        "gpu": "a GPU",
        "time": "2026-01-02T00:00:00",
    }
    return known | more


@pytest.fixture(scope="module")
def rows() -> list[dict[str, object]]:
    rates = {"cuda": 400e9, "jax": 20e9, "numpy": 5e6}
    return [row(case, engine, rate) for case in PAPER for engine, rate in rates.items()]


def test_cases_are_the_sizes_of_the_paper():
    def sizes(sweep):
        return {(c.markets, c.agents) for c in PAPER if sweep in c.sweeps}

    assert sizes("markets") | sizes("agents") == set(published.SIZES)
    assert sizes("markets") == set(published.SIZES[:5])
    assert sizes("agents") == set(published.SIZES[5:])
    assert sizes("fixed") == {(8192, 256)}
    latency = next(case for case in PAPER if "latency" in case.sweeps)
    assert (latency.markets, latency.agents, latency.trials) == (4096, 256, 11)
    assert {(case.levels, case.steps) for case in PAPER} == {(128, 500)}


def test_published_rates_are_found_by_size():
    found = published.published_rate(published.PUBLISHED, "kineticsim", 8192, 1024)
    assert found == pytest.approx(54.68e9)
    assert published.published_rate(published.PUBLISHED, "jax", 64, 256) == pytest.approx(11.46e6)
    assert published.published_rate(published.PUBLISHED, "torch-graph", 64, 256) is None
    assert published.published_rate(published.RERUN, "jax", 65, 256) is None


def test_processor_engines_leave_what_is_sized_for_a_gpu():
    cpu, cuda = contenders.CONTENDERS["cpu"], contenders.CONTENDERS["cuda"]
    assert all(cpu.refusal(case) == "sized for a GPU" for case in DEVICE)
    assert "thread" in cuda.refusal(cases.Case("one", threads=1))


def test_reference_leaves_what_is_too_large_for_it():
    reference = contenders.CONTENDERS["reference"]
    refused = [case.name for case in PAPER if reference.refusal(case) is not None]
    assert refused == ["1024 agents"]


@pytest.mark.parametrize("name", ["torch", "jax", "naive-cuda"])
def test_baselines_run_the_sweeps_alone(name):
    baseline = contenders.CONTENDERS[name]
    assert baseline.refusal(cases.Case("another")) == "not among its cases"


class Sleeper:
    """A contender that takes some time and ends in one state."""

    same_draws = False
    on_device = True
    slow_to_build = False

    def __init__(self, name: str, seconds: float) -> None:
        self.name, self._seconds = name, seconds

    def steps(self, case):
        return case.steps

    def threads(self, case):
        return None

    def run(self, case, steps):
        time.sleep(self._seconds)
        ones = np.ones(case.markets)
        return Outcome(self._seconds, ones, ones, None, kernel_seconds=self._seconds / 2)


def test_only_the_slow_are_repeated_less_when_time_is_spent(monkeypatch):
    monkeypatch.setattr(measure, "check", lambda contender, case: "as asked")
    fast, slow = Sleeper("fast", 0.0), Sleeper("slow", 0.3)
    _, found = measure.run_trials(cases.Case("c"), [fast, slow], 4, time.monotonic() - 1)
    assert {name: len(outcomes) for name, outcomes in found.items()} == {"fast": 4, "slow": 1}
    _, found = measure.run_trials(cases.Case("c"), [slow], 2, time.monotonic() + 60)
    assert len(found["slow"]) == 2


def test_row_says_by_which_clock_and_how_often_it_was_timed():
    case, sleeper = cases.Case("c", markets=2, agents=8, steps=10), Sleeper("cuda", 0.01)
    outcomes = [sleeper.run(case, 10) for _ in range(3)]
    found = measure.time_row(sleeper, case, outcomes, wanted=5)
    assert (found["clock"], found["trials"], found["trials_wanted"]) == ("kernel", 3, 5)
    assert found["kernel_s"]["median"] == pytest.approx(0.005)
    assert found["wall_s"]["median"] == pytest.approx(0.01)
    assert found["agent_events_per_s"]["median"] == pytest.approx(2 * 8 * 10 / 0.005)
    assert found["us_per_step"]["median"] == pytest.approx(500)


def test_gpu_engine_is_set_against_every_other_contender():
    case = cases.Case("c", markets=2, agents=8, steps=10)
    fast, slow = Sleeper("cuda", 0.001), Sleeper("jax", 0.01)
    outcomes = {each.name: [each.run(case, 10)] * 2 for each in (fast, slow)}
    (found,) = measure.ratio_rows(case, [fast, slow], outcomes)
    assert (found["engine"], found["over"]) == ("cuda", "jax")
    assert found["ratio"]["median"] == pytest.approx(10)


def test_gpu_is_described_as_nvidia_smi_says(monkeypatch):
    line = "NVIDIA H200, 580.1, 1980, 1980, 3201, 700.00\n"
    done = subprocess.CompletedProcess([], 0, stdout=line)
    monkeypatch.setattr(gpu.subprocess, "run", lambda *_, **__: done)
    found = gpu.describe_gpu()
    assert (found["gpu"], found["driver"], found["sm_clock_mhz"]) == (
        "NVIDIA H200",
        "580.1",
        "1980",
    )


def test_machine_without_a_gpu_is_described_as_such(monkeypatch):
    def missing(*_, **__):
        raise FileNotFoundError

    monkeypatch.setattr(gpu.subprocess, "run", missing)
    assert gpu.describe_gpu()["gpu"] is None


def test_tables_show_ours_beside_the_published(rows):
    lines = paper_tables.throughput(rows).splitlines()
    assert len(lines) == 2 + len(published.SIZES)
    first = [cell.strip() for cell in lines[2].strip("|").split("|")]
    assert first == ["64", "256", "400", "20", "0.005", "3.61", "2.74"]
    over = paper_tables.speedup(rows).splitlines()[2]
    assert "| 20x |" in over
    fixed = paper_tables.fixed_workload(rows)
    assert "| `cuda` | 400 |" in fixed
    assert "KineticSim" in fixed
    assert "16.78" in paper_tables.device_memory(rows)
    variant = row(DEVICE[0], "cuda", 100e9)
    assert "| stream paper | 8192 | 256 | `cuda` | 100 |" in paper_tables.device_cases([variant])


def test_newest_machine_with_a_gpu_is_shown(rows):
    other = [row(PAPER[0], "cpu", 1e9, gpu=None, threads=2, time="2027-01-01T00:00:00")]
    older = [row(PAPER[0], "cuda", 1e9, gpu="an old GPU", time="2025-01-01T00:00:00")]
    assert paper_tables.paper_rows([*older, *rows, *other]) == rows
    assert paper_tables.paper_rows(other) == other
    assert paper_tables.paper_rows([]) == []


def test_figures_are_drawn(rows, tmp_path):
    found = paper_figures.draw_all(rows, tmp_path)
    names = {path.name for path in found}
    assert names == {f"bench_{n}.{e}" for n in paper_figures.FIGURES for e in ("png", "svg")}
    assert all(path.stat().st_size > 5000 for path in found)


def test_figures_do_not_depend_on_when_they_are_drawn(rows, tmp_path, monkeypatch):
    few = {"latency": paper_figures.FIGURES["latency"]}
    monkeypatch.setattr(paper_figures, "FIGURES", few)
    first, second = (paper_figures.draw_all(rows, tmp_path / name) for name in ("a", "b"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_no_figure_is_drawn_without_rows(tmp_path):
    assert paper_figures.draw_all([], tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_figure_takes_whoever_ran(rows, tmp_path, monkeypatch):
    few = {"speedup": paper_figures.FIGURES["speedup"]}
    monkeypatch.setattr(paper_figures, "FIGURES", few)
    alone = [each for each in rows if each["engine"] == "cuda"]
    assert len(paper_figures.draw_all(alone, tmp_path)) == 2


@pytest.mark.parametrize("name", ["torch", "torch-graph", "jax", "jax-counted"])
def test_baseline_is_checked_timed_and_written_down(name, tmp_path, monkeypatch):
    package = name.partition("-")[0]
    if find_spec(package) is None:
        pytest.skip(f"needs {package}")
    monkeypatch.setattr(Baseline, "device", "cuda")
    path = tmp_path / "rows.jsonl"
    words = ["auction", "--quick", "--device", "cpu", "--engines", name, "--rows", str(path)]
    run_benchmarks.main([*words, "--cases", "64 markets"])
    (found,) = [json.loads(line) for line in path.read_text().splitlines()]
    assert (found["engine"], found["clock"], found["trials"]) == (name, "wall", 2)
    equal = "equal the reference's" if package == "jax" else "standard errors"
    assert equal in found["check"]
    assert (found["digest"] is None) == (package == "torch")


def test_spent_budget_leaves_out_who_takes_long(capsys):
    fast, slow = Sleeper("fast", 0.0), Sleeper("slow", 0.0)
    slow.slow_to_build = True
    assert run_benchmarks._fast(cases.Case("c"), [fast, slow]) == [fast]
    assert "c: the budget is spent: without slow" in capsys.readouterr().out
