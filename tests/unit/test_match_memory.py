"""The memory of a file of orders: measured in a process that matches all of it."""

import json
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
# The benchmarks are programs and no part of the package: they import each other as such.
sys.path.insert(0, str(REPOSITORY / "benchmarks"))

import match_memory  # noqa: E402

import bookwarp as bw  # noqa: E402


def test_peak_of_a_process_that_matches_the_whole_file(tmp_path, capsys):
    rows = tmp_path / "rows.jsonl"
    words = ["--books", "20", "--messages", "2500", "--engine", "reference", "--rows", str(rows)]
    match_memory.main(words)
    (row,) = map(json.loads, rows.read_text(encoding="utf-8").splitlines())
    assert (row["kind"], row["messages"], row["books"]) == ("match memory", 2500, 20)
    assert row["peak_bytes"] > 20e6
    assert "2500 messages: " in capsys.readouterr().out
    match_memory.write_orders(tmp_path / "again.parquet", 20, 2500)
    assert bw.match(tmp_path / "again.parquet").digest() == row["digest"]
