"""A statistical battery for the default stream: samples drawn by the reference, and tests of them.

Every family of tests is a function that returns {what was tested: p-value}. Seeds are fixed, so a
p-value is the same in every run.
"""

import numpy as np
import p_values

from bookwarp.reference import random as reference
from bookwarp.spec.codes import AgentType
from bookwarp.spec.market import CallAuction

MARKETS, AGENTS, STEPS = 32, 64, 128
SEED = 20_260_621

# (max_qty, noise_spread, market_order_prob); the last three are wide markets.
PARAMETER_SETS = [
    (4, 3, 0.10),
    (1, 0, 0.50),
    (3, 1, 0.90),
    (7, 20, 0.10),
    (32, 31, 0.30),
    (2048, 0, 0.05),
    (1000, 50, 0.10),
    (3, 5000, 0.25),
    (2**31 - 1, 2**30 - 1, 0.50),
]

_LOW32 = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


def ensemble(seed=SEED, first_market=0, markets=MARKETS, agents=AGENTS, **parameters):
    ids = np.arange(first_market, first_market + markets)
    return CallAuction.of(markets, agents=agents, seed=seed, market_ids=ids, **parameters)


def sample_hashes(auction, first_step=0):
    """Return the hash of every block in `STEPS` steps, uint64 [market, step, block]."""
    blocks, steps = np.arange(auction.agents // 2), range(first_step, first_step + STEPS)
    return np.stack([reference.hash_block(auction, blocks, step) for step in steps], axis=1)


def sample_words(auction, first_step=0):
    """Return the word of every agent of a narrow market, uint32 [market, step, agent]."""
    hashed = sample_hashes(auction, first_step)
    words = np.stack([hashed >> _32, hashed & _LOW32], axis=-1).astype(np.uint32)
    return words.reshape(*hashed.shape[:2], -1)


def signs_of_bits(words, width):
    """Return the bits of words as -1 and 1, float32 [word, bit]."""
    bits = words.reshape(-1, 1) >> np.arange(width, dtype=words.dtype) & words.dtype.type(1)
    return bits.astype(np.float32) * 2 - 1


def correlate_bits(first, second, width):
    """Return the scores of each bit with each: standard normal for independent words."""
    # Pieces so small that the linear algebra does not start threads for them: far faster.
    a, b = (signs_of_bits(each, width).reshape(-1, STEPS, width) for each in (first, second))
    return (a.swapaxes(1, 2) @ b).sum(axis=0) / first.size**0.5


def outcomes(parameter_sets=PARAMETER_SETS):
    """Side, size, offset and marketable: each alone, and all together."""
    found = {}
    for max_qty, noise_spread, probability in parameter_sets:
        auction = ensemble(
            max_qty=max_qty, noise_spread=noise_spread, market_order_prob=probability
        )
        for kind in (AgentType.NOISE, AgentType.MOMENTUM):
            types = np.full((MARKETS, AGENTS), kind, np.int8)
            draws = [reference.draw(auction, types, step) for step in range(STEPS)]
            offsets = 2 * noise_spread + 1 if kind == AgentType.NOISE else 1
            values = {
                "side": (np.array([d.buy for d in draws]), 2),
                "size": (np.array([d.qty - 1 for d in draws]), max_qty),
                "offset": (np.array([d.offset + noise_spread for d in draws]), offsets),
            }
            marketable = np.array([d.marketable for d in draws])
            label = f"q={max_qty} D={noise_spread} p={probability} {kind.name.lower()}"
            for name, p in fit_outcomes(values, marketable, probability).items():
                found[f"{label}: {name}"] = p
    return found


def fit_outcomes(values, marketable, probability):
    """Return p-values of draws; `values` is {name: (values 0 .. count-1, count)}, all uniform."""
    found = {"marketable": p_values.fit(marketable, [1 - probability, probability])}
    code, shares = marketable.astype(np.int64), np.array([1 - probability, probability])
    for name, (value, count) in values.items():
        if name == "offset" and count == 1:
            continue
        found[name] = p_values.fit(*into_bins(value, count, 128))
        part, part_shares = into_bins(value, count, 7)
        code = code * len(part_shares) + part
        shares = np.multiply.outer(shares, part_shares)
    return found | {"together": p_values.fit(code, shares)}


def into_bins(values, count, most):
    """Cut 0 .. count-1 into at most `most` bins; return the bins of values and the exact shares."""
    bins = min(count, most)
    starts = -(-np.arange(bins + 1) * count // bins)
    return values.astype(np.int64) * bins // count, np.diff(starts) / count


def related_words():
    """Return {who meets whom: two uint32 arrays of one shape}."""
    words, next_seed = sample_words(ensemble()), sample_words(ensemble(SEED + 1))
    later = {lag: sample_words(ensemble(), lag) for lag in (1, 2, 3, 32, 2**20)}
    beside = {lag: sample_words(ensemble(first_market=lag)) for lag in (1, 2, 2**16)}
    pairs = {
        "agents 2k and 2k+1": (words[..., 0::2], words[..., 1::2]),
        "agents 2k+1 and 2k+2": (words[..., 1:-1:2], words[..., 2::2]),
        "agents a and a+2": (words[..., :-2], words[..., 2:]),
        "agents a and a+32": (words[..., :32], words[..., 32:]),
        "agent a+2, or a step later": (words[..., 2:], later[1][..., :-2]),
        "market m+1, or a step later": (beside[1], later[1]),
        "market m+1, or seed s+1": (beside[1], next_seed),
        "seeds s and s+1": (words, next_seed),
    }
    pairs |= {f"steps s and s+{lag}": (words, other) for lag, other in later.items()}
    pairs |= {f"markets m and m+{lag}": (words, other) for lag, other in beside.items()}
    for bit in (0, 31, 32, 63):
        flipped = sample_words(ensemble(SEED ^ 1 << bit))
        pairs[f"seeds that differ in bit {bit}"] = (words, flipped)
    return pairs


def pairs(related=None):
    """No relation between the words, or the outcomes, of two agents, steps, markets or seeds."""
    found = {}
    for label, (first, second) in (related or related_words()).items():
        for name, p in compare_words(np.ravel(first), np.ravel(second)).items():
            found[f"{label}: {name}"] = p
    return found


def compare_words(first, second):
    """Return p-values for two uint32 arrays being independent of each other."""
    found, root = {}, len(first) ** 0.5
    for name, shift in {"upper 6 bits": 26, "lower 6 bits": 0}.items():
        code = (first >> shift & 63).astype(np.int64) * 64 + (second >> shift & 63)
        found[name] = p_values.fit(code, np.full(4096, 1 / 4096))
    centred = 12 * (first / 2**32 - 0.5) * (second / 2**32 - 0.5)
    found["correlation"] = p_values.normal(centred.sum() / root)
    weights = (np.bitwise_count(each) - 16.0 for each in (first, second))
    found["bits set"] = p_values.normal(np.prod(list(weights), axis=0).sum() / 8 / root)
    found["bits that differ"] = p_values.fit(
        np.bitwise_count(first ^ second), p_values.binomial_shares(32)
    )
    found["each bit with each"] = p_values.normal(correlate_bits(first, second, 32))
    share = np.tile([1 / 30, 4 / 30], 6)
    code = decode_small(first) * 12 + decode_small(second)
    found["outcomes"] = p_values.fit(code, np.multiply.outer(share, share))
    return found


def decode_small(words):
    """Return the outcome of words with max_qty 3, no spread, market_order_prob 1/5, as 0 .. 11."""
    side_size, left = np.divmod(words.astype(np.int64) * 6, 2**32)
    return side_size * 2 + (left >= 2**32 // 5)


def bits():
    """Every bit of a hash alone and with every other; bits set; three words in a row."""
    auction = ensemble(markets=2 * MARKETS)
    hashed, words = sample_hashes(auction), sample_words(auction)
    alone = signs_of_bits(hashed, 64).sum(axis=0) / hashed.size**0.5
    together = correlate_bits(hashed, hashed, 64)[np.triu_indices(64, 1)]
    found = {
        "each bit": p_values.normal(alone),
        "each two bits": p_values.normal(together),
        "bits set": p_values.fit(np.bitwise_count(words), p_values.binomial_shares(32)),
    }
    for name, axis in {"agents": 2, "steps": 1, "markets": 0}.items():
        line = np.moveaxis(words, axis, -1).astype(np.int64) >> 28
        a, b, c = (line[..., start : line.shape[-1] // 3 * 3 : 3] for start in range(3))
        code = (a * 16 + b) * 16 + c
        found[f"three {name} in a row"] = p_values.fit(code, np.full(4096, 1 / 4096))
    return found


def avalanche():
    """A flipped bit of seed, market, step or block flips each bit of the hash half of the time."""
    generator = np.random.default_rng(SEED)
    limits = {"seed": 2**64, "market": 10_000, "step": 1000, "block": 512}
    inputs = {n: generator.integers(0, limit, 4096, np.uint64) for n, limit in limits.items()}
    hashed = hash_inputs(**inputs)
    found = {}
    for name, width in {"seed": 64, "market": 31, "step": 32, "block": 32}.items():
        for bit in range(width):
            flipped = inputs | {name: inputs[name] ^ np.uint64(1 << bit)}
            changed = hashed ^ hash_inputs(**flipped)
            scores = signs_of_bits(changed, 64).sum(axis=0) / len(changed) ** 0.5
            found[f"{name} bit {bit}: each bit"] = p_values.normal(scores)
            found[f"{name} bit {bit}: how many"] = p_values.fit(
                np.bitwise_count(changed), p_values.binomial_shares(64)
            )
    return found


def hash_inputs(seed, market, step, block):
    key = reference.market_keys(seed, market)
    return reference.philox2x32(step, block ^ (key >> _32), key & _LOW32)


def collisions():
    """Equal hashes and equal keys: none in 64 bits, and as many as by chance in fewer bits."""
    hashed = np.ravel(sample_hashes(ensemble(markets=64, agents=1024)))
    seeds = np.arange(2**10, dtype=np.uint64)[:, None]
    keys = np.ravel(reference.market_keys(seeds, np.arange(2**10)))
    found = {}
    for name, values, width, shifts in (
        ("hashes", hashed, 64, (0,)),
        ("hashes", hashed, 36, (0, 14, 28)),
        ("keys", keys, 64, (0,)),
        ("keys", keys, 32, (0, 32)),
    ):
        for shift in shifts:
            cut = values >> np.uint64(shift) & np.uint64(2**width - 1)
            _, counts = np.unique(cut, return_counts=True)
            equal = int(np.sum(counts * (counts - 1) // 2))
            expected = len(cut) * (len(cut) - 1) / 2 / 2**width
            found[f"{name}, {width} bits from {shift}"] = p_values.poisson(equal, expected)
    return found


FAMILIES = {family.__name__: family for family in (outcomes, pairs, bits, avalanche, collisions)}
