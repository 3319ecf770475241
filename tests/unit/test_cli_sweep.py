"""bookwarp sweep: the file that describes a study, and the command that runs it."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import xarray as xr
from typer.testing import CliRunner

import bookwarp as bw
from bookwarp.cli.app import app
from bookwarp.cli.study import read_study
from bookwarp.measures.named import named
from bookwarp.spec.errors import ParameterError

WHOLE = """
infeasible = "nan"
block_markets = 20

[design]
kind = "grid"
replicas = 2

[vary]
momentum = { from = 0.1, to = 0.8, step = 0.1 }
max_qty = { from = 2, to = 7, step = 2 }
window = ["fixed", "following"]

[parameters]
noise = "rest"
maker = 0.25
agents = 8
levels = 16
steps = 60

[measure]
names = ["volume", "spread"]
every = 2

[paths]
momentum = 0.3
replica = [1]
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text, name="study.toml"):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def test_everything_of_a_sweep_can_stand_in_a_file(write):
    study = read_study(write(WHOLE))
    design = study.design
    momentum = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    assert design.columns["momentum"][1].tolist() == momentum
    assert design.columns["max_qty"][1].tolist() == [2, 4, 6]
    assert design.columns["window"][1].tolist() == ["fixed", "following"]
    assert (design.settings, design.replicas) == (48, 2)
    assert study.measure.describe() == named(["volume", "spread"], 2).describe()
    assert study.arguments == {
        "infeasible": "nan",
        "block_markets": 20,
        "noise": "rest",
        "maker": 0.25,
        "agents": 8,
        "levels": 16,
        "steps": 60,
        "paths": {"momentum": 0.3, "replica": [1]},
    }


def test_a_file_may_say_next_to_nothing(write):
    study = read_study(write("[vary]\nmomentum = [0.1, 0.2]\n"))
    assert (study.design.settings, study.design.replicas) == (2, 1)
    assert study.measure.describe() == bw.measures.stylised_facts.describe()
    assert study.arguments == {}


@pytest.mark.parametrize("kind", ["random", "latin_hypercube"])
def test_drawn_designs_have_ranges_and_sets(write, kind):
    text = f"""
        [design]
        kind = "{kind}"
        settings = 50
        draw_seed = 3
        replicas = 2
        [vary]
        momentum = {{ from = 0.1, to = 0.3 }}
        max_qty = [1, 9]
    """
    design = read_study(write(text)).design
    assert design.dims == {"setting": 50}
    momentum, max_qty = design.values("momentum"), design.values("max_qty")
    assert 0.1 <= momentum.min() < momentum.max() <= 0.3
    assert set(max_qty.tolist()) == {1, 9}


