"""A run that is interrupted or killed, and the same end by way of its checkpoint."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from bookwarp.cli.app import app
from bookwarp.cli.interrupts import first_signal_interrupts
from bookwarp.reference.engine import ReferenceEngine
from bookwarp.results.store import load
from bookwarp.simulating import simulate
from bookwarp.simulation import Simulation

MODEL = {"agents": 24, "levels": 32, "seed": 5}
RECORD = ("last", "volume", "mid2", "book", "tape")
MANY_STEPS = 10**7
OPTIONS = (
    "--markets 6 --agents 24 --levels 32 --seed 5 --record last,volume,mid2,book,tape "
    "--record-every 50 --book-markets 2 --tape-markets 1 --tape-steps 3,7 --engine reference"
)
CHOSEN = {"record_every": 50, "book_markets": [2], "tape_markets": [1], "tape_steps": [3, 7]}


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def start(folder, words):
    """Start a command in a process of its own."""
    command = [sys.executable, "-m", "bookwarp", *shlex.split(words)]
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for(path, process, newer_than=0.0):
    """Wait until a checkpoint is written."""
    for _ in range(600):
        if path.exists() and path.stat().st_mtime > newer_than:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise AssertionError(f"{path} was not written in half a minute")


def interrupt(folder, number, out="run.zarr", words=OPTIONS, steps=MANY_STEPS):
    """Start a run, send it a signal once its first checkpoint is there; what it printed."""
    line = f"simulate {words} --steps {steps} --out {out} --checkpoint-every 0.2"
    process = start(folder, line)
    wait_for(folder / f"{out}.ckpt", process)
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=60)
    return process.returncode, stdout, stderr


def shorten(path, more):
    """Plan only some more steps in a checkpoint, so that the test ends; return all of them."""
    simulation = Simulation.resume(path, engine="reference")
    simulation.steps = simulation.steps_done + more
    simulation.save(path)
    return simulation.steps


def assert_unbroken(path, steps):
    """Hold a saved run against the same run without a break."""
    saved = load(path)
    whole = simulate(6, **MODEL, steps=steps, record=RECORD, **CHOSEN, engine="reference")
    assert saved.steps == whole.steps == steps
    assert saved.digest() == whole.digest()
    for name, array in whole.state.arrays().items():
        np.testing.assert_array_equal(saved.state.arrays()[name], array, name)
    assert saved.history.keys() == whole.history.keys()
    for name, series in whole.history.items():
        np.testing.assert_array_equal(saved.history[name], series, name)
    np.testing.assert_array_equal(saved.tape, whole.tape)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_run_leaves_a_checkpoint_and_the_command_that_goes_on(tmp_path, number):
    code, stdout, stderr = interrupt(tmp_path, number)
    assert (code, stdout) == (1, "")
    (line,) = stderr.splitlines()
    assert line.startswith("error: interrupted after ")
    done = int(line.split()[3])
    assert f"after {done} of {MANY_STEPS} steps. The checkpoint run.zarr.ckpt was kept" in line
    checkpoint = tmp_path / "run.zarr.ckpt"
    assert Simulation.resume(checkpoint, engine="reference").steps_done == done
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.zarr.ckpt"]

    steps = shorten(checkpoint, 130)
    command = line.split("`")[1]
    assert command == (
        "bookwarp simulate --resume run.zarr.ckpt --engine reference --checkpoint-every 0.2"
    )
    process = start(tmp_path, command.removeprefix("bookwarp "))
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.zarr"]
    assert_unbroken(tmp_path / "run.zarr", steps)


def test_killed_run_goes_on_from_its_last_checkpoint(tmp_path, monkeypatch):
    assert interrupt(tmp_path, signal.SIGKILL, "run.nc")[0] == -signal.SIGKILL
    steps = shorten(tmp_path / "run.nc.ckpt", 130)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, "simulate --resume run.nc --threads 2 --json")
    assert result.exit_code == 0, result.stderr
    printed = json.loads(result.stdout)
    assert (printed["steps"], printed["markets"]) == (steps, 6)
    assert printed["digest"] == load("run.nc").digest()
    assert not os.path.exists("run.nc.ckpt")  # noqa: PTH110
    assert_unbroken("run.nc", steps)


def test_run_interrupted_twice_ends_as_one_without_a_break(tmp_path, monkeypatch):
    interrupt(tmp_path, signal.SIGINT)
    checkpoint = tmp_path / "run.zarr.ckpt"
    first = Simulation.resume(checkpoint, engine="reference").steps_done
    again = start(tmp_path, "simulate --resume run.zarr --checkpoint-every 0.2 --engine reference")
    wait_for(checkpoint, again, checkpoint.stat().st_mtime)
    again.send_signal(signal.SIGTERM)
    again.communicate(timeout=60)
    assert again.returncode == 1
    assert Simulation.resume(checkpoint, engine="reference").steps_done > first
    steps = shorten(checkpoint, 77)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, "simulate --resume run.zarr.ckpt --quiet")
    assert (result.exit_code, result.stdout) == (0, "")
    assert_unbroken("run.zarr", steps)


def test_only_the_first_signal_interrupts():
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    kept = False
    with pytest.raises(KeyboardInterrupt), first_signal_interrupts():  # noqa: PT012
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGTERM)
            kept = True
            raise
    assert kept
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before


def test_second_interrupt_does_not_spoil_the_checkpoint(tmp_path):
    line = f"simulate {OPTIONS} --steps {MANY_STEPS} --out run.zarr --checkpoint-every 0.2"
    process = start(tmp_path, line)
    wait_for(tmp_path / "run.zarr.ckpt", process)
    for _ in range(5):
        process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    assert stderr.startswith("error: interrupted after ")
    assert len(stderr.splitlines()) == 1
    assert Simulation.resume(tmp_path / "run.zarr.ckpt", engine="reference").steps_done > 0


@pytest.fixture
def interrupting(monkeypatch):
    """Ctrl-C in the middle of the first piece of several steps."""
    run_steps = ReferenceEngine.run

    def interrupt_and_run(self, steps, rows):
        if steps > 1:
            signal.raise_signal(signal.SIGINT)
        run_steps(self, steps, rows)

    monkeypatch.setattr(ReferenceEngine, "run", interrupt_and_run)


@pytest.mark.usefixtures("interrupting")
def test_interrupted_run_without_out_says_that_nothing_was_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, f"simulate {OPTIONS} --steps 500 --json")
    assert (result.exit_code, result.stdout) == (1, "")
    assert re.fullmatch(
        r"error: interrupted after \d+ of 500 steps. "
        r"Nothing was kept: with --out a checkpoint would have been.\n",
        result.stderr,
    )
    assert names(tmp_path) == []


@pytest.mark.usefixtures("interrupting")
def test_command_that_goes_on_has_all_options_that_still_count(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my run.nc").write_bytes(b"old")
    line = (
        f"simulate {OPTIONS} --steps 500 --out 'my run.nc' --plot 'a b.svg' --threads 1 "
        "--memory-limit 1GB --checkpoint-every 7 --json --quiet --overwrite"
    )
    result = CliRunner().invoke(app, line)
    assert result.exit_code == 1
    assert shlex.split(result.stderr.split("`")[1]) == [
        *("bookwarp", "simulate", "--resume", "my run.nc.ckpt", "--engine", "reference"),
        *("--threads", "1", "--memory-limit", "1GB", "--checkpoint-every", "7"),
        *("--plot", "a b.svg", "--overwrite", "--json", "--quiet"),
    ]


def test_interrupt_during_start_up_is_one_line():
    script = (
        "import sys\n"
        "from bookwarp.cli import main\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'typer':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "error: interrupted\n")


@pytest.fixture
def halfway(tmp_path, monkeypatch):
    """A folder with the checkpoint of a run after 30 of 60 steps."""
    monkeypatch.chdir(tmp_path)
    simulation = Simulation(6, **MODEL, steps=60, record=RECORD, **CHOSEN, engine="reference")
    simulation.step(30).save("run.nc.ckpt")
    return tmp_path


def test_new_run_does_not_overwrite_the_checkpoint_of_another(halfway):
    result = CliRunner().invoke(app, f"simulate {OPTIONS} --steps 60 --out run.nc")
    assert result.exit_code == 2
    assert "go on from it with --resume run.nc.ckpt" in result.stderr
    result = CliRunner().invoke(app, f"simulate {OPTIONS} --steps 60 --out run.nc --overwrite")
    assert result.exit_code == 0
    assert names(halfway) == ["run.nc"]
    assert_unbroken("run.nc", 60)


def test_resumed_run_can_be_saved_and_drawn_elsewhere(halfway):
    result = CliRunner().invoke(app, "simulate --resume run.nc --out other.zarr --plot run.svg")
    assert result.exit_code == 0
    assert names(halfway) == ["other.zarr", "run.nc.ckpt", "run.svg"]
    assert_unbroken("other.zarr", 60)


def test_checkpoint_of_any_name_is_resumed_and_kept(halfway):
    (halfway / "run.nc.ckpt").rename("half")
    result = CliRunner().invoke(app, "simulate --resume half --json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["steps"] == 60
    assert names(halfway) == ["half"]


def test_checkpoint_is_the_same_by_any_of_its_names(halfway):
    line = f"simulate --resume {halfway}/run.nc.ckpt --out run.nc --overwrite --quiet"
    assert CliRunner().invoke(app, line).exit_code == 0
    assert names(halfway) == ["run.nc"]
    assert_unbroken("run.nc", 60)
