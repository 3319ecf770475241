"""What is matched: resting and incoming orders of a few books, that many books repeat.

Book b of a run is book b mod `variety` of the workload.
"""

from dataclasses import dataclass

import numpy as np

DEPTH = TAKERS = 32
BUY, SELL = 0, 1

ORDER = np.dtype([(name, np.uint32) for name in ("price", "qty", "side", "number")])
"""An order, 16 bytes: tick, lot, side, and its place."""


@dataclass(frozen=True)
class Workload:
    """Orders of some books."""

    name: str
    resting: np.ndarray
    """ORDER [variety, slot]."""
    incoming: np.ndarray
    """ORDER [variety, order], or [1, order] if shared."""
    shared: bool
    """Whether all books read the same incoming orders from one place."""

    @property
    def variety(self) -> int:
        """How many different books there are."""
        return len(self.resting)

    def with_own_orders(self) -> "Workload":
        """Return the same books, each with a copy of its incoming orders."""
        rows = np.broadcast_to(self.incoming, (self.variety, TAKERS)).copy()
        return Workload(self.name, self.resting, rows, shared=False)


def orders(price: np.ndarray, qty: np.ndarray, side: np.ndarray) -> np.ndarray:
    """Return ORDER [book, place] from arrays that broadcast to it."""
    columns = np.broadcast_arrays(*(np.atleast_2d(each) for each in (price, qty, side)))
    rows = np.empty(columns[0].shape, ORDER)
    rows["price"], rows["qty"], rows["side"] = columns
    rows["number"] = np.arange(rows.shape[1])
    return rows


def seed_workload() -> Workload:
    """Return the workload that the benchmark is defined by: 38 fills a book, 410 lots.

    20 of its 32 incoming orders meet an empty book.
    """
    i = np.arange(DEPTH)
    resting = orders(10_000 + i % 16, 10 + i % 7, i % 2)
    incoming = orders(10_000 + i % 20, np.uint32(40), (i + 1) % 2)
    return Workload("seed", resting, incoming, shared=True)


def filling_workload() -> Workload:
    """Return one in which every order fills, once: 32 sells of 10 lots, 32 buys of one lot."""
    resting = orders(10_000 + np.arange(DEPTH) % 16, np.uint32(10), np.uint32(SELL))
    incoming = orders(np.full(TAKERS, 10_019), np.uint32(1), np.uint32(BUY))
    return Workload("every order fills", resting, incoming, shared=True)


def random_workload(*, shared: bool, variety: int = 4096, seed: int = 1) -> Workload:
    """Return books that all differ, where orders cross a part of what rests."""
    draw = np.random.default_rng(seed)
    shape = variety, DEPTH
    base = draw.integers(1000, 1008 if shared else 1_000_000, (variety, 1))
    resting = orders(
        base + draw.integers(0, 60, shape), draw.integers(0, 80, shape), draw.integers(0, 2, shape)
    )
    rows = (1, TAKERS) if shared else (variety, TAKERS)
    incoming = orders(
        base[: rows[0]] + draw.integers(-10, 70, rows),
        draw.integers(0, 90, rows),
        draw.integers(0, 2, rows),
    )
    return Workload("random", resting, incoming, shared)
