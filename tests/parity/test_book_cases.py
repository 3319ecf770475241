"""Every engine for continuous books does what the cases say, alone, mirrored and all at once."""

import numpy as np
import pytest
from book_cases import CASES, MAX, mirror_messages, read_messages, rules_of, tell_book, tell_outcome

from bookwarp.engines.registry import book_engine_class
from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.codes import Side
from bookwarp.spec.events import Counter, EventType, Flag, Matched


def run_case(engine, case, orders, owners):
    rules = rules_of(case)
    running = book_engine_class(engine)(rules, 1)
    matched = running.match(orders, owners if rules.tracks_owner else None)
    return matched, running.read_state()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(book_engine, case):
    orders, owners = read_messages(case.messages)
    matched, state = run_case(book_engine, case, orders, owners)
    assert tell_outcome(orders, matched.events) == case.outcome
    assert tell_book(state) == case.book
    assert state.flags[0] == case.flags


@pytest.mark.parametrize(
    "case", [case for case in CASES if "price_range" not in case.rules], ids=str
)
def test_case_mirrored(book_engine, case):
    """Buyers and sellers exchanged, everything else is the same."""
    orders, owners = read_messages(case.messages)
    plain, plain_state = run_case(book_engine, case, orders, owners)
    mirrored, state = run_case(book_engine, case, mirror_messages(orders), owners)
    for name in ("order_id", "qty", "message", "type", "reason", "op"):
        np.testing.assert_array_equal(mirrored.events[name], plain.events[name])
    np.testing.assert_array_equal(mirrored.events["side"], -plain.events["side"])
    np.testing.assert_array_equal(state.counters, plain_state.counters)
    np.testing.assert_array_equal(state.flags, plain_state.flags)
    for side in Side:
        here, there = (
            each.orders[each.orders["side"] == which]
            for each, which in ((plain_state, side), (state, -side))
        )
        np.testing.assert_array_equal(here["order_id"], there["order_id"])
        np.testing.assert_array_equal(here["price"], ~there["price"])
        np.testing.assert_array_equal(here["qty"], there["qty"])


def test_cases_side_by_side(book_engine):
    """All cases of the same rules at once, message by message in turn, each in its own book."""
    for rules in {rules_of(case) for case in CASES}:
        cases = [case for case in CASES if rules_of(case) == rules]
        # Every second book stays empty.
        parts = [read_messages(case.messages, 1 + 2 * i) for i, case in enumerate(cases)]
        turn = np.concatenate([np.arange(len(orders)) for orders, _ in parts])
        order = np.argsort(turn, kind="stable")
        orders = np.concatenate([orders for orders, _ in parts])[order]
        owners = np.concatenate([owners for _, owners in parts])[order]
        running = book_engine_class(book_engine)(rules, 2 * len(cases))
        matched = running.match(orders, owners if rules.tracks_owner else None)
        state = running.read_state()
        for book in range(2 * len(cases)):
            events = events_of(matched, book)
            if book % 2 == 0:
                assert not len(events)
                assert tell_book(state, book) == ""
            else:
                case = cases[book // 2]
                assert (orders["book"][events["message"]] == book).all()
                assert tell_outcome(orders, events) == case.outcome, case.name
                assert tell_book(state, book) == case.book, case.name
                assert state.flags[book] == case.flags, case.name


def events_of(matched: Matched, book: int) -> np.ndarray:
    first, last = matched.event_offsets[book : book + 2]
    return matched.events[first:last]


def test_all_events_of_one_case_are_told_whole(book_engine):
    """The cases look at some events only; here are all columns of all of them."""
    text = "N1 S 5 100; N2 B 2 101; M1 4 102; N3 B 9 MKT; N4 B 5 99; C4; C4; M9 1 2; N5 B 0 1"
    orders, _ = read_messages(text)
    running = book_engine_class(book_engine)(rules_of(CASES[0]), 1)
    found = running.match(orders, None).events
    accepted, trade, cancelled, modified, rejected = EventType
    assert found.tolist() == [
        (1, 100, 5, 0, accepted, -1, 0, 0),
        (2, 101, 2, 1, accepted, 1, 0, 0),
        (1, 100, 2, 1, trade, 1, 0, 0),
        (1, 102, 4, 2, modified, -1, 0, 2),
        (3, 0, 9, 3, accepted, 1, 0, 0),
        (1, 102, 4, 3, trade, 1, 0, 0),
        (3, 0, 5, 3, cancelled, 1, 17, 0),
        (4, 99, 5, 4, accepted, 1, 0, 0),
        (4, 99, 5, 5, cancelled, 1, 16, 1),
        (4, 0, 0, 6, rejected, 0, 2, 1),
        (9, 2, 1, 7, rejected, 0, 2, 2),
        (5, 1, 0, 8, rejected, 1, 3, 0),
    ]


def test_counter_of_lots_wraps_round(book_engine):
    """It counts in int64, and a flag says that it went round."""
    orders, _ = read_messages("; ".join(f"N1 S {MAX} 5; N2 B {MAX} 5" for _ in range(3)))
    running = book_engine_class(book_engine)(BookRules(), 1)
    running.match(orders, None)
    state = running.read_state()
    assert state.counters[0, Counter.LOTS] == 3 * MAX - 2**64
    assert state.flags[0] == Flag.LOTS_WRAPPED


def test_one_order_sweeps_thousands(book_engine):
    """Nothing is recursive: one order takes 5 000 others, at 50 prices and at one."""
    for prices in (50, 1):
        count = 5_000
        text = "; ".join(f"N{i} S 3 {100 + i % prices}" for i in range(count))
        orders, _ = read_messages(f"{text}; N{count} B {3 * count + 1} 1000; C{count}")
        running = book_engine_class(book_engine)(rules_of(CASES[0]), 1)
        matched = running.match(orders, None)
        trades = matched.events[matched.events["type"] == EventType.TRADE]
        ids = np.arange(count)
        by_priority = ids[np.argsort(ids % prices, kind="stable")]
        np.testing.assert_array_equal(trades["order_id"], by_priority)
        assert tell_book(running.read_state()) == ""
