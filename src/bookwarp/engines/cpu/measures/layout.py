"""What the kernels are given: rows, sums, facts to fill, and memory to work in."""

from collections import namedtuple
from collections.abc import Mapping
from typing import Any

import numpy as np

from bookwarp.spec.measure_facts import USES, fact_shapes
from bookwarp.spec.measure_sums import SUMS, binary_log, sum_shapes

TILE = 8
"""Markets whose rows are turned into columns at once: the int64 of a cache line."""
KNOWN_LOGS = 256
"""Logarithms of smaller numbers are looked up."""
NARROW_SUM = 2**31 - 1
"""The largest sum of 32 bits."""
NARROW_MOST = 1290
"""The largest value whose third power fits in 32 bits."""
LANES = 64
"""Markets whose correlations are made at once: so many that a loop over them is worth to begin, and
so few that all it works on stays in the nearest cache."""
LAG_SERIES = 5
"""Series that are correlated with each other at a lag."""

SERIES = ("last", "volume", "best_bid", "best_ask", "bid_depth", "ask_depth")

Rows = namedtuple("Rows", SERIES)
SumArrays = namedtuple("SumArrays", list(sum_shapes(tuple(SUMS))))
# The prices of a tile [market, row] less the first of each, a market's returns, their sizes, the
# returns as int32, and the logarithms of 0 .. KNOWN_LOGS - 1 (of 0: 0).
Scratch = namedtuple("Scratch", ["moved", "returns", "sizes", "narrow", "logs"])
# What correlations are made of, [series, lane]: sums of each series and of its squares, and what
# `moments.center` makes of them; and correlations, [lane].
LagScratch = namedtuple("LagScratch", ["first", "second", "near", "rest", "variance", "found"])

_LOGS = np.array([0, *map(binary_log, range(1, KNOWN_LOGS))], np.int64)

# group -> its sums, and its facts
_GROUPS: dict[str, tuple[Any, Any]] = {
    group: (
        namedtuple(f"{group}_sums", list(sum_shapes(blocks))),
        namedtuple(f"{group}_facts", list(fact_shapes((group,)))),
    )
    for group, blocks in USES.items()
}


def lay_out_rows(rows: Mapping[str, np.ndarray]) -> Rows:
    """Return the rows by name; what is not there is an empty array."""
    none = np.empty((0, 0), np.int64)
    return Rows(*(np.ascontiguousarray(rows.get(name, none)) for name in SERIES))


def allocate_sums(blocks: tuple[str, ...], markets: int) -> SumArrays:
    """Return memory for the sums of some blocks, zeros [..., market]; the others are empty."""
    wanted = sum_shapes(blocks)
    arrays = []
    for name, shape in sum_shapes(tuple(SUMS)).items():
        count = markets if name in wanted else 0
        arrays.append(np.zeros((*shape, count), np.int64))
    return SumArrays(*arrays)


def allocate_scratch(rows: int) -> Scratch:
    """Return the memory that one call of the kernel works in."""
    return Scratch(
        moved=np.zeros((TILE, rows), np.int64),
        returns=np.zeros(rows, np.int64),
        sizes=np.zeros(rows, np.int64),
        narrow=np.zeros(rows, np.int32),
        logs=_LOGS,
    )


def allocate_lag_scratch() -> LagScratch:
    """Return the memory that correlations are made in."""
    integers, floats = (np.zeros((LAG_SERIES, LANES), dtype) for dtype in (np.int64, np.float64))
    return LagScratch(
        first=integers,
        second=integers.copy(),
        near=integers.copy(),
        rest=floats,
        variance=floats.copy(),
        found=np.zeros(LANES),
    )


def lay_out_group(
    group: str, sums: Mapping[str, np.ndarray], facts: Mapping[str, np.ndarray]
) -> tuple[Any, Any]:
    """Return sums [..., market] and facts [market, ...] of a group, as its kernel has them."""
    given, made = _GROUPS[group]
    own = (np.ascontiguousarray(sums[name]) for name in given._fields)
    return given(*own), made(*(facts[name] for name in made._fields))
