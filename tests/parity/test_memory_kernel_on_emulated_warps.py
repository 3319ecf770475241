"""The kernel of products some rows apart, run by emulated warps, where its chunks and words end."""

import re

import numpy as np
import pytest
from emulated_kernels import EmulatedCode, needs_compiler

from bookwarp.engines.cuda.measures.compile import join_sources
from bookwarp.engines.cuda.measures.layout import entries_of
from bookwarp.engines.measure_protocol import row_sums
from bookwarp.spec.measure_sums import LAGS, sum_shapes

pytestmark = needs_compiler

LANES = 32
LAGS_OF_A_WARP = 8
WARPS = -(-LAGS // LAGS_OF_A_WARP)
ROWS_OF_A_WARP = int(re.search(r"LOADED = (\d+);", join_sources())[1])
CHUNK = WARPS * (ROWS_OF_A_WARP - LAGS_OF_A_WARP)
MOST_PACKED = 127
MOST_SQUARED_IN_32_BITS = 46_340
UNTOUCHED = -(2**62)
NAMES = list(sum_shapes(("memory",)))


def sum_memory(last, first=0, count=None):
    """Return what the kernel writes for some markets: int64 [sum, place], of a whole piece."""
    rows, markets = last.shape
    count = markets - first if count is None else count
    blocks = -(-count // LANES)
    entries, piece = entries_of(("memory",)), blocks * LANES
    sums = np.full((entries, piece), UNTOUCHED, np.int64)
    last = np.ascontiguousarray(last, np.int64)
    sizes = map(np.uint32, (entries, piece, rows, markets, first, count))
    kernel = EmulatedCode(join_sources()).get_kernel("sum_memory")
    kernel(blocks, LANES * WARPS, last.ctypes.data, sums.ctypes.data, *sizes)
    return sums


def reference(last):
    """Return the same of the reference: Python integers [sum, market]."""
    made = row_sums("reference", {"last": np.asarray(last, np.int64)}, ("memory",))
    sums = made.sums(0, made.markets)
    return np.concatenate([sums[name] for name in NAMES])


def assert_as_reference(last):
    found, expected = sum_memory(last), reference(last)
    markets = last.shape[1]
    np.testing.assert_array_equal(found[:, :markets], expected.astype(np.int64))
    assert (found[:, markets:] == UNTOUCHED).all()


def prices(returns):
    """Return prices [row, market] with given returns [row, market]."""
    return np.concatenate([np.zeros_like(returns[:1]), returns]).cumsum(axis=0)


def random_returns(count, markets=3, most=5, seed=0):
    return np.random.default_rng(seed).integers(-most, most + 1, (count, markets))


EDGES = (0, 4, 8, LAGS, ROWS_OF_A_WARP, CHUNK, 2 * CHUNK)


@pytest.mark.parametrize("returns", sorted({max(0, e + by) for e in EDGES for by in range(-2, 3)}))
@pytest.mark.parametrize("most", [5, 2000])
def test_any_number_of_rows_is_summed(returns, most):
    made = random_returns(returns, most=most, seed=returns)
    assert_as_reference(prices(made) if returns else np.full((1, 3), 64))


@pytest.mark.parametrize("most", [MOST_PACKED - 1, MOST_PACKED, MOST_PACKED + 1])
@pytest.mark.parametrize("sign", [-1, 1])
def test_returns_of_a_byte_do_not_overflow(most, sign):
    """The largest sums that there are, of more rows than 32 bits have room for."""
    returns = 5 * CHUNK + 3
    assert returns * MOST_PACKED**3 > 2**31
    made = np.full((returns, 2), sign * most)
    made[:, 1] *= (-1) ** np.arange(returns)
    assert_as_reference(prices(made))


@pytest.mark.parametrize("most", [60, 100])
def test_sums_move_to_64_bits_after_some_chunks(most):
    """The larger the returns, the fewer chunks are summed in 32 bits."""
    returns = (2**31 // most**3 // CHUNK + 2) * CHUNK
    assert_as_reference(prices(np.full((returns, 1), most)))


LARGE = (MOST_PACKED + 1, -MOST_PACKED - 1, 300, MOST_SQUARED_IN_32_BITS, -MOST_SQUARED_IN_32_BITS)
LARGE_ROWS = sorted({edge * CHUNK + by for edge in (1, 2) for by in (-57, -56, -50, -49, -1, 0, 1)})


@pytest.mark.parametrize("row", [0, *LARGE_ROWS, 3 * CHUNK - 1])
@pytest.mark.parametrize("large", LARGE)
def test_a_large_return_changes_how_one_chunk_is_summed(row, large):
    made = random_returns(3 * CHUNK, seed=row)
    made[row, 1] = large
    assert_as_reference(prices(made))


def test_chunks_are_summed_in_either_way_in_turn():
    made = random_returns(6 * CHUNK, most=MOST_PACKED)
    for chunk in (0, 2, 3):
        made[chunk * CHUNK + 100 : chunk * CHUNK + 130] *= 50
    assert_as_reference(prices(made))


@pytest.mark.parametrize("markets", [1, 31, 32, 33, 64, 95])
@pytest.mark.parametrize("most", [5, 2000])
def test_blocks_may_be_filled_in_part(markets, most):
    assert_as_reference(prices(random_returns(CHUNK + 20, markets, most, seed=markets)))


@pytest.mark.parametrize("first, count", [(0, 1), (3, 32), (7, 40), (69, 1), (40, 30)])
@pytest.mark.parametrize("most", [5, 2000])
def test_some_markets_are_summed(first, count, most):
    last = prices(random_returns(90, 70, most))
    found, expected = sum_memory(last, first, count), reference(last[:, first : first + count])
    np.testing.assert_array_equal(found[:, :count], expected.astype(np.int64))
    assert (found[:, count:] == UNTOUCHED).all()


def test_markets_next_to_each_other_are_told_apart():
    """Every lane has returns of its own, whichever of them makes the block sum in 64 bits."""
    made = random_returns(2 * CHUNK, LANES + 5, most=20)
    made[CHUNK + 10, LANES - 1] = 9000
    assert_as_reference(prices(made))


@pytest.mark.parametrize("large", [2**31, 2**32, 2**40])
def test_returns_at_both_ends_are_whole(large):
    """They fit in 64 bits, whether or not sums of products do."""
    returns = CHUNK + 70
    made = random_returns(returns, most=3) * large
    found, expected = sum_memory(prices(made)), reference(prices(made))
    ends = slice(NAMES.index("head") * LAGS, None)
    np.testing.assert_array_equal(found[ends, :3], expected[ends].astype(np.int64))
