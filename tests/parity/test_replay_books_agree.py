"""The compiled books of a replay are those of the reference: every row, level, bit and order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from market_rows import copy_rows, long_stream, market_rows

from bookwarp.engines.cpu.replay import ReplayBooks as CompiledBooks
from bookwarp.engines.cpu.replay_layout import LADDER_USED
from bookwarp.reference.replay import ReplayBooks as ReferenceBooks
from bookwarp.spec.market_data import NO_BOOK, MarketEvent, Oddity, allocate_rows

BOOKS = range(3)


def apply_in_pieces(books, rows, levels, edges, pause):
    """Apply all rows, a piece at a time, and return the rows at which the books paused."""
    count = rows.row_count
    paused = []
    first = 0
    for edge in sorted({*(each for each in edges if each < count), count}):
        while first < edge:
            first = books.apply(rows, levels, first, edge, pause)
            if first < edge:
                paused.append(first)
                first = books.apply(rows, levels, first, first + 1)
    return paused


def assert_books_agree(rows, depth, level_count, edges, ids_grow, pause):
    copied = copy_rows(rows)
    results = []
    for kind, own in ((ReferenceBooks, rows), (CompiledBooks, copied)):
        books = kind(ids_grow)
        for each in depth:
            books.open_depth(*each)
        levels = np.full((rows.row_count, level_count, 4), 77, np.int64)
        results.append((books, levels, apply_in_pieces(books, own, levels, edges, pause)))
    (reference, levels, paused), (compiled, found_levels, found_paused) = results
    assert paused == found_paused
    for name, column in zip(rows._fields, rows, strict=True):
        np.testing.assert_array_equal(getattr(copied, name), column, err_msg=name)
    np.testing.assert_array_equal(found_levels, levels)
    for book in BOOKS:
        for side in (1, -1):
            for read in ("depth", "opening_depth", "orders"):
                expected = getattr(reference, read)(book, side)
                found = getattr(compiled, read)(book, side)
                assert found.dtype == expected.dtype
                np.testing.assert_array_equal(found, expected, err_msg=read)


openings = st.tuples(
    st.sampled_from(BOOKS), st.sampled_from((1, -1)), st.integers(-1, 9), st.integers(1, 9)
)


@given(
    market_rows(),
    st.lists(openings, max_size=6),
    st.integers(0, 5),
    st.sets(st.integers(0, 80), max_size=4),
    st.booleans(),
    st.booleans(),
)
def test_any_rows_give_the_same_books(rows, depth, level_count, edges, ids_grow, pause):
    assert_books_agree(rows, depth, level_count, edges, ids_grow, pause)


@pytest.mark.parametrize(
    "seed, ids, prices, books", [(1, 40, 10, 3), (2, 3000, 400, 3), (3, 3000, 5000, 1)]
)
def test_long_streams_give_the_same_books(seed, ids, prices, books):
    rows = long_stream(seed, 6000, ids, prices, books)
    assert_books_agree(rows, [], 3, range(0, 6000, 700), True, False)
    seen = np.bitwise_or.reduce(rows.oddity)
    of_books = [oddity for oddity in Oddity if oddity <= Oddity.CROSSED]
    expected = {each for each in of_books if each not in (Oddity.OPENING_DEPTH, Oddity.BAD_QTY)}
    if seed == 1:
        assert {each for each in expected if seen & np.uint32(each)} == expected


def test_thousands_of_books_grow_one_after_the_other():
    rows = long_stream(4, 20_000, 50, 20, 3000)
    rows.book[:100] = NO_BOOK
    levels = np.zeros((rows.row_count, 1, 4), np.int64)
    copied, found = copy_rows(rows), levels.copy()
    apply_in_pieces(ReferenceBooks(), rows, levels, [50, 5000], False)
    apply_in_pieces(CompiledBooks(), copied, found, [1, 7000], False)
    np.testing.assert_array_equal(found, levels)
    np.testing.assert_array_equal(copied.oddity, rows.oddity)


@pytest.mark.parametrize("books", [1, 7, 4000])
@pytest.mark.parametrize("held", [0, 1, 3, 900])
@pytest.mark.parametrize("added", [1, 5, 5000])
def test_ladder_has_room_for_every_move(books, held, added):
    """However the levels of a call fall on the sides, none is written behind the ladder's end."""
    compiled = CompiledBooks()
    for first, count in ((0, held), (held, added), (held + added, added)):
        rows = allocate_rows(count)
        rows.event[:], rows.side[:], rows.qty[:] = MarketEvent.ADD, 1, 1
        rows.order_id[:] = rows.price[:] = first + np.arange(count)
        rows.book[:] = np.arange(count) % books
        compiled.apply(rows, np.zeros((count, 1, 4), np.int64), 0, count)
        arrays = compiled._books
        assert arrays.counters[LADDER_USED] <= len(arrays.keys) == len(arrays.nodes)
        parts = np.sort(arrays.sides[arrays.sides["capacity"] > 0], order="start")
        ends = parts["start"] + parts["capacity"]
        assert (ends[:-1] <= parts["start"][1:]).all()
        assert (parts["count"] <= parts["capacity"]).all()
