"""The report of a stream, by hand and of the hash-checked streams where they are."""

import hashlib
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bookwarp.engines.registry import book_engine_class
from bookwarp.spec.book_rules import BookRules
from bookwarp.testing.order_streams import random_orders

REPOSITORY = Path(__file__).resolve().parents[2]
# The benchmarks are programs and no part of the package: they import each other as such.
sys.path.insert(0, str(REPOSITORY / "benchmarks"))

import flow_hash  # noqa: E402
import same_stream  # noqa: E402

FLOW = REPOSITORY.parent / "shared" / "data" / "flow"
STREAMS = {
    "normal": ("e9b2e3926854410b01a035aeb25dd05f1e597c233be8263de9eb49b6713d367e", 62_474),
    "swing-25": ("61a84be9469661bd039e00dbc9a7c011e70b6ace37aadfe60045ea083b05f4df", 66_908),
}


def run(path, *words):
    command = [sys.executable, REPOSITORY / "benchmarks" / "flow_hash.py", path, *words]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def small(tmp_path):
    rows = [
        # type, side, ioc, qty, seq, order_id, price
        (0, 1, 0, 5, 10, 1, 100),
        (0, 1, 0, 5, 11, 2, 100),
        (2, 1, 0, 3, 12, 1, 100),
        (0, 0, 1, 9, 13, 3, 101),
        (1, 0, 0, 0, 14, 3, 0),
        (2, 0, 0, 4, 15, 9, 50),
        (0, 0, 0, 4, 16, 4, 99),
        (0, 1, 0, 1, 17, 5, 100),
        (2, 0, 0, 2, 18, 4, 100),
        (1, 0, 0, 0, 19, 4, 0),
    ]
    kinds = {"type": "u1", "side": "u1", "ioc": "u1", "qty": "u4", "seq": "u8", "order_id": "u8"}
    kinds["price"] = "i8"
    table = {n: np.array(c, kinds[n]) for n, c in zip(kinds, zip(*rows, strict=True), strict=True)}
    pq.write_table(pa.table(table), tmp_path / "small.parquet")
    return tmp_path / "small.parquet"


SMALL_REPORT = """\
0,10,1,1,100,5
0,11,1,2,100,5
3,12,1,1,100,3
0,13,0,3,101,9
1,13,100,5,2,3
1,13,100,3,1,3
2,13,0,3,101
4,14,3
5,15,9
0,16,0,4,99,4
0,17,1,5,100,1
1,18,100,1,5,4
3,18,0,4,100,2
2,19,0,4,100"""


@pytest.mark.parametrize("books", [1, 3])
def test_report_of_a_small_stream(small, book_engine, books):
    """A replaced order goes to the end even with fewer lots; trades stand before what led to it."""
    found = run(small, "--engine", book_engine, "--books", books)
    assert found["sha256"] == hashlib.sha256(SMALL_REPORT.encode()).hexdigest()
    assert (found["messages"], found["trades"]) == (10 * books, 3 * books)
    assert found["messages_per_s"] > 0


def test_a_row_tells_what_was_measured_and_where(small, tmp_path, book_engine):
    rows = tmp_path / "rows" / "hashes.jsonl"
    words = ("--engine", book_engine, "--books", 2, "--commit", "abc", "--rows", rows)
    found = run(small, *words)
    (row,) = map(json.loads, rows.read_text(encoding="utf-8").splitlines())
    assert row | found == row
    assert (row["kind"], row["case"], row["suite"]) == ("flow hash", "small", "books")
    assert {"cpu", "cores", "commit", "dirty", "numpy"} <= row.keys()


def test_no_row_is_kept_of_another_report_than_was_published():
    found = {"sha256": STREAMS["normal"][0], "engine": "cpu"}
    assert flow_hash.row_of(found, "normal", None)["case"] == "normal"
    with pytest.raises(SystemExit, match="the report of swing-25 has not the published 61a84be94"):
        flow_hash.row_of(found, "swing-25", None)


@pytest.fixture
def threads():
    with ThreadPoolExecutor(3) as pool:
        yield pool


@pytest.fixture
def on_five_books(threads):
    """The engine's answer to one stream on five books."""
    orders = random_orders(400, books=1, seed=3).orders
    flat = same_stream.Spreader(5, 400, threads).spread(orders)
    return book_engine_class("reference")(BookRules(), 5).match(flat, None)


def test_messages_go_to_all_books_in_turn(threads, monkeypatch):
    monkeypatch.setattr(same_stream, "_CACHED_MESSAGES", 40)
    orders = random_orders(30, books=1, seed=1).orders
    spreader = same_stream.Spreader(7, 20, threads)
    for batch in (orders[:20], orders[20:]):
        flat = spreader.spread(batch)
        assert flat["book"].tolist() == [*range(7)] * len(batch)
        flat["book"] = 0
        assert flat.tobytes() == np.repeat(batch, 7).tobytes()


def test_events_of_one_are_those_of_the_stream_alone(threads, on_five_books):
    orders = random_orders(400, books=1, seed=3).orders
    alone = book_engine_class("reference")(BookRules(), 1).match(orders, None).events
    found = same_stream.events_of_one(on_five_books, 5, threads)
    assert found.keys() == set(alone.dtype.names)
    for name, column in found.items():
        np.testing.assert_array_equal(column, alone[name])


@pytest.mark.parametrize("book", [1, 4])
@pytest.mark.parametrize("column", ["order_id", "price", "qty", "message", "type", "side", "op"])
def test_one_other_value_in_one_book_is_found(threads, on_five_books, book, column):
    place = on_five_books.event_offsets[book] + 17
    on_five_books.events[column][place] += 1
    with pytest.raises(ValueError, match=f"book {book} has other events than book 0"):
        same_stream.events_of_one(on_five_books, 5, threads)


def test_one_event_more_is_found(threads, on_five_books):
    on_five_books.event_offsets[3] += 1
    with pytest.raises(ValueError, match=r"book 2 has \d+ events, book 0 \d+"):
        same_stream.events_of_one(on_five_books, 5, threads)


def test_events_of_messages_to_others_are_found(threads, on_five_books):
    on_five_books.events["message"] += 1
    with pytest.raises(ValueError, match="book 0 has events of messages to other books"):
        same_stream.events_of_one(on_five_books, 5, threads)


def test_pieces_are_the_stream(monkeypatch):
    orders = random_orders(300, books=1, seed=8).orders
    found = []
    for most in (1 << 20, 100):
        monkeypatch.setattr(flow_hash, "_PIECE_MESSAGES", most)
        engine = book_engine_class("reference")(BookRules(), 3)
        events, seconds = flow_hash.match_stream(orders, engine, 3)
        assert seconds > 0
        found.append(events)
    for name in found[0]:
        np.testing.assert_array_equal(found[0][name], found[1][name])


@pytest.mark.slow
@pytest.mark.parametrize("stream", STREAMS)
def test_checked_streams_have_their_hashes(stream, book_engine):
    path = FLOW / f"{stream}.parquet"
    if not path.is_file():
        pytest.skip("the hash-checked streams are not here (../shared/data/flow)")
    found = run(path, "--engine", book_engine)
    assert (found["sha256"], found["trades"]) == STREAMS[stream]
    assert found["messages"] == 1_996_097
