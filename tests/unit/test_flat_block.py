"""What a block of flat orders does, by hand."""

import hashlib
import struct

import numpy as np
import pytest
from flat_rows import (
    ASK,
    BID,
    CANCELLED,
    FILLED,
    FOK,
    IOC,
    MARKET,
    OPEN,
    PARTIAL,
    order,
    outcome,
    trade,
)

from bookwarp import ParameterError
from bookwarp.consensus.flat import match_block


def test_best_price_trades_first_then_the_oldest_at_the_makers_price():
    rows = [
        order(1, ASK, 101, 5, user=10),
        order(2, ASK, 100, 5, user=20, fraction=7),
        order(3, ASK, 100, 5, user=30, fraction=7),
        order(4, BID, 102, 12, user=40, at=99),
    ]
    block = match_block(b"".join(rows))
    assert block.trades.tobytes() == b"".join(
        [
            trade(0, 2, 4, 100, 5, BID, users=(20, 40), fraction=7, at=99),
            trade(1, 3, 4, 100, 5, BID, users=(30, 40), fraction=7, at=99),
            trade(2, 1, 4, 101, 2, BID, users=(10, 40), at=99),
        ]
    )
    assert outcome(block) == [(3, PARTIAL), (0, FILLED), (0, FILLED), (0, FILLED)]
    assert block.state.orders.tobytes() == order(
        1, ASK, 101, 5, user=10, remaining=3, status=PARTIAL
    )
    assert block.fills_per_order == 0.75


def test_the_smallest_fraction_decides():
    rows = order(1, ASK, 5, 1, fraction=1) + order(2, BID, 5, 1) + order(3, BID, 5, 1, fraction=1)
    block = match_block(rows)
    assert block.trades.tobytes() == trade(0, 1, 3, 5, 1, BID, fraction=1)
    assert outcome(block) == [(0, FILLED), (1, OPEN), (0, FILLED)]


@pytest.mark.parametrize(
    "kind, price, lots, after, left",
    [
        (MARKET, 0, 7, (0, FILLED), 3),
        (MARKET, 0, 12, (2, CANCELLED), 0),
        (IOC, 100, 7, (2, CANCELLED), 5),
        (IOC, 99, 7, (7, CANCELLED), 10),
        (FOK, 100, 5, (0, FILLED), 5),
        (FOK, 100, 6, (6, CANCELLED), 10),
        (FOK, 101, 10, (0, FILLED), 0),
    ],
)
def test_what_does_not_trade_is_cancelled(kind, price, lots, after, left):
    rows = order(1, ASK, 100, 5) + order(2, ASK, 101, 5) + order(3, BID, price, lots, kind)
    block = match_block(rows)
    assert outcome(block)[2] == after
    assert block.state.orders["remaining"].sum() == left
    assert not (block.state.orders["side"] == BID).any()


def test_order_that_comes_in_partly_filled_trades_what_remains():
    rows = order(1, BID, 9, 8, remaining=3, status=PARTIAL) + order(2, ASK, 9, 5)
    block = match_block(rows)
    assert block.trades.tobytes() == trade(0, 1, 2, 9, 3, ASK)
    assert outcome(block) == [(0, FILLED), (2, PARTIAL)]
    assert block.received.tobytes() == rows


def test_equal_order_ids_are_told_apart_by_where_they_are():
    rows = order(7, ASK, 9, 1, user=1) + order(7, ASK, 9, 2, user=2) + order(7, BID, 9, 3, user=3)
    block = match_block(rows)
    expected = trade(0, 7, 7, 9, 1, BID, users=(1, 3)) + trade(1, 7, 7, 9, 2, BID, users=(2, 3))
    assert block.trades.tobytes() == expected
    assert outcome(block) == [(0, FILLED)] * 3


TWO_BOOKS = b"".join(
    [
        order(1, ASK, 10, 4),
        order(2, ASK, 20, 4),
        order(3, BID, 20, 1),  # second book
        order(4, BID, 10, 1),  # first book
        order(5, BID, 20, 1),  # second book
        order(6, ASK, 10, 1),  # first book, does not trade
        order(7, BID, 10, 5),  # first book, trades twice
    ]
)
TWO = [0, 1, 1, 0, 1, 0, 0]


@pytest.mark.parametrize("tile", [1, 2, 65_536])
def test_trades_are_in_the_order_of_arrival_of_their_takers(tile):
    block = match_block(TWO_BOOKS, TWO, tile=tile, base_trade_id=100)
    assert block.trades["taker_order"].tolist() == [3, 4, 5, 7, 7]
    assert block.trades["maker_order"].tolist() == [2, 1, 2, 1, 6]
    assert block.trades["trade_id"].tolist() == [100, 101, 102, 103, 104]


@pytest.mark.parametrize("tile", [1, 2, 65_536])
def test_trades_can_be_numbered_from_a_base_of_each_order(tile):
    bases = [1000 * number for number in range(7)]
    block = match_block(TWO_BOOKS, TWO, tile=tile, base_trade_id=bases)
    assert block.trades["trade_id"].tolist() == [2000, 3000, 4000, 6000, 6001]


def test_trade_ids_may_reach_the_end_of_64_bits_but_not_beyond():
    last = 2**64 - 1
    block = match_block(TWO_BOOKS, TWO, base_trade_id=last - 4)
    assert int(block.trades["trade_id"][-1]) == last
    with pytest.raises(ParameterError, match="leaves no ids"):
        match_block(TWO_BOOKS, TWO, base_trade_id=last - 3)
    bases = np.full(7, last, np.uint64)
    with pytest.raises(ParameterError, match="base_trade_id of order 6 is 18446744073709551615"):
        match_block(TWO_BOOKS, TWO, base_trade_id=bases)


def test_nothing_that_was_given_is_changed():
    rows = np.frombuffer(bytearray(TWO_BOOKS), np.uint8).reshape(-1, 64)
    first = match_block(rows, TWO)
    assert rows.tobytes() == TWO_BOOKS
    before = first.state.orders.tobytes()
    match_block(order(9, BID, 99, 9), 1, first.state)
    assert first.state.orders.tobytes() == before


def test_empty_block_changes_nothing():
    first = match_block(TWO_BOOKS, TWO)
    block = match_block(b"", [], first.state)
    assert (len(block.orders), len(block.trades), block.fills_per_order) == (0, 0, 0)
    assert block.state.orders.tobytes() == first.state.orders.tobytes()


def test_only_the_books_of_the_orders_change():
    first = match_block(order(1, ASK, 10, 4) * 5, range(5))
    block = match_block(order(2, BID, 10, 4) + order(3, BID, 9, 1), [3, 1], first.state)
    rests = [block.state.of_book(book)["order_id"].tolist() for book in range(5)]
    assert rests == [[1], [3, 1], [1], [], [1]]


def test_digest_is_that_of_the_bytes_as_documented():
    block = match_block(TWO_BOOKS, TWO)
    hasher = hashlib.sha256(b"bookwarp flat block 1\n")
    hasher.update(struct.pack("<Q", 7) + block.orders.tobytes())
    hasher.update(struct.pack("<Q", 5) + block.trades.tobytes())
    rests = [block.state.of_book(book).tobytes() for book in range(2)]
    hasher.update(struct.pack("<4Q", 2, 0, len(rests[0]) // 64, len(b"".join(rests)) // 64))
    hasher.update(b"".join(rests))
    assert block.digest() == hasher.hexdigest()
