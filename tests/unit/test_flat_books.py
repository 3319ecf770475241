"""Books of flat rows from block to block, and in files."""

import signal
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from flat_rows import ASK, BID, order

from bookwarp import ParameterError, StoreError
from bookwarp.consensus.flat import FlatBooks, match_block
from bookwarp.testing.flat_orders import random_flat_orders

BLOCKS = [random_flat_orders(300, 20, seed) for seed in range(4)]


def test_books_go_on_where_the_last_block_ended():
    books = FlatBooks(20, first_trade_id=9)
    state, base = None, 9
    for block in BLOCKS:
        done = books.execute(block.orders, block.book)
        expected = match_block(block.orders, block.book, state, books=20, base_trade_id=base)
        assert done.digest() == expected.digest()
        state, base = expected.state, base + len(expected.trades)
    assert (books.next_trade_id, books.block_count) == (base, 4)
    assert base > 200


def test_blocks_in_pieces_trade_and_rest_as_the_whole():
    whole, pieces = FlatBooks(20), FlatBooks(20)
    block = BLOCKS[0]
    done = whole.execute(block.orders, block.book)
    cuts = [0, 1, 2, 120, 120, 300]
    found = [
        pieces.execute(block.orders[first:stop], block.book[first:stop])
        for first, stop in pairwise(cuts)
    ]
    trades = np.concatenate([each.trades for each in found])
    assert trades.tobytes() == done.trades.tobytes()
    assert pieces.state.orders.tobytes() == whole.state.orders.tobytes()
    np.testing.assert_array_equal(pieces.state.order_offsets, whole.state.order_offsets)


def test_books_can_open_with_what_rests_elsewhere():
    one = FlatBooks(20)
    one.execute(BLOCKS[0].orders, BLOCKS[0].book)
    other = FlatBooks(20, state=one.state, first_trade_id=one.next_trade_id)
    found = [each.execute(BLOCKS[1].orders, BLOCKS[1].book) for each in (one, other)]
    assert found[0].digest() == found[1].digest()
    with pytest.raises(ParameterError, match="books = 19, but state has 20"):
        FlatBooks(19, state=one.state)
    crossed = replace(one.state, orders=one.state.orders[::-1])
    with pytest.raises(ParameterError, match=r"resting orders .* are not in order"):
        FlatBooks(20, state=crossed)
    with pytest.raises(ParameterError, match="state must be a FlatState, not FlatBooks"):
        FlatBooks(20, state=one)


def test_interrupt_waits_for_the_engine_and_leaves_the_books_as_they_were(
    python_interrupts, monkeypatch
):
    books = FlatBooks(20, engine="cpu")
    books.execute(BLOCKS[0].orders, BLOCKS[0].book)
    before, matched = books.state, []
    made = books._matcher._engine.match

    def interrupted(*arguments, **options):
        signal.raise_signal(signal.SIGINT)
        matched.append(made(*arguments, **options))
        return matched[-1]

    with monkeypatch.context() as patch:
        patch.setattr(books._matcher._engine, "match", interrupted)
        with pytest.raises(KeyboardInterrupt):
            books.execute(BLOCKS[1].orders, BLOCKS[1].book)
    assert len(matched) == 1
    assert books.state is before
    expected = match_block(
        BLOCKS[1].orders, BLOCKS[1].book, before, base_trade_id=books.next_trade_id
    )
    assert books.execute(BLOCKS[1].orders, BLOCKS[1].book).digest() == expected.digest()


def test_saved_books_go_on_as_if_nothing_had_happened(tmp_path):
    books = FlatBooks(20, first_trade_id=3)
    for block in BLOCKS[:2]:
        books.execute(block.orders, block.book)
    books.save(tmp_path / "here.flat")
    loaded = FlatBooks.load(tmp_path / "here.flat", engine="reference", tile=3)
    assert (loaded.books, loaded.block_count) == (20, 2)
    for block in BLOCKS[2:]:
        there = loaded.execute(block.orders, block.book)
        assert there.digest() == books.execute(block.orders, block.book).digest()
        assert there.trades.tobytes()
    loaded.save(tmp_path / "here.flat")


def test_books_in_which_nothing_rests_can_be_saved(tmp_path):
    FlatBooks(3).save(tmp_path / "empty.flat")
    assert FlatBooks.load(tmp_path / "empty.flat").books == 3


def test_damaged_file_is_refused(tmp_path):
    path = tmp_path / "here.flat"
    books = FlatBooks(1)
    books.execute(order(1, BID, 5, 5))
    books.save(path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(StoreError, match="is damaged"):
        FlatBooks.load(path)
    path.write_bytes(b"something else")
    with pytest.raises(StoreError, match="is not a file of flat books"):
        FlatBooks.load(path)
    with pytest.raises(StoreError, match="there is no file of flat books"):
        FlatBooks.load(tmp_path / "nowhere")


def test_file_of_a_newer_format_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "here.flat"
    with monkeypatch.context() as patch:
        patch.setattr("bookwarp.results.flat_store.FORMAT", 2)
        FlatBooks(1).save(path)
    with pytest.raises(StoreError, match="format 2"):
        FlatBooks.load(path)


def test_resting_orders_of_a_book_are_listed():
    books = FlatBooks(2)
    rows = order(1, ASK, 9, 1) + order(2, BID, 8, 1) + order(3, ASK, 9, 1)
    books.execute(rows, 1)
    assert books.resting(1)["order_id"].tolist() == [2, 1, 3]
    assert not len(books.resting(0))
    with pytest.raises(ParameterError, match=r"book = 2 is outside 0 \.\. 1"):
        books.resting(2)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"books": 0}, "books = 0 is outside"),
        ({"books": 1, "first_trade_id": 2**64}, "first_trade_id = 18446744073709551616"),
        ({"books": 1, "tile": True}, "tile must be an integer"),
    ],
)
def test_wrong_arguments_are_refused(arguments, words):
    with pytest.raises(ParameterError, match=words):
        FlatBooks(**arguments)


def test_representation_says_how_far_the_books_are():
    books = FlatBooks(3, engine="cpu")
    assert repr(books.execute(b"", 0)) == "<FlatBlock of 0 orders: 0 trades>"
    assert repr(books) == "<FlatBooks: 3 on engine cpu, 1 blocks>"
