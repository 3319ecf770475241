"""What the kernel of sums is given: rows, sums to fill, and memory to work in."""

from collections import namedtuple
from collections.abc import Mapping

import numpy as np

from bookwarp.spec.measure_sums import SUMS, binary_log, sum_shapes

TILE = 8
"""Markets whose rows are turned into columns at once: the int64 of a cache line."""
KNOWN_LOGS = 256
"""Logarithms of smaller numbers are looked up."""

SERIES = ("last", "volume", "best_bid", "best_ask", "bid_depth", "ask_depth")

Rows = namedtuple("Rows", SERIES)
SumArrays = namedtuple("SumArrays", list(sum_shapes(tuple(SUMS))))
# The prices of a tile [market, row] less the first of each, a market's returns and their sizes, and
# the logarithms of 0 .. KNOWN_LOGS - 1 (of 0: 0).
Scratch = namedtuple("Scratch", ["moved", "returns", "sizes", "logs"])

_LOGS = np.array([0, *map(binary_log, range(1, KNOWN_LOGS))], np.int64)


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
        logs=_LOGS,
    )
