"""The cuda engine for books of 256-bit numbers, its kernels as C++ on a played GPU."""

import json
from importlib.resources import files
from random import Random

import numpy as np
import pytest
from emulated_kernels import EmulatedCode, needs_compiler
from emulated_u256 import EmulatedU256Gpu, in_cpp, play_gpu
from u256_arithmetic import ADD_BACK, arithmetic_source, check_arithmetic

from bookwarp.engines.cuda.u256 import compile as compiling
from bookwarp.engines.cuda.u256 import engine
from bookwarp.engines.cuda.u256.engine import CudaU256Engine
from bookwarp.engines.cuda.u256.kernel_key import MATCHING
from bookwarp.engines.cuda.u256.known_answer import (
    BOOKS,
    CAPACITY,
    KNOWN_ANSWER,
    answer_of,
    known_orders,
)
from bookwarp.engines.cuda.u256.passes import Passes, find_passes
from bookwarp.engines.registry import u256_engine_class
from bookwarp.reference.u256_engine import ReferenceU256Engine
from bookwarp.spec.errors import EngineError
from bookwarp.spec.u256 import FILL_COUNT_AT, ORDER_BYTES, arena_bytes
from bookwarp.testing.u256_orders import draw_orders, pack_order

LARGEST = 2**256 - 1
CHECK_KNOWN_ANSWER = engine.check_known_answer


@pytest.fixture
def played(monkeypatch):
    play_gpu(monkeypatch)
    return monkeypatch


def as_rows(orders):
    """Return bytes of orders as uint8 [order, 117]."""
    return np.frombuffer(bytes(orders), np.uint8).reshape(-1, ORDER_BYTES)


