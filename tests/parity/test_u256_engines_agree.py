"""Engines for 256-bit books against the reference: results and arenas, byte for byte."""

from random import Random

import numpy as np
import pytest

from bookwarp.consensus import U256Books
from bookwarp.spec.u256 import ORDER_BYTES
from bookwarp.testing.u256_orders import draw_orders


def draw_batch(seed, counts):
    """Draw orders for some books, in random order of arrival."""
    random = Random(seed)
    drawn = [np.frombuffer(draw_orders(random, count), np.uint8) for count in counts]
    calldata = np.concatenate(drawn).reshape(-1, ORDER_BYTES)
    book = np.repeat(np.arange(len(counts)), counts)
    arrival = np.random.default_rng(seed).permutation(len(book))
    return calldata[arrival], book[arrival]


def assert_equal_rows(found, expected):
    wrong = (found != expected).any(axis=1)
    assert not wrong.any(), f"row {int(np.argmax(wrong))} of {len(wrong)} differs"


@pytest.mark.parametrize("capacity", [1, 2, 7, 32, 300])
def test_random_orders_give_the_bytes_of_the_reference(fast_engine, capacity):
    calldata, book = draw_batch(capacity, [60] * 300)
    expected = U256Books(300, capacity, engine="reference")
    found = U256Books(300, capacity, engine=fast_engine, threads=2)
    fills = 0
    for part in np.array_split(np.arange(len(book)), 3):
        results = expected.match(calldata[part], book[part])
        assert_equal_rows(found.match(calldata[part], book[part]), results)
        fills += int(results[:, 64:].copy().view(">u4").sum())
    assert_equal_rows(found.arenas(), expected.arenas())
    assert fills > len(book) / 4, "orders meet"


@pytest.mark.parametrize("capacity", [3, 500])
def test_long_sequence_of_one_book_gives_the_bytes_of_the_reference(fast_engine, capacity):
    expected = U256Books(1, capacity, engine="reference")
    found = U256Books(1, capacity, engine=fast_engine)
    for seed in range(3):
        calldata, _ = draw_batch(100 + seed, [4000])
        assert_equal_rows(found.match(calldata), expected.match(calldata))
        assert found.arena() == expected.arena()


@pytest.mark.parametrize("tile", [1, 2, 100, 4096, 65_536])
@pytest.mark.parametrize("threads", [1, 3])
def test_tile_and_threads_change_nothing(fast_engine, tile, threads):
    calldata, book = draw_batch(1, [20] * 1500)
    expected = U256Books(1500, 8, engine=fast_engine, threads=1)
    found = U256Books(1500, 8, engine=fast_engine, threads=threads)
    assert_equal_rows(found.match(calldata, book, tile=tile), expected.match(calldata, book))
    assert found.digest() == expected.digest()


def test_orders_in_the_order_of_their_books_give_the_same(fast_engine):
    """Nothing is to be sorted then, and books that get no order are left alone."""
    calldata, book = draw_batch(2, [40, 0] * 400)
    stable = np.argsort(book, kind="stable")
    mixed = U256Books(800, 8, engine=fast_engine, threads=2)
    sorted_ = U256Books(800, 8, engine=fast_engine, threads=2)
    assert_equal_rows(
        sorted_.match(calldata[stable], book[stable]), mixed.match(calldata, book)[stable]
    )
    assert sorted_.digest() == mixed.digest()


def test_passes_over_the_books_in_order_give_the_same(fast_engine):
    """Each thread finds its own orders in the order of their books, and all together are not."""
    calldata, _ = draw_batch(5, [2] * 10_000)
    book = np.tile(np.arange(10_000), 2)
    alone = U256Books(10_000, 8, engine=fast_engine, threads=1)
    shared = U256Books(10_000, 8, engine=fast_engine, threads=2)
    assert_equal_rows(shared.match(calldata, book), alone.match(calldata, book))
    assert shared.digest() == alone.digest()


def test_book_goes_on_from_an_arena_of_the_reference(fast_engine):
    calldata, book = draw_batch(3, [50] * 40)
    expected = U256Books(40, 16, engine="reference")
    expected.match(calldata, book)
    found = U256Books(40, 16, engine=fast_engine)
    found.load_arenas(expected.arenas())
    assert_equal_rows(found.arenas(), expected.arenas())
    calldata, book = draw_batch(4, [50] * 40)
    assert_equal_rows(found.match(calldata, book), expected.match(calldata, book))
    assert_equal_rows(found.arenas(), expected.arenas())
