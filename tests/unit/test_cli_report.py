"""bookwarp report: the command writes what `bookwarp.report` makes, and says what it did."""

import json

import pytest
from report_sweeps import one_axis, two_axes
from typer.testing import CliRunner

import bookwarp as bw
from bookwarp.cli.app import app


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("sweep") / "two.zarr"
    two_axes(path)
    return path


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*words, code=0):
    result = CliRunner().invoke(app, ["report", *map(str, words)])
    assert result.exit_code == code, result.output
    return result.output


def test_command_writes_the_page_and_pictures_and_says_so(store, tmp_path):
    options = ["--measure", "acf_returns:5", "--axis", "maker", "--at", "momentum=0.2"]
    facts = json.loads(run(store, *options, "--png", "figures", "--json"))
    wanted = bw.report(store, measures="acf_returns:5", axes="maker", at={"momentum": 0.2})
    assert facts["page"] == "two.html"
    assert (tmp_path / "two.html").read_text(encoding="utf-8") == wanted.html
    assert facts["pictures"] == [f"figures/{each.name}.png" for each in wanted.figures]
    assert all((tmp_path / name).is_file() for name in facts["pictures"])
    assert {name: facts[name] for name in wanted.facts} == wanted.facts


def test_command_tells_what_it_drew_or_is_quiet(store):
    told = run(store, "--out", "a.html", "--measure", "mean_spread")
    assert "a.html" in told
    assert "12, 1 of which cannot run" in told
    assert "missing" not in told
    assert run(store, "--out", "b.html", "--measure", "mean_spread", "--quiet") == ""


@pytest.mark.parametrize(
    "words, said",
    [
        (["none.zarr"], "there is no sweep none.zarr"),
        (
            ["text.txt", "--out", "new.html"],
            "a report is of the store of a sweep, *.zarr, not of text.txt",
        ),
        (["STORE", "--out", "page.pdf"], "a report is written as *.html, not as 'page.pdf'"),
        (
            ["STORE", "--out", "text.html"],
            "text.html exists: choose another path, remove it, or give --overwrite",
        ),
        (["STORE", "--out", "text.html", "--measure", "price_st"], "unknown measure 'price_st'"),
        (["STORE", "--out", "text.html", "--axis", "make"], "unknown swept parameter 'make'"),
        (["STORE", "--out", "text.html", "--at", "maker=much"], "maker = much was not swept"),
        (["STORE", "--out", "text.html", "--at", "maker"], "at must be NAME=VALUE"),
        (["STORE", "--out", "no/where.html"], "no/where.html cannot be written: there is no"),
        (["STORE", "--png", "text.txt"], "text.txt is not a folder"),
        (["STORE", "--measure", "price_st"], "unknown measure 'price_st': did you mean"),
        (["STORE", "--axis", "make"], "unknown swept parameter 'make': did you mean 'maker'?"),
        (["STORE", "--at", "maker"], "at must be NAME=VALUE, not 'maker'"),
        (["STORE", "--at", "maker=much"], "maker = much was not swept: 0.1, 0.2, 0.4"),
    ],
)
def test_wrong_use_is_said_before_anything_is_written(store, tmp_path, words, said):
    (tmp_path / "text.txt").write_text("here")
    (tmp_path / "text.html").write_text("here")
    told = run(*(store if word == "STORE" else word for word in words), code=2)
    assert said in " ".join(told.split())
    assert sorted(each.name for each in tmp_path.iterdir()) == ["text.html", "text.txt"]


def test_store_of_something_else_is_said():
    bw.simulate(2, 4, steps=3, engine="reference").save("run.zarr")
    assert "run.zarr is damaged, or not the store of a sweep" in run("run.zarr", code=1)


def test_missing_markets_are_said(tmp_path):
    path = tmp_path / "part.zarr"
    one_axis(out=path, block_markets=3)
    (path / "last_price" / "c.4.0").unlink()
    assert "3 of 15 markets" in run(path, "--measure", "mean_spread")
