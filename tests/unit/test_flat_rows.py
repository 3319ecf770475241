"""The bytes of flat rows, and what is refused before anything is matched."""

import numpy as np
import pytest
from flat_rows import ASK, BID, IOC, LIMIT, PARTIAL, order

from bookwarp import ParameterError
from bookwarp.consensus.flat import FLAT_ORDER, FLAT_TRADE, FlatBooks, FlatState, match_block

ORDER_OFFSETS = {
    "order_id": 0,
    "user_id": 8,
    "price_integer": 16,
    "price_fraction": 24,
    "quantity": 32,
    "remaining": 40,
    "timestamp": 48,
    "side": 56,
    "type": 57,
    "status": 58,
    "reserved": 59,
}
TRADE_OFFSETS = {
    "trade_id": 0,
    "maker_order": 8,
    "taker_order": 16,
    "maker_user": 24,
    "taker_user": 32,
    "price_integer": 40,
    "price_fraction": 48,
    "quantity": 56,
    "timestamp": 64,
    "taker_side": 72,
    "reserved": 73,
}


@pytest.mark.parametrize(
    "dtype, size, offsets",
    [(FLAT_ORDER, 64, ORDER_OFFSETS), (FLAT_TRADE, 80, TRADE_OFFSETS)],
)
def test_fields_lie_where_the_format_says(dtype, size, offsets):
    assert dtype.itemsize == size
    assert {name: offset for name, (_, offset) in dtype.fields.items()} == offsets
    assert all(each[0].byteorder in "<=|" for each in dtype.fields.values())


def test_orders_may_be_bytes_or_numbers_or_rows():
    data = order(1, ASK, 100, 5) + order(2, BID, 100, 3)
    forms = [
        *(data, bytearray(data), memoryview(data)),
        np.frombuffer(data, np.uint8).reshape(2, 64),
        np.frombuffer(data, FLAT_ORDER),
        np.repeat(np.frombuffer(data, FLAT_ORDER), 2)[::2],
    ]
    assert len({match_block(each).digest() for each in forms}) == 1


@pytest.mark.parametrize(
    "orders, words",
    [
        (bytes(64 + 7), "order 1 has 7 bytes; an order has 64"),
        (np.zeros((2, 63), np.uint8), "orders have 63 bytes each; an order has 64"),
        (np.zeros(4, np.int64), "array of int64 with 1 dimensions"),
        (np.zeros((1, 1), FLAT_ORDER), "with 2 dimensions"),
    ],
)
def test_what_is_no_array_of_orders_is_refused(orders, words):
    with pytest.raises(ParameterError, match=words):
        match_block(orders)


MOST = 2**63 - 1


@pytest.mark.parametrize(
    "row, words",
    [
        (order(9, BID, 1, 0), rf"quantity \(offset 32\) is 0, not 1 .. {MOST}"),
        (order(9, BID, 1, 2**63), rf"quantity \(offset 32\) is {2**63}, not 1 .. {MOST}"),
        (order(9, BID, 1, 5, remaining=0), r"remaining \(offset 40\) is 0, not 1 .. quantity"),
        (order(9, BID, 1, 5, remaining=6), r"remaining \(offset 40\) is 6, .* which is 5"),
        (order(9, 2, 1, 5), r"side \(offset 56\) is 2, not 0 \(bid\) or 1 \(ask\)"),
        (order(9, BID, 1, 5, 4), r"type \(offset 57\) is 4, not 0 \(limit\) or 1 \(market\) or 2"),
        (order(9, BID, 1, 5, status=2), r"status \(offset 58\) is 2, not 0 \(open\)"),
        (order(9, BID, 1, 5, status=1), r"status \(offset 58\) is 1, not 0 \(open\)"),
        (order(9, BID, 1, 5, remaining=4), r"status \(offset 58\) is 0, not 1 \(partial\)"),
        (order(9, BID, 1, 5)[:-1] + b"\7", r"reserved \(offset 59\) is 0000000007, not zeros"),
        (order(9, BID, 1, 5)[:59] + b"\1" + bytes(4), r"reserved \(offset 59\) is 0100000000"),
    ],
)
def test_a_wrong_field_is_named_with_its_order_and_offset(row, words):
    good = order(1, BID, 1, 1)
    books = FlatBooks(2)
    books.execute(good, 1)
    before = books.state
    with pytest.raises(ParameterError, match=f"^order 20000: {words}"):
        books.execute(good * 20_000 + row + order(0, 7, 0, 0), 1)
    assert books.state is before
    assert (books.block_count, books.next_trade_id) == (1, 0)


def test_the_ends_of_every_field_are_taken():
    end = 2**64 - 1
    high = order(end, ASK, end, MOST, user=end, fraction=end, at=end)
    rows = high + order(0, BID, 0, MOST, remaining=1, status=PARTIAL)
    block = match_block(rows)
    assert block.orders.tobytes() == rows
    assert not len(block.trades)