def draw_batch(random, books, orders):
    """Return orders of many books and the book of each, as they come in any sequence."""
    counts = [random.randint(0, 2 * orders // books) for _ in range(books)]
    rows = np.concatenate([as_rows(draw_orders(random, count)) for count in counts])
    arrival = np.random.default_rng(random.randrange(2**32)).permutation(len(rows))
    return rows[arrival], np.repeat(np.arange(books), counts)[arrival]


def assert_same(one, other, books):
    np.testing.assert_array_equal(one.read_arenas(0, books), other.read_arenas(0, books))


def test_engine_is_registered():
    assert u256_engine_class("cuda") is CudaU256Engine


def test_engine_says_why_it_does_not_work_here(monkeypatch):
    monkeypatch.setattr(engine, "unavailable_reason", lambda: "there is no GPU")
    with pytest.raises(EngineError, match="engine 'cuda' is not available: there is no GPU"):
        CudaU256Engine(1, 1)


def test_engine_refuses_options_it_has_not(played):
    with pytest.raises(EngineError, match="engine 'cuda' has no options colour"):
        CudaU256Engine(1, 1, colour="red")


@needs_compiler
@pytest.mark.parametrize("single", [True, False])
def test_vectors(played, single):
    text = (files("bookwarp.consensus") / "vectors" / "u256.json").read_text(encoding="utf-8")
    for vector in json.loads(text)["vectors"]:
        running = CudaU256Engine(1, vector["cap"])
        steps = vector["steps"]
        rows = as_rows(b"".join(bytes.fromhex(step["calldata"]) for step in steps))
        parts = np.split(rows, len(rows)) if single else [rows]
        found = np.concatenate([running.match(part, None) for part in parts])
        expected = [step["out_exact"] for step in steps]
        assert [row.tobytes().hex() for row in found] == expected, vector["name"]


@needs_compiler
@pytest.mark.parametrize("tile", [None, 1, 7, 64])
@pytest.mark.parametrize("capacity", [1, 2, 5, 33])
def test_random_orders_in_any_sequence(played, capacity, tile):
    random = Random(100 * capacity + (tile or 0))
    books = random.choice((3, 40, 300))
    running, reference = CudaU256Engine(books, capacity), ReferenceU256Engine(books, capacity)
    for _ in range(2):
        rows, book = draw_batch(random, books, 900)
        expected = reference.match(rows, book)
        np.testing.assert_array_equal(running.match(rows, book, tile), expected)
        assert_same(running, reference, books)


@needs_compiler
@pytest.mark.parametrize("tile", [None, 32, 45])
@pytest.mark.parametrize("count", [1, 31, 32, 100])
def test_random_orders_in_passes(played, count, tile):
    """Rows then begin at any byte of 16, and warps may have few books."""
    random = Random(count)
    books, first = count + 5, 3
    running, reference = CudaU256Engine(books, 9), ReferenceU256Engine(books, 9)
    for passes in (1, 2, 11):
        rows = as_rows(draw_orders(random, count * passes))
        book = np.tile(np.arange(first, first + count), passes)
        expected = reference.match(rows, book)
        np.testing.assert_array_equal(running.match(rows, book, tile), expected)
        assert_same(running, reference, books)


@needs_compiler
def test_one_book_takes_a_long_sequence(played):
    rows = as_rows(draw_orders(Random(5), 3_000))
    running, reference = CudaU256Engine(1, 40), ReferenceU256Engine(1, 40)
    np.testing.assert_array_equal(running.match(rows, None), reference.match(rows, None))
    assert_same(running, reference, 1)


@needs_compiler
@pytest.mark.parametrize("most", [1, 7, 300])
def test_pieces_of_a_batch_are_one_batch(played, most):
    played.setattr(engine, "MOST_ORDERS", most)
    rows, book = draw_batch(Random(3), 5, 400)
    running, reference = CudaU256Engine(5, 8), ReferenceU256Engine(5, 8)
    np.testing.assert_array_equal(running.match(rows, book), reference.match(rows, book))
    assert_same(running, reference, 5)


@needs_compiler
def test_books_go_from_engine_to_engine_as_arenas(played):
    random = Random(9)
    one, other = CudaU256Engine(20, 6), CudaU256Engine(25, 6)
    reference = ReferenceU256Engine(20, 6)
    for batch in range(3):
        rows, book = draw_batch(random, 20, 300)
        np.testing.assert_array_equal(one.match(rows, book), reference.match(rows, book))
        other.write_arenas(batch, one.read_arenas(0, 20))
        arenas = other.read_arenas(batch, batch + 20)
        np.testing.assert_array_equal(arenas, reference.read_arenas(0, 20))
        one.write_arenas(4, arenas[4:9])
    assert one.read_arenas(7, 7).shape == (0, arena_bytes(6))


@needs_compiler
def test_arenas_go_in_pieces(played):
    rows, book = draw_batch(Random(4), 9, 200)
    running, reference = CudaU256Engine(9, 4), ReferenceU256Engine(9, 4)
    running.match(rows, book)
    reference.match(rows, book)
    played.setattr("bookwarp.engines.cuda.u256.books_on_gpu._PIECE_BYTES", 2 * arena_bytes(4))
    assert_same(running, reference, 9)
    running.write_arenas(0, reference.read_arenas(0, 9)[::-1])
    np.testing.assert_array_equal(running.read_arenas(0, 9), reference.read_arenas(0, 9)[::-1])


@needs_compiler
def test_no_orders_give_no_results(played):
    running = CudaU256Engine(3, 2)
    for book in (None, np.zeros(0, np.int64)):
        assert running.match(np.zeros((0, ORDER_BYTES), np.uint8), book).shape == (0, 68)


@needs_compiler
@pytest.mark.parametrize("dividend, divisor", [each for each in ADD_BACK if each[0] <= LARGEST])
@pytest.mark.parametrize("is_bid", [True, False])
def test_average_whose_division_adds_back(played, dividend, divisor, is_bid):
    """An order fills `divisor` lots, all but one of them at the end of the prices."""
    side, first = (0, 0) if is_bid else (1, LARGEST)
    far = dividend if is_bid else LARGEST - dividend
    resting = [pack_order(1 - side, first, divisor - 1), pack_order(1 - side, far, 5)]
    rows = as_rows(b"".join([*resting, pack_order(side, LARGEST - first, divisor)]))
    found = CudaU256Engine(1, 4).match(rows, None)[2].tobytes()
    total = first * (divisor - 1) + far
    assert found == divisor.to_bytes(32) + (total // divisor).to_bytes(32) + (2).to_bytes(4)


@needs_compiler
def test_arithmetic():
    check_arithmetic(EmulatedCode(in_cpp(arithmetic_source())), EmulatedU256Gpu())


WRONG_ARITHMETIC = {
    "nothing is added back": ("add_back(part, divisor, count);", ""),
    "a guess is not corrected": ("if (rest >= WORD_BASE) break;", "break;"),
    "a carry is lost in a product": ("carry += at < with_carry;", ""),
    "a carry is lost beyond a product": ("wide[place] += carry;", "break;"),
    "a borrow is lost": ("| (without < borrow)", ""),
    "a carry is lost in a sum": ("| (sum.limb[place] < without)", ""),
}


@needs_compiler
@pytest.mark.parametrize("wrong", WRONG_ARITHMETIC)
def test_arithmetic_that_is_wrong_is_found(wrong):
    old, new = WRONG_ARITHMETIC[wrong]
    source = in_cpp(arithmetic_source())
    assert old in source
    with pytest.raises(AssertionError, match="0x"):
        check_arithmetic(EmulatedCode(source.replace(old, new)), EmulatedU256Gpu())


WRONG_COPIES = {
    "nobody waits for the rows": "await_all_but_last();",
    "nobody waits for the other lanes' rows": "__syncwarp();  // what other lanes copied is there",
    "results lie where orders are": "__syncwarp();  // all orders are taken",
    "results are not there yet": "__syncwarp();  // the results are there",
}


@needs_compiler
@pytest.mark.parametrize("wrong", WRONG_COPIES)
def test_a_wait_that_is_left_out_is_found(played, wrong):
    source = compiling.join_sources

    def join_wrong(key):
        text = source(key)
        return text.replace(WRONG_COPIES[wrong], "//" if "//" in WRONG_COPIES[wrong] else "")

    def load_wrong(key, arch):
        return EmulatedCode(in_cpp(join_wrong(key)))

    played.setattr(engine, "load_kernels", load_wrong)
    rows = as_rows(draw_orders(Random(2), 320))
    book = np.tile(np.arange(32), 10)
    expected = ReferenceU256Engine(32, 8).match(rows, book)
    try:
        found = CudaU256Engine(32, 8).match(rows, book)
    except AssertionError:
        return
    assert (found != expected).any()


def test_known_answer_is_the_references():
    assert answer_of(ReferenceU256Engine(BOOKS, CAPACITY)) == KNOWN_ANSWER
    orders, book = known_orders()
    results = ReferenceU256Engine(BOOKS, CAPACITY).match(orders, book)
    counts = results[:, FILL_COUNT_AT:].copy().view(">u4")
    assert counts.max() > 4


@needs_compiler
def test_kernels_answer_what_is_known_once(played):
    played.setattr(engine, "check_known_answer", CHECK_KNOWN_ANSWER)
    CHECK_KNOWN_ANSWER.cache_clear()
    for capacity in (1, 7):
        CudaU256Engine(2, capacity)
    assert CHECK_KNOWN_ANSWER.cache_info().misses == 1
    CHECK_KNOWN_ANSWER.cache_clear()


WRONG_CODE = {
    "ties go first": (
        "if (is_below(key, other)) high",
        "if (!is_below(other, key)) high",
    ),
    "a carry is lost in a sum of fills": ("high + (sum_low < low)", "high"),
    "a wide sum begins anew": ("wide[0] = average.low;", "wide[0] = 0;"),
    "an average of bids is rounded down": ("wide, filled, !order.is_bid)", "wide, filled, false)"),
    "a remainder goes": ("if (is_zero(qty) ||", "if (!is_zero(qty) ||"),
}


@needs_compiler
@pytest.mark.parametrize("wrong", WRONG_CODE)
def test_engine_is_not_made_of_kernels_that_fail_their_check(played, wrong):
    old, new = WRONG_CODE[wrong]

    def load_wrong(key, arch):
        source = compiling.join_sources(key)
        assert old in source or key != MATCHING
        return EmulatedCode(in_cpp(source.replace(old, new)))

    played.setattr(engine, "check_known_answer", CHECK_KNOWN_ANSWER)
    played.setattr(engine, "load_kernels", load_wrong)
    CHECK_KNOWN_ANSWER.cache_clear()
    message = "the kernels for 256-bit numbers on sm_90 fail their check: the code .* is wrong"
    with pytest.raises(EngineError, match=message):
        CudaU256Engine(5, 2)


@needs_compiler
@pytest.mark.parametrize("failing", range(1, 14, 2))
def test_books_are_as_they_were_when_memory_runs_out(played, failing):
    random = Random(6)
    running, reference = CudaU256Engine(5, 8), ReferenceU256Engine(5, 8)
    for rows, book in (draw_batch(random, 5, 100), draw_batch(random, 5, 4_000)):
        before = running.read_arenas(0, 5)
        claim, claims = EmulatedU256Gpu.claim, []

        def claim_some(gpu, nbytes, claim=claim, claims=claims):
            claims.append(nbytes)
            if len(claims) == failing:
                raise EngineError("GPU 0 has no memory left")
            return claim(gpu, nbytes)

        with played.context() as patch:
            patch.setattr(EmulatedU256Gpu, "claim", claim_some)
            try:
                found = running.match(rows, book)
            except EngineError as error:
                assert str(error).endswith(f"left (in a batch of {len(rows)} orders)")  # noqa: PT017
                np.testing.assert_array_equal(running.read_arenas(0, 5), before)
                found = None
            else:
                assert len(claims) < failing
        if found is None:
            found = running.match(rows, book)
        np.testing.assert_array_equal(found, reference.match(rows, book))
    assert_same(running, reference, 5)


@needs_compiler
@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("in_sequence", [True, False])
@pytest.mark.parametrize("alike", [True, False])
def test_timed_passes_are_orders_like_others(played, together, in_sequence, alike):
    rows = as_rows(draw_orders(Random(7), 150)).reshape(3, 50, ORDER_BYTES)
    if alike:
        rows = np.broadcast_to(rows[0], rows.shape)
    book = None if in_sequence else np.arange(50)[::-1] % 21
    running, reference = CudaU256Engine(50, 8), ReferenceU256Engine(50, 8)
    numbers = np.tile(np.arange(50) if in_sequence else book, 3)
    expected = reference.match(rows.reshape(150, -1), numbers)
    found, seconds = running.time_passes(rows, book, together)
    np.testing.assert_array_equal(found.reshape(150, -1), expected)
    assert seconds > 0
    assert_same(running, reference, 50)


@pytest.mark.parametrize(
    "book, passes",
    [
        ([0], Passes(0, 1, 1)),
        ([4, 5, 6], Passes(4, 3, 1)),
        ([4, 5, 6, 4, 5, 6], Passes(4, 3, 2)),
        ([7, 7, 7], Passes(7, 1, 3)),
        ([4, 5, 6, 4, 5], None),
        ([4, 5, 6, 4, 6, 5], None),
        ([0, 1, 0, 1, 0, 2], None),
        ([2, 1, 0], None),
        ([0, 0, 1, 1], None),
    ],
)
def test_passes_are_found(book, passes):
    assert find_passes(np.array(book), len(book)) == passes


def test_long_passes_are_found():
    book = np.tile(np.arange(10_000), 3)
    assert find_passes(book, len(book)) == Passes(0, 10_000, 3)
    book[-1] = 0
    assert find_passes(book, len(book)) is None
    assert find_passes(None, 9) == Passes(0, 1, 9)
