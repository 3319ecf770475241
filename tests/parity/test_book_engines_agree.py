"""Fast engines for continuous books give what the reference gives, to the last bit."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwarp.reference.book_engine import ReferenceBookEngine
from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.events import EventType
from bookwarp.testing.book_parity import assert_book_engines_agree
from bookwarp.testing.order_streams import order_streams, random_orders


@given(order_streams(max_messages=80), st.data())
def test_engines_agree_on_any_stream(fast_book_engine, stream, data):
    count = len(stream.orders)
    cuts = data.draw(st.lists(st.integers(0, count), max_size=3).map(sorted), label="cuts")
    assert_book_engines_agree(
        stream.orders,
        stream.rules,
        stream.books,
        ("reference", fast_book_engine),
        owners=stream.owners,
        cuts=cuts,
        levels=data.draw(st.integers(0, 3), label="levels"),
        threads=2,
    )


RULES = [
    {"modify": modify, "qty": qty, "stp": stp, "capacity": capacity}
    for (modify, qty, stp), capacity in zip(
        product(
            ("keep", "replace"),
            ("open", "total"),
            ("none", "cancel_resting", "cancel_incoming", "cancel_both"),
        ),
        [None, 20, (30, 12), None] * 4,
        strict=True,
    )
]


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: "-".join(map(str, rules.values())))
@pytest.mark.parametrize("books", [1, 300])
def test_engines_agree_on_long_streams(fast_book_engine, rules, books):
    stream = random_orders(12_000, books, seed=len(str(rules)))
    state = assert_book_engines_agree(
        stream.orders,
        BookRules.of(**rules),
        books,
        ("reference", fast_book_engine),
        owners=stream.owners,
        cuts=(1, 5_000, 5_001, 9_000),
        levels=1,
        threads=2,
    )
    assert len(state.orders) > 5 * min(books, 4)


def test_books_that_get_nothing_stay_empty(fast_book_engine):
    """Also where a batch is empty, and books lie far apart."""
    stream = random_orders(500, books=3, seed=4)
    stream.orders["book"] *= 40_000
    assert_book_engines_agree(
        stream.orders, BookRules(), 100_000, ("reference", fast_book_engine), cuts=(0, 250, 250)
    )


class _MiscountsATrade(ReferenceBookEngine):
    """Makes the last trade of every batch a lot too large."""

    def match(self, orders, owners, *, events=True, levels=0):
        matched = super().match(orders, owners, events=events, levels=levels)
        trades = np.flatnonzero(matched.events["type"] == EventType.TRADE)
        if len(trades):
            matched.events["qty"][trades[-1]] += 1
        return matched


def test_report_names_the_event_that_differs():
    stream = random_orders(2_000, books=2, seed=3)
    with pytest.raises(
        AssertionError, match=r"part in messages 0 \.\. 999: event \d+ .* book [01]"
    ):
        assert_book_engines_agree(
            stream.orders, BookRules(), 2, ("reference", _MiscountsATrade), cuts=(1_000,)
        )
