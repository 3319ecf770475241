"""Messages to continuous books, drawn at random: what is in them, and under which rules."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.orders import ORDER

MAX, MIN = 2**63 - 1, -(2**63)
ID_MAX = 2**64 - 1
EXTREME_PRICES = (MIN, MIN + 1, -(2**62), -1, 0, 1, 31, 32, 2**62, MAX - 1, MAX)
EXTREME_IDS = (0, 1, 2**32 - 1, 2**32, 2**63 - 1, 2**63, ID_MAX - 1, ID_MAX)
STP = ("none", "cancel_resting", "cancel_incoming", "cancel_both")


@dataclass(frozen=True)
class Flow:
    """What a long stream is drawn from, each evenly."""

    ids: Any
    prices: Any
    largest_qty: int = 10
    huge_qty_prob: float = 0.0
    books: int = 1


def _spread(seed: int, count: int, low: int, high: int, dtype: type) -> np.ndarray:
    return np.random.default_rng(seed).integers(low, high, count, dtype, endpoint=True)


_WORD_PRICES = [sign * (1 << bit) for bit in range(62) for sign in (1, -1)]
FLOWS = {
    "few ids at few prices": Flow(range(40), range(-6, 12)),
    "a wide book": Flow(range(20_000), range(5_000), 100),
    "deep queues": Flow(range(5_000), range(3)),
    "extremes": Flow(EXTREME_IDS, EXTREME_PRICES, 10, 0.1),
    "any price": Flow(range(2_000), _spread(1, 1_000, MIN, MAX, np.int64), 100),
    "prices at every scale": Flow(range(2_000), _WORD_PRICES),
    "any id": Flow(_spread(2, 3_000, 0, ID_MAX, np.uint64), range(50)),
    "ids that differ in few bits": Flow([i << 53 for i in range(2_000)], range(50)),
    "many books": Flow(range(50), range(20), books=300),
}


def draw_messages(flow: Flow, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return `ORDER` [message] and owners, uint64 [message]."""
    rng = np.random.default_rng(seed)
    orders = np.zeros(count, ORDER)
    orders["order_id"] = rng.choice(np.asarray(flow.ids, np.uint64), count)
    orders["price"] = rng.choice(np.asarray(flow.prices, np.int64), count)
    orders["qty"] = rng.integers(-1, flow.largest_qty, count, endpoint=True)
    huge = rng.random(count) < flow.huge_qty_prob
    orders["qty"][huge] = rng.choice([MAX, MAX - 1, 2**62, MIN], huge.sum())
    orders["book"] = rng.integers(0, flow.books, count)
    orders["op"] = rng.choice(3, count, p=[0.6, 0.2, 0.2])
    orders["side"] = rng.choice([1, -1], count)
    orders["kind"] = rng.choice(2, count, p=[0.95, 0.05])
    orders["tif"] = rng.choice(4, count, p=[0.7, 0.1, 0.1, 0.1])
    return orders, rng.integers(0, 5, count).astype(np.uint64)


@st.composite
def book_rules(draw: st.DrawFn) -> BookRules:
    """Draw rules, of which half the time something is scarce."""
    capacity = st.none() | st.integers(1, 6)
    return BookRules.of(
        modify=draw(st.sampled_from(("keep", "replace"))),
        qty=draw(st.sampled_from(("open", "total"))),
        stp=draw(st.sampled_from(STP)),
        capacity=draw(st.none() | st.tuples(capacity, capacity)),
        price_range=draw(st.sampled_from((None, (-1, 2), (MIN, 0), (1, MAX)))),
    )


@st.composite
def messages(draw: st.DrawFn, books: int, most: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Draw messages whose ids and prices meet often, and their owners."""
    ids = draw(st.sampled_from((range(1, 6), EXTREME_IDS)))
    prices = draw(st.sampled_from((range(-1, 4), EXTREME_PRICES)))
    row = st.tuples(
        st.sampled_from(ids),
        st.sampled_from(prices),
        st.integers(-1, 6) | st.sampled_from((MIN, MAX - 2, MAX)),
        st.integers(0, books - 1),
        st.sampled_from((0, 0, 0, 1, 2)),
        st.sampled_from((1, -1)),
        st.sampled_from((0, 0, 0, 1)),
        st.sampled_from((0, 0, 0, 1, 2, 3)),
    )
    rows = draw(st.lists(row, max_size=most))
    owners = draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    return np.array(rows, ORDER), np.array(owners, np.uint64)