@pytest.mark.parametrize(
    "book, words",
    [
        ([0, 3], "order 1: book 3 does not exist; there are 3 books"),
        ([-1, 0], "order 0: book -1 does not exist"),
        ([0], r"book has the shape \[1\]"),
        ([0.0, 1.0], "not float64"),
        (3, "book = 3 is outside 0 .. 2"),
        (None, "there are 3 books: give the book of every order"),
    ],
)
def test_an_order_for_no_book_is_refused(book, words):
    with pytest.raises(ParameterError, match=words):
        match_block(order(1, BID, 1, 1) * 2, book, books=3)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"tile": 0}, "tile = 0 is outside"),
        ({"books": 0}, "books = 0 is outside"),
        ({"engine": "gpu"}, "unknown engine"),
        ({"threads": 0}, "threads = 0 is outside"),
        ({"base_trade_id": -1}, "base_trade_id = -1 is outside"),
        ({"base_trade_id": [1, 2]}, "one for each order"),
        ({"base_trade_id": [-1]}, "base_trade_id of order 0 is -1"),
    ],
)
def test_wrong_arguments_are_refused(arguments, words):
    with pytest.raises(ParameterError, match=words):
        match_block(order(1, BID, 1, 1), **arguments)


def state(*rows, offsets):
    return FlatState(np.frombuffer(b"".join(rows), FLAT_ORDER), np.array(offsets))


SOUND = (order(1, BID, 9, 5), order(2, BID, 8, 5), order(3, ASK, 10, 5), order(4, ASK, 11, 5))


@pytest.mark.parametrize(
    "books, words",
    [
        (state(*SOUND, offsets=[0, 3]), "order_offsets do not rise from 0"),
        (state(*SOUND, offsets=[0, 5, 4]), "order_offsets do not rise from 0"),
        (state(*SOUND, offsets=[4]), r"order_offsets must be integers \[book \+ 1\]"),
        (
            state(*SOUND, order(5, ASK, 12, 1, IOC), offsets=[0, 5]),
            r"resting order 4: type \(offset 57\) is 2, not 0 \(limit\)$",
        ),
        (
            state(*SOUND, order(5, BID, 7, 1), order(6, BID, 8, 1), offsets=[0, 4, 6]),
            "resting orders 4 and 5, of book 1, are not in order",
        ),
        (
            state(order(5, ASK, 8, 1), order(6, ASK, 7, 1), offsets=[0, 2]),
            "resting orders 0 and 1, of book 0, are not in order",
        ),
        (
            state(order(5, ASK, 8, 1), order(6, BID, 7, 1), offsets=[0, 2]),
            "resting orders 0 and 1, of book 0, are not in order",
        ),
        (
            state(*SOUND, order(5, BID, 8, 1), order(6, ASK, 8, 1), offsets=[0, 4, 6]),
            "resting orders 4 and 5, of book 1, cross",
        ),
        (
            state(order(5, BID, 8, MOST), order(6, BID, 8, 1), offsets=[0, 2]),
            f"resting order 0, of book 0: more than {MOST} lots rest at its price",
        ),
    ],
)
def test_books_that_are_not_sound_are_refused(books, words):
    with pytest.raises(ParameterError, match=words):
        match_block(b"", state=books)


def test_sound_books_are_taken_whatever_rests_where():
    rows = (*SOUND, order(5, ASK, 1, MOST), order(6, ASK, 1, 1, fraction=1), order(7, BID, 3, 1))
    books = state(*rows, offsets=[0, 0, 4, 4, 6, 7])
    after = match_block(order(8, BID, 2, 1), 0, books).state
    assert after.orders.tobytes() == order(8, BID, 2, 1) + b"".join(rows)
    np.testing.assert_array_equal(after.order_offsets, [0, 1, 5, 5, 7, 8])


@pytest.mark.parametrize("tile", [1, 2, 65_536])
def test_more_lots_at_a_price_than_an_engine_holds_are_refused_by_order(tile):
    rows = b"".join(order(i, BID, 7, lots, LIMIT) for i, lots in enumerate([MOST, 1, MOST, 1, 1]))
    with pytest.raises(ParameterError, match=f"^order 3: .* more than {MOST} lots would rest"):
        match_block(rows, [0, 1, 2, 2, 0], tile=tile)
    fine = match_block(rows[:192], [0, 1, 2], tile=tile)
    assert len(fine.state.orders) == 3


def test_books_given_twice_must_be_as_many():
    with pytest.raises(ParameterError, match="books = 2, but state has 1"):
        match_block(b"", state=state(*SOUND, offsets=[0, 4]), books=2)
