"""The tool that runs kernels under compute-sanitizer: its cases, and how it judges the output."""

import json
import sys
import time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from emulated_gpu import emulated_gpus as emulated_gpus
from emulated_kernels import needs_compiler
from emulated_measures import MeasuringGpu, play_kernels

from bookwarp.engines import registry
from bookwarp.engines.cuda import engine
from bookwarp.engines.cuda.engine import CudaEngine
from bookwarp.spec.record import SERIES

TOOL = Path(__file__).resolve().parents[2] / "tools" / "sanitize_kernels.py"


@pytest.fixture(scope="module")
def tool():
    spec = spec_from_file_location(TOOL.stem, TOOL)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def keys(tool, emulated_gpus):
    """The keys that the cases are run by."""
    found = []
    for name in tool.CASES:
        auction, plan, steps = tool.build(name)
        found += tool.kernels_of(CudaEngine(auction, plan), steps).values()
    return found


def test_cases_are_of_every_kind(tool, keys):
    for kernel in ("counted", "general"):
        own = [key for key in keys if key.kernel == kernel]
        for field in ("recording", "following", "paper", "waits", "executes"):
            assert {getattr(key, field) for key in own} == {False, True}, (kernel, field)
    ways = [(key.markets_per_warp, key.draws_ahead) for key in keys if key.kernel == "counted"]
    assert set(ways) == {(4, False), (2, False), (1, False), (1, True)}
    for way in set(ways):
        assert ways.count(way) > 5
    assert {key.scratch_bytes > 0 for key in keys if key.kernel == "general"} == {False, True}
    for field in ("wide_lots", "given_types", "fundamental_agents", "makers_apart"):
        assert {getattr(key, field) for key in keys} == {False, True}, field
    plans = [tool.build(name)[1] for name in tool.CASES]
    assert any(len(plan.book_markets) and plan.series == tuple(SERIES) for plan in plans)


@needs_compiler
def test_measures_of_the_gpu_are_those_of_the_processor(tool, emulated_gpus, monkeypatch):
    monkeypatch.setattr(registry, "unavailable_reason", lambda: None)
    monkeypatch.setattr(engine, "Gpu", MeasuringGpu)
    play_kernels(monkeypatch)
    expected = tool.expected_results([tool.MEASURES])
    ((name, kernel, result),) = tool.run_on_gpu([tool.MEASURES])
    assert (name, kernel) == ("measures", "sums")
    assert result == expected[name]


def test_results_of_the_gpu_are_those_of_the_processor(tool, emulated_gpus):
    names = ["one agent on 8 levels", "empty sides"]
    expected = tool.expected_results(names)
    found = list(tool.run_on_gpu(names))
    assert {kernel for name, kernel, _ in found if name == names[0]} == {
        *(f"counted, {markets} a warp" for markets in (1, 2, 4)),
        "counted, 1 a warp, draws ahead",
    }
    assert all(result == expected[name] for name, _, result in found)


def test_a_row_that_differs_is_another_result(tool, emulated_gpus, monkeypatch):
    auction, plan, _ = tool.build("recorded")
    whole = tool.engine_class("reference")(auction, plan)
    right = tool.run_case(whole, plan, auction, 3)
    again = tool.engine_class("reference")(auction, plan)
    run = again.run

    def run_wrongly(steps, rows):
        run(steps, rows)
        rows["book_ask"][:, 0, 0] += 1

    monkeypatch.setattr(again, "run", run_wrongly)
    assert tool.run_case(again, plan, auction, 3) != right


EXPECTED = {"a": "11", "b": "22"}
RIGHT = [
    '["a", "one", "11"]',
    '["a", "two", "11"]',
    "========= ERROR SUMMARY: 0 errors",
    '["b", "one", "22"]',
]


def test_what_is_wrong_is_named(tool):
    assert tool.wrong_results(RIGHT, EXPECTED) == []
    assert tool.wrong_results(RIGHT[:3], EXPECTED) == ["b: no result"]
    wrong = tool.wrong_results(['["a", "two", "12"]', '["b", "one", "22"]'], EXPECTED)
    assert wrong == ["a, two: 12 is not 11"]


def program(path, *lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines]) + "\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    "code, lines, good",
    [(0, RIGHT, True), (1, RIGHT, False), (0, RIGHT[:1], False), (0, ['["a", "one", "x"]'], False)],
)
def test_a_tool_is_clean_if_it_says_so_and_all_results_are_right(
    tool, tmp_path, capsys, code, lines, good
):
    says = [f"echo '{line}'" for line in lines]
    sanitizer = program(tmp_path / "sanitizer", 'echo "asked: $*"', *says, f"exit {code}")
    assert tool.check("racecheck", sanitizer, EXPECTED, 30) is good
    printed = capsys.readouterr().out
    runs = sum(line.startswith("[") for line in lines)
    assert printed.startswith(f"racecheck: {'clean' if good else 'FAILED'}, {runs} runs in ")
    if not good:
        assert (
            f"asked: --tool racecheck --error-exitcode 1 --report-api-errors no {sys.executable} "
            in printed
        )
        assert "--child --cases a b" in printed


def test_a_process_that_takes_too_long_is_ended_with_all_that_it_started(tool, tmp_path):
    marker = tmp_path / "still there"
    command = program(tmp_path / "slow", "echo begun", f"(sleep 1; touch '{marker}')", "sleep 60")
    began = time.monotonic()
    assert tool.run_process([command], 0.3) == ("begun\n", None)
    assert time.monotonic() - began < 30
    time.sleep(1.2)
    assert not marker.exists()


def test_the_program_is_looked_for(tool, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "toolkit"))
    monkeypatch.delenv("CUDA_PATH", raising=False)
    in_toolkit = program(tmp_path / "toolkit" / "compute-sanitizer" / "compute-sanitizer")
    assert tool.find_sanitizer() == in_toolkit
    on_path = program(tmp_path / "bin" / "compute-sanitizer")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert tool.find_sanitizer() == on_path


@pytest.mark.parametrize(
    "reason, message",
    [("no driver", "no GPU: no driver"), (None, "compute-sanitizer is not here: ")],
)
def test_what_is_missing_is_said(tool, monkeypatch, capsys, reason, message):
    monkeypatch.setattr(tool, "unavailable_reason", lambda: reason)
    monkeypatch.setattr(tool, "find_sanitizer", lambda: None)
    assert tool.main([]) == 1
    assert capsys.readouterr().out.startswith(message)


def test_tools_run_after_a_run_without_one(tool, monkeypatch):
    asked = []
    monkeypatch.setattr(tool, "unavailable_reason", lambda: None)
    monkeypatch.setattr(tool, "find_sanitizer", lambda: "sanitizer")
    monkeypatch.setattr(tool, "expected_results", lambda names: dict.fromkeys(names, "1"))
    monkeypatch.setattr(tool, "check", lambda name, *more: asked.append(name) or name != "memcheck")
    assert tool.main(["--cases", "paper"]) == 1
    assert asked == [None, "memcheck", "racecheck"]
    monkeypatch.setattr(tool, "check", lambda name, *more: True)
    assert tool.main([]) == 0


def test_a_child_prints_one_line_a_run(tool, emulated_gpus, capsys):
    assert tool.main(["--child", "--cases", "one agent on 8 levels"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)[0] for line in lines] == ["one agent on 8 levels"] * 4
