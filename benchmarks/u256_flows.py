"""Orders of 256-bit numbers to many books, in passes of one order a book.

Book b of a run is book b mod `variety` of a flow, but for users and book ids, which are drawn.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bookwarp.reference.u256_engine import ReferenceU256Engine
from bookwarp.spec.u256 import FILL_COUNT_AT, ORDER_BYTES, RESULT_BYTES, USER_AT
from bookwarp.testing.u256_orders import pack_order

DEPTH, PASSES = 32, 32
BID, ASK = 0, 1
UNIT = 10**18
"""A price of 1 in the fixed-point numbers of 18 decimals that such books are in: above 2^64."""
_LEVEL = 1000 * UNIT


@dataclass(frozen=True, eq=False)
class Flow:
    """What some books open with, and what comes then."""

    name: str
    opening: np.ndarray
    """uint8 [pass, variety, 117]."""
    orders: np.ndarray
    """uint8 [pass, variety, 117]."""
    capacity: int
    fills_per_order: float | None
    """What the flow is defined to fill; None where that is not set beforehand."""

    @property
    def variety(self) -> int:
        """How many different books there are."""
        return self.orders.shape[1]

    @property
    def expected(self) -> np.ndarray:
        """The results of the orders by the reference, uint8 [pass, variety, 68]."""
        return self._outcome[0]

    @property
    def final_arenas(self) -> np.ndarray:
        """What the books end as, by the reference, uint8 [variety, byte]."""
        return self._outcome[1]

    @cached_property
    def _outcome(self) -> tuple[np.ndarray, np.ndarray]:
        reference = ReferenceU256Engine(self.variety, self.capacity)
        for orders in (self.opening, self.orders):
            book = np.tile(np.arange(self.variety), len(orders))
            results = reference.match(orders.reshape(-1, ORDER_BYTES), book)
        shape = len(self.orders), self.variety, RESULT_BYTES
        return results.reshape(shape), reference.read_arenas(0, self.variety)

    def passes(self, orders: np.ndarray, books: int, seed: int = 1) -> Iterator[np.ndarray]:
        """Yield `opening` or `orders` pass by pass for so many books, uint8 [book, 117].

        It is one array that changes.
        """
        rows = np.empty((books // self.variety, self.variety, ORDER_BYTES), np.uint8)
        drawn = np.random.default_rng(seed).bytes(rows.shape[0] * rows.shape[1] * ORDER_BYTES)
        rows[...] = np.frombuffer(drawn, np.uint8).reshape(rows.shape)
        before = None
        for each in orders:
            if before is None or not np.array_equal(each, before):
                rows[..., :USER_AT] = each[:, :USER_AT]
            before = each
            yield rows.reshape(books, ORDER_BYTES)


def count_fills(results: np.ndarray) -> int:
    """Return the sum of the fills of results, uint8 [..., 68]."""
    counts = np.ascontiguousarray(results[..., FILL_COUNT_AT:]).view(">u4")
    return int(counts.sum(dtype=np.int64))


def seed_flow(capacity: int = DEPTH) -> Flow:
    """Return 32 asks of 10 a book, then 32 passes of a crossing bid of 1: a fill an order."""
    bid = pack_order(BID, _LEVEL + DEPTH * UNIT, 1)
    return Flow("seed", _asks(10), _rows([[bid]] * PASSES), capacity, 1.0)


def sweep_flow(capacity: int = DEPTH) -> Flow:
    """Return the same books, then 12 passes of a bid of 25: three fills an order."""
    bid = pack_order(BID, _LEVEL + DEPTH * UNIT, 25)
    return Flow("sweeps", _asks(10), _rows([[bid]] * 12), capacity, 3.0)


def mixed_flow(variety: int = 512, passes: int = 48, capacity: int = DEPTH, seed: int = 1) -> Flow:
    """Return books that differ: orders rest, fill in part, sweep, and meet sides that are full.

    Half are bids. Prices lie up to 24 units above or below a middle of the book's own, on the
    passive side for two orders of three; quantities are 1 .. 64 units, and eight times that for one
    in ten.
    """
    draw = np.random.default_rng(seed)
    middle = draw.integers(1_000, 100_000, variety)

    def one(book: int) -> bytes:
        side, passive = int(draw.integers(2)), draw.random() < 2 / 3
        away = int(draw.integers(0, 24)) * (1 if (side == ASK) == passive else -1)
        lots = int(draw.integers(1, 65)) * (8 if draw.random() < 0.1 else 1)
        price = (int(middle[book]) + away) * UNIT + int(draw.integers(10**6))
        return pack_order(side, price, lots * UNIT)

    rows = _rows([[one(book) for book in range(variety)] for _ in range(DEPTH + passes)])
    return Flow("mixed", rows[:DEPTH], rows[DEPTH:], capacity, None)


def _asks(lots: int) -> np.ndarray:
    return _rows([[pack_order(ASK, _LEVEL + level * UNIT, lots)] for level in range(DEPTH)])


def _rows(orders: list[list[bytes]]) -> np.ndarray:
    """Return orders [pass][book] as uint8 [pass, book, 117]."""
    data = b"".join(order for one_pass in orders for order in one_pass)
    return np.frombuffer(data, np.uint8).reshape(len(orders), -1, ORDER_BYTES)
