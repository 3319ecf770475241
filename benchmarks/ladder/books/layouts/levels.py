"""How the level of a price and the best level are found: sorted, or one for each price with masks.

A level is an index into `book.levels`; `best` holds that of each side, or -1.
"""

from collections import namedtuple

import numpy as np

from bookwarp.engines.cpu.books.instructions import highest_bit, lowest_bit
from layouts.matcher import inlined

# (make, enter, leave): make(capacity) -> (arrays, levels); enter(book, side, price) -> level, made
# if nothing rests there; leave(book, side, price, level), at which nothing rests any more.
Levels = namedtuple("Levels", ["make", "enter", "leave"])

SortedPrices = namedtuple("SortedPrices", ["keys", "level", "counts", "free", "best"])
PriceMasks = namedtuple("PriceMasks", ["words", "summary", "best"])

LADDER_TICKS = 1 << 16
"""Prices 0 .. 65535 are those that the price ladder has."""
_WORD_BITS, _LOW = np.int64(6), np.int64(63)
_ZERO, _ONE, _ALL = np.uint64(0), np.uint64(1), np.uint64(2**64 - 1)


def make_sorted(capacity: int):
    """Return keys by side, the best last, and as many levels as orders."""
    free = np.arange(capacity, dtype=np.int64)
    keys, level = np.zeros((2, capacity), np.int64), np.zeros((2, capacity), np.int64)
    return SortedPrices(keys, level, np.array([0, 0, 0]), free, np.full(2, -1)), capacity


@inlined
def search(prices, side, key):
    """Return how many levels have a lower key."""
    low, high = np.int64(0), prices.counts[side]
    while low < high:
        middle = (low + high) >> 1
        if prices.keys[side, middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def set_best(prices, side):
    """Note the last level as the best."""
    count = prices.counts[side]
    prices.best[side] = prices.level[side, count - 1] if count else -1


@inlined
def enter_sorted(book, side, price):
    """Search, and move up what is better if the price is new."""
    prices, key = book.prices, price if side == 0 else ~price
    at = search(prices, side, key)
    if at < prices.counts[side] and prices.keys[side, at] == key:
        return prices.level[side, at]
    for place in range(prices.counts[side], at, -1):
        prices.keys[side, place] = prices.keys[side, place - 1]
        prices.level[side, place] = prices.level[side, place - 1]
    level = prices.free[prices.counts[2]]
    prices.counts[2] += 1
    prices.keys[side, at], prices.level[side, at] = key, level
    prices.counts[side] += 1
    set_best(prices, side)
    return level


@inlined
def leave_sorted(book, side, price, level):
    """Search, and move down what is better."""
    prices = book.prices
    at = search(prices, side, price if side == 0 else ~price)
    prices.counts[side] -= 1
    for place in range(at, prices.counts[side]):
        prices.keys[side, place] = prices.keys[side, place + 1]
        prices.level[side, place] = prices.level[side, place + 1]
    prices.counts[2] -= 1
    prices.free[prices.counts[2]] = level
    set_best(prices, side)


def make_masks(capacity: int):
    """Return masks of live prices, and masks of words that are not 0; a level for each price."""
    words = np.zeros((2, LADDER_TICKS >> 6), np.uint64)
    return PriceMasks(words, np.zeros((2, LADDER_TICKS >> 12), np.uint64), np.full(2, -1)), (
        2 * LADDER_TICKS
    )


@inlined
def enter_ladder(book, side, price):
    """Set the bits of a price."""
    prices, word = book.prices, price >> _WORD_BITS
    level = side * LADDER_TICKS + price
    prices.words[side, word] |= _ONE << np.uint64(price & _LOW)
    prices.summary[side, word >> _WORD_BITS] |= _ONE << np.uint64(word & _LOW)
    best = prices.best[side]
    if best < 0 or (level > best if side == 0 else level < best):
        prices.best[side] = level
    return level


@inlined
def leave_ladder(book, side, price, level):
    """Clear the bit of a price, and look for the next one if it was the best."""
    prices, word = book.prices, price >> _WORD_BITS
    prices.words[side, word] &= ~(_ONE << np.uint64(price & _LOW))
    if prices.words[side, word] == _ZERO:
        prices.summary[side, word >> _WORD_BITS] &= ~(_ONE << np.uint64(word & _LOW))
    if level == prices.best[side]:
        prices.best[side] = next_below(prices, word) if side == 0 else next_above(prices, word)


@inlined
def next_above(prices, word):
    """Return the lowest ask, of which nothing is below a word."""
    block = word >> _WORD_BITS
    mask = prices.summary[1, block] & (_ALL << np.uint64(word & _LOW))
    while mask == _ZERO:
        block += 1
        if block == prices.summary.shape[1]:
            return np.int64(-1)
        mask = prices.summary[1, block]
    word = (block << _WORD_BITS) + np.int64(lowest_bit(mask))
    bit = np.int64(lowest_bit(prices.words[1, word]))
    return LADDER_TICKS + (word << _WORD_BITS) + bit


@inlined
def next_below(prices, word):
    """Return the highest bid, of which nothing is above a word."""
    block = word >> _WORD_BITS
    mask = prices.summary[0, block] & (_ALL >> np.uint64(_LOW - (word & _LOW)))
    while mask == _ZERO:
        block -= 1
        if block < 0:
            return np.int64(-1)
        mask = prices.summary[0, block]
    word = (block << _WORD_BITS) + np.int64(highest_bit(mask))
    return (word << _WORD_BITS) + np.int64(highest_bit(prices.words[0, word]))


SORTED = Levels(make_sorted, enter_sorted, leave_sorted)
LADDER = Levels(make_masks, enter_ladder, leave_ladder)
