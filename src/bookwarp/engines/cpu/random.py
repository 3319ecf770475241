"""Both random streams (docs/streams.md), a whole market of draws at a time.

Owns: one market, one step. Positions run over the agents in the order of their types; `order`
gives the agent at a position. All arithmetic is uint64 that holds 32-bit words, so that LLVM
multiplies eight words an instruction; the masks tell it that it may.
"""

import numpy as np

from bookwarp.engines.cpu.compile import inlined
from bookwarp.spec import random as spec

_32 = np.uint64(32)
_LOW32 = np.uint64(0xFFFFFFFF)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_HALF = np.uint64(2**31)
_TWO = np.uint64(2)
_EVEN32 = np.uint64(0xFFFFFFFE)
_MULTIPLIER = np.uint64(spec.PHILOX_MULTIPLIER)
_KEY_INCREMENTS = tuple(
    np.uint64(spec.PHILOX_KEY_INCREMENT * index % 2**32) for index in range(spec.PHILOX_ROUNDS)
)
_K1, _K2, _K3, _K4, _K5, _K6 = _KEY_INCREMENTS[1:]
_WIDE_BLOCK = np.uint64(spec.WIDE_BLOCK)

_SM_INCREMENT = np.uint64(spec.SPLITMIX_INCREMENT)
_SM_1 = np.uint64(spec.SPLITMIX_MULTIPLIER_1)
_SM_2 = np.uint64(spec.SPLITMIX_MULTIPLIER_2)
_S11, _S27, _S30, _S31 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31)
_PAPER_STEP = np.uint64(spec.PAPER_STEP)
_PAPER_CHANNELS = np.array(
    [spec.PAPER_CHANNEL * channel % 2**64 for channel in range(4)], np.uint64
)


@inlined
def philox_step(key, step):  # type: ignore[no-untyped-def]
    """Return what the first round gives every block of a market: (word 0, word 1) of round 2.

    A block enters by XOR into word 0, so all else of round 1 is shared.
    """
    product = step * _MULTIPLIER
    return (product >> _32) ^ (key & _LOW32) ^ (key >> _32), product & _LOW32


@inlined
def philox_block(block, word0, word1, key):  # type: ignore[no-untyped-def]
    """Return both words of Philox2x32-7 of a block, given what `philox_step` returned."""
    low = key & _LOW32
    p2 = ((block ^ word0) & _LOW32) * _MULTIPLIER
    p3 = (((p2 >> _32) ^ (low + _K1) ^ word1) & _LOW32) * _MULTIPLIER
    p4 = (((p3 >> _32) ^ (low + _K2) ^ p2) & _LOW32) * _MULTIPLIER
    p5 = (((p4 >> _32) ^ (low + _K3) ^ p3) & _LOW32) * _MULTIPLIER
    p6 = (((p5 >> _32) ^ (low + _K4) ^ p4) & _LOW32) * _MULTIPLIER
    p7 = (((p6 >> _32) ^ (low + _K5) ^ p5) & _LOW32) * _MULTIPLIER
    return ((p7 >> _32) ^ (low + _K6) ^ p6) & _LOW32, p7 & _LOW32


@inlined
def fill_words(pairs, key, step):  # type: ignore[no-untyped-def]
    """Fill `pairs`, uint64 [block]: word 0 in the low half, word 1 in the high half.

    Seen as uint32 on a little-endian machine, that is one word an agent, in the agents' order.
    """
    word0, word1 = philox_step(key, step)
    for block in range(len(pairs)):
        first, second = philox_block(np.uint64(block), word0, word1, key)
        pairs[block] = (second << _32) | first


