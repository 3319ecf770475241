"""The cuda engine for continuous books: what it does around its kernels, on a played GPU."""

import sys
from pathlib import Path

import numpy as np
import pytest
from book_kernels import force_book_kernel
from emulated_books import EmulatedTableGpu, play_gpu
from emulated_kernels import EmulatedCode, needs_compiler

from bookwarp.engines.cuda.books import engine, transfer
from bookwarp.engines.cuda.books.compile import join_sources
from bookwarp.engines.cuda.books.engine import CudaBookEngine
from bookwarp.engines.cuda.books.kernel_key import SLOT_LADDER, match_key, slot_ladder
from bookwarp.engines.cuda.books.known_answer import (
    BOOKS,
    KNOWN_ANSWERS,
    answer_of,
    known_rules,
    known_stream,
)
from bookwarp.engines.cuda.books.layout import NO_CAPACITY, lay_out_batch, lay_out_rooms
from bookwarp.engines.cuda.books.workspace import MESSAGE_BYTES
from bookwarp.engines.registry import book_engine_class
from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.book_state import empty_state
from bookwarp.spec.errors import EngineError
from bookwarp.spec.events import EventType
from bookwarp.spec.orders import Kind, TimeInForce
from bookwarp.testing.book_parity import assert_book_engines_agree
from bookwarp.testing.order_streams import random_orders

REPOSITORY = Path(__file__).resolve().parents[2]
# The benchmarks are programs and no part of the package: they import each other as such.
sys.path.insert(0, str(REPOSITORY / "benchmarks"))

from drawn_flow import draw_flow  # noqa: E402

CHECK_KNOWN_ANSWERS = engine.check_known_answers


@pytest.fixture
def played(monkeypatch):
    play_gpu(monkeypatch)
    return monkeypatch


def test_engine_is_registered():
    assert book_engine_class("cuda") is CudaBookEngine


def test_engine_says_why_it_does_not_work_here(monkeypatch):
    monkeypatch.setattr(engine, "unavailable_reason", lambda: "there is no GPU")
    with pytest.raises(EngineError, match="engine 'cuda' is not available: there is no GPU"):
        CudaBookEngine(BookRules(), 1)


@needs_compiler
@pytest.mark.parametrize("levels", [0, 2])
def test_pieces_of_a_batch_are_one_batch(played, levels):
    played.setattr(engine, "MOST_MESSAGES", 170)
    stream = random_orders(1_000, books=9, seed=4)
    assert_book_engines_agree(
        stream.orders, BookRules(), 9, ("reference", CudaBookEngine), levels=levels, cuts=(500,)
    )


@needs_compiler
def test_pieces_are_as_small_as_the_memory_wants(played):
    pieces = []

    class Watched(CudaBookEngine):
        def _match_piece(self, piece):
            pieces.append(len(piece.orders))
            return super()._match_piece(piece)

    running = Watched(BookRules(), 4)
    # What is free does not become less here, so that what is held comes on top.
    played.setattr(EmulatedTableGpu, "free", 100_000)
    stream = random_orders(1_500, books=4, seed=5)
    matched = running.match(stream.orders, None)
    assert len(pieces) > 1
    assert sum(pieces) == 1_500
    assert pieces[0] * MESSAGE_BYTES < 100_000
    expected = book_engine_class("reference")(BookRules(), 4).match(stream.orders, None)
    np.testing.assert_array_equal(matched.events, expected.events)


@needs_compiler
@pytest.mark.parametrize("most_messages", [1 << 30, 200])
@pytest.mark.parametrize("failing", range(30, 60, 7))
def test_books_are_as_they_were_when_memory_runs_out(played, most_messages, failing):
    played.setattr(engine, "MOST_MESSAGES", most_messages)
    stream = random_orders(900, books=5, seed=7)
    running = CudaBookEngine(BookRules(), 5)
    running.match(stream.orders[:300], None)
    before = running.read_state()
    claim, claims = EmulatedTableGpu.claim, []

    def claim_some(gpu, nbytes):
        claims.append(nbytes)
        if len(claims) == failing:
            raise EngineError("GPU 0 has no memory left")
        return claim(gpu, nbytes)

    with played.context() as patch:
        running._space.release()
        patch.setattr(EmulatedTableGpu, "claim", claim_some)
        try:
            running.match(stream.orders[300:], None)
        except EngineError as error:
            assert str(error).endswith("(in a batch of 600 messages)")  # noqa: PT017
            assert running.read_state().digest(b"") == before.digest(b"")
        else:
            assert len(claims) < failing
            running.write_state(before)
    running.match(stream.orders[300:], None)
    expected = book_engine_class("reference")(BookRules(), 5)
    expected.match(stream.orders, None)
    assert running.read_state().digest(b"") == expected.read_state().digest(b"")


