"""The ladder of the call-auction kernel: every rung is the model, and its rows make tables.

A rung's kernel is compiled as C++ and run by emulated warps (tests/support/emulated_warps.h).
"""

import importlib.util
import json
import os
import re
import sys
import time
from dataclasses import replace
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from emulated_kernels import EmulatedCode, needs_compiler

from bookwarp.engines.cuda.availability import packages_installed
from bookwarp.reference.engine import ReferenceEngine
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.state import State, opening_state

REPOSITORY = Path(__file__).resolve().parents[2]
# The benchmarks are programs and no part of the package: they import each other as such.
sys.path.insert(0, str(REPOSITORY / "benchmarks"))
LADDER = REPOSITORY / "benchmarks" / "ladder" / "auction"
sys.path.append(str(LADDER))

import ladder_tables  # noqa: E402
import markets  # noqa: E402
import report  # noqa: E402
import timing  # noqa: E402
from alone import CallError, call_alone  # noqa: E402
from cases import Case  # noqa: E402
from checks import ParityError  # noqa: E402
from contenders import CONTENDERS  # noqa: E402
from rungs import RUNGS, SOURCES, find_rung  # noqa: E402


def load_program(name: str):
    """Return a program of the ladder as a module: two programs are called run.py."""
    path = LADDER / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"ladder_{name}", path)
    module = importlib.util.module_from_spec(spec)
    # What the programs of the ladder import from each other by name.
    before = sys.modules.get("run")
    sys.modules["run"] = module if name == "run" else climb
    spec.loader.exec_module(module)
    if before is None:
        del sys.modules["run"]
    else:
        sys.modules["run"] = before
    return module


climb = load_program("run")
account = load_program("account")

needs_nvrtc = pytest.mark.skipif(
    not packages_installed(), reason="needs the compiler of the extra: pip install 'bookwarp[cuda]'"
)
KERNELS = [rung for rung in RUNGS if rung.sources]

ENSEMBLES = {
    "as timed": {"levels": 128, "agents": 256},
    "odd": {"levels": 100, "agents": 77, "seed": 9, "open_price": 31},
    "at the edge": {"levels": 48, "agents": 33, "open_price": 2, "open_depth": 0},
    "small": {"levels": 16, "agents": 1, "max_qty": 9, "noise_spread": 1, "market_order_prob": 0.5},
    "moving": {"levels": 128, "agents": 64, "mix": {"noise": "rest", "momentum": 0.6, "maker": 0}},
    "large orders": {"agents": 300, "max_qty": 127, "noise_spread": 3, "maker_half_spread": 3},
    "by market": {
        "max_qty": [1, 2, 4, 7, 50],
        "noise_spread": [1, 3, 2, 3, 3],
        "maker_half_spread": [0, 1, 2, 3, 1],
        "market_order_prob": [0.0, 1.0, 0.1, 0.3, 0.05],
        "mix": {"noise": "rest", "momentum": [0, 0.3, 0.9, 0.15, 1], "maker": [0.5, 0.7, 0, 0, 0]},
    },
}
MARKETS = 5
# What nothing stands on is one change of what is tested more.
CHANGES = ("as timed", "moving", "by market")
RUNS = [
    pytest.param(rung, ensemble, id=f"{rung.name}-{name}")
    for rung in KERNELS
    for name, ensemble in ENSEMBLES.items()
    if rung.kept or name in CHANGES
]


def reference_state(auction: CallAuction, steps: int) -> State:
    engine = ReferenceEngine(auction, RecordPlan())
    engine.run(steps, {})
    return engine.read_state()


def run_emulated(rung, auction: CallAuction, steps: tuple[int, ...]) -> State:
    """Return the state after some launches of so many steps.

    Raises:
        AssertionError: the threads of a warp or block did not keep together.
    """
    markets.check_auction(rung, auction)
    # The instruction of the tensor cores is emulated too.
    source = markets.join_sources(rung, auction)
    source = source.replace((SOURCES / "tensor.cuh").read_text(encoding="utf-8"), "")
    run = EmulatedCode(source).get_kernel("run")
    books, scores = markets.to_device_layout(opening_state(auction))
    constant = markets.lay_out_markets(auction)
    pointers = [array.ctypes.data for array in (constant, books, scores)]
    grid, block = markets.grid_of(rung, auction), markets.threads_of(rung, auction)
    done = 0
    for count in steps:
        run(grid, block, *pointers, *map(np.uint32, (auction.markets, done, count)))
        done += count
    return markets.from_device_layout(auction, done, books, scores)


def assert_runs_as_the_reference(rung, auction: CallAuction) -> None:
    found = run_emulated(rung, auction, (13, 17))
    wanted = reference_state(auction, 30)
    for name, array in wanted.arrays().items():
        assert np.array_equal(getattr(found, name), array), f"{name} differ"
    assert found.digest() == wanted.digest()


