"""256-bit numbers of the cpu engine against Python's integers, operation by operation."""

from random import Random

import numpy as np
import pytest
from numba import njit

from bookwarp.engines.cpu.u256 import division, numbers, words
from bookwarp.testing.u256_orders import LARGEST, draw_number

BASE = 2**64


@njit
def compute_all(ones, others, firsts, seconds, totals, lesser, same, differences):
    """Compare and subtract pairs of numbers; add a product of each to a sum."""
    for row in range(len(ones)):
        one = numbers.load_number(ones[row], 0)
        other = numbers.load_number(others[row], 0)
        lesser[row] = numbers.less(one, other)
        same[row] = numbers.equal(one, other)
        low, high = (one, other) if lesser[row] else (other, one)
        numbers.store_number(differences[row], 0, numbers.subtract(high, low))
        first = numbers.load_number(firsts[row], 0)
        second = numbers.load_number(seconds[row], 0)
        division.add_product(totals[row], first, second)


@njit
def divide_all(totals, divisors, quotients):
    scratch = np.full(division.SCRATCH_WORDS, np.uint64(0xDEADBEEF))
    for row in range(len(totals)):
        divisor = numbers.load_number(divisors[row], 0)
        quotient = division.divide(totals[row], divisor, scratch)
        numbers.store_number(quotients[row], 0, quotient)


@njit
def multiply_highs(ones, others, found):
    for row in range(len(ones)):
        found[row] = words.multiply_high(ones[row], others[row])


def as_bytes(values):
    data = b"".join(value.to_bytes(32, "big") for value in values)
    return np.frombuffer(bytearray(data), np.uint8).reshape(-1, 32)


def as_words(values, count=8):
    data = b"".join(value.to_bytes(8 * count, "little") for value in values)
    return np.frombuffer(bytearray(data), np.uint64).reshape(-1, count)


def from_words(array):
    return [int.from_bytes(row.tobytes(), "little") for row in array]


def from_bytes(array):
    return [int.from_bytes(row.tobytes(), "big") for row in array]


@pytest.fixture(scope="module")
def pairs():
    """Two numbers of every pair of bit lengths, and pairs that share their high words."""
    random = Random(1)
    ones, others = [], []
    for width in range(257):
        for other_width in range(0, 257, 3):
            ones.append(random.getrandbits(width) if width else 0)
            others.append((1 << other_width) - 1)
    for _ in range(20_000):
        one = draw_number(random)
        ones.append(one)
        others.append(min(max(one + random.choice((0, 1, -1, BASE, -BASE)), 0), LARGEST))
    return ones, others


