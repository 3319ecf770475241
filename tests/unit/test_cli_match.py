"""`bookwarp match`: a file of orders in, a summary, tables and books out."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import bookwarp as bw
from bookwarp.cli.app import app
from bookwarp.testing.order_streams import random_orders

KEYS = {"messages", "trades", "lots", "rejected_by_reason", "fills_per_order", "messages_per_s"}


def run(*words, code=0):
    result = CliRunner().invoke(app, ["match", *map(str, words)])
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else " ".join(result.stderr.split())


@pytest.fixture
def table():
    made = random_orders(2_000, books=3, seed=5)
    columns = {name: made.orders[name].copy() for name in made.orders.dtype.names}
    return pa.table(columns | {"owner": made.owners})


@pytest.fixture
def file(table, tmp_path):
    pq.write_table(table, tmp_path / "orders.parquet")
    return tmp_path / "orders.parquet"


def test_json_holds_what_python_gives(file, table):
    found = json.loads(run(file, "--json"))
    assert {"digest", "books", "engine", *KEYS} <= set(found)
    done = bw.match(table)
    assert found["digest"] == done.digest()
    timed = {"elapsed_s", "messages_per_s"}
    for name, value in done.summary().items():
        assert name in timed or found[name] == value, name


def test_every_rule_is_handed_on(file, table):
    words = ["--modify", "replace", "--qty", "total", "--stp", "cancel_both", "--books", 4]
    words += ["--capacity", "30,20", "--price-range", "9985,10015", "--engine", "reference"]
    found = json.loads(run(file, *words, "--threads", 1, "--json"))
    rules = {"modify": "replace", "qty": "total", "stp": "cancel_both", "capacity": (30, 20)}
    done = bw.match(table, 4, **rules, price_range=(9985, 10015))
    assert found["digest"] == done.digest()
    assert found["engine"] == "reference"
    assert found["flags"] == done.summary()["flags"]
    assert json.loads(run(file, "--capacity", 30, "--json"))["rejected_by_reason"]["book_full"] > 0


def test_people_are_told_in_words(file):
    printed = run(file, "--capacity", "20")
    for word in ("2,000 for 3 books", "trades", "book_full", "orders_full in 3 books", "digest"):
        assert word in printed


def test_events_and_resting_orders_are_written(file, table, tmp_path):
    events, resting = tmp_path / "events.parquet", tmp_path / "resting.parquet"
    run(file, "--events", events, "--resting", resting)
    done = bw.match(table)
    assert pq.read_table(events)["order_id"].equals(done.events["order_id"])
    assert pq.read_table(events).column_names == done.events.column_names
    assert pq.read_table(resting)["qty"].equals(done.books.level3()["qty"])
    assert "exists" in run(file, "--events", events, code=2)
    run(file, "--events", events, "--overwrite")


def test_books_are_kept_and_gone_on_from(table, tmp_path):
    halves = [tmp_path / name for name in ("one.parquet", "two.parquet")]
    for path, half in zip(halves, (table[:900], table[900:]), strict=True):
        pq.write_table(half, path)
    run(halves[0], "--books", 3, "--modify", "replace", "--save", tmp_path / "here.books")
    found = json.loads(run(halves[1], "--resume", tmp_path / "here.books", "--json"))
    assert found["digest"] == bw.match(table, modify="replace").digest()
    assert found["messages"] == 2_000
    message = run(halves[1], "--resume", tmp_path / "here.books", "--stp", "none", code=2)
    assert "--stp is given, but the books of --resume have theirs" in message


def test_sides_are_what_is_said(tmp_path):
    path = tmp_path / "orders.csv"
    path.write_text("op,order_id,side,price,qty\n0,1,0,5,1\n0,2,1,5,1\n")
    assert json.loads(run(path, "--side-values", "0,1", "--json"))["trades"] == 1
    assert "side_values=(0, 1)" in run(path, code=2)
    path.write_text("op,order_id,side,price,qty\nnew,1,bid,5,1\nnew,2,ask,5,1\n")
    assert json.loads(run(path, "--side-values", "bid,ask", "--json"))["trades"] == 1


@pytest.mark.parametrize(
    "words, message",
    [
        (["--modify", "kep_"], "unknown modify 'kep_': did you mean 'keep'?"),
        (["--capacity", "many"], "capacity must be an integer"),
        (["--capacity", "1,2,3"], "is not a pair of integers"),
        (["--side-values", "0"], "is not a pair (buy, sell)"),
        (["--events", "events.csv"], "does not end in .parquet"),
        (["--events", "missing/events.parquet"], "there is no folder"),
        (["--books", "2"], "there are 2 books, 0 .. 1"),
        (["--engine", "gpu"], "unknown engine 'gpu'"),
        (["--resume", "gone.books"], "there is no file of books gone.books"),
    ],
)
def test_wrong_use_is_told(file, words, message, monkeypatch):
    monkeypatch.chdir(file.parent)
    result = CliRunner().invoke(app, ["match", str(file), *words])
    assert result.exit_code in (1, 2)
    assert message in " ".join(result.stderr.split())


def test_file_that_is_not_there_is_told(tmp_path):
    assert "there is no file" in run(tmp_path / "gone.parquet", code=2)
