"""Flat blocks against the plain matcher, byte for byte, on the engines of the processor."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from bookwarp.consensus.flat import FlatBooks, match_block
from bookwarp.reference.flat import match_flat
from bookwarp.testing.flat_orders import flat_blocks, random_flat_orders

WAYS = [("reference", 65_536, 1), ("cpu", 65_536, 2), ("cpu", 7, 1), ("cpu", 1, 2)]


def follow(blocks, engine, tile, threads, first_trade_id=5):
    """Execute blocks, and hold each against the plain matcher."""
    books = blocks[0].books
    running = FlatBooks(
        books, first_trade_id=first_trade_id, tile=tile, engine=engine, threads=threads
    )
    resting = [b""] * books
    for block in blocks:
        expected = match_flat(
            block.orders.tobytes(), block.book.tolist(), resting, running.next_trade_id
        )
        done = running.execute(block.orders, block.book)
        found = [running.resting(book).tobytes() for book in range(books)]
        assert done.orders.tobytes() == expected[0]
        assert done.trades.tobytes() == expected[1]
        assert found == expected[2]
        resting = found
    return running


@pytest.mark.parametrize("engine, tile, threads", WAYS)
@settings(max_examples=30)
@given(blocks=flat_blocks())
def test_blocks_are_those_of_the_plain_matcher(engine, tile, threads, blocks):
    follow(blocks, engine, tile, threads)


@pytest.mark.parametrize("ids", [3, 2**64 - 1])
@pytest.mark.parametrize("engine, tile, threads", WAYS[1:])
def test_long_blocks_are_those_of_the_plain_matcher(engine, tile, threads, ids):
    blocks = [random_flat_orders(4_000, 30, seed, ids=ids) for seed in range(3)]
    running = follow(blocks, engine, tile, threads)
    assert running.next_trade_id > 5_000


@pytest.mark.parametrize("tile", [65_536, 50])
def test_few_books_of_many_are_those_of_the_plain_matcher(tile):
    """The engine then has more books than the block, and these lie elsewhere in it."""
    blocks = [random_flat_orders(2_000, 200, seed) for seed in range(3)]
    blocks[1] = replace(blocks[1], book=blocks[1].book // 10 * 7)
    follow(blocks, "cpu", tile, 1)


@settings(max_examples=30)
@given(blocks=flat_blocks(max_blocks=1))
def test_digest_depends_on_neither_engine_nor_tile_nor_threads(blocks):
    (block,) = blocks
    digests = {
        match_block(
            *(block.orders, block.book), books=4, engine=engine, tile=tile, threads=threads
        ).digest()
        for engine, tile, threads in WAYS
    }
    assert len(digests) == 1


@settings(max_examples=30)
@given(blocks=flat_blocks(max_blocks=1))
def test_quantity_is_conserved(blocks):
    (block,) = blocks
    done = match_block(block.orders, block.book, books=4)
    traded = block.orders["remaining"].sum() - done.orders["remaining"].sum()
    assert traded == 2 * done.trades["quantity"].sum()
    np.testing.assert_array_equal(done.received, block.orders)
