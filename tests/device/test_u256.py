"""Books of 256-bit numbers on a GPU: the vectors, arithmetic, and long runs against cpu."""

from random import Random

import numpy as np
import pytest
import test_cuda_u256
from on_device import device_tests
from test_cuda_u256 import as_rows, assert_same, draw_batch
from u256_arithmetic import arithmetic_source, check_arithmetic

from bookwarp.consensus import U256Books
from bookwarp.engines.cuda.books.transfer import TableGpu
from bookwarp.engines.cuda.compile import compile_source
from bookwarp.engines.cuda.u256.engine import CudaU256Engine
from bookwarp.engines.registry import u256_engine_class
from bookwarp.reference.u256_engine import ReferenceU256Engine
from bookwarp.testing.u256_orders import draw_orders

pytestmark = device_tests

# What is asked of the engine on a played GPU, on this one.
_SAME = (
    "test_vectors",
    "test_random_orders_in_any_sequence",
    "test_random_orders_in_passes",
    "test_one_book_takes_a_long_sequence",
    "test_pieces_of_a_batch_are_one_batch",
    "test_books_go_from_engine_to_engine_as_arenas",
    "test_arenas_go_in_pieces",
    "test_no_orders_give_no_results",
    "test_average_whose_division_adds_back",
    "test_timed_passes_are_orders_like_others",
)
globals().update({name: getattr(test_cuda_u256, name) for name in _SAME})
played = pytest.fixture(lambda monkeypatch: monkeypatch, name="played")


def draw_many(seed, orders, books, scale_bits):
    """Return random orders, quickly: near prices of `scale_bits` bits, quantities of any size."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 256, (orders, 117), dtype=np.uint8)
    rows[:, 0] = rng.integers(0, 2, orders)
    rows[:, 1:33] = 0
    at = 33 - scale_bits // 8
    rows[:, at] = 1
    rows[:, at + 1] = rng.integers(100, 120, orders)
    rows[:, at + 2 : 33] = rng.integers(0, 3, (orders, 1), dtype=np.uint8)
    width = rng.integers(0, 33, orders)
    rows[:, 33:65][np.arange(32) < 32 - width[:, None]] = 0
    return rows, rng.integers(0, books, orders)


def test_arithmetic():
    from cuda.core import ObjectCode

    gpu = TableGpu(0)
    with gpu:
        code, _ = compile_source(arithmetic_source(), gpu.arch, "256-bit arithmetic")
        check_arithmetic(ObjectCode.from_cubin(code), gpu, pairs=100_000, seed=3)


@pytest.mark.parametrize("tile", [None, 1_000, 65_536])
@pytest.mark.parametrize("books, capacity", [(1, 100), (50, 1), (3_000, 7), (100_000, 32)])
@pytest.mark.parametrize("bits", [64, 256])
def test_many_orders_agree_with_the_cores(books, capacity, tile, bits):
    running = CudaU256Engine(books, capacity)
    expected = u256_engine_class("cpu")(books, capacity)
    for part in range(2):
        rows, book = draw_many(10 * part + books + bits, 300_000, books, bits)
        np.testing.assert_array_equal(running.match(rows, book, tile), expected.match(rows, book))
        assert_same(running, expected, books)


@pytest.mark.parametrize("seed", range(6))
def test_numbers_of_all_sizes_agree_with_the_reference(seed):
    random = Random(seed)
    books, capacity = random.choice((1, 60, 900)), random.choice((1, 3, 40))
    running, reference = CudaU256Engine(books, capacity), ReferenceU256Engine(books, capacity)
    for _ in range(2):
        rows, book = draw_batch(random, books, 20_000)
        expected = reference.match(rows, book)
        np.testing.assert_array_equal(running.match(rows, book), expected)
        assert_same(running, reference, books)


@pytest.mark.parametrize("count", [1_000, 65_536, 100_001])
def test_many_passes_agree_with_the_cores(count):
    running, expected = CudaU256Engine(count, 16), u256_engine_class("cpu")(count, 16)
    for passes in (1, 6):
        rows, _ = draw_many(count + passes, passes * count, 1, 72)
        book = np.tile(np.arange(count), passes)
        np.testing.assert_array_equal(running.match(rows, book), expected.match(rows, book))
        assert_same(running, expected, count)


def test_single_orders_agree_with_the_reference():
    rows = as_rows(draw_orders(Random(8), 2_000))
    book = np.random.default_rng(8).integers(0, 4, len(rows))
    running, reference = CudaU256Engine(4, 9), ReferenceU256Engine(4, 9)
    found = np.concatenate([running.match(rows[i : i + 1], book[i : i + 1]) for i in range(2_000)])
    np.testing.assert_array_equal(found, reference.match(rows, book))
    assert_same(running, reference, 4)


def test_books_are_saved_and_loaded_by_other_engines(tmp_path):
    rows, book = draw_many(5, 40_000, 700, 200)
    here = U256Books(700, 12, engine="cuda")
    here.match(rows[:20_000], book[:20_000])
    here.save(tmp_path / "books")
    there = U256Books.load(tmp_path / "books", engine="cpu")
    assert there.digest() == here.digest()
    back = U256Books.load(tmp_path / "books", engine="cuda")
    wanted = there.match(rows[20_000:], book[20_000:])
    for each in (here, back):
        np.testing.assert_array_equal(each.match(rows[20_000:], book[20_000:]), wanted)
        assert each.digest() == there.digest()
