"""The rungs of the ladder of 256-bit books, and the benchmark, on a played GPU."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from emulated_kernels import EmulatedCode, needs_compiler
from emulated_u256 import in_cpp, play_gpu

REPOSITORY = Path(__file__).resolve().parents[2]
LADDER = REPOSITORY / "benchmarks" / "ladder" / "u256"
# The benchmarks are programs and no part of the package: they import each other as such.
sys.path[:0] = [str(REPOSITORY / "benchmarks"), str(LADDER)]

import u256_gpu_tables  # noqa: E402
import u256_on_gpu  # noqa: E402
import u256_rungs  # noqa: E402
from u256_flows import count_fills, mixed_flow, seed_flow, sweep_flow  # noqa: E402

from bookwarp.engines.cuda.u256.engine import CudaU256Engine  # noqa: E402
from bookwarp.engines.cuda.u256.kernel_key import ARENAS, MATCHING  # noqa: E402
from bookwarp.spec.u256 import USER_AT  # noqa: E402


@pytest.fixture
def played(monkeypatch):
    play_gpu(monkeypatch)
    monkeypatch.setattr(
        u256_rungs,
        "_load_source",
        lambda source, arch, what: EmulatedCode(in_cpp(source)),
    )
    monkeypatch.setattr("bookwarp.consensus.u256_books.choose_book_engine", lambda name: name)
    monkeypatch.setattr(u256_on_gpu, "_COPY_BYTES", 1 << 12)
    yield monkeypatch
    u256_rungs.load_rung.cache_clear()


@pytest.fixture
def climb(played):
    spec = importlib.util.spec_from_file_location("run_u256_ladder", LADDER / "run.py")
    climb = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(climb)
    played.setattr(climb, "mixed_flow", lambda passes: mixed_flow(variety=32, passes=4))
    return climb


def on_a_gpu(rows):
    """Return rows as if the played GPU were one."""
    return [row | {"gpu": "played", "copy_bytes_per_s": 1.0} for row in rows]


@needs_compiler
@pytest.mark.slow
def test_rungs_end_where_the_reference_does(climb, tmp_path, capsys):
    rows = tmp_path / "rows.jsonl"
    # Numbers of registers are nothing here.
    names = [rung.name for rung in (*u256_rungs.RUNGS, *u256_rungs.TRIED[:4])]
    words = ["--rungs", ",".join(names), "--books", "64", "--trials", "1", "--rows", str(rows)]
    assert climb.main(words) == 0, capsys.readouterr().out
    found = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
    for flow in ("seed", "sweeps", "mixed"):
        rungs = [rung for rung in u256_rungs.TRIED[:4] if flow in rung.expected]
        wanted = [rung.name for rung in (*u256_rungs.RUNGS, *rungs)]
        assert [row["rung"] for row in found if row["workload"] == flow] == wanted
    fills = {row["workload"]: row["fills_per_order"] for row in found}
    assert fills == {"seed": 1.0, "sweeps": 3.0, "mixed": pytest.approx(0.5, abs=0.2)}
    rows = on_a_gpu(found)
    for table in (u256_gpu_tables.ladder(rows), u256_gpu_tables.reasons(rows)):
        for name in names[1:]:
            assert f"| {name} |" in table


WRONG = {
    "results of pass 0 are": ("++fill_count;", "fill_count += 2;"),
    "results of pass 1 are": ("book.held_changed = true;", "book.held_changed = false;"),
    "its books are not": (
        "put_back();\n        if (ends_changed)",
        "if (ends_changed)",
    ),
}


@needs_compiler
@pytest.mark.parametrize("says", WRONG)
def test_a_rung_that_ends_elsewhere_fails(climb, tmp_path, monkeypatch, capsys, says):
    old, new = WRONG[says]

    def break_it(source):
        return u256_rungs._changed(source, old, new)

    rung = u256_rungs.RUNGS[-1]
    wrong = type(rung)(rung.name, "", None, {}, "", (break_it, *rung.changes))
    monkeypatch.setattr(climb, "RUNGS", (wrong,))
    monkeypatch.setattr(climb, "TRIED", ())
    words = ["--books", "64", "--trials", "1", "--rows", str(tmp_path / "rows")]
    assert climb.main(words) == 1
    found = capsys.readouterr().out
    assert f"seed, {rung.name}: FAILED" in found
    assert says in found


def test_code_of_a_rung_is_made_once(monkeypatch):
    made = []
    monkeypatch.setattr(u256_rungs, "_load_source", lambda source, arch, what: made.append(what))
    rungs = u256_rungs.RUNGS
    for rung in (*rungs, *rungs):
        u256_rungs.load_rung(rung, MATCHING, "sm_90")
    u256_rungs.load_rung.cache_clear()
    assert made == [f"the rung {rung.name}" for rung in rungs]


def test_rungs_change_what_is_there():
    for rung in (*u256_rungs.RUNGS, *u256_rungs.TRIED):
        for key in (MATCHING, ARENAS):
            assert u256_rungs.rung_source(rung, key)
    with pytest.raises(ValueError, match="the kernels have no"):
        u256_rungs._changed("source", "what is not there", "")


@needs_compiler
def test_benchmark_writes_a_row_for_each_form(played, tmp_path, capsys):
    rows = tmp_path / "rows.jsonl"
    u256_on_gpu.main(["--scale", "8192", "--trials", "1", "--rows", str(rows)])
    found = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
    assert len(found) == len(capsys.readouterr().out.splitlines()) - 1 == 16
    assert all(row["fills_per_order"] > 0 for row in found)
    seed = [row for row in found if row["workload"] == "seed"]
    assert {row["fills_per_order"] for row in seed} == {1.0}
    assert {row["capacity"] for row in seed} == {32, 1024}
    assert {round(row["bytes_per_order"]) for row in seed if "bytes_per_order" in row} == {195, 296}
    shown = u256_gpu_tables.rates(on_a_gpu(found)).splitlines()
    assert len(shown) - 2 == sum("orders_per_s" in row for row in found) == 13
    assert "| 1.000 |" in shown[2]
    assert len(u256_gpu_tables.single_orders(on_a_gpu(found)).splitlines()) - 2 == 3


@needs_compiler
def test_no_rate_without_the_fills_of_the_workload(played):
    """Books that are exhausted answer fast, and say nothing."""
    flow = seed_flow()
    more = type(flow)("seed", flow.opening[:3], flow.orders, 32, 1.0)
    here = u256_on_gpu.FlowOnGpu(CudaU256Engine(40, 32), more, 40)
    for form in u256_on_gpu.FORMS:
        here.run(form)
        with pytest.raises(ValueError, match=r"0\.9375 fills per order and not 1\.0"):
            here.check()


@needs_compiler
def test_no_rate_of_wrong_results(played):
    here = u256_on_gpu.FlowOnGpu(CudaU256Engine(512, 32), mixed_flow(passes=2), 512)
    here.run("apart")
    here.check()
    here._gpu.fill(here._results, 7, 69)
    with pytest.raises(ValueError, match="2 results of pass 0 are not the reference's"):
        here.check()


def test_flows_fill_what_they_say():
    for flow in (seed_flow(), sweep_flow()):
        orders = flow.expected.shape[0] * flow.variety
        assert count_fills(flow.expected) / orders == flow.fills_per_order
    mixed = mixed_flow(variety=64)
    fills = np.ascontiguousarray(mixed.expected[..., 64:]).view(">u4")
    # Orders that rest, that fill, and that sweep.
    assert (fills == 0).any()
    assert (fills == 1).any()
    assert (fills > 5).any()


def test_books_are_alike_but_for_users_and_ids():
    flow = mixed_flow(variety=8, passes=3)
    for rows, expected in zip(flow.passes(flow.orders, 24), flow.orders, strict=True):
        by_variety = rows.reshape(3, 8, -1)
        assert (by_variety[..., :USER_AT] == expected[:, :USER_AT]).all()
        assert len(np.unique(rows[:, USER_AT:], axis=0)) == 24