WRONG_CODE = {
    "an order that leaves stays": ("if (lane == 0) slots->key[slot] = 0;", ""),
    "nothing is taken off an order": ("order.qty -= lots;", ""),
}


@needs_compiler
@pytest.mark.parametrize("wrong", WRONG_CODE)
def test_code_that_is_wrong_writes_nowhere_else_and_is_refused(played, wrong):
    """As a compiler once made it: a book that trades for ever."""
    old, new = WRONG_CODE[wrong]
    source = engine.load_kernels

    def load_wrong(key, arch):
        code = join_sources(key)
        return EmulatedCode(code.replace(old, new)) if old in code else source(key, arch)

    played.setattr(engine, "load_kernels", load_wrong)
    flow = draw_flow(books=40, messages=150, live=30)
    running = CudaBookEngine(BookRules(), 40)
    before = running.read_state()
    message = "books caused more events than they can: the code that was compiled for this GPU"
    with pytest.raises(EngineError, match=message):
        running.match(np.concatenate([flow.opening, flow.orders]), None)
    assert running.read_state().digest(b"") == before.digest(b"")
    running._space.release()  # where what stands behind every memory is looked at


WRONG_ANSWERS = {
    "128 slots": ("(order.tif == POST_ONLY ? 1 : 0)", "0"),
    "levels": (
        "int32 side = BUY; side >= SELL; side -= 2",
        "int32 side = SELL; side <= BUY; side += 2",
    ),
}


@needs_compiler
@pytest.mark.parametrize("kernel", WRONG_ANSWERS)
def test_engine_is_not_made_of_kernels_that_fail_their_check(played, kernel):
    old, new = WRONG_ANSWERS[kernel]

    def load_wrong(key, arch):
        return EmulatedCode(join_sources(key).replace(old, new))

    assert any(old in join_sources(match_key(BookRules(), n, True, False)) for n in (4, 0))
    played.setattr(engine, "check_known_answers", CHECK_KNOWN_ANSWERS)
    played.setattr(engine, "load_kernels", load_wrong)
    CHECK_KNOWN_ANSWERS.cache_clear()
    message = f"the kernel of {kernel} on sm_90 fails its check: the code .* is wrong"
    with pytest.raises(EngineError, match=message):
        CudaBookEngine(BookRules(), 5)


@needs_compiler
@pytest.mark.parametrize("qty", ["open", "total"])
def test_kernels_answer_what_is_known_once(played, qty):
    played.setattr(engine, "check_known_answers", CHECK_KNOWN_ANSWERS)
    CHECK_KNOWN_ANSWERS.cache_clear()
    for capacity in (None, 7):
        CudaBookEngine(BookRules.of(qty=qty, capacity=capacity, price_range=(0, 9)), 5)
    assert CHECK_KNOWN_ANSWERS.cache_info().misses == 1
    CHECK_KNOWN_ANSWERS.cache_clear()


@pytest.mark.parametrize("number", range(16))
@pytest.mark.parametrize("capacity", [None, (2, 3)])
def test_known_answer_is_the_references_under_all_rules(number, capacity):
    modify, qty = ("keep", "replace")[number & 1], ("open", "total")[number >> 1 & 1]
    stp = ("none", "cancel_resting", "cancel_incoming", "cancel_both")[number >> 2]
    given = BookRules.of(modify=modify, qty=qty, stp=stp, capacity=capacity, price_range=(3, 4))
    rules = known_rules(given)
    keys = [match_key(each, 4, events=True, depth=False) for each in (given, rules)]
    assert keys[0] == keys[1]
    orders = known_stream()
    reference = book_engine_class("reference")(rules, BOOKS)
    owners = np.zeros(len(orders), np.uint64) if rules.tracks_owner else None
    matched = reference.match(orders, owners)
    assert answer_of(matched, reference.read_state()) == KNOWN_ANSWERS[rules.tracks_filled]
    # It asks for all that a book does.
    assert {*matched.events["type"].tolist()} == set(EventType)
    assert {*orders["tif"].tolist()} == set(TimeInForce)
    assert {*orders["kind"].tolist()} == set(Kind)


@needs_compiler
@pytest.mark.parametrize("kernel", ["128 slots", "256 slots", "levels"])
def test_drawn_flow_stays_within_its_memory_and_is_the_reference(played, kernel):
    force_book_kernel(played, kernel)
    flow = draw_flow(books=64, messages=64)
    assert_book_engines_agree(
        np.concatenate([flow.opening, flow.orders]),
        BookRules(),
        64,
        ("cpu", CudaBookEngine),
        cuts=(len(flow.opening), len(flow.opening) + 1_000),
    )


