"""What the cost of measures is taken from: what a row says, and that wrong facts are not timed."""

import json
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
# The benchmarks are programs and no part of the package: they import each other as such.
sys.path.insert(0, str(REPOSITORY / "benchmarks"))

import measure_cost  # noqa: E402

WORDS = ["--engine", "cpu", "--markets", "5", "--steps", "30", "--threads", "1"]


def test_a_row_says_what_was_run_and_how_long(tmp_path, capsys):
    target = tmp_path / "rows.jsonl"
    measure_cost.main([*WORDS, "--trials", "2", "--rows", str(target), "--commit", "abc"])
    (row,) = [json.loads(line) for line in target.read_text().splitlines()]
    assert (row["engine"], row["markets"], row["steps"], row["trials"]) == ("cpu", 5, 30, 2)
    assert row["check"] == "facts of 3 whole markets equal the reference's, in every byte"
    assert list(row["group_s"]) == [group.name for group in measure_cost.MEASURE.groups]
    assert 0 < row["measured_s"]["min"] <= row["measured_s"]["median"]
    assert row["measure_ns_per_market_step"]["median"] > 0
    assert {"cpu", "commit", "time", "numpy"} <= row.keys()
    assert "gpu" not in row
    assert "% of bare" in capsys.readouterr().out


def test_facts_that_differ_are_not_timed(monkeypatch, tmp_path):
    right = measure_cost.MEASURE.of_simulation

    class Wrong:
        series, groups = measure_cost.MEASURE.series, measure_cost.MEASURE.groups

        def of_simulation(self, simulation):
            found = right(simulation)
            if simulation.engine == "cpu":
                found["leverage"][-1, 3] += 1e-15
            return found

    monkeypatch.setattr(measure_cost, "MEASURE", Wrong())
    with pytest.raises(SystemExit, match=r"leverage of the markets \[0, 2, 4\] is not that of"):
        measure_cost.main([*WORDS, "--rows", str(tmp_path / "rows.jsonl")])
    assert not (tmp_path / "rows.jsonl").exists()


@pytest.mark.parametrize("words", [["--trials", "0"], ["--engine", "none"]])
def test_what_cannot_be_run_is_refused(words):
    with pytest.raises(SystemExit):
        measure_cost.main(words)
