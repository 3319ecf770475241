"""`bookwarp replay`: what it prints and writes, and how it fails."""

import json

import pytest
from lobster_text import write_day
from typer.testing import CliRunner

from bookwarp.cli.app import app
from bookwarp.spec.market_data import Oddity


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_day(tmp_path / "ABC_message.csv", 300)
    (tmp_path / "log.csv").write_text(
        "when,type,id,side,price,vol\n1,RCV,1,bid,1.5,2\n2,rests,1,bid,1.5,2\n3,fill,1,ask,1.5,1\n"
    )
    return tmp_path


def run(line, code=0):
    result = CliRunner().invoke(app, f"replay {line}")
    assert result.exit_code == code, result.stderr
    return result


def test_json_is_one_object_with_all_counts(folder):
    found = json.loads(run("ABC_message.csv --json").stdout)
    assert found["rows"] == 300
    assert set(found["oddities"]) == {oddity.name.lower() for oddity in Oddity}
    assert sum(found["messages"].values()) == 300
    assert found["trades"] == found["messages"]["4"]
    assert "check" not in found


def test_facts_are_printed(folder):
    text = run("ABC_message.csv").stdout
    assert "rows" in text
    assert "300 in " in text
    assert "hidden" in text


def test_everything_is_written_and_checked_in_one_pass(folder):
    run("ABC_message.csv --levels 2 --lobster out")
    line = "ABC_message.csv --check out_orderbook_2.csv --levels 2 --out day.parquet"
    found = json.loads(run(line + " --orders o.parquet --plot day.png --json").stdout)
    assert found["check"]["rows"] == found["check"]["agree"] == 300
    assert found["orders"]["trades"] == found["trades"]
    assert {"day.parquet", "o.parquet", "day.png"} <= {each.name for each in folder.iterdir()}
    matched = CliRunner().invoke(app, "match o.parquet --json")
    assert json.loads(matched.stdout)["trades"] == found["trades"]


def test_tables_of_events_take_their_options(folder):
    line = "log.csv --format events --columns ts=when,qty=vol --types rcv=other,rests=add "
    line += "--price-unit 0.5 --qty-unit 0.1 --time-unit s --trade-side taker --ids-grow --json"
    found = json.loads(run(line).stdout)
    assert found["messages"] == {"other": 1, "add": 1, "execute": 1}
    assert (found["trades"], found["lots"], found["last_ns"]) == (1, 10, 3 * 10**9)
    assert found["oddities"]["wrong_price"] == 0


@pytest.mark.parametrize(
    "line, code, message",
    [
        ("none.csv", 2, "there is no file none.csv"),
        ("ABC_message.csv --format lobstr", 2, "unknown format 'lobstr': did you mean 'lobster'?"),
        ("ABC_message.csv --levels x", 2, "levels must be an integer, not 'x'"),
        ("ABC_message.csv --levels 0", 2, "levels = 0 is outside"),
        ("ABC_message.csv --price-unit 1", 2, "price_unit is for format 'events' only"),
        ("ABC_message.csv --out day.csv", 2, "has the suffix '.csv'"),
        ("ABC_message.csv --out ABC_message.csv", 2, "has the suffix '.csv'"),
        ("ABC_message.csv --plot day.gif", 2, "has the suffix '.gif'"),
        ("ABC_message.csv --check log.csv", 2, "log.csv: 6 columns are no multiple of 4"),
        ("log.csv", 1, "log.csv: row 1 (offset 0) has the time 'when'"),
        ("log.csv --format itch", 1, "log.csv: message 1 (offset 0) has the length"),
        ("log.csv --format events", 1, "row 1 has the type 'rcv', which is not known"),
        ("log.csv --format events --columns qty", 2, "columns must be pairs as in a=b,c=d"),
        ("log.csv --format events --sides b", 2, "is not a pair of words"),
    ],
)
def test_failures_are_one_paragraph(folder, line, code, message):
    result = run(line, code)
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""
