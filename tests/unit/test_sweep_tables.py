"""The table of docs/sweeps.md says what the rows of sweep_rate.py say."""

import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
# The benchmarks are programs and no part of the package: they import each other as such.
sys.path.insert(0, str(REPOSITORY / "benchmarks"))

import sweep_tables  # noqa: E402


def spread(median):
    return {"median": median, "min": median / 2, "max": median * 2}


ROW = {
    "kind": "sweep rate",
    "time": "2026-12-01T00:00:00+00:00",
    "commit": "0123456789abcdef",
    "engine": "cpu",
    "cpu": "A processor",
    "threads": 3,
    "settings": 100,
    "replicas": 64,
    "agents": 256,
    "steps": 1000,
    "bare_s": spread(2.0),
    "memory_s": spread(2.5),
    "stored_s": spread(3.0),
    "memory_over_bare": spread(1.26),
    "stored_over_bare": spread(1.51),
}


def test_sweep_stands_beside_its_simulation():
    on_gpu = ROW | {"engine": "cuda", "gpu": "A GPU", "devices": [1]}
    on_two = on_gpu | {"devices": [0, 1]}
    table = sweep_tables.rates([{"kind": "stream"}, ROW, on_gpu, on_two])
    lines = [line.strip("| ").split(" | ") for line in table.splitlines()]
    assert lines[2] == [
        *("`cpu`, A processor, 3 threads", "100", "64", "256", "1000"),
        *("2.00", "2.50", "1.26", "3.00", "1.51", "`0123456789`"),
    ]
    assert lines[3][0] == "`cuda`, A GPU"
    assert lines[4][0] == "`cuda`, 2 A GPU"
    assert len(lines) == 5


def test_the_newest_row_of_a_sweep_is_shown():
    old = ROW | {"time": "2026-11-30T00:00:00+00:00", "bare_s": spread(9.0)}
    more = old | {"threads": 4}
    for rows in ([old, ROW, more], [more, ROW, old]):
        lines = sweep_tables.rates(rows).splitlines()
        assert [line.split(" | ")[5] for line in lines[2:]] == ["2.00", "9.00"]


def test_nothing_measured_is_said():
    assert sweep_tables.rates([]) == "Not measured yet."
