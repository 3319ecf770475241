"""The execution root of a block: which rows, in which order, and a known answer."""

import struct

import numpy as np
import pytest
from flat_rows import ASK, BID, PARTIAL, order, trade

from bookwarp import ParameterError
from bookwarp.consensus.flat import FLAT_ORDER, FLAT_TRADE, FlatState, match_block
from bookwarp.consensus.keccak import keccak256
from bookwarp.consensus.merkle import row_root
from bookwarp.consensus.roots import execution_root

PARENT = bytes(range(32))
ROWS = [
    *(order(1, ASK, 100, 5), order(2, ASK, 101, 5), order(0, ASK, 100, 4)),
    order(4, BID, 100, 3),
]


def rows_of(data, dtype=FLAT_ORDER):
    return np.frombuffer(b"".join(data), dtype)


def test_root_of_a_block_is_a_known_answer():
    """By pycryptodome, from rows packed by hand; order 0 comes before 1, which has priority."""
    block = match_block(b"".join(ROWS))
    assert block.state.orders["order_id"].tolist() == [1, 0, 2]
    expected = "b23744d1c19ed21e7a78c38a9720bdd2cf85802fa22e96c9a03a1e6be6eccc7c"
    assert block.root(PARENT, 7).hex() == expected


def test_root_is_made_of_its_parts():
    resting = [order(1, ASK, 100, 5, remaining=2, status=PARTIAL), order(2, ASK, 101, 5)]
    trades = rows_of([trade(0, 1, 4, 100, 3, BID)], FLAT_TRADE)
    orders = rows_of(ROWS)
    found = execution_root(PARENT, rows_of(resting), trades, orders, 2**64 - 1)
    roots = (row_root(rows_of(resting)), row_root(trades), row_root(orders))
    assert found == keccak256(PARENT + b"".join(roots) + struct.pack("<Q", 2**64 - 1))


def test_root_of_nothing_is_made_of_empty_trees():
    block = match_block(b"", 0, books=3)
    expected = keccak256(PARENT + 3 * keccak256(b"") + bytes(8))
    assert block.root(PARENT, 0) == expected


IN_ORDER = [
    *(
        order(5, BID, 2**64 - 1, 1),
        order(3, BID, 9, 1, fraction=2),
        order(4, BID, 9, 1, fraction=1),
    ),
    *(order(6, BID, 9, 1), order(7, BID, 9, 1), order(7, BID, 9, 2), order(0, BID, 0, 1)),
    *(order(2, ASK, 0, 1), order(9, ASK, 9, 1, fraction=1), order(1, ASK, 9, 1, fraction=2)),
    *(order(2**63, ASK, 10, 1), order(2**64 - 1, ASK, 10, 1)),
]


@pytest.mark.parametrize("seed", range(5))
def test_resting_orders_of_a_book_are_sorted_by_side_price_and_id(seed):
    places = np.random.default_rng(seed).permutation(len(IN_ORDER))
    # Equal orders keep their order.
    first, second = (int(np.flatnonzero(places == place)[0]) for place in (4, 5))
    if first > second:
        places[[first, second]] = places[[second, first]]
    nothing = rows_of([])
    shuffled = rows_of([IN_ORDER[place] for place in places])
    found = execution_root(PARENT, shuffled, nothing, nothing, 1)
    roots = row_root(rows_of(IN_ORDER)) + 2 * keccak256(b"")
    assert found == keccak256(PARENT + roots + struct.pack("<Q", 1))


def test_books_are_taken_in_the_order_of_their_index():
    rows = [order(9, BID, 1, 1), order(8, ASK, 2, 1), order(7, BID, 3, 1), order(6, BID, 3, 1)]
    state = FlatState(rows_of(rows), np.array([0, 0, 2, 2, 4]))
    nothing = rows_of([])
    found = execution_root(PARENT, state, nothing, nothing, 1)
    listed = rows_of([rows[0], rows[1], rows[3], rows[2]])
    roots = row_root(listed) + 2 * keccak256(b"")
    assert found == keccak256(PARENT + roots + struct.pack("<Q", 1))


@pytest.mark.parametrize(
    "parent, height, words",
    [
        (bytes(31), 0, "parent must be 32 bytes, not 31 bytes"),
        ("0x00", 0, "parent must be 32 bytes, not '0x00'"),
        (bytes(32), -1, "height = -1 is outside"),
        (bytes(32), 2**64, "height = 18446744073709551616 is outside"),
    ],
)
def test_wrong_parent_and_height_are_refused(parent, height, words):
    with pytest.raises(ParameterError, match=words):
        match_block(b"").root(parent, height)
