"""Workloads for 256-bit books whose fills are known beforehand: what a rate needs to mean anything.

A workload has few patterns: how a book opens, and one order a pass. Every book follows one of them,
so that all results of all books can be compared with the reference's, which matches the patterns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from bookwarp.reference.u256_engine import ReferenceU256Engine
from bookwarp.spec.errors import ParameterError, unknown_name
from bookwarp.spec.u256 import FILL_COUNT_AT, NUMBER_BYTES, ORDER_BYTES
from bookwarp.spec.u256_orders import check_integer, check_sizes

FLOWS = ("seed", "mixed")

_SEED_DEPTH, _SEED_QTY, _SEED_PRICE = 32, 10, 1000
_PATTERNS = 256
_MOST_PASSES = 2**20
_UNIT = 10**18
"""Mixed prices and quantities are in 18 decimals, as chains have them: two words each."""
_ASK, _BID = 1, 0


@dataclass(frozen=True, eq=False)
class Workload:
    """Opening books and passes of orders, and what comes out by the reference."""

    name: str
    capacity: int
    arenas: np.ndarray
    """uint8 [pattern, byte]: how a book opens."""
    calldata: np.ndarray
    """uint8 [pass, pattern, 117]."""
    results: np.ndarray
    """uint8 [pass, pattern, 68], by the reference."""
    final_arenas: np.ndarray
    """uint8 [pattern, byte], by the reference."""

    @property
    def passes(self) -> int:
        """How many orders a book gets, one a pass."""
        return len(self.calldata)

    def pattern_of(self, books: int) -> np.ndarray:
        """Return the pattern of every book. int64 [book]."""
        return np.arange(books) % len(self.arenas)

    def fill_count(self, books: int) -> int:
        """Return how many fills so many books make in all passes."""
        by_pattern = count_fills(self.results)
        return int(
            (by_pattern * np.bincount(self.pattern_of(books), minlength=len(by_pattern))).sum()
        )


def count_fills(results: np.ndarray) -> np.ndarray:
    """Return the fills of results, uint8 [pass, order, 68], over all passes: int64 [order]."""
    counts = np.ascontiguousarray(results[..., FILL_COUNT_AT:]).view(">u4")[..., 0]
    return np.asarray(counts.sum(axis=0, dtype=np.int64))


def make_workload(name: str, capacity: int, passes: int) -> Workload:
    """Return a workload.

    Args:
        name: "seed": a book holds 32 asks of quantity 10, and each pass sends one bid of quantity
            1 that crosses: one fill an order. "mixed": books from empty to full on both sides, and
            orders that rest, fill in part, sweep many prices, or find their side full.
        capacity: slots a side.
        passes: orders of each book.

    Raises:
        ParameterError: there is no such workload, or it does not fit these sizes.
    """
    check_sizes(1, capacity)
    if name == "seed":
        if capacity < _SEED_DEPTH:
            raise ParameterError(
                f"capacity = {capacity} is below {_SEED_DEPTH}, the asks of a book"
            )
        check_integer("passes", passes, 1, _SEED_DEPTH * _SEED_QTY)  # then a book is empty
        asks = [_order(_ASK, _SEED_PRICE + place, _SEED_QTY) for place in range(_SEED_DEPTH)]
        bids = [_order(_BID, _SEED_PRICE + _SEED_DEPTH, 1)] * passes
        return settle(name, capacity, [_rows(asks)], _rows(bids)[:, np.newaxis])
    if name == "mixed":
        check_integer("passes", passes, 1, _MOST_PASSES)
        random = Random(256)
        drawn = [_draw_mixed(random, capacity, passes) for _ in range(_PATTERNS)]
        openings = [_rows(opening) for opening, _ in drawn]
        return settle(name, capacity, openings, np.stack([_rows(each) for _, each in drawn], 1))
    raise ParameterError(unknown_name("flow", name, FLOWS))


def settle(
    name: str, capacity: int, openings: Sequence[np.ndarray], calldata: np.ndarray
) -> Workload:
    """Return a workload, whose books the reference opens, and whose passes it matches.

    Args:
        name: what it is called.
        capacity: slots a side.
        openings: of each pattern the orders that open its book, uint8 [order, 117].
        calldata: uint8 [pass, pattern, 117].
    """
    engine, book = ReferenceU256Engine(len(openings), capacity), np.arange(len(openings))
    for pattern, orders in enumerate(openings):
        engine.match(orders, np.full(len(orders), pattern))
    arenas = engine.read_arenas(0, len(openings))
    results = np.stack([engine.match(orders, book) for orders in calldata])
    return Workload(name, capacity, arenas, calldata, results, engine.read_arenas(0, len(openings)))


def _draw_mixed(random: Random, capacity: int, passes: int) -> tuple[list[bytes], list[bytes]]:
    """Draw a book, from empty to full, and its orders, around one price."""
    middle, spread = 1000, 1 + min(capacity, 64)
    rests = random.choice((0, capacity // 4, capacity // 2, capacity))
    opening = []
    for place in range(rests):
        step = 1 + place % spread
        opening.append(_order(_BID, (middle - step) * _UNIT, _qty(random)))
        opening.append(_order(_ASK, (middle + step) * _UNIT, _qty(random)))
    orders = []
    for _ in range(passes):
        side = random.choice((_BID, _ASK))
        better = 1 if side == _BID else -1
        form = random.random()
        if form < 0.45:  # it rests, or finds its side full
            price, qty = middle - better * random.randint(1, spread), _qty(random)
        elif form < 0.9:  # it takes a part of what is best, or a little more
            price, qty = middle + better * random.randint(0, spread), _qty(random) // 2
        else:  # it sweeps
            price, qty = middle + better * spread, _qty(random) * random.randint(2, 12)
        orders.append(_order(side, price * _UNIT + random.randrange(1000), qty))
    return opening, orders


def _qty(random: Random) -> int:
    return random.randint(1, 200) * _UNIT // 100 + random.randrange(1000)


def _order(side: int, price: int, qty: int) -> bytes:
    numbers = price.to_bytes(NUMBER_BYTES, "big") + qty.to_bytes(NUMBER_BYTES, "big")
    return (bytes([side]) + numbers).ljust(ORDER_BYTES, b"\0")


def _rows(orders: list[bytes]) -> np.ndarray:
    return np.frombuffer(b"".join(orders), np.uint8).reshape(-1, ORDER_BYTES)
