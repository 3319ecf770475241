"""The cuda engine for continuous books, its kernels run by emulated warps, gives what is right.

A part of what tests/device asks of a GPU, for machines without one.
"""

import numpy as np
import pytest
from book_cases import CASES, read_messages, rules_of, tell_book, tell_outcome
from book_kernels import BOOK_KERNELS, force_book_kernel
from emulated_books import play_gpu
from emulated_kernels import needs_compiler
from test_book_engines_agree import RULES

from bookwarp.engines.cuda.books.engine import CudaBookEngine
from bookwarp.spec.book_rules import BookRules
from bookwarp.testing.book_parity import assert_book_engines_agree
from bookwarp.testing.order_streams import random_orders

pytestmark = needs_compiler


@pytest.fixture(params=BOOK_KERNELS)
def book_kernel(request, monkeypatch):
    """Runs a test on every kernel, on a GPU that is played."""
    play_gpu(monkeypatch)
    force_book_kernel(monkeypatch, request.param)
    return request.param


def test_cases(book_kernel):
    """All cases with the same rules at once, each in its own book."""
    for rules in dict.fromkeys(map(rules_of, CASES)):
        cases = [case for case in CASES if rules_of(case) == rules]
        parts = [read_messages(case.messages, number) for number, case in enumerate(cases)]
        turn = np.argsort(np.concatenate([np.arange(len(o)) for o, _ in parts]), kind="stable")
        orders, owners = (np.concatenate(each)[turn] for each in zip(*parts, strict=True))
        running = CudaBookEngine(rules, len(cases))
        matched = running.match(orders, owners if rules.tracks_owner else None)
        state = running.read_state()
        for number, case in enumerate(cases):
            first, last = matched.event_offsets[number : number + 2]
            assert tell_outcome(orders, matched.events[first:last]) == case.outcome, case.name
            assert tell_book(state, number) == case.book, case.name
            assert state.flags[number] == case.flags, case.name


@pytest.mark.parametrize("number", range(len(RULES)))
def test_long_streams(book_kernel, number):
    books = (1, 40)[number // 2 % 2]
    stream = random_orders(1_500, books, seed=number)
    assert_book_engines_agree(
        stream.orders,
        BookRules.of(**RULES[number]),
        books,
        ("reference", CudaBookEngine),
        owners=stream.owners,
        cuts=(1, 700, 701),
        levels=number % 3,
    )


@pytest.fixture
def any_kernel(monkeypatch):
    """Runs a test on a GPU that is played, on the kernels of the engine's choice."""
    play_gpu(monkeypatch)


def test_book_outgrows_one_kernel_after_the_other(any_kernel):
    """Some books need more slots than the first kernel has, some more than any, some neither."""
    rng = np.random.default_rng(3)
    sizes = {0: 20, 1: 200, 2: 600, 3: 128, 4: 129, 5: 256, 6: 257}
    books = rng.permutation(np.repeat(list(sizes), list(sizes.values())))
    stream = random_orders(len(books), books=1, seed=5)
    orders = stream.orders
    # New orders that rest, each under an id of its own, and at last one that takes many of them.
    orders["op"], orders["kind"], orders["tif"], orders["side"] = 0, 0, 0, 1
    orders["book"], orders["order_id"] = books, np.arange(len(books))
    orders["price"], orders["qty"] = rng.integers(90, 100, len(books)), 5
    takers = orders[: len(sizes)].copy()
    takers["book"], takers["order_id"] = list(sizes), 10**6
    takers["side"], takers["qty"], takers["price"] = -1, 500, 95
    state = assert_book_engines_agree(
        np.concatenate([orders, takers, orders]),
        BookRules(),
        len(sizes),
        ("reference", CudaBookEngine),
        cuts=(900, len(orders), len(orders) + 3),
    )
    assert np.diff(state.order_offsets).max() > 256


@pytest.mark.parametrize("base", [0, -(2**63), 2**63 - 1, 2**40])
def test_prices_far_from_each_other(book_kernel, base):
    """A book in slots counts prices from one of its own in 32 bits."""
    steps = np.array([0, 1, 2**30 - 1, 2**30, 2**30 + 1, 2**31, 2**32, 2**62], object)
    prices = [int(base + sign * step) for step in steps for sign in (1, -1)]
    fitting = np.array([p for p in prices if -(2**63) <= p < 2**63], np.int64)
    rng = np.random.default_rng(1)
    stream = random_orders(1_200, books=6, seed=8)
    stream.orders["price"] = rng.choice(fitting, 1_200)
    assert_book_engines_agree(
        stream.orders, BookRules(), 6, ("reference", CudaBookEngine), cuts=(400,), levels=2
    )
