"""Sums of products in 512 bits, and their exact quotient by a number of 256 bits.

Source: D. Knuth, The Art of Computer Programming 2, 4.3.1, algorithms M and D, with digits of
64 bits. A quotient of two words by one is found as in H. Warren, Hacker's Delight, 9-4: in two
digits of 32 bits, since LLVM has no instruction for the whole on every processor.
"""

import numpy as np

from bookwarp.engines.cpu.books.instructions import highest_bit
from bookwarp.engines.cpu.compile import inlined
from bookwarp.engines.cpu.u256.numbers import add_words, is_one_word, subtract_words
from bookwarp.engines.cpu.u256.words import multiply_high

_NONE, _ONE = np.uint64(0), np.uint64(1)
_32, _63 = np.uint64(32), np.uint64(63)
_LOW32, _BASE32 = np.uint64(2**32 - 1), np.uint64(2**32)
_LARGEST = np.uint64(2**64 - 1)

SUM_WORDS = 8
"""Words of a sum."""
SCRATCH_WORDS = 32
"""Words that `divide` needs beside the sum: 9 of the dividend, 4 of the divisor, 5 of the
quotient, rounded up."""
_DIVISOR_AT, _QUOTIENT_AT = 12, 16


@inlined
def clear(total):  # type: ignore[no-untyped-def]
    """Set a sum to 0."""
    for place in range(SUM_WORDS):
        total[place] = _NONE


@inlined
def add_product(total, one, other):  # type: ignore[no-untyped-def]
    """Add the product of two numbers to `total`, uint64 [8], the lowest word first."""
    if is_one_word(one) and is_one_word(other):
        total[0], carry = add_words(total[0], one[0] * other[0], _NONE)
        # A high word is at most 2**64 - 2: it takes the carry.
        total[1], carry = add_words(total[1], multiply_high(one[0], other[0]) + carry, _NONE)
        _carry_on(total, 2, carry)
        return
    _add_row(total, 0, one[0], other)
    _add_row(total, 1, one[1], other)
    _add_row(total, 2, one[2], other)
    _add_row(total, 3, one[3], other)


@inlined
def _add_row(total, place, word, number):  # type: ignore[no-untyped-def]
    if word == _NONE:
        return
    total[place], carry = _multiply_add(word, number[0], total[place], _NONE)
    total[place + 1], carry = _multiply_add(word, number[1], total[place + 1], carry)
    total[place + 2], carry = _multiply_add(word, number[2], total[place + 2], carry)
    total[place + 3], carry = _multiply_add(word, number[3], total[place + 3], carry)
    _carry_on(total, place + 4, carry)


@inlined
def _multiply_add(one, other, first, second):  # type: ignore[no-untyped-def]
    """Return the low and the high word of one * other + first + second, which two words hold."""
    low, carry = add_words(one * other, first, _NONE)
    low, again = add_words(low, second, _NONE)
    return low, multiply_high(one, other) + carry + again


@inlined
def _carry_on(total, place, carry):  # type: ignore[no-untyped-def]
    while carry != _NONE and place < SUM_WORDS:
        total[place], carry = add_words(total[place], carry, _NONE)
        place += 1


@inlined
def divide(total, divisor, scratch):  # type: ignore[no-untyped-def]
    """Return a sum divided by a number, rounded down.

    Args:
        total: uint64 [8], less than 2**256 times the divisor.
        divisor: a number that is not 0.
        scratch: uint64 [SCRATCH_WORDS].
    """
    dividend, by = scratch[:_DIVISOR_AT], scratch[_DIVISOR_AT:_QUOTIENT_AT]
    quotient = scratch[_QUOTIENT_AT:]
    for place in range(5):
        quotient[place] = _NONE
    words, by_words = SUM_WORDS, 4
    while words > 1 and total[words - 1] == _NONE:
        words -= 1
    if is_one_word(divisor):
        if words == 1:
            return total[0] // divisor[0], _NONE, _NONE, _NONE
        by_words = 1
    elif (divisor[2] | divisor[3]) == _NONE:
        by_words = 2
    elif divisor[3] == _NONE:
        by_words = 3
    by[0], by[1], by[2], by[3] = divisor
    shift = _63 - highest_bit(by[by_words - 1])
    _shift_left(by, by, by_words, shift)
    dividend[words] = _shift_left(total, dividend, words, shift)
    place = words - by_words
    while place >= 0:
        digit = _next_digit(dividend, place, by, by_words)
        # The quotient has four words: digits above them are 0.
        if place < 4:
            quotient[place] = digit
        place -= 1
    return quotient[0], quotient[1], quotient[2], quotient[3]


@inlined
def _shift_left(given, found, words, shift):  # type: ignore[no-untyped-def]
    """Shift words by 0 .. 63 bits, maybe in place; return what leaves at the top."""
    over = _NONE
    for place in range(words):
        word = given[place]
        found[place] = (word << shift) | over
        over = (word >> _ONE) >> (_63 - shift)
    return over


@inlined
def _next_digit(dividend, place, by, by_words):  # type: ignore[no-untyped-def]
    """Return a digit of the quotient, and take that many times the divisor from the dividend."""
    top = place + by_words
    digit = _estimate_digit(dividend, top, by, by_words)
    if digit == _NONE:
        return digit
    carry, borrow = _NONE, _NONE
    for i in range(by_words):
        product, carry = _multiply_add(digit, by[i], carry, _NONE)
        dividend[place + i], borrow = subtract_words(dividend[place + i], product, borrow)
    dividend[top], borrow = subtract_words(dividend[top], carry, borrow)
    if borrow != _NONE:
        digit -= _ONE
        carry = _NONE
        for i in range(by_words):
            dividend[place + i], carry = add_words(dividend[place + i], by[i], carry)
        dividend[top] += carry
    return digit


@inlined
def _estimate_digit(dividend, top, by, by_words):  # type: ignore[no-untyped-def]
    """Return the digit by the two highest words of the divisor: right, or one too large."""
    high, low, first = dividend[top], dividend[top - 1], by[by_words - 1]
    if high >= first:
        # It cannot be more; then `high` is `first`, and the rest is `low + first`.
        digit, rest = _LARGEST, low + first
        exceeds = rest < low
    else:
        digit, rest = divide_words(high, low, first)
        exceeds = False
    if by_words == 1:
        return digit
    second, next_word = by[by_words - 2], dividend[top - 2]
    while not exceeds:
        product = multiply_high(digit, second)
        if product < rest or (product == rest and digit * second <= next_word):
            break
        digit -= _ONE
        rest += first
        exceeds = rest < first
    return digit


@inlined
def divide_words(high, low, by):  # type: ignore[no-untyped-def]
    """Return quotient and remainder of two words by one whose highest bit is set.

    `high` is less than `by`.
    """
    by_high, by_low = by >> _32, by & _LOW32
    digit1, rest = _divide_half(high, low >> _32, by, by_high, by_low)
    digit0, rest = _divide_half(rest, low & _LOW32, by, by_high, by_low)
    return (digit1 << _32) | digit0, rest


@inlined
def _divide_half(high, next_half, by, by_high, by_low):  # type: ignore[no-untyped-def]
    digit = high // by_high
    rest = high - digit * by_high
    while digit >= _BASE32 or digit * by_low > ((rest << _32) | next_half):
        digit -= _ONE
        rest += by_high
        if rest >= _BASE32:
            break
    return digit, ((high << _32) | next_half) - digit * by
