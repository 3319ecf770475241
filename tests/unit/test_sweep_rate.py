"""What the rate of sweeps is taken from: what a row says, and that wrong sweeps are not timed."""

import json
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
# The benchmarks are programs and no part of the package: they import each other as such.
sys.path.insert(0, str(REPOSITORY / "benchmarks"))

import sweep_rate  # noqa: E402

GIVEN = {"engine": "cpu", "settings": 17, "replicas": 2, "agents": 8, "steps": 60, "threads": 1}
WORDS = [word for name, value in GIVEN.items() for word in (f"--{name}", str(value))]


def test_a_row_says_what_was_swept_and_how_long(tmp_path, capsys):
    rows = tmp_path / "rows.jsonl"
    words = ["--trials", "2", "--rows", str(rows), "--folder", str(tmp_path), "--commit", "abc"]
    sweep_rate.main([*WORDS, *words])
    (row,) = [json.loads(line) for line in rows.read_text().splitlines()]
    assert (row["settings"], row["replicas"], row["trials"]) == (16, 2, 2)
    assert row["agent_events"] == 16 * 2 * 8 * 60
    assert row["check"] == "all of 9 settings equal in every byte"
    assert 0 < row["bare_s"]["min"] < row["stored_s"]["median"]
    assert {"digest", "cpu", "commit", "time", "numpy"} <= row.keys()
    assert "settings x 2 replicas" in capsys.readouterr().out
    assert [each.name for each in tmp_path.iterdir()] == ["rows.jsonl"]


def test_a_sweep_that_differs_is_not_timed(monkeypatch, tmp_path):
    right = sweep_rate.Sweep.sweep

    def wrong(self, out):
        seconds, dataset = right(self, out)
        dataset = dataset.load()
        dataset["price_std"] = dataset.price_std * (1 + 1e-15)
        return seconds, dataset

    monkeypatch.setattr(sweep_rate.Sweep, "sweep", wrong)
    with pytest.raises(SystemExit, match="price_std of the first settings is not that"):
        sweep_rate.main([*WORDS, "--rows", str(tmp_path / "rows.jsonl")])
    assert not (tmp_path / "rows.jsonl").exists()
