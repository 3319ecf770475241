"""Wrong use and failures: one paragraph on stderr, an exit code, and nothing left behind."""

import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from bookwarp.cli.app import app
from bookwarp.cli.errors import describe
from bookwarp.results.store import load
from bookwarp.simulating import simulate
from bookwarp.simulation import Simulation
from bookwarp.spec.errors import EngineError, StoreError

SMALL = "--markets 2 --agents 4 --levels 16 --steps 5 --engine reference"


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A saved run, a text, arrays, a checkpoint that is kept, damaged ones, a bad configuration."""
    folder = tmp_path_factory.mktemp("template")
    simulate(2, agents=4, levels=16, steps=5, engine="reference").save(folder / "run.zarr")
    (folder / "text.txt").write_text("no data\n")
    np.save(folder / "types.npy", np.zeros((2, 3), np.int8))
    np.save(folder / "codes.npy", np.full((2, 4), 9, np.int8))
    np.savez(folder / "types.npz", np.zeros((2, 4), np.int8))
    simulation = Simulation(2, agents=4, levels=16, steps=5, engine="reference")
    simulation.save(folder / "busy.nc.ckpt")
    damaged = bytearray((folder / "busy.nc.ckpt").read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (folder / "damaged.nc.ckpt").write_bytes(damaged)
    (folder / "bad.toml").write_text("agents = 0\n")
    (folder / "torn.zarr").mkdir()
    (folder / "torn.nc").write_bytes(b"\x89HDF torn")
    return folder


@pytest.fixture
def folder(template, tmp_path, monkeypatch):
    """A copy of the template, in which the test runs."""
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fail(line):
    """Run a command line that must fail, and return its exit code and paragraph."""
    result = CliRunner().invoke(app, line)
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("error: ")
    return result.exit_code, lines[0].removeprefix("error: ")


WRONG_USE = [
    # what the parser of the command line refuses
    ("nosuch", "no such command 'nosuch'"),
    ("simulat", "Did you mean 'simulate'?"),
    ("--nosuch", "no such option: --nosuch"),
    ("simulate --agnts 5", "no such option --agnts: did you mean --agents?"),
    ("simulate --open_price 5", "no such option --open_price: did you mean --open-price?"),
    ("simulate -x", "no such option: -x"),
    ("simulate extra", "got unexpected extra argument"),
    ("simulate --agents", "option '--agents' requires an argument"),
    ("simulate --quiet=1", "option '--quiet' does not take a value"),
    ("show", "missing argument 'STORE'"),
    ("reproduce", "missing command"),
    ("reproduce figure8", "no such command 'figure8'"),
    # parameters of the model
    ("simulate --markets 0", "markets = 0 is outside 1 .. 2147483647"),
    ("simulate --markets ''", "markets must be an integer, not ''"),
    ("simulate --agents 0", "agents = 0 is outside 1 .. 1073741824"),
    ("simulate --agents 1.5", "agents must be an integer, not '1.5'"),
    ("simulate --agents 1,2", "agents is the same for all markets"),
    ("simulate --levels 7", "levels = 7 is outside 8 .. 65536"),
    ("simulate --steps -1", "steps = -1 is outside 0 .. 4294967295"),
    ("simulate --seed -1", "seed = -1 is outside 0 .. 18446744073709551615"),
    ("simulate --seed 18446744073709551616", "seed = 18446744073709551616 is outside"),
    ("simulate --open-price 0", "open_price = 0 is outside 1 .. 126"),
    ("simulate --open-price 99999999999999999999", "open_price = 99999999999999999999 is outside"),
    ("simulate --open-depth -1", "open_depth = -1 is outside"),
    ("simulate --max-qty 0", "max_qty = 0 is outside"),
    ("simulate --max-qty 20000000 --stream paper", "max_qty = 20000000 is outside 1 .. 16777216"),
    ("simulate --noise-spread x", "noise_spread must be an integer, not 'x'"),
    ("simulate --noise-spread 1,2,3 --markets 2", "noise_spread has shape (3,)"),
    ("simulate --noise-spread 1,-2 --markets 2", "noise_spread = -2 in market 1 is outside"),
    ("simulate --market-order-prob 1.5", "market_order_prob = 1.5 is outside 0 .. 1"),
    ("simulate --market-order-prob nan", "market_order_prob = nan is outside 0 .. 1"),
    ("simulate --maker-half-spread -1", "maker_half_spread = -1 is outside"),
    ("simulate --market-ids 0,1 --markets 3", "market_ids has shape (2,)"),
    ("simulate --mix noise=.5", "mix must sum to 1"),
    ("simulate --mix nosie=1", "unknown share of the mix 'nosie': did you mean 'noise'?"),
    ("simulate --mix noise=rest,maker=rest", "only one share can be 'rest'"),
    ("simulate --mix noise=-1,maker=2", "mix.noise = -1 is outside 0 .. 1"),
    ("simulate --mix .5,.5", "mix must be shares as in noise=.7"),
    ("simulate --stream papr", "unknown stream 'papr': did you mean 'paper'?"),
    ("simulate --window follow", "unknown window 'follow': did you mean 'following'?"),
    ("simulate --max-qty 2000000000 --steps 4000000000 --agents 100000", "could overflow"),
    # agent types
    ("simulate --agent-types none.npy", "none.npy cannot be read: No such file"),
    ("simulate --agent-types text.txt", "text.txt is not an .npy file"),
    ("simulate --agent-types types.npz", "types.npz is not an .npy file"),
    ("simulate --markets 2 --agents 4 --agent-types types.npy", "agent_types has shape (2, 3)"),
    ("simulate --markets 2 --agents 4 --agent-types codes.npy", "agent_types[0, 0] = 9"),
    ("simulate --agent-types types.npy --mix noise=1", "give either mix or agent_types"),
    ("simulate --agent-types drawn --markets 2 --seed 1,2", "drawn needs one seed"),
    ("simulate --agent-types drawn --markets 0", "markets = 0 is outside"),
    ("simulate --agent-types drawn --markets 2000000000 --levels 8", "GB"),
    # recording
    ("simulate --record prices", "unknown record 'prices': it is one of last, volume"),
    ("simulate --record lst", "unknown record 'lst': did you mean 'last'?"),
    ("simulate --record book", "record 'book' needs book_markets"),
    ("simulate --book-markets 0", "book_markets needs 'book' in record"),
    ("simulate --record book --book-markets 5 --markets 5", "book_markets: 5 is outside 0 .. 4"),
    ("simulate --record tape --tape-markets 0", "needs both tape_markets and tape_steps"),
    ("simulate --record tape --tape-markets 0 --tape-steps 0:501", "tape_steps: 500 is outside"),
    ("simulate --record-every 0", "record_every = 0 is outside"),
    ("simulate --depth-ticks x", "depth_ticks must be an integer, not 'x'"),
    # the machine
    ("simulate --engine gpu", "unknown engine 'gpu'"),
    ("simulate --threads 0", "threads = 0 is outside 1 .. 1024"),
    ("simulate --engine cpu --devices 0", "devices needs engine 'cuda', not 'cpu'"),
    ("simulate --engine cpu --devices none", "devices must be an integer, not 'none'"),
    ("simulate --memory-limit much", "memory_limit must be a number of bytes"),
    ("simulate --memory-limit 1kB", "or set memory_limit"),
    ("simulate --markets 2000000000", "lower markets or levels"),
    # paths
    ("simulate --out run.txt", "run.txt has the suffix '.txt'"),
    (
        "simulate --out run.zarr",
        "run.zarr exists: choose another path, remove it, or give --overwrite",
    ),
    ("simulate --out text.txt/run.zarr", "cannot be written"),
    ("simulate --out none/run.zarr", "there is no folder"),
    ("simulate --out table.parquet --record none", "would be an empty table"),
    ("simulate --out busy.nc", "busy.nc.ckpt is the checkpoint of a run that was interrupted"),
    ("simulate --plot run.bmp", "run.bmp has the suffix '.bmp'"),
    ("simulate --plot none/run.png", "there is no folder"),
    ("simulate --checkpoint-every 0", "checkpoint_every = 0 is not above 0"),
    ("simulate --checkpoint-every nan", "checkpoint_every = nan is not above 0"),
    ("simulate --checkpoint-every x", "checkpoint_every must be a number, not 'x'"),
    # a file of parameters
    ("simulate --config none.toml", "none.toml cannot be read"),
    ("simulate --config text.txt", "text.txt is not TOML"),
    ("simulate --config bad.toml", "agents = 0 is outside 1 .. 1073741824 (agents: from config"),
    # going on
    ("simulate --resume none.ckpt", "there is no checkpoint none.ckpt"),
    ("simulate --resume ''", "there is no checkpoint ."),
    ("simulate --resume run.zarr", "there is no checkpoint run.zarr.ckpt"),
    ("simulate --resume busy.nc --agents 5 --record last", "leave out --agents, --record"),
    ("simulate --resume busy.nc --config bad.toml", "leave out --config"),
    ("simulate --resume busy.nc --out run.zarr", "run.zarr exists"),
    # saved runs
    ("show none.zarr", "there is no saved run none.zarr"),
    ("show text.txt", "text.txt has the suffix '.txt'"),
    ("rerun none.nc", "there is no saved run none.nc"),
    ("rerun run.zarr --engine x", "unknown engine 'x'"),
    # the paper
    ("reproduce table2 --markets 0", "markets = 0 is outside"),
    ("reproduce table2 --out text.txt", "text.txt is not a folder"),
    ("reproduce figure7 --steps 5", "steps = 5 is too few"),
    ("reproduce figure7 --stream x", "unknown stream 'x'"),
]


@pytest.mark.parametrize("line, said", WRONG_USE, ids=[line for line, _ in WRONG_USE])
def test_wrong_use_is_one_paragraph_and_exit_code_2(folder, line, said):
    before = sorted(folder.rglob("*"))
    code, paragraph = fail(line)
    assert said in paragraph
    assert code == 2
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    "line, said",
    [
        ("show torn.nc", "torn.nc cannot be read: it is damaged"),
        ("show torn.zarr", "torn.zarr cannot be read: it is damaged"),
        ("rerun torn.nc", "torn.nc cannot be read: it is damaged"),
        ("simulate --resume damaged.nc", "damaged.nc.ckpt is damaged"),
        ("simulate --resume text.txt", "text.txt is not a checkpoint of bookwarp"),
    ],
)
def test_failure_is_one_paragraph_and_exit_code_1(folder, line, said):
    code, paragraph = fail(line)
    assert said in paragraph
    assert code == 1


def test_engine_that_is_not_available_is_a_failure(monkeypatch):
    def unavailable(name, *args):
        raise EngineError(f"engine {name!r} is not available: no reason")

    monkeypatch.setattr(sys.modules["bookwarp.simulation"], "choose_engine", unavailable)
    assert fail("simulate --engine cpu") == (1, "engine 'cpu' is not available: no reason")


def test_unexpected_exception_is_one_paragraph_that_says_how_to_see_more(monkeypatch):
    def break_down(*args, **kwargs):
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr(sys.modules["bookwarp.simulation"], "choose_engine", break_down)
    code, paragraph = fail("simulate")
    assert code == 1
    assert paragraph.startswith("ZeroDivisionError: division by zero (unexpected; ")
    assert "BOOKWARP_TRACEBACK=1" in paragraph


def test_traceback_is_shown_where_the_environment_asks_for_it(monkeypatch):
    monkeypatch.setenv("BOOKWARP_TRACEBACK", "1")
    result = CliRunner().invoke(app, "simulate --agents 0")
    assert result.exit_code == 2
    assert result.stderr.startswith("Traceback")
    assert result.stderr.splitlines()[-1] == "error: agents = 0 is outside 1 .. 1073741824"


def test_lack_of_memory_is_told_as_such():
    message, code = describe(MemoryError("Unable to allocate 9 TiB"))
    assert message.startswith("out of memory")
    assert code == 1


def test_interrupt_outside_of_a_run_is_one_paragraph(monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("bookwarp.cli.info.gather_facts", interrupt)
    assert fail("info") == (1, "interrupted")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")  # noqa: PTH110
def test_full_disk_behind_stdout_is_one_paragraph():
    command = [sys.executable, "-m", "bookwarp", *f"simulate {SMALL}".split()]
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert re.fullmatch(r"error: No space left on device\n", done.stderr)


@pytest.mark.parametrize(
    "error, said",
    [
        (StoreError("new.nc cannot be written: the disk is full"), "the disk is full."),
        (ValueError("a fault of a library"), "a fault of a library"),
        (MemoryError(), "out of memory"),
        (KeyboardInterrupt(), "interrupted while saving"),
    ],
)
def test_run_that_cannot_be_saved_stays_in_its_checkpoint(folder, monkeypatch, error, said):
    def fail_to_save(self, path, overwrite=False):
        raise error

    with monkeypatch.context() as broken:
        broken.setattr("bookwarp.results.run.Run.save", fail_to_save)
        code, paragraph = fail(f"simulate {SMALL} --out new.nc --quiet")
    assert code == 1
    assert said in paragraph
    assert "The run is complete. The checkpoint new.nc.ckpt was kept" in paragraph
    assert "`bookwarp simulate --resume new.nc.ckpt --engine reference --quiet`" in paragraph
    result = CliRunner().invoke(app, "simulate --resume new.nc.ckpt --engine reference --quiet")
    assert (result.exit_code, result.output) == (0, "")
    assert load("new.nc").digest() == load("run.zarr").digest()
    assert not (folder / "new.nc.ckpt").exists()


@pytest.mark.parametrize(
    "out, said",
    [("--out new.nc", "It is saved: new.nc."), ("", "It was not kept: give --out to save it.")],
)
def test_run_that_cannot_be_drawn_is_saved_if_it_was_to_be(folder, monkeypatch, out, said):
    def fail_to_draw(self, path, overwrite=False):
        raise StoreError("new.png cannot be written: the disk is full")

    monkeypatch.setattr("bookwarp.results.run.Run.plot", fail_to_draw)
    code, paragraph = fail(f"simulate {SMALL} {out} --plot new.png")
    assert code == 1
    assert paragraph == f"new.png cannot be written: the disk is full. The run is complete. {said}"
    assert (folder / "new.nc").exists() == bool(out)
    assert not (folder / "new.nc.ckpt").exists()
