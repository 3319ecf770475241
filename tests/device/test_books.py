"""Continuous books on a GPU: every kernel against the reference, and large runs against cpu."""

import gc

import numpy as np
import pytest
from book_kernels import BOOK_KERNELS, force_book_kernel
from on_device import device_tests
from test_book_engines_agree import RULES
from test_book_kernels_on_emulated_warps import (
    test_book_outgrows_one_kernel_after_the_other,
    test_prices_far_from_each_other,
)
from test_book_kernels_on_emulated_warps import test_cases as test_cases
from test_book_kernels_on_emulated_warps import test_long_streams as test_long_streams

import bookwarp as bw
from bookwarp.engines.cuda.books import engine, transfer
from bookwarp.engines.cuda.books.engine import CudaBookEngine
from bookwarp.engines.cuda.gpu import Gpu
from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.errors import EngineError
from bookwarp.testing.book_parity import assert_book_engines_agree
from bookwarp.testing.order_streams import random_orders

pytestmark = device_tests

__all__ = ("test_book_outgrows_one_kernel_after_the_other", "test_prices_far_from_each_other")

MIB = 1 << 20


@pytest.fixture(params=BOOK_KERNELS)
def book_kernel(request, monkeypatch):
    """Runs a test on every kernel."""
    force_book_kernel(monkeypatch, request.param)
    return request.param


@pytest.fixture
def any_kernel():
    """Runs a test on the kernels of the engine's choice."""


def test_auto_is_the_gpu_for_many_books():
    assert [bw.Books(count).engine for count in (255, 256)] == ["cpu", "cuda"]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("number", range(len(RULES)))
def test_random_streams_of_many_books(number, seed):
    """All rules, many books, cut in pieces; the cpu engine is held against the reference."""
    books = (3, 200, 5_000, 70_000)[seed]
    stream = random_orders(120_000, books, seed=100 * seed + number)
    assert_book_engines_agree(
        stream.orders,
        BookRules.of(**RULES[number]),
        books,
        ("cpu", CudaBookEngine),
        owners=stream.owners,
        cuts=(1, 40_000, 40_001, 90_000),
        levels=(0, 1, 3)[number % 3],
        threads=8,
    )


def test_a_million_messages_to_one_book_and_to_a_million():
    for books in (1, 1_000_000):
        stream = random_orders(1_000_000, books, seed=2)
        assert_book_engines_agree(
            stream.orders, BookRules(), books, ("cpu", CudaBookEngine), cuts=(600_000,), threads=8
        )


@pytest.mark.parametrize("books", [256, 257, 65_536, 65_537])
def test_grouping_at_the_ends_of_its_digits(books):
    stream = random_orders(50_000, books, seed=3)
    stream.orders["book"][::100] = books - 1
    assert_book_engines_agree(
        stream.orders, BookRules(), books, ("cpu", CudaBookEngine), cuts=(25_000,), threads=8
    )


def test_what_does_not_fit_at_once_goes_in_pieces(monkeypatch):
    monkeypatch.setattr(engine, "MOST_MESSAGES", 7_000)
    stream = random_orders(30_000, 500, seed=6)
    assert_book_engines_agree(
        stream.orders, BookRules(), 500, ("cpu", CudaBookEngine), levels=1, threads=8
    )


def test_books_are_as_they_were_when_memory_runs_out(monkeypatch):
    stream = random_orders(20_000, 50, seed=7)
    running = CudaBookEngine(BookRules(), 50)
    running.match(stream.orders[:9_000], None)
    before = running.read_state()
    claim = Gpu.claim

    def claim_little(gpu, nbytes):
        return claim(gpu, nbytes if nbytes < MIB else 1 << 50)

    with monkeypatch.context() as patch:
        patch.setattr(Gpu, "claim", claim_little)
        with pytest.raises(EngineError, match="memory"):
            running.match(np.tile(stream.orders[9_000:], 8), None)
    assert running.read_state().digest(b"") == before.digest(b"")
    expected = CudaBookEngine(BookRules(), 50)
    expected.match(stream.orders, None)
    running.match(stream.orders[9_000:], None)
    assert running.read_state().digest(b"") == expected.read_state().digest(b"")


def test_tables_come_and_go_whole():
    """Of sizes below, at and above what a thread copies at a time."""
    gpu = transfer.TableGpu(0, 3)
    rng = np.random.default_rng(1)
    for nbytes in (8, transfer.PINNED_BYTES, transfer.CHUNK_BYTES, 7 * transfer.CHUNK_BYTES + 24):
        sent = rng.integers(0, 256, nbytes, dtype=np.uint8).view(np.int64)
        sent.flags.writeable = False
        memory = engine.Memory(gpu, nbytes)
        gpu.send(memory, sent)
        found = gpu.fetch_table(memory, np.dtype(np.int64), len(sent))
        np.testing.assert_array_equal(found, sent)
        assert found.flags.writeable


def test_pinned_memory_is_used_again_when_nobody_has_it():
    gpu = transfer.TableGpu(0)
    count = transfer.PINNED_BYTES
    memory = engine.Memory(gpu, 8 * count)
    gpu.send(memory, np.arange(count))
    one = gpu.fetch_table(memory, np.dtype(np.int64), count)
    part = one[5:9]
    place = one.ctypes.data
    del one
    gc.collect()
    other = gpu.fetch_table(memory, np.dtype(np.int64), count)
    assert other.ctypes.data != place
    assert part.tolist() == [5, 6, 7, 8]
    del part
    gc.collect()
    assert gpu.fetch_table(memory, np.dtype(np.int64), count).ctypes.data == place
