"""The program around the runs: help, version, info, reproductions, what it loads."""

import json
import os
import subprocess
import sys
from importlib.metadata import version

import pytest
from typer.testing import CliRunner

from bookwarp.cli.app import app
from bookwarp.cli.options import RUN_OPTIONS
from bookwarp.engines.registry import ENGINES, available_threads, engine_status
from bookwarp.reproduce import figure7, table2
from bookwarp.spec.parameters import PARAMETERS

COMMANDS = ("simulate", "sweep", "match", "show", "rerun", "reproduce", "tune", "info")
SLOW_TO_LOAD = ("numba", "xarray", "zarr", "pandas", "matplotlib", "pyarrow", "h5netcdf", "psutil")


def run(line, **environment):
    result = CliRunner().invoke(app, line, env=environment)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def python(*words):
    """Run Python in a process of its own."""
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=True)


@pytest.mark.parametrize("line", ["", "--help"])
def test_help_names_every_command(line):
    printed = run(line)
    assert all(f" {command} " in printed for command in COMMANDS)


@pytest.mark.parametrize("width", [80, 120])
def test_help_of_simulate_has_every_option_with_its_domain_and_default(width):
    printed = " ".join(run("simulate --help", COLUMNS=str(width)).replace("│", " ").split())
    for name, option in RUN_OPTIONS.items():
        assert f"{option.flag} {option.metavar} " in printed
        assert f"({option.default})" in printed
        if name in PARAMETERS:
            assert PARAMETERS[name].meaning in printed
    assert "8 .. 65536 (128)" in printed
    assert "0 .. 2^64-1 (0)" in printed
    assert "-(2^63-1) .. 2^63-1 (levels // 2)" in printed


def test_every_parameter_of_the_model_is_an_option():
    assert set(PARAMETERS) <= set(RUN_OPTIONS)


@pytest.mark.parametrize(
    "command", ["match", "show", "rerun", "reproduce figure7", "reproduce table2", "tune", "info"]
)
def test_every_command_has_help_that_fits_the_terminal(command):
    printed = run(f"{command} --help", COLUMNS="80")
    assert max(map(len, printed.splitlines())) <= 80


def test_version_is_that_of_the_package():
    assert run("--version") == f"bookwarp {version('bookwarp')}\n"
    assert python("-m", "bookwarp", "--version").stdout == f"bookwarp {version('bookwarp')}\n"


def test_help_loads_no_heavy_package():
    code = (
        "import atexit, sys\n"
        f"heavy = {SLOW_TO_LOAD}\n"
        "atexit.register(lambda: print([name for name in heavy if name in sys.modules]))\n"
        "from bookwarp.cli.app import app\n"
        "app(['simulate', '--help'])\n"
    )
    assert python("-c", code).stdout.splitlines()[-1] == "[]"


def test_info_says_what_is_here():
    facts = json.loads(run("info --json"))
    assert facts["bookwarp"] == version("bookwarp")
    assert facts["numpy"] == version("numpy")
    assert facts["usable_cores"] == available_threads() <= facts["cores"] == os.cpu_count()
    assert 0 < facts["free_memory_bytes"] <= facts["memory_bytes"]
    assert {n: each["reason"] for n, each in facts["engines"].items()} == engine_status()
    assert facts["engines"][facts["engine_auto"]]["available"]
    assert os.path.isabs(facts["compiled_code"])  # noqa: PTH117
    printed = run("info")
    assert all(f"engine {name}" in printed for name in ENGINES)
    assert "available, chosen by auto" in printed


def test_info_says_why_an_engine_does_not_work(monkeypatch):
    status = {"cpu": "the package numba is not installed", "reference": None}
    monkeypatch.setattr("bookwarp.engines.registry.engine_status", lambda: status)
    monkeypatch.setattr("bookwarp.engines.registry.choose_engine", lambda name: "reference")
    printed = run("info")
    assert "engine cpu        the package numba is not installed\n" in printed
    assert "engine reference  available, chosen by auto\n" in printed
    assert "compiled code     none\n" in printed


def test_table2_is_that_of_the_api(tmp_path):
    options = "--markets 3 --steps 20 --engine reference"
    printed = json.loads(run(f"reproduce table2 {options} --json"))
    wanted = table2.reproduce(markets=3, steps=20, engine="reference").to_dict()
    for name in ("elapsed_s", "provenance"):
        del printed[name], wanted[name]
    assert printed == wanted
    table = run(f"reproduce table2 {options} --out {tmp_path}/found")
    assert "Table II" in table
    assert f"wrote {tmp_path}/found/table2.json" in table
    assert json.loads((tmp_path / "found/table2.json").read_text())["digest"] == wanted["digest"]


def test_figure7_is_that_of_the_api(tmp_path):
    folder = tmp_path / "found"
    options = "--markets 2 --steps 25 --stream default"
    assert run(f"reproduce figure7 {options} --quiet --out {folder}") == ""
    assert sorted(path.name for path in folder.iterdir()) == sorted(figure7.FILES)
    wanted = figure7.reproduce(markets=2, steps=25, stream="default")
    assert json.loads((folder / "figure7.json").read_text())["digests"] == wanted.digests
    result = CliRunner().invoke(app, f"reproduce figure7 {options} --out {folder}")
    assert result.exit_code == 2
    assert "figure7.png exists" in result.stderr


def test_reproduction_that_differs_exits_with_1(monkeypatch):
    monkeypatch.setattr(table2.Table2, "agrees", False)
    result = CliRunner().invoke(app, "reproduce table2 --markets 2 --steps 3 --quiet")
    assert result.exit_code == 1
