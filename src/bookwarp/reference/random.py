"""The agents' draws, by their definition (docs/streams.md): pure functions of who and when."""

from dataclasses import dataclass

import numpy as np

from bookwarp.spec.codes import AgentType, Stream
from bookwarp.spec.market import CallAuction
from bookwarp.spec.random import (
    NARROW_CELLS,
    PAPER_CHANNEL,
    PAPER_STEP,
    PHILOX_KEY_INCREMENT,
    PHILOX_MULTIPLIER,
    PHILOX_ROUNDS,
    SPLITMIX_INCREMENT,
    WIDE_BLOCK,
    market_keys,
    probability_threshold,
    splitmix64,
)

_LOW32 = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


@dataclass(frozen=True, eq=False)
class Draws:
    """What chance gives every agent in one step; arrays [market, agent].

    A rule takes what it needs: a maker only `qty`, a momentum agent `offset` never.
    """

    buy: np.ndarray
    """bool."""
    marketable: np.ndarray
    """bool."""
    qty: np.ndarray
    """int64, lot."""
    offset: np.ndarray
    """int64, tick."""


def draw(auction: CallAuction, types: np.ndarray, step: int) -> Draws:
    """Return the draws of every agent in `step` from the ensemble's stream.

    Args:
        auction: the ensemble.
        types: int8 [market, agent].
        step: counted from 0.
    """
    if auction.stream is Stream.PAPER:
        return draw_paper(auction, step)
    return draw_default(auction, types, step)


def philox2x32(counter0: np.ndarray, counter1: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Return Philox2x32-7 of two counter words under a key word, as uint64 (word 0 << 32) | word 1.

    All arguments are uint64 that hold 32-bit words.

    Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
    """
    for _ in range(PHILOX_ROUNDS):
        product = counter0 * np.uint64(PHILOX_MULTIPLIER)
        counter0, counter1 = (product >> _32) ^ key ^ counter1, product & _LOW32
        key = (key + np.uint64(PHILOX_KEY_INCREMENT)) & _LOW32
    return np.asarray((counter0 << _32) | counter1)


def hash_block(auction: CallAuction, block: np.ndarray, step: int) -> np.ndarray:
    """Return the 64-bit hash of block numbers `block` in every market, uint64 [market, block]."""
    key = market_keys(auction.per_market("seed"), auction.market_ids)[:, None]
    return philox2x32(
        np.asarray(step, np.uint64), block.astype(np.uint64) ^ (key >> _32), key & _LOW32
    )


def draw_default(auction: CallAuction, types: np.ndarray, step: int) -> Draws:
    """Draw from stream "default": one 64-bit hash for two agents, spent by multiplication."""
    max_qty = auction.per_market("max_qty").astype(np.uint64)[:, None]
    offsets = 2 * auction.per_market("noise_spread").astype(np.uint64)[:, None] + np.uint64(1)
    threshold = probability_threshold(auction.per_market("market_order_prob"))[:, None]
    noise = types == AgentType.NOISE
    narrow = _decode_narrow(auction, step, max_qty, offsets, noise)
    wide = _decode_wide(auction, step, max_qty, offsets)
    is_narrow = np.uint64(2) * max_qty * offsets <= np.uint64(NARROW_CELLS)
    buy, size, offset, left = (np.where(is_narrow, n, w) for n, w in zip(narrow, wide, strict=True))
    return Draws(
        buy=buy,
        marketable=left < threshold,
        qty=1 + size.astype(np.int64),
        offset=offset.astype(np.int64) - auction.per_market("noise_spread")[:, None],
    )


def _decode_narrow(
    auction: CallAuction, step: int, max_qty: np.ndarray, offsets: np.ndarray, noise: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Agents 2k and 2k+1 take the high and the low word of block k.

    Side and size come from word * 2 max_qty; what is left, an even 32-bit word, gives a noise
    agent's offset; what is left after that decides whether the order is marketable.
    """
    agent = np.arange(auction.agents)
    hashed = hash_block(auction, np.arange((auction.agents + 1) // 2), step)[:, agent // 2]
    word = np.where(agent % 2 == 0, hashed >> _32, hashed & _LOW32)
    product = word * (np.uint64(2) * max_qty)
    side_size, left = product >> _32, product & _LOW32
    buy = side_size >= max_qty
    product = left * offsets
    offset = product >> _32
    left = np.where(noise, product & _LOW32, left)
    return buy, np.where(buy, side_size - max_qty, side_size), offset, left


def _decode_wide(
    auction: CallAuction, step: int, max_qty: np.ndarray, offsets: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Agent a takes blocks 2a and 2a+1, marked as wide: the same way with 64-bit words.

    Block 2a gives side, size and marketable; block 2a+1 the offset.
    """
    agent = np.arange(auction.agents, dtype=np.uint64)
    first = hash_block(auction, np.uint64(WIDE_BLOCK) + np.uint64(2) * agent, step)
    second = hash_block(auction, np.uint64(WIDE_BLOCK + 1) + np.uint64(2) * agent, step)
    side_size, left = _multiply_64x32(first, np.uint64(2) * max_qty)
    buy = side_size >= max_qty
    offset, _ = _multiply_64x32(second, offsets)
    even = left & np.uint64(0xFFFFFFFE)
    return buy, np.where(buy, side_size - max_qty, side_size), offset, even


def _multiply_64x32(word: np.ndarray, factor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return bits 64 .. 95 and bits 32 .. 63 of word * factor, factor at most 2**32."""
    middle = (word >> _32) * factor + (((word & _LOW32) * factor) >> _32)
    return middle >> _32, middle & _LOW32


def draw_paper(auction: CallAuction, step: int) -> Draws:
    """Draw from stream "paper", bit-compatible with the published KineticSim engine.

    Its rounding to float32 can give exactly 1, so that qty can be max_qty + 1 and the offset
    noise_spread + 1, about once in 2**25 draws.
    """
    max_qty = auction.per_market("max_qty").astype(np.float32)[:, None]
    noise_spread = auction.per_market("noise_spread")[:, None]
    offsets = (2 * noise_spread + 1).astype(np.float32)
    probability = auction.per_market("market_order_prob").astype(np.float32)[:, None]
    side, marketable, qty, offset = (_paper_uniform(auction, channel, step) for channel in range(4))
    return Draws(
        buy=side < np.float32(0.5),
        marketable=marketable < probability,
        qty=1 + np.trunc(qty * max_qty).astype(np.int64),
        offset=np.trunc(offset * offsets).astype(np.int64) - noise_spread,
    )


def _paper_uniform(auction: CallAuction, channel: int, step: int) -> np.ndarray:
    """Return the float32 in 0 .. 1 of every agent on one channel, [market, agent]."""
    agent = np.arange(auction.agents, dtype=np.uint64)
    market = auction.market_ids.astype(np.uint64)[:, None]
    gid = (market * np.uint64(auction.agents) + agent) & _LOW32
    channel_key = np.uint64(PAPER_CHANNEL * channel % 2**64)
    seed = auction.per_market("seed")[:, None] ^ channel_key
    # SM adds its increment before it mixes: SM(seed + increment * gid) is draw gid of `seed`.
    key = splitmix64(seed + np.uint64(SPLITMIX_INCREMENT) * gid)
    key = splitmix64(key + np.uint64(PAPER_STEP * step % 2**64))
    uniform = (key >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.asarray(uniform.astype(np.float32))
