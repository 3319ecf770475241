"""Blocks of flat rows and of 256-bit orders on a GPU: the bytes of the plain matcher."""

import pytest
from on_device import device_tests
from test_calldata_block import drawn_block
from test_flat_blocks import follow

from bookwarp.consensus import U256Books, execute_calldata
from bookwarp.consensus.flat import FlatBooks
from bookwarp.testing.flat_orders import random_flat_orders

pytestmark = device_tests


@pytest.mark.parametrize("tile", [65_536, 7])
def test_long_blocks_are_those_of_the_plain_matcher(tile):
    blocks = [random_flat_orders(20_000, 30, seed, ids=5) for seed in range(3)]
    follow(blocks, "cuda", tile, None)


def test_short_blocks_are_those_of_the_plain_matcher():
    for seed in range(30):
        blocks = [random_flat_orders(1 + seed * 5, 4, seed * 10 + each) for each in range(3)]
        follow(blocks, "cuda", 65_536, None)


@pytest.mark.parametrize("tile", [65_536, 3_000])
def test_a_million_orders_give_the_digest_of_the_cores(tile):
    ways = {
        "cpu": FlatBooks(10_000, engine="cpu"),
        "cuda": FlatBooks(10_000, tile=tile, engine="cuda"),
    }
    for seed in range(3):
        block = random_flat_orders(1_000_000, 10_000, seed)
        found = {name: books.execute(block.orders, block.book) for name, books in ways.items()}
        assert found["cuda"].digest() == found["cpu"].digest()


@pytest.mark.parametrize("tile", [65_536, 100])
def test_calldata_gives_the_digest_of_the_cores(tile):
    calldata, book = drawn_block(100_000, 1_000, 4)
    digests = {
        execute_calldata(U256Books(1_000, 32, engine=engine), calldata, book, tile).digest
        for engine in ("cpu", "cuda")
    }
    assert len(digests) == 1