@inlined
def decode_noise(words, market, draws):  # type: ignore[no-untyped-def]
    """Decode the words of narrow noise agents into `draws`."""
    max_qty, offsets = np.uint64(market.max_qty32), np.uint64(market.offset_count32)
    two_max_qty, threshold = np.uint64(market.two_max_qty32), np.uint64(market.threshold)
    for i in range(len(words)):
        word = np.uint64(words[i])
        product = word * two_max_qty
        buys = word >= _HALF
        offset = (product & _LOW32) * offsets
        draws.buy[i] = np.int64(buys)
        draws.qty[i] = np.int64((product >> _32) - (max_qty if buys else _ZERO) + _ONE)
        draws.offset[i] = np.int64(offset >> _32) - market.noise_spread
        draws.marketable[i] = np.int64((offset & _LOW32) < threshold)


@inlined
def multiply_64x32(word, factor):  # type: ignore[no-untyped-def]
    """Return bits 64 .. 95 and bits 32 .. 63 of word * factor, factor at most 2**32."""
    middle = (word >> _32) * factor + (((word & _LOW32) * factor) >> _32)
    return middle >> _32, middle & _LOW32


@inlined
def decode_wide(order, step, market, draws):  # type: ignore[no-untyped-def]
    """Draw for every position of a market that is not narrow: two hashes an agent."""
    key = np.uint64(market.key)
    max_qty, offsets = np.uint64(market.max_qty), np.uint64(market.offset_count)
    threshold = np.uint64(market.threshold)
    word0, word1 = philox_step(key, step)
    for i in range(len(order)):
        block = _WIDE_BLOCK | (_TWO * np.uint64(order[i]))
        high, low = philox_block(block, word0, word1, key)
        side_size, left = multiply_64x32((high << _32) | low, _TWO * max_qty)
        buy = high >> _S31
        draws.buy[i] = np.int64(buy)
        draws.qty[i] = np.int64(side_size - buy * max_qty + _ONE)
        draws.marketable[i] = np.int64((left & _EVEN32) < threshold)
        high, low = philox_block(block | _ONE, word0, word1, key)
        offset, _ = multiply_64x32((high << _32) | low, offsets)
        draws.offset[i] = np.int64(offset) - market.noise_spread


@inlined
def splitmix64(value):  # type: ignore[no-untyped-def]
    """Return SplitMix64 of `value`: add the increment, then finalise."""
    mixed = value + _SM_INCREMENT
    mixed = (mixed ^ (mixed >> _S30)) * _SM_1
    mixed = (mixed ^ (mixed >> _S27)) * _SM_2
    return mixed ^ (mixed >> _S31)


@inlined
def fill_paper_keys(keys, order, market):  # type: ignore[no-untyped-def]
    """Fill `keys`, uint64 [channel, position]: the part of the paper's hash without step."""
    agents = np.uint64(len(order))
    for channel in range(4):
        seed = np.uint64(market.seed) ^ _PAPER_CHANNELS[channel]
        for i in range(len(order)):
            gid = (np.uint64(market.market_id) * agents + np.uint64(order[i])) & _LOW32
            keys[channel, i] = splitmix64(seed + _SM_INCREMENT * gid)


@inlined
def paper_uniform(key, step):  # type: ignore[no-untyped-def]
    """Return the float32 in 0 .. 1 of one channel; both conversions round as IEEE 754 says."""
    bits = np.int64(splitmix64(key + _PAPER_STEP * step) >> _S11)
    return np.float32(np.float64(bits) * 2.0**-53)


@inlined
def decode_paper(keys, step, market, draws):  # type: ignore[no-untyped-def]
    """Draw for every position of a market from stream "paper"."""
    max_qty, offsets = np.float32(market.max_qty), np.float32(market.offset_count)
    probability = np.float32(market.probability)
    for i in range(keys.shape[1]):
        draws.buy[i] = np.int64(paper_uniform(keys[0, i], step) < np.float32(0.5))
    for i in range(keys.shape[1]):
        draws.marketable[i] = np.int64(paper_uniform(keys[1, i], step) < probability)
    for i in range(keys.shape[1]):
        draws.qty[i] = 1 + np.int64(np.float32(paper_uniform(keys[2, i], step) * max_qty))
    for i in range(keys.shape[1]):
        uniform = paper_uniform(keys[3, i], step)
        draws.offset[i] = np.int64(np.float32(uniform * offsets)) - market.noise_spread
