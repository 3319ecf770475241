"""Constants of both random streams and the per-market keys; docs/streams.md is the definition."""

import numpy as np

# SplitMix64 (Steele, Lea, Flood 2014): the increment and the two multipliers of its finaliser.
SPLITMIX_INCREMENT = 0x9E3779B97F4A7C15
SPLITMIX_MULTIPLIER_1 = 0xBF58476D1CE4E5B9
SPLITMIX_MULTIPLIER_2 = 0x94D049BB133111EB

# Philox2x32 (Salmon et al. 2011): the multiplier, the key's increment, and one round more than
# the fewest for which its authors know no statistical flaw.
PHILOX_MULTIPLIER = 0xD256D193
PHILOX_KEY_INCREMENT = 0x9E3779B9
PHILOX_ROUNDS = 7

# Stream "paper": what a channel and a step add to the published engine's key.
PAPER_CHANNEL = 0x0123456789ABCDEF
PAPER_STEP = 0xD1B54A32D192ED03

NARROW_CELLS = 4096
"""Largest 2 * max_qty * (2 * noise_spread + 1) for which one 32-bit word serves an agent."""

WIDE_BLOCK = 1 << 31
"""Set in the block number of every hash drawn for a market that is not narrow."""


def splitmix64(value: np.ndarray) -> np.ndarray:
    """Return SplitMix64 of `value`: add the increment, then finalise. uint64 in and out."""
    mixed = np.asarray(value, np.uint64) + np.uint64(SPLITMIX_INCREMENT)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(SPLITMIX_MULTIPLIER_1)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(SPLITMIX_MULTIPLIER_2)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def market_keys(seed: np.ndarray, market_id: np.ndarray) -> np.ndarray:
    """Return the 64-bit key of each market: SM(SM(seed) + market). uint64 [market].

    Under one seed different markets have different keys, since SM is a bijection.
    """
    return splitmix64(splitmix64(seed) + np.asarray(market_id, np.uint64))


def probability_threshold(probability: np.ndarray) -> np.ndarray:
    """Return the 32-bit threshold T so that an even 32-bit word is below T with `probability`.

    T = min(round(p * 2**32), 2**32 - 1). The words compared with it are even, so probability 0
    never and probability 1 always holds. uint64 of the shape of `probability`.
    """
    scaled = np.rint(np.asarray(probability, np.float64) * 2.0**32)
    return np.asarray(np.minimum(scaled, 2.0**32 - 1).astype(np.uint64))


def paper_hash_limit(probability: np.ndarray) -> np.ndarray:
    """Return the least hash of stream "paper" that makes no order marketable, uint64.

    An order is marketable if the upper 53 bits of its hash, as a fraction and rounded to float32,
    are less than `probability`, rounded as well. The fraction grows with the hash, so one limit
    says the same; it is found by bisection over the 53 bits.
    """
    wanted = np.asarray(probability, np.float32)
    low = np.zeros(wanted.shape, np.int64)
    high = np.full(wanted.shape, 1 << 53, np.int64)
    for _ in range(54):
        middle = (low + high) >> 1
        below = (middle * 2.0**-53).astype(np.float32) < wanted
        low, high = np.where(below, middle + 1, low), np.where(below, high, middle)
    return low.astype(np.uint64) << np.uint64(11)
