"""A block of 256-bit orders for many books: results by arrival, and one digest."""

import hashlib
import struct

import numpy as np
import pytest

from bookwarp import ParameterError
from bookwarp.consensus import U256Books, execute_calldata


def order(side, price, quantity):
    numbers = price.to_bytes(32, "big") + quantity.to_bytes(32, "big")
    return bytes([side]) + numbers + bytes(52)


def drawn_block(orders, books, seed):
    random = np.random.default_rng(seed)
    rows = [
        order(int(side), int(price) << 130, int(quantity) << 100)
        for side, price, quantity in random.integers([0, 1, 1], [2, 9, 9], (orders, 3))
    ]
    calldata = np.frombuffer(b"".join(rows), np.uint8).reshape(orders, 117)
    return calldata, random.integers(0, books, orders)


def test_results_are_by_arrival_and_those_of_each_book_alone():
    calldata, book = drawn_block(300, 7, 1)
    block = execute_calldata(U256Books(7, 8), calldata, book)
    for number in range(7):
        mine = book == number
        alone = execute_calldata(U256Books(1, 8), calldata[mine])
        np.testing.assert_array_equal(block.results[mine], alone.results)
    assert block.results[:, 64:68].any()


@pytest.mark.parametrize("tile", [1, 3, 65_536])
@pytest.mark.parametrize("threads", [1, 2])
def test_digest_depends_on_neither_engine_nor_tile_nor_threads(book_engine, tile, threads):
    calldata, book = drawn_block(300, 7, 2)
    expected = execute_calldata(U256Books(7, 8, engine="reference"), calldata, book).digest
    books = U256Books(7, 8, engine=book_engine, threads=threads)
    assert execute_calldata(books, calldata, book, tile).digest == expected


def test_digest_is_that_of_results_and_books():
    calldata, book = drawn_block(50, 3, 3)
    books = U256Books(3, 8)
    block = execute_calldata(books, calldata, book)
    hasher = hashlib.sha256(b"bookwarp u256 block 1\n" + struct.pack("<Q", 50))
    hasher.update(block.results.tobytes() + bytes.fromhex(books.digest()))
    assert block.digest == hasher.hexdigest()


def test_wrong_block_changes_no_book():
    books = U256Books(3, 8)
    before = books.digest()
    with pytest.raises(ParameterError, match="order 1: book 3 does not exist"):
        execute_calldata(books, order(0, 1, 1) * 2, [0, 3])
    assert books.digest() == before
