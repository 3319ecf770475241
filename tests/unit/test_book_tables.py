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


def rung(name, over, expected, rate, **more):
    row = {"kind": "book rung", "rung": name, "idea": f"idea of {name}", "over": over}
    return row | {"expected": expected, "messages_per_s": rate} | more


def spread(median):
    return {"median": median, "min": 0.9 * median, "max": 1.1 * median}


def many_books(books, engine, rate, **more):
    row = {"kind": "books", "books": books, "messages": 8 * books, "engine": engine}
    row |= {"threads": None if engine == "cuda" else 16, "call_messages_per_s": spread(rate)}
    return row | {"fills_per_order": 0.3264, "events": 10 * books} | more


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
        rung("slots", None, None, 0.5e6, kept=True),
        rung("hash", "slots", 20, 30e6, kept=True),
        rung("other", "hash", 0.5, {"median": 12e6}, kept=False),
        rung("slots", None, None, 7e6, kind="ladder of books"),
    ]
    assert cells(book_tables.ladder(rows)) == [
        ["**slots**", "idea of slots", "", "", "", "0.5"],
        ["**hash**", "idea of hash", "slots", "20.00x", "60.00x", "30"],
        ["other", "idea of other", "hash", "0.50x", "0.40x", "12"],
    ]
    assert cells(book_tables.gpu_ladder(rows)) == [["slots", "idea of slots", "", "", "", "7"]]


def test_many_books_show_both_engines_and_where_the_time_goes():
    on_gpu = {"gpu": "GPU 9", "match_kernels_messages_per_s": spread(2e9)}
    seconds = ("call", "send", "send_and_group", "match_kernels", "gather_and_fetch_events")
    on_gpu |= {f"{name}_s": spread(k * 1e-3) for k, name in enumerate((*seconds, "keep_books"), 1)}
    rows = [
        many_books(500, "cuda", 200e6, **on_gpu),
        many_books(500, "cpu", 20e6),
        many_books(20, "cpu", 1e6),
    ]
    assert cells(book_tables.rates(rows)) == [
        ["20", "8", "`cpu`", "16 threads", "1", "0.9 .. 1.1", "", "0.326", "1.25"],
        ["500", "8", "`cpu`", "16 threads", "20", "18 .. 22", "", "0.326", "1.25"],
        ["500", "8", "`cuda`", "GPU 9", "200", "180 .. 220", "2000", "0.326", "1.25"],
    ]
    assert cells(book_tables.stages(rows)) == [
        ["500", "4000", "1.0", "2.0", "3.0", "4.0", "5.0", "6.0"],
    ]


def test_checked_streams_show_on_how_many_books_they_were_matched():
    row = {"kind": "flow hash", "case": "normal", "engine": "cuda", "cpu": "CPU", "gpu": "GPU 9"}
    row |= {"sha256": "0123456789abcdef", "messages_per_s": 321e6, "messages": 2000, "books": 1000}
    rows = [row, {**row, "engine": "cpu", "gpu": None, "books": 1}, {"kind": "stream"}]
    assert cells(book_tables.hashes(rows)) == [
        ["normal", "1000", "`cuda`", "GPU 9", "2000", "321", "`0123456789ab...`"],
        ["normal", "1", "`cpu`", "CPU", "2000", "321", "`0123456789ab...`"],
    ]


def test_memory_of_a_file_is_shown_by_message():
    row = {"kind": "match memory", "messages": 10**6, "books": 7, "engine": "cpu"}
    row |= {"file_bytes": 73e5, "peak_bytes": 352e6}
    assert cells(book_tables.memory([row, {"kind": "books"}])) == [
        ["1000000", "7", "`cpu`", "7", "352", "352"]
    ]
