"""The rules of a replay, one by one, on the books of every engine."""

import numpy as np
import pytest
from market_rows import rows_of

from bookwarp.engines.replay_protocol import REPLAY_ENGINES, replay_books
from bookwarp.spec.codes import NO_PRICE
from bookwarp.spec.market_data import NO_BOOK, ODDITIES, MarketEvent, Oddity

ADD, REDUCE, DELETE = MarketEvent.ADD, MarketEvent.REDUCE, MarketEvent.DELETE
EXECUTE, EXECUTE_AT = MarketEvent.EXECUTE, MarketEvent.EXECUTE_AT
REPLACE, CHANGE = MarketEvent.REPLACE, MarketEvent.CHANGE
BUY, SELL = 1, -1
NONE = Oddity(0)


def replay(*rows, depth=(), ids_grow=True, levels=1):
    """Apply rows to the books of every engine, which must do the same.

    Returns:
        The books, the rows with what was filled in, and the levels.
    """
    done = []
    for engine in REPLAY_ENGINES:
        books = replay_books(engine, ids_grow)
        for side, price, qty in depth:
            books.open_depth(0, side, price, qty)
        made = rows_of(*rows)
        found = np.zeros((len(rows), levels, 4), np.int64)
        assert books.apply(made, found, 0, len(rows)) == len(rows)
        done.append((books, made, found))
    for books, made, found in done[1:]:
        np.testing.assert_array_equal(found, done[0][2])
        for column, expected in zip(made, done[0][1], strict=True):
            np.testing.assert_array_equal(column, expected)
        for side in (BUY, SELL):
            assert queue(books, side) == queue(done[0][0], side)
            np.testing.assert_array_equal(
                books.opening_depth(0, side), done[0][0].opening_depth(0, side)
            )
    return done[0]


def queue(books, side):
    return [tuple(order) for order in books.orders(0, side).tolist()]


def last_oddity(rows):
    return Oddity(int(rows.oddity[-1]))


def test_every_oddity_is_explained():
    assert set(ODDITIES) == set(Oddity)


def test_orders_queue_by_row_and_prices_by_side():
    books, _, levels = replay(
        (ADD, 9, BUY, 100, 5), (ADD, 8, BUY, 101, 1), (ADD, 7, BUY, 100, 2), (ADD, 1, SELL, 103, 4),
        levels=2,
    )  # fmt: skip
    assert queue(books, BUY) == [(8, 101, 1), (9, 100, 5), (7, 100, 2)]
    assert levels[-1].tolist() == [[103, 4, 101, 1], [NO_PRICE, 0, 100, 7]]
    assert levels[0].tolist() == [[NO_PRICE, 0, 100, 5], [NO_PRICE, 0, NO_PRICE, 0]]


def test_what_a_row_leaves_to_its_order_is_filled_in():
    _, rows, _ = replay(
        (ADD, 1, SELL, 50, 9), (EXECUTE, 1, 0, NO_PRICE, 4), (DELETE, 1, 0, NO_PRICE, 0)
    )
    assert rows.side.tolist() == [SELL, SELL, SELL]
    assert rows.price.tolist() == [50, 50, 50]
    assert rows.qty.tolist() == [9, 4, 5]
    assert rows.open_qty.tolist() == [9, 5, 0]
    assert not rows.oddity.any()


