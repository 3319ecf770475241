"""How often each outcome comes, counted: the statement and the bounds of docs/streams.md.

At small word widths every word is decoded. At the widths of the stream the words of an outcome
are an interval, because the decoding is one multiplication; the reference is asked at both ends
of every interval.
"""

from fractions import Fraction

import numpy as np
import pytest

from bookwarp.reference import random as reference
from bookwarp.spec.codes import AgentType
from bookwarp.spec.market import CallAuction
from bookwarp.spec.random import NARROW_CELLS, WIDE_BLOCK

NARROW = [(4, 3), (1, 0), (3, 5), (7, 20), (32, 31), (2048, 0), (1, 1023)]
PROBABILITIES = [0.0, 0.1, 0.3, 1 / 3, 0.9999999999, 1.0]


def ceil_div(numerator, denominator):
    return -(-numerator // denominator)


def decode_every_word(width, max_qty, offsets):
    """Return (cell, left) of all words of `width` bits; a cell is side, size and offset."""
    word = np.arange(1 << width)
    side_size, left = np.divmod(word * 2 * max_qty, 1 << width)
    offset, left = np.divmod(left * offsets, 1 << width)
    return side_size * offsets + offset, left


def thresholds(width):
    return sorted({0, 1, (1 << width) // 10, (1 << width) // 3, (1 << width) - 1})


@pytest.mark.parametrize("width", [8, 11])
def test_each_narrow_outcome_has_its_share_of_words_rounded_down_or_up(width):
    words = 1 << width
    for max_qty in (1, 2, 3, 4, 5, 8, 13):
        for offsets in (1, 3, 5, 7, 15):
            cells = 2 * max_qty * offsets
            cell, left = decode_every_word(width, max_qty, offsets)
            assert np.all(left % 2 == 0)
            odd_part = cells // (cells & -cells)
            for threshold in thresholds(width):
                taken = np.bincount(cell[left < threshold], minlength=cells)
                others = np.bincount(cell, minlength=cells) - taken
                for counts, share in ((taken, threshold), (others, words - threshold)):
                    assert set(counts) <= {share // cells, ceil_div(share, cells)}
                distance = abs(taken * cells - threshold) + abs(others * cells - words + threshold)
                assert Fraction(int(distance.sum()), 2 * cells * words) <= Fraction(cells, words)
                power = cells // odd_part
                assert taken.sum() == min(words, ceil_div(threshold, power) * power)


@pytest.mark.parametrize("half", [3, 6])
def test_each_wide_outcome_has_its_share_of_words_rounded_down_or_up(half):
    word = np.arange(1 << 2 * half)
    for max_qty in range(1, 1 << half - 1):
        side_size, left = np.divmod(word * 2 * max_qty, 1 << 2 * half)
        even = left >> half & ~1
        for threshold in thresholds(half):
            counts = np.bincount(side_size[even < threshold], minlength=2 * max_qty)
            share = 2 * ceil_div(threshold, 2) << half
            assert set(counts) <= {share // (2 * max_qty), ceil_div(share, 2 * max_qty)}


@pytest.fixture
def give_words(monkeypatch):
    """Return a function that has the reference decode given words instead of hashes."""

    def give(words, second):
        def hashes(auction, block, step):
            if block[0] < WIDE_BLOCK:
                pairs = np.array(words, np.uint64).reshape(-1, 2)
                return (pairs[:, 0] << np.uint64(32) | pairs[:, 1])[None]
            return np.array([second if block[0] % 2 else words], np.uint64)

        monkeypatch.setattr(reference, "hash_block", hashes)

    return give


def decode(words, max_qty, noise_spread, probability, kind=AgentType.NOISE):
    """Return side and size (0 .. 2 max_qty - 1), offset and marketable of every word."""
    auction = CallAuction.of(
        1,
        agents=len(words),
        max_qty=max_qty,
        noise_spread=noise_spread,
        market_order_prob=probability,
    )
    draws = reference.draw(auction, np.full((1, len(words)), kind, np.int8), 0)
    side_size = draws.qty[0] - 1 + max_qty * draws.buy[0]
    return side_size, draws.offset[0] + noise_spread, draws.marketable[0]


def outcome_intervals(bits, cells, threshold):
    """Return (first word, last word, cell, below threshold) of every outcome that has words."""
    found = []
    for cell in range(cells):
        start = ceil_div(cell << bits, cells)
        middle = ceil_div((cell << bits) + threshold, cells)
        stop = ceil_div(cell + 1 << bits, cells)
        found += [(start, middle - 1, cell, True), (middle, stop - 1, cell, False)]
    return [each for each in found if each[0] <= each[1]]


def threshold_of(probability):
    return min(round(probability * 2**32), 2**32 - 1)


@pytest.mark.parametrize("max_qty, noise_spread", NARROW)
@pytest.mark.parametrize("probability", PROBABILITIES)
@pytest.mark.parametrize("kind", [AgentType.NOISE, AgentType.MOMENTUM])
def test_reference_splits_all_32_bit_words_as_stated(
    give_words, max_qty, noise_spread, probability, kind
):
    offsets = 2 * noise_spread + 1 if kind == AgentType.NOISE else 1
    cells = 2 * max_qty * offsets
    assert cells <= NARROW_CELLS
    intervals = outcome_intervals(32, cells, threshold_of(probability))
    assert sum(last - first + 1 for first, last, *_ in intervals) == 2**32
    words = [word for first, last, *_ in intervals for word in (first, last)]
    give_words(words, words)
    side_size, offset, marketable = decode(words, max_qty, noise_spread, probability, kind)
    if kind != AgentType.NOISE:
        offset = 0
    expected = np.repeat([each[2:] for each in intervals], 2, axis=0)
    np.testing.assert_array_equal(side_size * offsets + offset, expected[:, 0])
    np.testing.assert_array_equal(marketable, expected[:, 1])
    if probability in (0, 1):
        assert set(marketable) == {probability == 1}


@pytest.mark.parametrize("max_qty, noise_spread", [(2049, 0), (100, 20), (1, 2000)])
@pytest.mark.parametrize("probability", PROBABILITIES)
def test_reference_splits_all_64_bit_words_as_stated(
    give_words, max_qty, noise_spread, probability
):
    even = 2 * ceil_div(threshold_of(probability), 2)
    intervals = outcome_intervals(64, 2 * max_qty, even << 32)
    assert sum(last - first + 1 for first, last, *_ in intervals) == 2**64
    words = [word for first, last, *_ in intervals for word in (first, last)]
    cells = outcome_intervals(64, 2 * noise_spread + 1, 0)
    second = [word for first, last, *_ in cells for word in (first, last)]
    count = max(len(words), len(second))
    words, second = (np.resize(np.array(w, np.uint64), count).tolist() for w in (words, second))
    give_words(words, second)
    side_size, offset, marketable = decode(words, max_qty, noise_spread, probability)
    expected = np.resize(np.repeat([each[2:] for each in intervals], 2, axis=0), (count, 2))
    np.testing.assert_array_equal(side_size, expected[:, 0])
    np.testing.assert_array_equal(marketable, expected[:, 1])
    drawn = np.repeat([cell for _, _, cell, _ in cells], 2)
    np.testing.assert_array_equal(offset, np.resize(drawn, count))


@pytest.mark.parametrize("max_qty", [2**31 - 1, 2**30])
def test_reference_splits_64_bit_words_at_the_ends_of_the_largest_sizes(give_words, max_qty):
    cells = [0, 1, 2, max_qty - 1, max_qty, max_qty + 1, 2 * max_qty - 2, 2 * max_qty - 1]
    ends = [(ceil_div(c << 64, 2 * max_qty), ceil_div(c + 1 << 64, 2 * max_qty) - 1) for c in cells]
    words = [word for pair in ends for word in pair]
    give_words(words, words)
    side_size, _, _ = decode(words, max_qty, 0, 0.5)
    assert side_size.tolist() == np.repeat(cells, 2).tolist()
