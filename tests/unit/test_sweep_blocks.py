"""How markets are cut into blocks: every market once, a chunk a block, by the design alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwarp.spec.errors import ParameterError
from bookwarp.sweeping.blocks import Blocks, block_markets, check_block_markets

SHAPES = st.lists(st.integers(1, 7), min_size=1, max_size=4).map(tuple)


@given(SHAPES, st.integers(1, 400))
def test_every_block_is_a_chunk_of_consecutive_markets(shape, markets):
    blocks = Blocks.of(shape, markets)
    numbers = np.arange(np.prod(shape)).reshape(shape)
    seen = []
    for block in range(blocks.count):
        place, extent = blocks.place(block), blocks.extent(block)
        corner = [cell * chunk for cell, chunk in zip(place, blocks.chunk, strict=True)]
        box = tuple(slice(at, at + n) for at, n in zip(corner, extent, strict=True))
        first, stop = blocks.markets(block)
        assert numbers[box].reshape(-1).tolist() == list(range(first, stop))
        assert numbers[box].shape == extent
        assert 1 <= stop - first <= max(markets, 1)
        seen += range(first, stop)
    assert seen == list(range(numbers.size))


def test_blocks_are_as_large_as_they_may_be_and_about_equal():
    assert Blocks.of((15, 3, 64), 10_000).chunk == (15, 3, 64)
    assert Blocks.of((15, 3, 64), 1000).chunk == (5, 3, 64)
    assert Blocks.of((15, 3, 64), 100).chunk == (1, 1, 64)
    assert Blocks.of((15, 3, 64), 63).chunk == (1, 1, 32)


def test_a_block_is_work_for_seconds_and_neither_too_many_nor_too_large():
    assert block_markets(640_000, 256_000, 100) == 2**31 // 256_000
    assert block_markets(10**9, 256_000, 100) == 10**9 // 2**14
    assert block_markets(10**6, 8, 1000) == 2**26 // 1000
    assert block_markets(10, 2**40, 100) == 1
    assert block_markets(10, 0, 8) == 2**23


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "8"])
def test_no_number_of_markets_is_refused(value):
    with pytest.raises(ParameterError, match="block_markets must be a positive integer"):
        check_block_markets(value)
