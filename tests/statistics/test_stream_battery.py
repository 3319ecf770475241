"""The default stream passes a statistical battery, and streams with a fault do not.

Of a perfect stream each p-value is below `LIMIT` with a chance of 1e-6, so any of the `P_VALUES`
is with a chance below 6e-4, however they depend on each other. Seeds are fixed: if this passes
once, it passes until the stream or the battery changes.
"""

import numpy as np
import pytest
import stream_battery as battery

from bookwarp.reference import random as reference

LIMIT = 1e-6
P_VALUES = {"outcomes": 79, "pairs": 140, "bits": 6, "avalanche": 318, "collisions": 7}
# A fault that is seen must be seen beyond doubt.
CAUGHT = 1e-12


@pytest.mark.parametrize("family", battery.FAMILIES)
def test_default_stream_passes(family):
    found = battery.FAMILIES[family]()
    assert len(found) == P_VALUES[family]
    failed = {name: p for name, p in found.items() if not p >= LIMIT}
    assert not failed


def test_chance_that_a_perfect_stream_fails_is_as_stated():
    assert set(P_VALUES) == set(battery.FAMILIES)
    assert sum(P_VALUES.values()) * LIMIT < 6e-4


@pytest.mark.parametrize(
    "family, rounds",
    [("outcomes", 4), ("pairs", 4), ("avalanche", 4), ("bits", 3), ("collisions", 2)],
)
def test_each_family_catches_a_philox_with_too_few_rounds(monkeypatch, family, rounds):
    monkeypatch.setattr(reference, "PHILOX_ROUNDS", rounds)
    assert min(battery.FAMILIES[family]().values()) < CAUGHT


def linear_congruential(counter0, counter1, key):
    """Return one step of Knuth's MMIX generator from the counter and the key: not enough."""
    state = (counter0 << np.uint64(32) | counter1) + (key << np.uint64(16))
    return state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)


@pytest.mark.parametrize("family", ["outcomes", "pairs", "bits", "avalanche"])
def test_linear_congruential_generator_is_caught(monkeypatch, family):
    monkeypatch.setattr(reference, "philox2x32", linear_congruential)
    assert min(battery.FAMILIES[family]().values()) < CAUGHT


def repeat_one_word_in(rarity, words):
    """Return the words of agents 2k, and those of agents 2k+1 with a few copied from them."""
    first, second = words[..., 0::2], words[..., 1::2].copy()
    copied = np.arange(second.size).reshape(second.shape) % rarity == 0
    return first, np.where(copied, first, second)


def test_one_repeated_word_in_a_hundred_is_caught():
    words = battery.sample_words(battery.ensemble())
    for name, p in battery.pairs({"faulty": repeat_one_word_in(100, words)}).items():
        if name in ("faulty: each bit with each", "faulty: bits that differ"):
            assert p < CAUGHT, name


def test_marketable_orders_five_percent_too_many_are_caught(monkeypatch):
    exact = reference.probability_threshold
    monkeypatch.setattr(
        reference, "probability_threshold", lambda p: (exact(p) * 1.05).astype(np.uint64)
    )
    found = battery.outcomes([(4, 3, 0.1)])
    assert found["q=4 D=3 p=0.1 noise: marketable"] < CAUGHT


def test_keys_that_are_sums_are_caught(monkeypatch):
    monkeypatch.setattr(reference, "market_keys", lambda seed, market: seed + market.astype("u8"))
    assert min(battery.collisions().values()) < CAUGHT
    assert min(battery.pairs().values()) < CAUGHT


def test_word_spent_twice_is_caught():
    """Deciding `marketable` by the word that gave the size must show in the joint counts."""
    word = battery.sample_words(battery.ensemble()).astype(np.int64)
    values = {"side": (word >> 31, 2), "size": ((word * 8 >> 32) % 4, 4)}
    found = battery.fit_outcomes(values, word < 2**32 // 10, 0.1)
    assert found.pop("together") < CAUGHT
    assert min(found.values()) > LIMIT, "nothing is wrong with each alone"
