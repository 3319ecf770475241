"""The benchmark of many books: the flow is what it says, and engines are compared before a rate."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from emulated_books import play_gpu
from emulated_kernels import needs_compiler

from bookwarp.reference.book_engine import ReferenceBookEngine
from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.codes import Side
from bookwarp.spec.events import Counter, EventType
from bookwarp.spec.orders import Op, TimeInForce

REPOSITORY = Path(__file__).resolve().parents[2]
# The benchmarks are programs and no part of the package: they import each other as such.
sys.path.insert(0, str(REPOSITORY / "benchmarks"))

import run_books  # noqa: E402
from drawn_flow import draw_flow  # noqa: E402

BOOKS, MESSAGES = 200, 64


@pytest.fixture(scope="module")
def flow():
    return draw_flow(BOOKS, MESSAGES)


def test_flow_has_the_shares_it_says(flow):
    orders = flow.orders
    assert len(orders) == BOOKS * MESSAGES
    assert (orders["op"] == Op.CANCEL).mean() == pytest.approx(0.40, abs=0.02)
    resting = (orders["op"] == Op.NEW) & (orders["tif"] == TimeInForce.GTC)
    assert (orders["tif"] == TimeInForce.IOC).mean() == pytest.approx(0.075, abs=0.01)
    assert resting.mean() == pytest.approx(0.525, abs=0.02)
    for turn in orders["book"].reshape(MESSAGES, BOOKS):
        assert sorted(turn) == list(range(BOOKS))


def test_books_open_without_a_trade_and_keep_about_as_many_orders(flow):
    engine = ReferenceBookEngine(BookRules(), BOOKS)
    opened = engine.match(flow.opening, None).events
    assert (opened["type"] == EventType.ACCEPTED).all()
    assert (np.diff(engine.read_state().order_offsets) == 100).all()
    matched = engine.match(flow.orders, None)
    state = engine.read_state()
    assert len(state.orders) / BOOKS == pytest.approx(100, abs=5)
    counted = state.counters.sum(axis=0)
    assert counted[Counter.DUPLICATE_ID] == 0
    # Cancels that come too late are few; orders that cross find something.
    assert 0 < counted[Counter.UNKNOWN_ID] < 0.1 * (flow.orders["op"] == Op.CANCEL).sum()
    assert counted[Counter.TRADES] == pytest.approx(0.15 * 1.4 * len(flow.orders), rel=0.25)
    assert len(matched.events) > len(flow.orders)


def test_flow_is_the_same_for_the_same_arguments(flow):
    again = draw_flow(BOOKS, MESSAGES)
    assert again.orders.tobytes() == flow.orders.tobytes()
    assert {*flow.opening["side"].tolist()} == {Side.BUY, Side.SELL}


@needs_compiler
def test_runner_compares_engines_and_writes_a_line_each(tmp_path, monkeypatch):
    play_gpu(monkeypatch)
    rows = tmp_path / "rows.jsonl"
    case = "1 048 576 books of 32 messages"
    words = ["--cases", case, "--books", "30", "--trials", "2", "--rows", str(rows)]
    run_books.main([*words, "--engines", "cpu,cuda", "--threads", "2"])
    cpu, cuda = (json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines())
    assert cpu["digest_of_books"] == cuda["digest_of_books"]
    assert cuda["messages"] == 30 * 32
    assert cuda["match_kernels_messages_per_s"]["median"] == 30 * 32
    assert "equal the reference's; all events" in cuda["check"]
    assert cpu["fills_per_order"] == cuda["fills_per_order"] > 0


@pytest.mark.parametrize("wrong", ["events", "books"])
def test_runner_stops_at_a_difference(flow, wrong):
    matched = ReferenceBookEngine(BookRules(), BOOKS).match(flow.opening, None)
    other = ReferenceBookEngine(BookRules(), BOOKS).match(flow.opening, None)
    if wrong == "events":
        other.events["qty"][7] += 1
    with pytest.raises(SystemExit, match=f"{wrong} differ between the engines"):
        run_books.compare((matched, "a"), other, "b" if wrong == "books" else "a")
