"""The benchmark of flat blocks: no rate without the fills and the bytes of the plain matcher."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bookwarp.consensus.flat import FLAT_TRADE, FlatBooks
from bookwarp.testing.flat_orders import random_flat_orders

REPOSITORY = Path(__file__).resolve().parents[2]
# The benchmarks are programs and no part of the package: they import each other as such.
sys.path.insert(0, str(REPOSITORY / "benchmarks"))

import run_flat  # noqa: E402

BLOCKS = [random_flat_orders(400, 9, seed) for seed in (1, 2)]


@pytest.fixture(scope="module")
def expected():
    return run_flat.plain_blocks(BLOCKS)


@pytest.fixture
def done():
    books = FlatBooks(9)
    return [books.execute(block.orders, block.book) for block in BLOCKS][-1]


def test_right_block_passes(done, expected):
    assert run_flat.check_block(done, expected).endswith("the plain matcher's")


def test_block_without_fills_has_no_rate(done, expected):
    nothing = replace(done, trades=np.zeros(0, FLAT_TRADE))
    with pytest.raises(SystemExit, match="nothing traded"):
        run_flat.check_block(nothing, (expected[0], b"", expected[2]))
    with pytest.raises(SystemExit, match=r"0\.000000 fills an order, not 0\.6"):
        run_flat.check_block(nothing, expected)


@pytest.mark.parametrize("name", ["orders", "trades"])
def test_wrong_byte_has_no_rate(done, expected, name):
    rows = getattr(done, name).copy()
    rows["reserved"][-1, -1] ^= 1
    with pytest.raises(SystemExit, match=f"{name} differ"):
        run_flat.check_block(replace(done, **{name: rows}), expected)


def test_wrong_book_has_no_rate(done, expected):
    rows = done.state.orders.copy()
    rows["remaining"][0] += 1
    wrong = replace(done, state=replace(done.state, orders=rows))
    with pytest.raises(SystemExit, match="books differ"):
        run_flat.check_block(wrong, expected)


def test_rows_say_what_was_measured(tmp_path, capsys):
    path = tmp_path / "rows" / "flat.jsonl"
    sizes = ["--orders", "300", "--books", "5", "--trials", "1"]
    run_flat.main([*sizes, "--rows", str(path), "--engines", "cpu,reference"])
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert rows[-1]["engine"] == "reference"
    assert len({row["digest"] for row in rows}) == len({row["root"] for row in rows}) == 1
    assert all(row["fills_per_order"] == row["trades"] / 300 > 0 for row in rows)
    assert capsys.readouterr().out.count("fills an order") == len(rows)
