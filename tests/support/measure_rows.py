"""Recorded rows made up for tests of measures, and what engines make of them."""

import numpy as np

from bookwarp.engines.measure_protocol import row_sums
from bookwarp.spec.codes import NO_PRICE
from bookwarp.spec.exact_sums import exact_markets
from bookwarp.spec.measure_sums import READS, SUMS, sum_shapes

BLOCKS = tuple(SUMS)


def random_rows(rows, markets, seed=0, scale=5, base=0, lots=200):
    """Return rows of every series that measures read, int64 [row, market]."""
    rng = np.random.default_rng(seed)
    shape = rows, markets
    last = base + np.cumsum(rng.integers(-scale, scale + 1, shape), axis=0)
    best_bid, best_ask = (last - rng.integers(1, 4, shape), last + rng.integers(1, 4, shape))
    best_bid[rng.random(shape) < 0.1] = NO_PRICE
    best_ask[rng.random(shape) < 0.1] = NO_PRICE
    return {
        "last": last,
        "volume": rng.integers(0, 2, shape) * rng.integers(0, lots + 1, shape),
        "best_bid": best_bid,
        "best_ask": best_ask,
        "bid_depth": rng.integers(0, lots + 1, shape),
        "ask_depth": rng.integers(0, lots + 1, shape),
    }


def constant_rows(rows, markets, price=64, empty=False):
    """Return rows of markets in which nothing happens."""
    full = {"last": price, "volume": 0, "bid_depth": 0, "ask_depth": 0}
    full |= (
        {"best_bid": NO_PRICE, "best_ask": NO_PRICE} if empty else {"best_bid": 1, "best_ask": 2}
    )
    return {name: np.full((rows, markets), value, np.int64) for name, value in full.items()}


def jumping_rows(rows, markets, jump):
    """Return rows of prices that stay, but for one jump of every market, up and down in turn."""
    made = constant_rows(rows, markets)
    for market in range(markets):
        made["last"][1 + market % max(1, rows - 1) :, market] += (-1) ** market * jump
    return made


# name -> rows; shapes that fill no tile, no piece and no window, and values without a scale.
CASES = {
    "one row": random_rows(1, 5),
    "two rows": random_rows(2, 5, seed=1),
    "three rows": random_rows(3, 5, seed=2),
    "a window": random_rows(11, 3, seed=3),
    "a window and a bit": random_rows(18, 9, seed=4),
    "as many returns as lags": random_rows(51, 9, seed=5),
    "one pair at the last lag": random_rows(52, 9, seed=6),
    "two pairs at the last lag": random_rows(53, 9, seed=7),
    "many": random_rows(333, 41, seed=8),
    "far from zero": random_rows(120, 9, seed=9, base=-(2**60), scale=2),
    "large returns": random_rows(120, 9, seed=10, scale=2000),
    "returns that overflow": random_rows(120, 9, seed=11, scale=10**6),
    "returns of 40 bits": random_rows(70, 5, seed=12, scale=2**40),
    "lots that overflow": random_rows(70, 9, seed=13, lots=2**58),
    "constant": constant_rows(80, 9),
    "constant and empty": constant_rows(80, 3, price=-(2**50), empty=True),
    "a jump": jumping_rows(90, 9, 50),
    "a jump that overflows": jumping_rows(90, 9, 2**45),
    "a jump at the bound": jumping_rows(91, 4, 8_968),
    "a jump beyond the bound": jumping_rows(91, 4, 8_969),
}


def reference_sums(rows, blocks=BLOCKS):
    """Return what the reference makes of rows: Python integers [..., market]."""
    source = row_sums("reference", rows, blocks)
    return source.sums(0, source.markets)


def block_of(name):
    """Return the block of a sum."""
    return next(block for block, sums in SUMS.items() if name in sums)


def assert_same_sums(found, expected, rows, blocks=BLOCKS):
    """Fail unless sums are those of the reference, where they are told to be exact.

    Whether they are is told by sums themselves, and these have to be equal everywhere.
    """
    assert list(found) == list(sum_shapes(blocks))
    bases = {"memory": ("returns",), "windows": ("returns",), "volume": ("returns",)}
    for name, values in found.items():
        assert values.dtype == np.int64
        assert values.shape == expected[name].shape, name
        needed = (block_of(name), *bases.get(block_of(name), ()))
        if set(needed) <= set(blocks):
            own = {n: expected[n] for n in sum_shapes(needed)}
            exact = exact_markets(own, rows)
        else:
            exact = np.zeros(values.shape[-1], bool)
        certain = name.endswith(("_most", "_first", "_low", "_high")) or name in CERTAIN
        wanted = np.where(exact | certain, expected[name], 0).astype(np.int64)
        np.testing.assert_array_equal(np.where(exact | certain, values, 0), wanted, err_msg=name)


CERTAIN = ("drawdown", "drawup", "two_sided", "no_bid", "no_ask", "traded", "tail_start")
"""Sums that do not overflow, beside those that tell whether others do."""


def series_of(rows, blocks):
    """Return the series that some blocks read."""
    return {name: rows[name] for block in blocks for name in READS[block]}