@needs_compiler
@pytest.mark.parametrize("rung, ensemble", RUNS)
def test_rung_is_the_reference(rung, ensemble):
    auction = CallAuction.of(MARKETS, stream=rung.stream, **ensemble)
    assert_runs_as_the_reference(rung, auction)


BREAKS = {
    "a sum of two lanes": ("sums.x + sums.y", "sums.x + sums.y + (thread == 8)", "differ"),
    "the far path": ("buy += sent.top", "buy += sent.top + 1", "differ"),
    "lanes that part": (
        "return __shfl_sync(ALL_LANES, value, GROUP - 1, GROUP);",
        "return thread_is_odd() ? value : __shfl_sync(ALL_LANES, value, GROUP - 1, GROUP);",
        "different operations|never come",
    ),
}


@needs_compiler
@pytest.mark.parametrize("broken", BREAKS.values(), ids=list(BREAKS))
def test_a_broken_rung_is_found(broken, monkeypatch):
    old, new, found = broken
    rung, auction = find_rung("two markets"), CallAuction.of(3, **ENSEMBLES["moving"])
    source = markets.join_sources(rung, auction)
    assert source.count(old) == 1
    source = source.replace(old, new).replace(
        "DEVICE int32 sign_of",
        "DEVICE bool thread_is_odd() { return threadIdx.x % 2; }\nDEVICE int32 sign_of",
    )
    monkeypatch.setattr(markets, "join_sources", lambda *_: source)
    with pytest.raises(AssertionError, match=found):
        assert_runs_as_the_reference(rung, auction)


@needs_nvrtc
@pytest.mark.parametrize("rung", KERNELS, ids=lambda rung: rung.name)
def test_rung_compiles_without_spills(rung):
    for agents in (256, 1024) if rung.stream == "default" else (256,):
        auction = CallAuction.of(7, agents=agents, stream=rung.stream)
        code, log = markets.compile_rung(rung, auction, "sm_90")
        assert bytes(code.code)[:4] == b"\x7fELF"
        assert "warning #" not in log, log
        assert set(re.findall(r"(\d+) bytes spill", log)) == {"0"}, log
        assert max(map(int, re.findall(r"Used (\d+) registers", log))) <= 64


def test_rungs_stand_on_one_another():
    names = [rung.name for rung in RUNGS]
    assert len(set(names)) == len(names)
    assert (names[0], names[-1]) == ("naive", "product")
    kept = {"naive"}
    for rung in RUNGS[1:]:
        assert rung.over in kept, rung.name
        assert rung.expected > 0
        assert rung.because
        if rung.kept:
            kept.add(rung.name)
        assert bool(rung.sources) != (rung.contender in CONTENDERS)
    used = {name for rung in RUNGS for name in rung.sources}
    assert used == {path.name for path in SOURCES.iterdir()}


@pytest.mark.parametrize(
    "more, what",
    [
        ({"window": "following"}, "fixed window"),
        ({"mix": {"noise": "rest", "fundamental": 0.5}}, "fundamental"),
        ({"stream": "paper"}, "draws from stream 'default'"),
        ({"max_qty": 500}, "two hashes"),
        ({"noise_spread": 4}, "noise_spread 1 .. 3"),
        ({"maker_half_spread": 4}, "maker_half_spread no larger"),
        ({"max_qty": 127, "noise_spread": 1, "agents": 520}, "lots a step"),
    ],
)
def test_what_the_rungs_do_not_have_is_refused(more, what):
    with pytest.raises(ValueError, match=what):
        markets.check_auction(find_rung("counted"), CallAuction.of(2, **more))


TINY = Case("ladder: tiny", markets=6, agents=16, levels=32, steps=12)


def row_of(name: str, rate: float, agents: int = 256) -> dict[str, object]:
    """Return a row as `measure_rung` makes it, of a machine of its own."""
    rung = find_rung(name)
    case = replace(TINY, agents=agents)
    row = timing.measure(rung, CONTENDERS["cpu"], case, timing.expected_digest(case), 1)
    rates = dict.fromkeys(("median", "min", "max"), rate)
    return row | {"agent_events_per_s": rates, "cpu": "A", "cores": 1, "gpu": "B"}


def test_row_says_what_was_expected_and_compared():
    row = row_of("window", 5e9)
    rung = find_rung("window")
    for name in ("idea", "over", "expected", "because", "kept"):
        assert row[name] == getattr(rung, name)
    assert (row["kind"], row["engine"], row["agents"]) == ("rung", "ladder: window", 256)
    assert "digest equals the reference's" in row["check"]
    assert "digest equals the cpu engine's: 6 markets, 12 steps" in row["check"]
    json.dumps(row)


def test_rung_that_ends_in_other_books_is_not_timed():
    with pytest.raises(ParityError, match="window differs from the cpu engine"):
        timing.measure(find_rung("window"), CONTENDERS["cpu"], TINY, "0" * 64, 1)


