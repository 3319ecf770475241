"""The ladder of continuous books: rungs give the events of the reference, rows make a table."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from bookwarp.reference.book_engine import ReferenceBookEngine
from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.orders import ORDER, Op, TimeInForce

REPOSITORY = Path(__file__).resolve().parents[2]
LADDER = REPOSITORY / "benchmarks" / "ladder" / "books"
# The benchmarks are programs and no part of the package: they import each other as such.
sys.path[:0] = [str(REPOSITORY / "benchmarks"), str(LADDER), str(LADDER.parent / "auction")]

from book_flows import many_books  # noqa: E402
from book_rungs import RUNGS, find_rung  # noqa: E402
from measuring import events_digest, matcher_of  # noqa: E402

RULES = BookRules.of(modify="replace")


def draw_stream(count: int, seed: int) -> np.ndarray:
    """Return messages as the checked streams have: new ids only once, limits, GTC and IOC."""
    rng = np.random.default_rng(seed)
    orders = np.zeros(count, ORDER)
    orders["op"] = rng.choice(3, count, p=[0.5, 0.35, 0.15])
    is_new = orders["op"] == Op.NEW
    orders["order_id"] = np.where(is_new, np.cumsum(is_new), 0)
    named = np.maximum(np.cumsum(is_new) - rng.integers(0, 60, count), 1)
    orders["order_id"][~is_new] = named[~is_new]
    orders["price"] = 30_000 + np.rint(rng.normal(0, 90, count))
    orders["qty"] = rng.integers(1, 100, count)
    orders["side"] = rng.choice([1, -1], count)
    orders["tif"] = np.where(rng.random(count) < 0.1, TimeInForce.IOC, TimeInForce.GTC)
    return orders


# Those with digits of their own need a process of their own, and are held against the others there.
@pytest.mark.parametrize("rung", [rung for rung in RUNGS if rung.digit_bits is None], ids=str)
def test_rung_gives_the_events_of_the_reference(rung):
    orders = draw_stream(20_000, seed=3)
    if rung.books > 1:
        orders = many_books(orders, rung.books, each=3)
    expected = ReferenceBookEngine(RULES, rung.books).match(orders, None).events
    assert len(set(expected["type"].tolist())) == 5
    found = matcher_of(rung)(orders)
    assert len(found) == len(expected)
    assert events_digest(orders, found) == events_digest(orders, expected)


def test_flow_of_many_books_is_pieces_of_the_stream():
    stream = draw_stream(1_000, seed=4)
    flow = many_books(stream, books=50, each=20)
    assert (np.bincount(flow["book"]) == 20).all()
    assert (np.diff(flow["book"].astype(int)) != 0).mean() > 0.9
    one = flow[flow["book"] == 7].copy()
    one["book"] = 0
    starts = np.flatnonzero(stream == one[0])
    assert any((stream[start : start + 20] == one).all() for start in starts)
    np.testing.assert_array_equal(flow, many_books(stream, books=50, each=20))


def test_table_shows_what_a_rung_brought():
    spec = importlib.util.spec_from_file_location("climb_books", LADDER / "run.py")
    climb = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(climb)
    rows = []
    for name, rate in (("slots", 1e6), ("queues", 3e6)):
        rung = find_rung(name)
        row = {key: getattr(rung, key) for key in ("idea", "over", "expected", "kept")}
        rows.append(row | {"rung": name, "messages_per_s": rate, "ns_per_message": 1e9 / rate})
    first, second = climb.table(rows).splitlines()[2:]
    assert "**slots**" in first
    assert [word.strip() for word in second.split("|")][3:8] == [
        "slots",
        "1.50",
        "3.00",
        "3.0",
        "333",
    ]