@pytest.fixture(scope="module")
def computed(pairs):
    ones, others = pairs
    random = Random(2)
    sums = [draw_number(random) * draw_number(random) for _ in ones]
    # A sum is below 2**512: room for a product is left.
    firsts = [min(one, (2**512 - 1 - total) // max(other, 1)) for one, other, total in
              zip(ones, others, sums, strict=True)]  # fmt: skip
    totals = as_words(sums)
    lesser, same = np.zeros(len(ones), bool), np.zeros(len(ones), bool)
    differences = np.zeros((len(ones), 32), np.uint8)
    compute_all(
        *(as_bytes(each) for each in (ones, others, firsts, others)),
        *(totals, lesser, same, differences),
    )
    return sums, firsts, totals, lesser, same, differences


def test_comparison_is_that_of_integers(pairs, computed):
    _, _, _, lesser, same, _ = computed
    assert lesser.tolist() == [one < other for one, other in zip(*pairs, strict=True)]
    assert same.tolist() == [one == other for one, other in zip(*pairs, strict=True)]


def test_difference_is_that_of_integers(pairs, computed):
    expected = [abs(one - other) for one, other in zip(*pairs, strict=True)]
    assert from_bytes(computed[-1]) == expected


def test_sum_of_products_is_that_of_integers_in_512_bits(pairs, computed):
    sums, firsts, totals, *_ = computed
    expected = [
        total + first * other
        for total, first, other in zip(sums, firsts, pairs[1], strict=True)
    ]  # fmt: skip
    assert from_words(totals) == expected
    assert max(expected) > 2**511


def test_high_word_of_a_product_is_that_of_integers():
    ones = [0, 1, BASE - 1, BASE - 1, 2**32, 2**63, 0x123456789ABCDEF0]
    others = [BASE - 1, BASE - 1, BASE - 1, 1, 2**32, 2, 0xFEDCBA9876543210]
    found = np.zeros(len(ones), np.uint64)
    multiply_highs(np.array(ones, np.uint64), np.array(others, np.uint64), found)
    expected = [one * other >> 64 for one, other in zip(ones, others, strict=True)]
    assert found.tolist() == expected


def check_division(totals, divisors):
    quotients = np.zeros((len(totals), 32), np.uint8)
    divide_all(as_words(totals), as_bytes(divisors), quotients)
    found = from_bytes(quotients)
    for total, divisor, quotient in zip(totals, divisors, found, strict=True):
        assert quotient == total // divisor, (hex(total), hex(divisor))


def test_quotient_is_exact_for_all_bit_lengths():
    random = Random(3)
    totals, divisors = [], []
    for width in range(1, 257):
        for quotient_width in range(0, 257, 2):
            divisor = random.getrandbits(width) | 1 << (width - 1)
            quotient = random.getrandbits(quotient_width) if quotient_width else 0
            rest = random.choice((0, 1, divisor - 1, random.randrange(divisor)))
            totals.append(quotient * divisor + min(rest, divisor - 1))
            divisors.append(divisor)
    check_division(totals, divisors)


def test_quotient_of_numbers_of_odd_forms_is_exact():
    random = Random(4)
    divisors = [max(draw_number(random), 1) for _ in range(30_000)]
    totals = [each * draw_number(random) + random.randrange(each) for each in divisors]
    check_division(totals, divisors)


def plain_algorithm_d(total, divisor):
    """Knuth's algorithm D with digits of 64 bits; return the quotient, and how often it corrected.

    Counted are digits that were estimated at the largest, estimates that were lowered, and
    remainders that were added back to.
    """
    count = -(-divisor.bit_length() // 64)
    shift = 64 * count - divisor.bit_length()
    v = divisor << shift
    v1, v2 = v >> 64 * (count - 1), (v >> 64 * (count - 2)) % BASE if count > 1 else 0
    u, quotient = total << shift, 0
    seen = {"largest": 0, "lowered": 0, "added_back": 0}
    for place in reversed(range(9 - count)):
        part = u >> 64 * place  # at most count + 1 words
        high, third = part >> 64 * (count - 1), part >> 64 * max(count - 2, 0)
        digit, rest = divmod(high, v1)
        if digit >= BASE:
            seen["largest"] += 1
            digit, rest = BASE - 1, high - (BASE - 1) * v1
        while count > 1 and rest < BASE and digit * v2 > rest * BASE + third % BASE:
            digit, rest = digit - 1, rest + v1
            seen["lowered"] += 1
        if digit * v > part:
            seen["added_back"] += 1
            digit -= 1
        u -= digit * v << 64 * place
        quotient += digit << 64 * place
    return quotient, seen


def words_of(*low_first):
    return sum(word << 64 * place for place, word in enumerate(low_first))


def hard_divisions():
    """Dividends and divisors whose quotient's digits are estimated too large, in every place."""
    top, full = 2**63, BASE - 1
    by = [
        (words_of(full, 0, top), words_of(0, full - 1, 0, top)),
        (words_of(5, full, 0, top), words_of(0, 0, full - 1, 0, top)),
        (words_of(full, full, 0, top), words_of(0, 0, full - 1, 0, top)),
        (words_of(full, top), words_of(0, full, top)),
        (words_of(full, 0, 0, top), words_of(full, full, full, full - 1, top - 1)),
        (words_of(full, full, full, full), words_of(0, 0, 0, full - 1, full)),
        (words_of(1, 0, 0, top), words_of(0, 0, 0, full, top - 1)),
        (words_of(full, top + 1), words_of(full, full, top)),
    ]
    random = Random(5)
    totals, divisors = [], []
    for divisor, total in by:
        for shift in range(0, 256, 32):
            for less in (0, 1, random.getrandbits(64)):
                each = (total << shift) - less
                if each >= 0 and each // divisor <= LARGEST and each < 2**512:
                    totals.append(each)
                    divisors.append(divisor)
        # The same before it is shifted to the top of a word.
        for shift in (1, 17, 63):
            totals.append(total >> shift)
            divisors.append(divisor >> shift)
    return totals, divisors


def test_quotient_is_exact_where_a_digit_is_estimated_too_large():
    totals, divisors = hard_divisions()
    counted = {"largest": 0, "lowered": 0, "added_back": 0}
    for total, divisor in zip(totals, divisors, strict=True):
        quotient, seen = plain_algorithm_d(total, divisor)
        assert quotient == total // divisor
        for name, times in seen.items():
            counted[name] += times
    assert min(counted.values()) >= 10, counted
    check_division(totals, divisors)
