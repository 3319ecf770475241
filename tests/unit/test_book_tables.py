"""The tables of continuous books: which row is shown, and what of it."""

import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
# The benchmarks are programs and no part of the package: they import each other as such.
sys.path.insert(0, str(REPOSITORY / "benchmarks"))

import book_tables  # noqa: E402


def cells(table):
    """Return the body of a table, row by row."""
    lines = table.splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def rung(name, over, expected, rate, kept=True):
    row = {"kind": "book rung", "rung": name, "idea": f"idea of {name}", "over": over}
    return row | {"expected": expected, "messages_per_s": rate, "kept": kept}


def test_streams_show_their_fills_and_what_was_compared():
    rate = {"median": 28.22e6, "min": 27.3e6, "max": 29.6e6}
    row = {"kind": "stream", "case": "normal", "engine": "cpu", "threads": 1}
    row |= {"messages_per_s": rate, "fills_per_order": 0.0625}
    rows = [
        row | {"check": "report: 0123456789abcdef"},
        row | {"case": "many", "check": "all events are the reference's"},
        {"kind": "time"},
    ]
    assert cells(book_tables.streams(rows)) == [
        [
            "normal",
            "`cpu`",
            "1",
            "28.2",
            "27.3 .. 29.6",
            "0.062",
            "hash of the report, `0123456789ab...`",
        ],
        ["many", "`cpu`", "1", "28.2", "27.3 .. 29.6", "0.062", "all events are the reference's"],
    ]


def test_a_rung_is_shown_beside_what_it_was_expected_to_bring():
    rows = [
        rung("slots", None, None, 0.5e6),
        rung("hash", "slots", 20, 30e6),
        rung("other", "hash", 0.5, {"median": 12e6}, kept=False),
    ]
    assert cells(book_tables.ladder(rows)) == [
        ["**slots**", "idea of slots", "", "", "", "0.5"],
        ["**hash**", "idea of hash", "slots", "20.00x", "60.00x", "30"],
        ["other", "idea of other", "hash", "0.50x", "0.40x", "12"],
    ]
