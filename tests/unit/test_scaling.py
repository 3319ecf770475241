"""Scaling over several GPUs, played by the host: what a row says, and who is compared with whom."""

import json
import sys
from pathlib import Path

import emulated_gpu
import numpy as np
import pytest
from emulated_gpu import EmulatedGpu
from emulated_gpu import emulated_gpus as emulated_gpus

REPOSITORY = Path(__file__).resolve().parents[2]
# The benchmarks are programs and no part of the package: they import each other as such.
sys.path.insert(0, str(REPOSITORY / "benchmarks"))

import scaling  # noqa: E402
import scaling_table  # noqa: E402
from cases import Case  # noqa: E402

TINY = Case("tiny", markets=6, agents=5, levels=8, steps=4)


@pytest.fixture(autouse=True)
def clock(emulated_gpus, monkeypatch):
    """A GPU takes a second for every market; so does the wall, for the GPU with the most."""
    now = [0.0]

    def read_wall():
        """Each reading is later by the most that a GPU did since the last one."""
        now[0] += max((markets_of(gpu) for gpu in emulated_gpus), default=0)
        for gpu in emulated_gpus:
            gpu.launches.clear()
        return now[0]

    def markets_of(gpu):
        return sum(int(arguments[6]) for _, _, arguments in gpu.launches)

    monkeypatch.setattr(EmulatedGpu, "mark_time", markets_of)
    monkeypatch.setattr(EmulatedGpu, "seconds_between", lambda gpu, begin, end: end - begin)
    monkeypatch.setattr(scaling.time, "perf_counter", read_wall)


def test_strong_scaling_splits_the_markets():
    one, two = scaling.measure_scaling(scaling.Scaling(TINY), [1, 2], trials=3)
    assert (one["case"], two["case"]) == ("strong: tiny, 1 GPU", "strong: tiny, 2 GPUs")
    assert (one["markets"], two["markets"]) == (6, 6)
    assert one["digest"] == two["digest"]
    assert (one["kernel_s"]["median"], two["kernel_s"]["median"]) == (6, 3)
    assert (one["times_faster"]["median"], two["times_faster"]["median"]) == (1, 2)
    assert (one["efficiency"]["median"], two["efficiency"]["median"]) == (1, 1)
    assert two["agent_events_per_s"]["median"] == 6 * 5 * 4 / 3
    assert one["trials"] == 3


def test_weak_scaling_multiplies_them():
    one, two = scaling.measure_scaling(scaling.Scaling(TINY, weak=True), [1, 2], trials=1)
    assert (one["markets"], two["markets"]) == (6, 12)
    assert one["digest"] != two["digest"]
    assert two["wall_s"]["median"] == one["wall_s"]["median"] == 6
    assert two["times_faster"]["median"] == 2
    assert two["efficiency"]["median"] == 1
    assert two["check"] == (
        "3 whole markets equal the reference's, 4 steps; digest equals that of one GPU"
    )


@pytest.mark.parametrize("wrong", ["always", "in a trial"])
def test_other_bits_end_it(emulated_gpus, monkeypatch, wrong):
    right, seen = emulated_gpu.run_kernel, []

    def run_wrongly(key, markets, books, scalars, *more):
        right(key, markets, books, scalars, *more)
        seen.append(int(more[3]))
        # Half of the markets: two GPUs share them.
        if int(more[3]) == 3 and (wrong == "always" or seen.count(3) > 2):
            emulated_gpu.array_at(scalars, np.int64, 3)[1] += 1

    monkeypatch.setattr(emulated_gpu, "run_kernel", run_wrongly)
    message = "2 GPUs end in .*, one in " if wrong == "always" else "on 2 GPUs ends in other bits"
    with pytest.raises(SystemExit, match=message):
        list(scaling.measure_scaling(scaling.Scaling(TINY), [1, 2], trials=1))


def test_rows_are_written_and_tabled(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(scaling, "unavailable_reason", lambda: None)
    monkeypatch.setattr(scaling, "device_count", lambda: 2)
    monkeypatch.setattr(scaling, "SCALINGS", (scaling.Scaling(TINY),))
    scaling.main(["--trials", "1", "--rows", str(tmp_path / "rows.jsonl"), "--commit", "abc"])
    lines = (tmp_path / "rows.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["devices"] for row in rows] == [1, 2]
    assert all({"cpu", "gpu", "commit", "time", "numpy"} <= row.keys() for row in rows)
    assert capsys.readouterr().out.count("\n") == 2
    table = scaling_table.scaling(rows).splitlines()
    assert table[-1].startswith("| tiny | strong | 2 x played by the host | 6 | 5 | ")
    assert table[-1].endswith(" | 2.00 | 2.00 .. 2.00 | 100 % |")
    assert scaling_table.scaling([]) == "Not measured yet."


@pytest.mark.parametrize("words", [["--devices", "3"], ["--trials", "0"], ["--devices", "0"]])
def test_what_is_not_there_is_refused(monkeypatch, words):
    monkeypatch.setattr(scaling, "unavailable_reason", lambda: None)
    monkeypatch.setattr(scaling, "device_count", lambda: 2)
    with pytest.raises(SystemExit):
        scaling.main(words)
