"""`bookwarp simulate`, `show` and `rerun`: what they do is what the Python API does."""

import io
import json
import re
import sys
import time

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from bookwarp.cli.app import app
from bookwarp.cli.options import RUN_OPTIONS
from bookwarp.cli.progress import show_progress
from bookwarp.results.store import load
from bookwarp.simulating import simulate
from bookwarp.simulation import Simulation
from bookwarp.spec.agents import Mix, draw_agent_types

SMALL = {"markets": 3, "agents": 10, "levels": 16, "steps": 12, "engine": "reference"}
SMALL_LINE = "simulate --markets 3 --agents 10 --levels 16 --steps 12 --engine reference"

# option -> (what is written, the argument of bookwarp.simulate)
GIVEN = {
    "markets": ("4", 4),
    "agents": ("11", 11),
    "levels": ("24", 24),
    "steps": ("9", 9),
    "seed": ("1,2,18446744073709551615", [1, 2, 2**64 - 1]),
    "open_price": ("5,6,7", [5, 6, 7]),
    "open_depth": ("3", 3),
    "max_qty": ("1,2,9", [1, 2, 9]),
    "noise_spread": ("1,2,3", [1, 2, 3]),
    "market_order_prob": ("0,.5,1", [0, 0.5, 1]),
    "maker_half_spread": ("1,2,3", [1, 2, 3]),
    "clearing_interval": ("1,4,5", [1, 4, 5]),
    "parent_qty": ("9,0,2", [9, 0, 2]),
    "parent_side": ("1,-1,1", [1, -1, 1]),
    "parent_start": ("0,3,2", [0, 3, 2]),
    "parent_horizon": ("5", 5),
    "schedule": ("twap,share,share", ["twap", "share", "share"]),
    "volume_share": ("0,.5,1", [0, 0.5, 1]),
    "volume_profile": ("1,0,3", [1, 0, 3]),
    "market_ids": ("7,3,0", [7, 3, 0]),
    "mix": ("noise=rest,maker=.1,.2,.3", Mix(noise="rest", momentum=0, maker=[0.1, 0.2, 0.3])),
    "agent_types": ("drawn", draw_agent_types(3, 10)),
    "stream": ("paper", "paper"),
    "window": ("following", "following"),
    "record": ("mid2,book", ("mid2", "book")),
    "record_every": ("5", 5),
    "depth_ticks": ("1", 1),
    "book_markets": ("0,2", [0, 2]),
    "tape_markets": ("1:3", [1, 2]),
    "tape_steps": ("0,4:6", [0, 4, 5]),
    "engine": ("cpu", "cpu"),
    "threads": ("1", 1),
    "memory_limit": ("1GB", 10**9),
}
# Some options only have a sense beside others.
PARENT = {"parent_qty": 20, "parent_horizon": 10}
BESIDE = {
    **dict.fromkeys(
        ("parent_side", "parent_start", "parent_horizon", "schedule"),
        (PARENT, "--parent-qty 20 --parent-horizon 10"),
    ),
    "volume_share": (
        PARENT | {"schedule": "share"},
        "--parent-qty 20 --parent-horizon 10 --schedule share",
    ),
    "volume_profile": (
        PARENT | {"schedule": "profile"},
        "--parent-qty 20 --parent-horizon 10 --schedule profile",
    ),
    "record": ({"book_markets": [0]}, "--book-markets 0"),
    "depth_ticks": ({"record": ("bid_depth",)}, "--record bid_depth"),
    "book_markets": ({"record": ("book",)}, "--record book"),
    "tape_markets": ({"record": ("tape",), "tape_steps": [3]}, "--record tape --tape-steps 3"),
    "tape_steps": ({"record": ("tape",), "tape_markets": [1]}, "--record tape --tape-markets 1"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(line):
    """Run a command line that must succeed, and return what it prints on stdout."""
    result = CliRunner().invoke(app, line)
    assert result.exit_code == 0, result.stderr
    assert "error:" not in result.stderr
    return result.stdout


def test_every_option_of_a_run_is_tried_here():
    assert set(GIVEN) - {"devices"} == set(RUN_OPTIONS) - {"devices"}


@pytest.mark.parametrize("name", GIVEN)
def test_option_is_the_argument_of_the_api(name):
    text, value = GIVEN[name]
    others, words = BESIDE.get(name, ({}, ""))
    run(f"{SMALL_LINE} {words} {RUN_OPTIONS[name].flag} {text} --out run.nc --quiet")
    saved, wanted = load("run.nc"), simulate(**(SMALL | others | {name: value}))
    assert saved.digest() == wanted.digest()
    for same in ("engine", "steps", "stream", "window"):
        assert getattr(saved, same) == getattr(wanted, same)
    assert saved.history.keys() == wanted.history.keys()
    for series, rows in wanted.history.items():
        np.testing.assert_array_equal(saved.history[series], rows)
    if wanted.tape is not None:
        np.testing.assert_array_equal(saved.tape, wanted.tape)


def test_options_change_the_run():
    digests = {}
    for name, (text, _) in GIVEN.items():
        # The price does not go far enough in so few steps to move a window.
        if RUN_OPTIONS[name].panel == "Model" and name != "window":
            words = BESIDE.get(name, ({}, ""))[1]
            line = f"{SMALL_LINE} {words} {RUN_OPTIONS[name].flag} {text} --json"
            digests[name] = json.loads(run(line))["digest"]
    digests[""] = json.loads(run(f"{SMALL_LINE} --json"))["digest"]
    assert len(set(digests.values())) == len(digests)


def test_json_is_one_object_that_equals_the_api(engine):
    line = SMALL_LINE.replace("reference", engine)
    printed = json.loads(run(f"{line} --seed 9 --stream paper --json"))
    result = simulate(**(SMALL | {"seed": 9, "stream": "paper", "engine": engine}))
    assert list(printed) == [
        *("markets", "agents", "levels", "steps", "seed", "stream", "engine", "agent_events"),
        *("elapsed_s", "agent_events_per_s", "mean_last_price", "std_last_price", "mean_volume"),
        *("mean_trades", "digest"),
    ]
    assert printed["elapsed_s"] > 0
    rate = printed["agent_events"] / printed["elapsed_s"]
    assert printed["agent_events_per_s"] == pytest.approx(rate)
    printed = {
        name: printed[name] for name in printed if "elapsed" not in name and "_per_" not in name
    }
    assert printed == {
        "markets": 3,
        "agents": 10,
        "levels": 16,
        "steps": 12,
        "seed": 9,
        "stream": "paper",
        "engine": engine,
        "agent_events": 360,
        "digest": result.digest(),
        "mean_last_price": result.last_price.mean(),
        "std_last_price": result.last_price.std(),
        "mean_volume": result.volume.mean(),
        "mean_trades": result.trades.mean(),
    }


def test_json_has_seeds_by_market_as_a_list():
    printed = json.loads(run(f"{SMALL_LINE} --seed 1,2,18446744073709551615 --json"))
    assert printed["seed"] == [1, 2, 2**64 - 1]


def test_run_of_no_steps_is_valid_json():
    printed = json.loads(run("simulate --markets 1 --steps 0 --json"))
    assert printed["agent_events"] == 0
    assert not printed["agent_events_per_s"]


def test_published_means_are_printed_to_every_digit():
    line = "simulate --markets 64 --stream paper --agent-types drawn --json"
    printed = json.loads(run(line))
    assert printed["mean_last_price"] == 63.75
    assert printed["mean_volume"] == 96937.75


def test_without_options_a_thousand_markets_run_and_the_next_steps_are_shown():
    printed = run("simulate")
    lines = dict(re.split("  +", line, maxsplit=1) for line in printed.splitlines() if line)
    assert lines["markets"] == "1,024 of 256 agents, 128 levels"
    assert lines["steps"] == "500"
    assert re.fullmatch(r"131,072,000 in [\d.]+ s: [\d.,]+ M a second", lines["agent events"])
    assert lines["digest"] == simulate(1024).digest()
    assert lines["keep it"] == "bookwarp simulate --out run.zarr --plot run.png"
    assert lines["options"] == "bookwarp simulate --help"


def test_lines_are_neither_broken_nor_padded():
    printed = run(f"{SMALL_LINE} --out {'long' * 40}.nc")
    assert f"saved      {'long' * 40}.nc\n" in printed
    assert not re.search(r"[ \t]$", printed, re.MULTILINE)


def test_quiet_prints_nothing(folder):
    assert run(f"{SMALL_LINE} --quiet --out run.zarr --plot run.png") == ""
    assert (folder / "run.png").read_bytes().startswith(b"\x89PNG")
    assert load("run.zarr").digest() == simulate(**SMALL).digest()


@pytest.mark.parametrize("suffix, start", [(".svg", b"<svg"), (".png", b"PNG"), (".pdf", b"%PDF")])
def test_plot_is_drawn_in_the_format_of_its_suffix(folder, suffix, start):
    run(f"{SMALL_LINE} --plot run{suffix}")
    assert start in (folder / f"run{suffix}").read_bytes()[:1000]


def test_parquet_holds_the_table_of_steps():
    run(f"{SMALL_LINE} --out run.parquet")
    assert pq.read_table("run.parquet").num_rows == 3 * 12


def test_overwrite_replaces_a_run_and_a_plot(folder):
    run(f"{SMALL_LINE} --out run.zarr --plot run.png")
    before = (folder / "run.png").read_bytes()
    run(f"{SMALL_LINE} --seed 5 --out run.zarr --plot run.png --overwrite")
    assert load("run.zarr").seed == 5
    assert (folder / "run.png").read_bytes() != before


def test_config_is_read_and_options_win(folder):
    text = "markets = 3\nagents = 10\nlevels = 16\nsteps = 99\nengine = 'reference'\nseed = 4\n"
    (folder / "run.toml").write_text(f"{text}[mix]\nnoise = 1.0\n")
    printed = json.loads(run("simulate --config run.toml --steps 12 --json"))
    wanted = simulate(**SMALL, seed=4, mix={"noise": 1.0})
    assert printed["digest"] == wanted.digest()


def test_agent_types_are_read_from_a_file():
    types = draw_agent_types(3, 10, seed=8)
    np.save("types.npy", types)
    printed = json.loads(run(f"{SMALL_LINE} --agent-types types.npy --json"))
    assert printed["digest"] == simulate(**SMALL, agent_types=types).digest()


def test_show_prints_what_simulate_printed():
    table = run(f"{SMALL_LINE} --out run.zarr").split("\n\n")[0]
    assert run("show run.zarr").strip() == table
    printed = json.loads(run("show run.zarr --json"))
    assert printed == load("run.zarr").summary()


def test_show_draws(folder):
    run(f"{SMALL_LINE} --out run.nc")
    run("show run.nc --plot run.svg")
    assert (folder / "run.svg").exists()


def test_rerun_agrees_on_every_engine(engine):
    run(
        f"{SMALL_LINE} --out run.nc --window following "
        "--record tape --tape-markets 0 --tape-steps 1"
    )
    assert "the digests agree" in run(f"rerun run.nc --engine {engine}")
    printed = json.loads(run(f"rerun run.nc --engine {engine} --threads 1 --json"))
    assert printed["agrees"] is True
    assert printed["again"] == printed["saved"] == load("run.nc").digest()
    assert printed["engine"] == engine


def test_rerun_that_differs_exits_with_1(monkeypatch):
    run(f"{SMALL_LINE} --out run.nc")
    other = simulate(**SMALL, seed=1)
    monkeypatch.setattr("bookwarp.results.run.Run.rerun", lambda self, **options: other)
    result = CliRunner().invoke(app, "rerun run.nc")
    assert result.exit_code == 1
    assert "THE DIGESTS DIFFER" in result.stdout


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_bar_is_drawn_on_a_terminal_once_a_run_lasts(monkeypatch):
    monkeypatch.setattr("bookwarp.cli.progress._PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with show_progress(quiet=False, before=100) as report:
        report(1, 10)
        time.sleep(0.3)
        report(2, 10)
        time.sleep(0.3)
    assert "102/110" in sys.stderr.getvalue()


@pytest.mark.parametrize(
    "terminal, quiet, seconds", [(False, False, 0.2), (True, True, 0.2), (True, False, 0)]
)
def test_no_bar_is_drawn_into_a_pipe_or_if_quiet_or_on_a_short_run(
    monkeypatch, terminal, quiet, seconds
):
    monkeypatch.setattr("bookwarp.cli.progress._PATIENCE_SECONDS", 0.05 if seconds else 60)
    monkeypatch.setattr(sys, "stderr", Terminal() if terminal else io.StringIO())
    with show_progress(quiet) as report:
        if report is not None:
            report(1, 10)
        time.sleep(seconds)
    assert "1/10" not in sys.stderr.getvalue()


def test_resumed_run_counts_the_steps_before(monkeypatch):
    Simulation(**SMALL).step(5).save("run.nc.ckpt")
    told = []

    def tell(quiet, before):
        told.append(before)
        return show_progress(True)

    monkeypatch.setattr("bookwarp.cli.execute.show_progress", tell)
    run("simulate --resume run.nc --quiet")
    assert told == [5]
