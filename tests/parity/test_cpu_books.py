"""The cpu engine for continuous books where it could differ: prices, scales, blocks and bins."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from message_streams import FLOWS, STP, book_rules, draw_messages, messages

from bookwarp.engines.cpu.books import engine as cpu_engine
from bookwarp.engines.cpu.books import grouping
from bookwarp.engines.cpu.books.engine import CpuBookEngine
from bookwarp.reference.book_engine import ReferenceBookEngine
from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.book_state import BookState
from bookwarp.spec.errors import EngineError

EXAMPLES = 10 * settings.default.max_examples
LONG = 200_000


def assert_same_state(found: BookState, expected: BookState) -> None:
    for name in ("order_offsets", "orders", "counters", "flags"):
        mine, its = getattr(found, name), getattr(expected, name)
        assert mine.dtype == its.dtype
        np.testing.assert_array_equal(mine, its, err_msg=name)


def assert_engines_agree(rules, books, orders, owners, threads=1, cuts=(), levels=0, handed=()):
    """Match the same messages in the same pieces; compare what comes out after each.

    `cuts` are where a piece ends; `handed` are pieces before which the reference's state is handed
    to a new cpu engine.
    """
    fast, plain = CpuBookEngine(rules, books, threads), ReferenceBookEngine(rules, books)
    edges = sorted({0, *(cut for cut in cuts if cut < len(orders)), len(orders)})
    for number, (first, stop) in enumerate(pairwise(edges)):
        if number in handed:
            fast = CpuBookEngine(rules, books, threads)
            fast.write_state(plain.read_state())
        piece = orders[first:stop], owners[first:stop] if rules.tracks_owner else None
        found = fast.match(*piece, levels=levels)
        expected = plain.match(*piece, levels=levels)
        assert found.events.dtype == expected.events.dtype
        np.testing.assert_array_equal(found.event_offsets, expected.event_offsets)
        np.testing.assert_array_equal(found.events, expected.events)
        np.testing.assert_array_equal(found.levels, expected.levels)
        assert_same_state(fast.read_state(), plain.read_state())


@settings(max_examples=EXAMPLES)
@given(
    st.data(),
    book_rules(),
    st.integers(1, 4),
    st.integers(1, 3),
    st.sets(st.integers(1, 60), max_size=3),
    st.integers(0, 3),
    st.sets(st.integers(0, 3)),
)
def test_any_messages_under_any_rules(data, rules, books, threads, cuts, levels, handed):
    orders, owners = data.draw(messages(books))
    assert_engines_agree(rules, books, orders, owners, threads, cuts, levels, handed)


@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize("capacity", [None, 1, (None, 2), (50, 7), (6, None)])
def test_long_streams(flow, capacity):
    for number, rule in enumerate(product(("keep", "replace"), ("open", "total"), STP)):
        modify, qty, stp = rule
        rules = BookRules.of(modify=modify, qty=qty, stp=stp, capacity=capacity)
        orders, owners = draw_messages(FLOWS[flow], 1_500, seed=number)
        books = FLOWS[flow].books
        assert_engines_agree(rules, books, orders, owners, 3, (700,), number % 3, (1,))


@pytest.mark.parametrize("flow", ["a wide book", "deep queues", "any price", "many books"])
def test_very_long_streams(flow):
    rules = BookRules.of(qty="total", stp="cancel_resting", price_range=(-(2**62), 2**62))
    orders, owners = draw_messages(FLOWS[flow], LONG, seed=99)
    books = FLOWS[flow].books
    assert_engines_agree(rules, books, orders, owners, 2, range(0, LONG, LONG // 3), levels=1)


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("books", [1, 2, 13, 100, 1000])
def test_any_number_of_threads(monkeypatch, books, threads):
    """And of bins, which otherwise only batches of a million messages have many of."""
    monkeypatch.setattr(grouping, "_BIN_MESSAGES", 500)
    monkeypatch.setattr(cpu_engine, "_MESSAGES_PER_THREAD", 100)
    orders, owners = draw_messages(FLOWS["few ids at few prices"], 12_000, seed=threads)
    orders["book"] = np.random.default_rng(books).integers(0, books, len(orders))
    rules = BookRules.of(stp="cancel_both")
    assert_engines_agree(rules, books, orders, owners, threads, (5_000,), 2)


def test_one_book_may_have_nearly_all_messages(monkeypatch):
    """Threads that are done with the others do not wait for it for ever."""
    monkeypatch.setattr(grouping, "_BIN_MESSAGES", 500)
    monkeypatch.setattr(cpu_engine, "_MESSAGES_PER_THREAD", 100)
    orders, owners = draw_messages(FLOWS["few ids at few prices"], 20_000, seed=1)
    for busy in (0, 500, 999):
        orders["book"] = np.where(np.arange(len(orders)) % 10, busy, np.arange(len(orders)) // 20)
        assert_engines_agree(BookRules(), 1000, orders, owners, 4)


def test_without_events_the_books_are_the_same():
    rules = BookRules.of()
    orders, _ = draw_messages(FLOWS["many books"], 20_000, seed=1)
    silent, telling = CpuBookEngine(rules, 300, 2), CpuBookEngine(rules, 300, 2)
    matched = silent.match(orders, None, events=False, levels=2)
    assert matched.events is None
    assert matched.event_offsets is None
    np.testing.assert_array_equal(matched.levels, telling.match(orders, None, levels=2).levels)
    assert_same_state(silent.read_state(), telling.read_state())


def test_state_that_was_read_stays_as_it_was():
    rules = BookRules.of()
    orders, _ = draw_messages(FLOWS["a wide book"], 2_000, seed=1)
    engine = CpuBookEngine(rules, 1)
    engine.match(orders[:1000], None)
    read, again = engine.read_state(), engine.read_state()
    other = CpuBookEngine(rules, 1)
    other.write_state(read)
    for each in (engine, other):
        each.match(orders[1000:], None)
    assert_same_state(read, again)
    assert_same_state(engine.read_state(), other.read_state())


def test_arrays_from_files_are_taken_as_they_are(tmp_path):
    """They are equal in type, but neither aligned nor writable."""
    rules = BookRules.of(stp="cancel_both")
    engine, other = CpuBookEngine(rules, 1), CpuBookEngine(rules, 1)
    orders, owners = draw_messages(FLOWS["few ids at few prices"], 2_000, seed=1)
    engine.match(orders[:1_000], owners[:1_000])
    saved = orders[1_000:], owners[1_000:], engine.read_state().orders
    np.savez(tmp_path / "batch.npz", *saved)
    with np.load(tmp_path / "batch.npz") as batch:
        later, whose, resting = (batch[f"arr_{number}"] for number in range(3))
    assert not later.dtype.isalignedstruct
    for array in (later, whose, resting):
        array.flags.writeable = False
    other.write_state(replace(engine.read_state(), orders=resting))
    expected = engine.match(*saved[:2]).events
    np.testing.assert_array_equal(other.match(later, whose).events, expected)
    assert_same_state(engine.read_state(), other.read_state())


@pytest.mark.parametrize("allocations", range(8))
def test_without_memory_nothing_was_taken(monkeypatch, allocations):
    """The first large arrays are there, then there is no more: the books are as they were."""
    orders, _ = draw_messages(FLOWS["many books"], 20_000, seed=1)
    engine, other = CpuBookEngine(BookRules(), 300, 2), CpuBookEngine(BookRules(), 300, 2)
    for each in (engine, other):
        each.match(orders[:5_000], None)
    empty, left = np.empty, [allocations]

    def scarce(shape, dtype=float):
        left[0] -= np.prod(shape) >= 1_000
        if left[0] < 0:
            raise MemoryError("no more")
        return empty(shape, dtype)

    monkeypatch.setattr(np, "empty", scarce)
    with pytest.raises(EngineError, match="not enough memory: no more"):
        engine.match(orders[5_000:], None, levels=1)
    monkeypatch.undo()
    assert_same_state(engine.read_state(), other.read_state())
    found, expected = (each.match(orders[5_000:], None) for each in (engine, other))
    np.testing.assert_array_equal(found.events, expected.events)
    assert_same_state(engine.read_state(), other.read_state())
