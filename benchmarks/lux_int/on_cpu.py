"""The rule on all cores: Numba, blocks of books, an array of structures."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numba import njit

from lux_int.workload import BUY, DEPTH, TAKERS, Workload

_BLOCKS_PER_THREAD = 4


class Matched(NamedTuple):
    """Books after a run."""

    fills: np.ndarray
    """uint32 [book]."""
    remaining: np.ndarray
    """uint32 [book, slot]."""
    seconds: float


@njit(nogil=True)
def _match_block(resting, incoming, shared, remaining, fills):  # type: ignore[no-untyped-def]
    for book in range(len(resting)):
        left = remaining[book]
        for slot in range(DEPTH):
            left[slot] = resting[book, slot].qty
        count = np.uint32(0)
        for number in range(TAKERS):
            order = incoming[0 if shared else book, number]
            buys = order.side == BUY
            open_qty = order.qty
            for slot in range(DEPTH):
                if open_qty == 0:
                    break
                price = resting[book, slot].price
                crosses = order.price >= price if buys else order.price <= price
                if left[slot] > 0 and crosses:
                    fill = min(open_qty, left[slot])
                    open_qty -= fill
                    left[slot] -= fill
                    count += np.uint32(1)
        fills[book] = count


def match_books(workload: Workload, books: int, threads: int, trials: int = 1) -> list[Matched]:
    """Match `books` books `trials` times; book b is that of row b mod the variety."""
    rows = np.arange(books) % workload.variety
    resting = workload.resting[rows]
    incoming = workload.incoming if workload.shared else workload.incoming[rows]
    edges = np.linspace(0, books, threads * _BLOCKS_PER_THREAD + 1).astype(int).tolist()
    found = []
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(1 + trials):
            remaining = np.full((books, DEPTH), 0xDEADBEEF, np.uint32)
            fills = np.full(books, 0xDEADBEEF, np.uint32)

            def match(first: int, stop: int, remaining=remaining, fills=fills) -> None:  # type: ignore[no-untyped-def]
                own = incoming if workload.shared else incoming[first:stop]
                part = slice(first, stop)
                _match_block(resting[part], own, workload.shared, remaining[part], fills[part])

            began = time.perf_counter()
            list(pool.map(match, edges[:-1], edges[1:]))
            found.append(Matched(fills, remaining, time.perf_counter() - began))
    return found[1:]