@pytest.mark.parametrize(
    "row, oddity",
    [
        ((EXECUTE, 1, BUY, 100, 2), NONE),
        ((EXECUTE, 2, BUY, 100, 2), Oddity.OFF_FRONT | Oddity.OFF_FRONT_BY_ID),
        ((EXECUTE, 3, BUY, 99, 2), Oddity.OFF_BEST),
        ((EXECUTE, 1, BUY, 99, 2), Oddity.WRONG_PRICE),
        ((EXECUTE_AT, 1, BUY, 99, 2), NONE),
        ((EXECUTE_AT, 1, 0, NO_PRICE, 2), NONE),
        ((EXECUTE, 1, SELL, 100, 2), Oddity.WRONG_PRICE),
        ((EXECUTE, 1, BUY, 100, 6), Oddity.TOO_MUCH),
        ((EXECUTE, 1, BUY, 100, 0), Oddity.BAD_QTY),
        ((REDUCE, 1, BUY, 100, 6), Oddity.TOO_MUCH),
        ((DELETE, 1, BUY, 100, 4), Oddity.WRONG_QTY),
        ((DELETE, 1, BUY, 100, 0), NONE),
        ((DELETE, 9, BUY, 100, 5), Oddity.UNKNOWN_DELETE),
        ((REDUCE, 9, BUY, 100, 5), Oddity.UNKNOWN_REDUCE),
        ((EXECUTE, 9, BUY, 100, 5), Oddity.UNKNOWN_EXECUTE),
        ((REPLACE, 9, 0, 100, 5, 10), Oddity.UNKNOWN_REPLACE),
        ((CHANGE, 9, 0, 100, 5), Oddity.UNKNOWN_CHANGE),
        ((ADD, 2, BUY, 98, 5), Oddity.DUPLICATE_ID | Oddity.OLD_ORDER),
        ((ADD, 0, BUY, 98, 5), Oddity.OLD_ORDER),
        ((ADD, 9, BUY, 98, 0), Oddity.BAD_QTY),
        ((ADD, 9, BUY, 100, 2**63 - 1), Oddity.BAD_QTY),
        ((ADD, 9, SELL, 100, 1), Oddity.LOCKED),
        ((ADD, 9, SELL, 99, 1), Oddity.CROSSED),
        ((MarketEvent.HIDDEN, 0, BUY, 100, 1), Oddity.HIDDEN),
        ((MarketEvent.CROSS, 0, BUY, 100, 1), Oddity.CROSS),
        ((MarketEvent.BROKEN, 0, 0, NO_PRICE, 0), Oddity.BROKEN),
        ((MarketEvent.HALT, 0, 0, NO_PRICE, 0), Oddity.HALT),
        ((MarketEvent.RESUME, 0, 0, NO_PRICE, 0), NONE),
    ],
)
def test_oddities_are_told(row, oddity):
    before = [(ADD, 1, BUY, 100, 5), (ADD, 2, BUY, 100, 5), (ADD, 3, BUY, 99, 5)]
    assert last_oddity(replay(*before, row)[1]) == oddity


def test_execution_off_the_front_by_row_only():
    before = [(ADD, 5, BUY, 100, 5), (ADD, 2, BUY, 100, 5)]
    books, rows, _ = replay(*before, (EXECUTE, 2, BUY, 100, 5))
    assert last_oddity(rows) == Oddity.OFF_FRONT
    assert queue(books, BUY) == [(5, 100, 5)]


def test_ids_that_do_not_grow_say_nothing_about_age():
    rows = [(ADD, 5, BUY, 100, 5), (ADD, 2, BUY, 100, 5), (EXECUTE, 5, BUY, 100, 5)]
    assert replay(*rows, ids_grow=False)[1].oddity.tolist() == [0, 0, 0]


def test_replacement_takes_the_side_and_goes_to_the_end():
    books, rows, _ = replay(
        (ADD, 1, SELL, 100, 5), (ADD, 2, SELL, 100, 5), (REPLACE, 1, 0, 100, 4, 3)
    )
    assert queue(books, SELL) == [(2, 100, 5), (3, 100, 4)]
    assert (rows.side[-1], rows.open_qty[-1]) == (SELL, 4)
    assert (rows.old_price[-1], rows.old_qty[-1]) == (100, 5)


@pytest.mark.parametrize(
    "row, expected",
    [
        ((CHANGE, 1, 0, NO_PRICE, 3), [(1, 100, 3), (2, 100, 5)]),
        ((CHANGE, 1, SELL, 100, 5), [(1, 100, 5), (2, 100, 5)]),
        ((CHANGE, 1, 0, 100, 6), [(2, 100, 5), (1, 100, 6)]),
        ((CHANGE, 1, 0, 99, 5), [(1, 99, 5), (2, 100, 5)]),
        ((CHANGE, 3, SELL, 100, 5), [(1, 100, 5), (2, 100, 5), (3, 100, 5)]),
    ],
)
def test_change_keeps_its_place_unless_it_grows_or_moves(row, expected):
    books, _, _ = replay((ADD, 1, SELL, 100, 5), (ADD, 2, SELL, 100, 5), row)
    assert queue(books, SELL) == expected