@needs_compiler
def test_an_empty_batch_changes_nothing(played):
    stream = random_orders(0, books=3, seed=1)
    running = CudaBookEngine(BookRules(), 3)
    matched = running.match(stream.orders, None, levels=2)
    assert matched.events.shape == (0,)
    assert matched.event_offsets.tolist() == [0, 0, 0, 0]
    assert matched.levels.shape == (0, 2, 4)
    assert running.match(stream.orders, None, events=False).events is None
    assert running.read_state().digest(b"") == empty_state(3).digest(b"")


@needs_compiler
def test_events_and_levels_come_only_if_asked(played):
    stream = random_orders(200, books=3, seed=1)
    running = CudaBookEngine(BookRules(), 3)
    matched = running.match(stream.orders, None, events=False)
    assert matched.events is None
    assert matched.event_offsets is None
    assert matched.levels is None
    expected = book_engine_class("reference")(BookRules(), 3)
    expected.match(stream.orders, None)
    assert running.read_state().digest(b"") == expected.read_state().digest(b"")


def test_kernels_are_tried_from_the_smallest_that_most_books_fit():
    rules = BookRules()
    assert slot_ladder(rules, np.array([0, 50, 102])) == (*SLOT_LADDER, 0)
    assert slot_ladder(rules, np.array([103, 0])) == (8, 0)
    assert slot_ladder(rules, np.array([205, 0])) == (0,)
    # One book in ten may be larger.
    assert slot_ladder(rules, np.array([5_000] + 9 * [0])) == (*SLOT_LADDER, 0)
    assert slot_ladder(rules, np.array(2 * [5_000] + 9 * [0])) == (0,)


@pytest.mark.parametrize("capacity, ladder", [(1, (4, 0)), (128, (4, 0)), (129, (8, 0))])
def test_capacity_chooses_the_kernel(capacity, ladder):
    assert slot_ladder(BookRules.of(capacity=capacity), np.array([0])) == ladder


def test_capacity_beyond_all_slots_is_no_reason():
    assert slot_ladder(BookRules.of(capacity=257), np.array([0])) == (*SLOT_LADDER, 0)


def test_key_has_what_the_rules_say():
    rules = BookRules.of(modify="replace", qty="total", stp="cancel_both", capacity=(None, 4))
    macros = match_key(rules, 4, events=False, depth=True).macros()
    wanted = {"MODIFY_KEEPS": 0, "TRACK_FILLED": 1, "STP": 3, "LEVEL_CAPACITY": 1, "EVENTS": 0}
    assert {name: macros[name] for name in wanted} == wanted
    assert macros["DEPTH"] == macros["IN_SLOTS"] == 1


def test_batch_has_the_rules():
    batch = lay_out_batch(BookRules.of(capacity=(7, None), price_range=(-3, 4)), 9, 2, events=5)
    names = ("order_capacity", "level_capacity", "price_low", "price_high", "books", "events")
    assert [int(batch[name][0]) for name in names] == [7, NO_CAPACITY, -3, 4, 9, 5]


def test_rooms_lie_one_behind_the_other():
    orders = np.array([1, 2, 3, 1000, 1024, 1025], np.uint32)
    rooms, nbytes = lay_out_rooms(orders)
    assert rooms["orders"].tolist() == orders.tolist()
    assert rooms["hash_mask"].tolist() == [0, 1, 3, 1023, 1023, 2047]
    needed = (56 + 32 + 2 * 12) * orders.astype(np.int64) + 4 * (rooms["hash_mask"].astype(int) + 1)
    ends = [*rooms["address"][1:].tolist(), nbytes]
    assert (np.array(ends) - rooms["address"].astype(int) >= needed).all()
    assert (rooms["address"] % 256 == 0).all()


class PinnedGpu(transfer.TableGpu):
    """Lends memory of NumPy in place of pinned memory."""

    def __init__(self):
        self._free = []
        self.allocated = []

    def allocate_pinned(self, nbytes):
        self.allocated.append(nbytes)
        return np.zeros(nbytes, np.uint8)


def test_pinned_memory_is_used_again_when_nobody_has_it():
    gpu = PinnedGpu()
    one = gpu._take_pinned(1_000).view(np.int64)
    part, place = one[3:5], one.ctypes.data
    del one
    assert gpu._take_pinned(1_000).ctypes.data != place
    part[:] = 7
    del part
    again = gpu._take_pinned(800)
    assert len(again) == 800
    assert len(gpu.allocated) == 2
    # Far too large a block stays where it is.
    gpu._take_pinned(100)
    assert len(gpu.allocated) == 3


def test_few_blocks_of_pinned_memory_are_kept():
    gpu = PinnedGpu()
    lent = [gpu._take_pinned(1_000) for _ in range(9)]
    lent.clear()
    assert len(gpu._free) == 4