@pytest.mark.parametrize(
    "text, said",
    [
        ("vary = ", "is not TOML"),
        (b"\xff", "is not TOML"),
        ("[varry]\nmomentum = [1]", r"unknown table '\[varry\]': did you mean '\[vary\]'"),
        ("infeasable = 1", "unknown key 'infeasable': did you mean 'infeasible'"),
        ("vary = 3", r"vary must be a table, \[vary\], not 3"),
        ("[design]\nkind = 'gird'", r"\[design\] unknown kind 'gird': did you mean 'grid'"),
        ("[design]\nkind = 3", r"\[design\] unknown kind '3': it is one of grid, zipped"),
        ("[design]\nreplica = 3", r"\[design\] unknown key 'replica': did you mean 'replicas'"),
        ("[design]\nsettings = 3", r"\[design\] settings is for random and latin_hypercube"),
        ("[design]\nkind='random'", r"\[design\] settings is missing: how many does random draw"),
        ("[design]\nreplicas = 0", r"\[design\] or \[vary\]: replicas = 0 is outside 1"),
        ("[vary]\nmomentun = [0.1]", r"\[vary\] unknown key 'momentun': did you mean 'momentum'"),
        ("[vary]\nmomentum = 0.1", r"\[vary\] momentum must be a list .* stands in \[parameters\]"),
        ("[vary]\nmomentum = [1.5]", r"momentum = 1\.5 is outside 0 \.\. 1"),
        ("[vary]\nmomentum = []", "momentum must be a list with at least one value"),
        ("[vary]\nmax_qty = {from=1, too=2}", r"\[vary\] max_qty unknown key 'too': .* 'to'"),
        ("[vary]\nmax_qty = {from=1, to=2}", r"\[vary\] max_qty: step is missing"),
        (
            "[vary]\nmax_qty = {from=1, to='9', step=1}",
            r"max_qty: to must be a finite number, not '9'",
        ),
        (
            "[vary]\nmax_qty = {from=1, to=inf, step=1}",
            "max_qty: to must be a finite number, not inf",
        ),
        ("[vary]\nmax_qty = {from=nan, to=9, step=1}", "max_qty: from must be a finite number"),
        ("[vary]\nmax_qty = {from=true, to=9, step=1}", "from must be a finite number, not True"),
        (
            f"[vary]\nmax_qty = {{from=1, to=1{'0' * 400}, step=1}}",
            r"max_qty: to must be a finite number, not 10{96}\.\.\.$",
        ),
        (
            "[vary]\nmax_qty = {from=3, to=2, step=1}",
            r"to must not be below from, .*, not from = 3, to = 2",
        ),
        ("[vary]\nmax_qty = {from=1, to=2, step=0}", "step must be above 0, not .*, step = 0"),
        ("[vary]\nmax_qty = {from=1, to=2, step=-1}", "step must be above 0, not .*, step = -1"),
        ("[vary]\nmaker = {from=0, to=1, step=5e-324}", "too many values; at most 1000000"),
        ("[vary]\nmaker = {from=-1e308, to=1e308, step=1e-9}", "maker: .* has too many values"),
        ("[vary]\nmaker = {from=0, to=1, step=1e-9}", "step = 1e-09 has too many values; at most"),
        ("[vary]\nmaker = ['0.1']", r"maker must be a number, not '0\.1'"),
        ("[vary]\nmaker = [0.1, true]", "maker must be a number, not True"),
        ("[vary]\nmaker = [0.1, [0.2]]", r"maker must be a list of numbers, not of \[0\.2\]"),
        ("[vary]\nmaker = [nan, 0.1]", r"maker = nan is outside 0 \.\. 1"),
        ("[vary]\nmaker = [0.1, -inf]", r"maker = -inf is outside 0 \.\. 1"),
        ("[vary]\nmaker = [2020-01-01]", "maker must be a number, not datetime"),
        ("[vary]\nmaker = {}", r"\[vary\] maker: from is missing"),
        (f"[vary]\nmaker = [1{'0' * 400}]", r"maker = 10{96}\.\.\. is outside 0 \.\. 1$"),
        (f"[vary]\nmaker = [1{'0' * 5000}]", "cannot be read: it has an integer of thousands of"),
        (f"[vary]\nmaker = {'[' * 5000}{']' * 5000}", "cannot be read: .* lists in lists"),
        (f"[vary]\nmaker = '{'x' * 500}'", r"maker must be .* not 'x{96}\.\.\.; what does not"),
        ("[design]\nkind='random'\nsettings=[3]", "settings must be one integer, not "),
        ("[design]\nkind='random'\nsettings=3\ndraw_seed=true", "draw_seed must be an integer"),
        ("[design]\nreplicas = [2]", r"replicas must be one integer, not \[2\]"),
        ("[parameters]\nstep = 3", r"\[parameters\] unknown key 'step': did you mean 'steps'"),
        ("[measure]\nname = 'x'", r"\[measure\] unknown key 'name': did you mean 'names'"),
        ("[measure]\nnames = 3", r"\[measure\] names must be a name or a list of names, not 3"),
        ("[measure]\nnames = 'volum'", r"\[measure\]: unknown measure 'volum': .* 'volume'"),
        ("[measure]\nnames = ['volume', 'volume']", r"\[measure\] names: one of .* is there twice"),
        ("[measure]\nevery = 0", r"\[measure\]: .*every"),
        ("[paths]", r"\[paths\] is empty: name values of parameters, or of replica"),
        ("[paths]\nreplicas = [0]", r"\[paths\] unknown key 'replicas': did you mean 'replica'"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_table_and_key(write, text, said):
    with pytest.raises(ParameterError, match=rf"study .*study\.toml:? .*{said}"):
        read_study(write(text))


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(ParameterError, match=r"none\.toml cannot be read: No such file"):
        read_study(tmp_path / "none.toml")


def run(words, code=0):
    result = CliRunner().invoke(app, words)
    assert result.exit_code == code, result.output
    return result.output


def test_command_does_what_sweep_does(write):
    write(WHOLE)
    facts = json.loads(run("sweep study.toml --engine reference --json"))
    study = read_study(write(WHOLE))
    expected = bw.sweep(study.design, measure=study.measure, engine="reference", **study.arguments)
    found = bw.open_sweep("study.zarr")
    xr.testing.assert_identical(found.load(), expected)
    assert facts["digest"] == expected.digest
    assert facts["infeasible"] == len(expected.infeasible) == 6
    assert (facts["settings"], facts["replicas"]) == (48, 2)
    assert "traded_share" in facts["measured"]


def test_command_tells_what_it_did_or_is_quiet(write):
    write(WHOLE)
    told = run("sweep study.toml --engine reference --out other.zarr")
    assert "other.zarr" in told
    assert "48" in told
    assert run("sweep study.toml --out other.zarr --quiet") == ""


def test_values_that_only_the_sweep_can_check_are_wrong_use(write):
    write("[vary]\nmomentum = [0.1]\n[parameters]\nagents = 0\n")
    assert "agents = 0 is outside 1" in run("sweep study.toml --quiet", code=2)


def test_a_store_that_cannot_be_the_one_of_the_study_is_wrong_use(write, tmp_path):
    write("[vary]\nmax_qty = [1]\n[parameters]\nagents = 4\nsteps = 30\n")
    (tmp_path / "folder.zarr").mkdir()
    (tmp_path / "file.zarr").write_text("here")
    bw.simulate(2, 4, steps=3, engine="reference").save("run.zarr")
    bw.sweep(bw.grid(max_qty=[2]), agents=4, steps=30, engine="reference", out="other.zarr")
    before = sorted(tmp_path.rglob("*"))
    for out, said in (
        ("folder", "out must be a Zarr store, *.zarr, not 'folder'"),
        ("folder.zarr", "there is no sweep in folder.zarr"),
        ("file.zarr", "file.zarr is damaged, or not the store of a sweep"),
        ("run.zarr", "run.zarr is damaged, or not the store of a sweep"),
        ("other.zarr", "other.zarr holds another sweep: design.columns.max_qty.values is [2]"),
        ("no/where.zarr", "no/where.zarr cannot be written: there is no folder"),
    ):
        assert said in " ".join(run(f"sweep study.toml --quiet --out {out}", code=2).split())
    assert sorted(tmp_path.rglob("*")) == before


SLOW = """
block_markets = 4
[design]
replicas = 4
[vary]
momentum = { from = 0.0, to = 0.8, step = 0.01 }
[parameters]
noise = "rest"
steps = 400
[measure]
names = "prices"
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_keeps_what_is_done_and_says_how_to_go_on(write, number):
    write(SLOW)
    words = ["sweep", "study.toml", "--engine", "reference", "--threads", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "bookwarp", *words], stderr=subprocess.PIPE, text=True
    )

    def count_markers():
        return len(list(Path("study.zarr/block_sha256").glob("c.*")))

    while count_markers() < 2:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    _, said = process.communicate()
    assert process.returncode == 1
    assert "error: interrupted: " in said
    assert "of 81 blocks are in study.zarr, and the same sweep goes on there." in said
    command = "bookwarp sweep study.toml --out study.zarr --engine reference --threads 1"
    assert f"`{command}` does so." in said
    assert f"interrupted: {count_markers()} of 81" in said
