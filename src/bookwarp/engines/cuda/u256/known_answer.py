"""Orders whose outcome is known: what the kernels say of them before they are trusted.

Kernels are compiled on the machine that they run on, by the compiler that is there, and a compiler
can be wrong. So they are asked once in a process, in a few milliseconds, and an engine that answers
otherwise is not made.
"""

import hashlib
from itertools import pairwise

import numpy as np

from bookwarp.engines.u256_protocol import U256Engine
from bookwarp.spec.u256 import NUMBER_BYTES, ORDER_BYTES, PRICE_AT, QTY_AT, SIDE_AT, USER_AT

BOOKS, CAPACITY = 35, 6
_PASSES, _SHUFFLED, _SINGLE = 24, 900, 12
KNOWN_ANSWER = "f2e708ebe5f025841d44a786a57f60dee24d12fe595449974cfea8179ff528f3"
"""What `answer_of` is, by the reference."""

_MULTIPLIER, _INCREMENT = 1_103_515_245, 12_345
_SIZES = (1, 8, 9, 16, 17, 24, 31, 32)
"""Bytes of the numbers of a book, so that sums and products cross every word."""


def known_orders() -> tuple[np.ndarray, np.ndarray]:
    """Return orders, uint8 [order, 117], and the book of each, int64 [order].

    First they come in passes, then in any sequence.
    """
    draws = _draw(3 * (_PASSES * BOOKS + _SHUFFLED))
    orders = np.zeros((len(draws) // 3, ORDER_BYTES), np.uint8)
    book = np.tile(np.arange(BOOKS), _PASSES)
    book = np.concatenate([book, draws[: 3 * _SHUFFLED : 3] % BOOKS]).astype(np.int64)
    for order, number, draw in zip(
        orders, book.tolist(), draws.reshape(-1, 3).tolist(), strict=True
    ):
        size = _SIZES[number % len(_SIZES)]
        side, step, far, odd = (
            draw[0] >> 8 & 1,
            draw[0] >> 9 & 7,
            draw[0] >> 12 & 1,
            draw[2] >> 8 & 31,
        )
        # A few prices, near each other or not; lots of up to as many bytes, or all there are.
        price = step + ((1 + 254 * far) << 8 * (size - 1))
        qty = (draw[1] >> 8 << 8 * ((draw[2] >> 13) % size)) % 256**size
        order[SIDE_AT] = side
        order[PRICE_AT:QTY_AT] = _bytes_of(price)
        order[QTY_AT:USER_AT] = _bytes_of(2 ** (8 * NUMBER_BYTES) - 1 if odd == 0 else qty)
    return orders, book


def _bytes_of(number: int) -> np.ndarray:
    return np.frombuffer(number.to_bytes(NUMBER_BYTES, "big"), np.uint8)


def _draw(count: int) -> np.ndarray:
    """Return numbers of 31 bits, int64 [count]; the lower bits of each are poor."""
    numbers = []
    state = 1
    for _ in range(count):
        state = (_MULTIPLIER * state + _INCREMENT) % 2**31
        numbers.append(state)
    return np.array(numbers, np.int64)


def answer_of(engine: U256Engine) -> str:
    """Return what stands for the outcome on an engine of `BOOKS` empty books: a SHA-256, in hex."""
    orders, book = known_orders()
    singles = range(len(orders) - _SINGLE, len(orders) + 1)
    bounds = [0, _PASSES * BOOKS, *singles]
    hasher = hashlib.sha256()
    for start, end in pairwise(bounds):
        hasher.update(engine.match(orders[start:end], book[start:end]).tobytes())
    hasher.update(engine.read_arenas(0, BOOKS).tobytes())
    return hasher.hexdigest()
