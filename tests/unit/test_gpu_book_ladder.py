"""The rungs of the ladder of books on a GPU, run by emulated warps, end where the product does."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest
from emulated_books import play_gpu
from emulated_kernels import EmulatedCode, needs_compiler

REPOSITORY = Path(__file__).resolve().parents[2]
LADDER = REPOSITORY / "benchmarks" / "ladder" / "books_cuda"
# The benchmarks are programs and no part of the package: they import each other as such.
sys.path[:0] = [str(REPOSITORY / "benchmarks"), str(LADDER)]

import gpu_book_rungs  # noqa: E402

from bookwarp.spec.book_rules import BookRules  # noqa: E402


@pytest.fixture
def climb(monkeypatch):
    spec = importlib.util.spec_from_file_location("run_gpu_book_ladder", LADDER / "run.py")
    climb = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(climb)
    play_gpu(monkeypatch)
    # The ladder sets it for a process of its own.
    monkeypatch.setattr(climb.engine, "slot_ladder", climb.engine.slot_ladder)
    monkeypatch.setattr(
        gpu_book_rungs,
        "load_rung",
        lambda rung, key, arch: EmulatedCode(gpu_book_rungs.rung_source(rung, key)),
    )
    return climb


@needs_compiler
def test_rungs_end_where_the_product_does(climb, tmp_path, capsys):
    rows = tmp_path / "rows.jsonl"
    words = ["--books", "64", "--messages", "6", "--trials", "1", "--rows", str(rows)]
    assert climb.main(words) == 0, capsys.readouterr().out
    found = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
    assert [row["rung"] for row in found] == [rung.name for rung in gpu_book_rungs.RUNGS]
    assert len({row["digest_of_books"] for row in found}) == 1


@needs_compiler
def test_a_rung_that_ends_elsewhere_fails(climb, tmp_path, monkeypatch, capsys):
    rung = gpu_book_rungs.RUNGS[-1]
    exact, wrong_lots = "lots = min(order.qty, open);", "lots = min(order.qty, 1ll);"

    def break_it(source):
        assert exact in source
        return source.replace(exact, wrong_lots)

    wrong = type(rung)(rung.name, rung.idea, None, None, rung.slots, break_it)
    monkeypatch.setattr(climb, "RUNGS", (wrong,))
    words = ["--books", "64", "--messages", "6", "--trials", "1", "--rows", str(tmp_path / "rows")]
    assert climb.main(words) == 1
    assert f"{rung.name}: FAILED, its events or books" in capsys.readouterr().out


def test_rungs_change_what_is_there():
    for rung in gpu_book_rungs.RUNGS:
        for slots in rung.slots:
            key = gpu_book_rungs.match_key(BookRules(), slots, events=True, depth=False)
            assert gpu_book_rungs.rung_source(rung, key)
    with pytest.raises(ValueError, match="the kernels have no"):
        gpu_book_rungs._changed("what is not there", "", "source")