def test_opening_depth_counts_and_unknown_orders_are_taken_from_it():
    books, rows, levels = replay(
        (ADD, 1, BUY, 100, 5), (DELETE, 99, BUY, 100, 4), (EXECUTE, 98, BUY, 100, 4),
        (DELETE, 97, BUY, 100, 4), depth=[(BUY, 100, 7)],
    )  # fmt: skip
    assert levels[:, 0, 3].tolist() == [12, 8, 5, 5]
    expected = [
        NONE,
        Oddity.UNKNOWN_DELETE | Oddity.OPENING_DEPTH,
        Oddity.UNKNOWN_EXECUTE | Oddity.OPENING_DEPTH | Oddity.TOO_MUCH,
        Oddity.UNKNOWN_DELETE,
    ]
    assert [Oddity(int(each)) for each in rows.oddity] == expected
    assert books.opening_depth(0, BUY).size == 0


@pytest.fixture(params=REPLAY_ENGINES)
def books(request):
    return replay_books(request.param, True)


def test_books_are_independent_of_each_other(books):
    rows = rows_of((ADD, 1, BUY, 100, 5), (ADD, 1, BUY, 90, 6), (DELETE, 1, 0, NO_PRICE, 0))
    rows.book[:] = 0, 1, 0
    levels = np.zeros((3, 1, 4), np.int64)
    books.apply(rows, levels, 0, 3)
    assert not rows.oddity.any()
    assert queue(books, BUY) == []
    assert levels[1, 0].tolist() == [NO_PRICE, 0, 90, 6]


def test_row_of_no_book_has_no_levels(books):
    rows = rows_of((MarketEvent.OTHER, 0, 0, NO_PRICE, 0), book=NO_BOOK)
    levels = np.ones((1, 2, 4), np.int64)
    books.apply(rows, levels, 0, 1)
    assert levels.tolist() == [[[NO_PRICE, 0, NO_PRICE, 0]] * 2]


@pytest.mark.parametrize(
    "row",
    [
        (ADD, 1, BUY, 90, 1),
        (ADD, 9, BUY, 105, 1),
        (EXECUTE, 2, BUY, 100, 1),
        (EXECUTE, 3, BUY, 99, 1),
        (EXECUTE, 4, SELL, 105, 1),
        (EXECUTE_AT, 1, BUY, 101, 1),
        (EXECUTE, 77, BUY, 100, 1),
        (DELETE, 77, BUY, 100, 1),
        (REPLACE, 77, BUY, 100, 5, 9),
        (REPLACE, 1, 0, 100, 5, 2),
        (REPLACE, 1, 0, 105, 5, 9),
        (CHANGE, 77, BUY, 100, 5),
        (CHANGE, 1, 0, 106, 5),
    ],
)
def test_replay_can_pause_before_a_row_that_a_matching_book_sees_otherwise(books, row):
    books.open_depth(0, SELL, 105, 1)
    before = [
        *((ADD, 1, BUY, 100, 5), (ADD, 2, BUY, 100, 5), (ADD, 3, BUY, 99, 5)),
        *((ADD, 4, SELL, 105, 1), (EXECUTE, 1, BUY, 100, 1), (DELETE, 2, BUY, 100, 5)),
        (ADD, 2, BUY, 100, 5),
    ]
    rows = rows_of(*before, row)
    levels = np.zeros((len(before) + 1, 1, 4), np.int64)
    assert books.apply(rows, levels, 0, len(before) + 1, pause=True) == len(before)


@pytest.mark.parametrize(
    "row",
    [
        (ADD, 9, BUY, 104, 1),
        (EXECUTE, 1, BUY, 100, 1),
        (EXECUTE_AT, 1, 0, NO_PRICE, 1),
        (REPLACE, 2, 0, 104, 5, 9),
        (REPLACE, 2, 0, 104, 5, 2),
        (CHANGE, 2, 0, 104, 5),
        (DELETE, 2, 0, NO_PRICE, 0),
        (MarketEvent.HIDDEN, 0, BUY, 100, 1),
    ],
)
def test_replay_does_not_pause_at_other_rows(books, row):
    before = [(ADD, 1, BUY, 100, 5), (ADD, 2, BUY, 100, 5), (ADD, 3, SELL, 105, 5)]
    rows = rows_of(*before, row)
    assert books.apply(rows, np.zeros((4, 1, 4), np.int64), 0, 4, pause=True) == 4
