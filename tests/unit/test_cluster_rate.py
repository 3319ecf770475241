"""What Dask adds to a sweep is taken from equal sweeps, by time and by seconds of the processor."""

import json
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
# The benchmarks are programs and no part of the package: they import each other as such.
sys.path.insert(0, str(REPOSITORY / "benchmarks"))

import cluster_rate  # noqa: E402
import sweep_rate  # noqa: E402

WORDS = [
    "--settings",
    "9",
    "--replicas",
    "2",
    "--agents",
    "8",
    "--steps",
    "60",
    "--trials",
    "1",
    "--workers",
    "1",
    "--commit",
    "abc",
]


def test_a_row_has_both_sweeps_and_a_sweep_that_differs_is_no_row(monkeypatch, tmp_path, capsys):
    rows = tmp_path / "rows.jsonl"
    words = [*WORDS, "--folder", str(tmp_path), "--rows", str(rows)]
    cluster_rate.main(words)
    (row,) = [json.loads(line) for line in rows.read_text().splitlines()]
    assert (row["settings"], row["workers"], row["agent_events"]) == (9, 1, 9 * 2 * 8 * 60)
    assert row["alone_s"]["min"] > 0
    assert 0 < row["alone_cpu_s"]["min"] < row["dask_cpu_s"]["min"] * 10
    assert {"digest", "cpu", "commit", "time", "task_s"} <= row.keys()
    assert "1 Dask workers" in capsys.readouterr().out

    def another(what, out, client=None):
        return 1.0, sweep_rate.bw.sweep(
            sweep_rate.bw.grid(momentum=[0.1, 0.2 if client else 0.3], noise="rest"), steps=60
        )

    monkeypatch.setattr(sweep_rate.Sweep, "sweep", another)
    monkeypatch.setattr(cluster_rate, "local_client", lambda *_: nullcontext("workers"))
    monkeypatch.setattr(cluster_rate, "time_tasks", lambda client: 0.0)
    with pytest.raises(SystemExit, match="the sweeps have different digests"):
        cluster_rate.main(words)
    assert len(rows.read_text().splitlines()) == 1
    assert [each.name for each in tmp_path.iterdir()] == ["rows.jsonl"]
