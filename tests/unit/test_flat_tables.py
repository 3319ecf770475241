"""The table of blocks of flat rows is made from rows of the benchmark, and of nothing else."""

import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
# The benchmarks are programs and no part of the package: they import each other as such.
sys.path.insert(0, str(REPOSITORY / "benchmarks"))

import flat_tables  # noqa: E402

ROW = {
    "kind": "flat block",
    "case": "10 orders, 2 books, 1 threads",
    "engine": "cuda",
    "gpu": "some GPU",
    "orders_per_s": {"median": 2.5e6, "min": 1e6, "max": 3.125e6},
    "fills_per_order": 0.6166,
    "hashes_per_s": 1.25e6,
    "root_s": {"median": 4.0},
    "digest_s": {"median": 0.25},
    "check": "compared",
}


def test_a_row_has_its_rate_beside_its_fills():
    table = flat_tables.blocks([{"kind": "stream"}, ROW, ROW | {"engine": "cpu", "gpu": None}])
    lines = table.splitlines()
    assert len(lines) == 4
    cells = [cell.strip() for cell in lines[2].strip("|").split("|")]
    assert cells[:5] == [
        *("10 orders, 2 books, 1 threads", "`cuda`, some GPU", "2.5", "1 .. 3.12", "0.617"),
    ]
    assert cells[5:] == ["1.25", "4.00", "0.250", "compared"]
    assert "| `cpu` |" in lines[3]


def test_without_rows_there_is_no_rate():
    assert flat_tables.blocks([]) == "Not measured yet."