def test_call_in_a_process_of_its_own():
    assert call_alone(sqrt, 9.0, timeout_s=30) == 3.0
    with pytest.raises(CallError, match="ValueError"):
        call_alone(sqrt, -1.0, timeout_s=30)
    with pytest.raises(CallError, match="ended with code 3"):
        call_alone(os._exit, 3, timeout_s=30)
    with pytest.raises(CallError, match="no answer within 1 s"):
        call_alone(time.sleep, 60, timeout_s=1)


def test_rung_that_fails_does_not_stop_the_others(tmp_path, monkeypatch, capsys):
    def call(function, rung, case, digest, trials, timeout_s):
        assert (function, digest) == (timing.measure_rung, "digest")
        if rung.name == "philox":
            raise CallError("an illegal address")
        return row_of(rung.name, {"warp": 2e9, "window": 6e9}[rung.name], case.agents)

    monkeypatch.setattr(climb, "call_alone", call)
    monkeypatch.setattr(climb, "expected_digest", lambda case: "digest")
    path = tmp_path / "rows.jsonl"
    assert climb.main(["--rungs", "warp,philox,window", "--rows", str(path), "--commit", "c"]) == 1
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(row["rung"], row["agents"]) for row in rows] == [
        ("warp", 256),
        ("window", 256),
        ("window", 1024),
    ]
    shown = capsys.readouterr().out
    assert "an illegal address" in shown
    assert "failed: philox, 256 agents; philox, 1024 agents" in shown


def test_ladder_shows_what_a_rung_brought():
    rows = [row_of("philox", 2e9), row_of("window", 5e9), row_of("philox", 4e9, 1024)]
    rows.append(row_of("match", 1e9))
    table = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in ladder_tables.ladder(rows).splitlines()[2:]
    ]
    expected = [f"{find_rung(name).expected:.2f}x" for name in ("philox", "window", "match")]
    assert [line[0] for line in table] == ["**philox**", "**window**", "match"]
    assert [line[3] for line in table] == expected
    assert [line[4:] for line in table] == [
        ["", "2", "4", ""],
        ["2.50x", "5", "", ""],
        ["0.50x", "1", "", ""],
    ]
    assert find_rung("match").because in ladder_tables.reasons(rows)


NCU = """==PROF== Connected to process 1
==PROF== Disconnected from process 1
"ID","Kernel Name","gpu__time_duration.sum","smsp__inst_executed.sum",\
"sm__inst_executed_pipe_alu.sum","smsp__issue_active.avg.pct_of_peak_sustained_active",\
"sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active","launch__registers_per_thread",\
"smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio",\
"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio",\
"sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active","launch__thread_count"
"","","ns","inst","inst","%","%","register/thread","inst","inst","%","thread"
"0","run_counted","2,000,000","1,000,000","400000","62.5","70.1","64","2.5","1.25","n/a","32"
""".replace("\\\n", "")


def test_account_of_ncu_is_read_and_set_against_the_limit():
    metrics = account.read_metrics(NCU)
    assert metrics["gpu__time_duration.sum"] == 2e6
    assert "launch__thread_count" not in metrics
    assert "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active" not in metrics
    derived = account.derive(metrics, events=64e6, schedulers=500, clock_hz=2e9)
    assert derived == pytest.approx(
        {
            "instructions_per_event": 0.5,
            "events_per_s_by_issue": 64e12,
            "events_per_s_by_alu": 80e12,
            "events_per_s_profiled": 32e9,
        }
    )
    rows = [{"kind": "account", "rung": "product", "agents": 256, "metrics": metrics}]
    rows[0]["derived"] = derived
    line = ladder_tables.account(rows).splitlines()[2]
    assert line.startswith("| product | 256 | 0.5 | 62 % | 70 % |  |  | 64 |")
    assert "math pipe throttle 2.50, wait 1.25" in ladder_tables.stalls(rows)
    with pytest.raises(ValueError, match="measured nothing: ==ERROR=="):
        account.read_metrics("==ERROR== no kernels were profiled")


def test_account_profiles_the_second_run_with_clocks_as_they_are():
    rung = find_rung("product")
    command = account.ncu_command(rung, timing.cases_of(rung)[1], ["a.sum", "b.sum"])
    words = " ".join(command)
    assert "--clock-control none" in words
    assert "--launch-skip 1 --launch-count 1" in words
    assert "--metrics a.sum,b.sum" in words
    assert words.endswith("account.py --inside --rungs product --agents 1024")
    block = find_rung("block")
    assert "--launch-skip 500" in " ".join(
        account.ncu_command(block, timing.cases_of(block)[0], [])
    )


def test_tables_of_the_ladder_are_in_the_report(monkeypatch):
    monkeypatch.setattr(report, "read_rows", lambda: [row_of("philox", 2e9)])
    assert "**philox**" in report.TABLES["ladder"]()
    for name in ("ladder-reasons", "account", "stalls"):
        assert report.TABLES[name]()
