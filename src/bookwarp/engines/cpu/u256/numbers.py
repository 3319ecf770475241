"""Numbers of 256 bits: tuples of four uint64, the lowest first."""

import numpy as np

from bookwarp.engines.cpu.compile import inlined
from bookwarp.engines.cpu.u256.words import load_word, store_word

_NONE, _ONE = np.uint64(0), np.uint64(1)


@inlined
def load_number(data, at):  # type: ignore[no-untyped-def]
    """Return the 32 bytes from `at` on, big-endian."""
    return (
        load_word(data, at + 24),
        load_word(data, at + 16),
        load_word(data, at + 8),
        load_word(data, at),
    )


@inlined
def store_number(data, at, number):  # type: ignore[no-untyped-def]
    """Write 32 bytes, big-endian."""
    store_word(data, at + 24, number[0])
    store_word(data, at + 16, number[1])
    store_word(data, at + 8, number[2])
    store_word(data, at, number[3])


@inlined
def is_zero(number):  # type: ignore[no-untyped-def]
    """Return whether a number is 0."""
    return (number[0] | number[1] | number[2] | number[3]) == _NONE


@inlined
def is_one_word(number):  # type: ignore[no-untyped-def]
    """Return whether a number is less than 2**64."""
    return (number[1] | number[2] | number[3]) == _NONE


@inlined
def equal(one, other):  # type: ignore[no-untyped-def]
    """Return whether two numbers are the same."""
    low = (one[0] ^ other[0]) | (one[1] ^ other[1])
    return (low | (one[2] ^ other[2]) | (one[3] ^ other[3])) == _NONE


@inlined
def less(one, other):  # type: ignore[no-untyped-def]
    """Return whether one number is less than another; most are told apart by one word."""
    if one[3] != other[3]:
        return one[3] < other[3]
    if one[2] != other[2]:
        return one[2] < other[2]
    if one[1] != other[1]:
        return one[1] < other[1]
    return one[0] < other[0]


@inlined
def add_words(one, other, carry):  # type: ignore[no-untyped-def]
    """Return sum and carry of two words and a carry."""
    part = one + other
    total = part + carry
    return total, np.uint64(part < one) | np.uint64(total < part)


@inlined
def subtract_words(one, other, borrow):  # type: ignore[no-untyped-def]
    """Return difference and borrow of two words and a borrow."""
    part = one - other
    total = part - borrow
    return total, np.uint64(one < other) | np.uint64(part < borrow)


@inlined
def subtract(one, other):  # type: ignore[no-untyped-def]
    """Return a difference; `other` is not more than `one`."""
    d0, borrow = subtract_words(one[0], other[0], _NONE)
    d1, borrow = subtract_words(one[1], other[1], borrow)
    d2, borrow = subtract_words(one[2], other[2], borrow)
    d3, borrow = subtract_words(one[3], other[3], borrow)
    return d0, d1, d2, d3
