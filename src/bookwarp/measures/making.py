"""Make facts of sums: by the formulas as they are written, or compiled; the bits are the same."""

from collections.abc import Callable, Mapping

import numpy as np

from bookwarp.engines.measure_protocol import compiled_facts, row_sums
from bookwarp.measures.group import Facts, Group, Sums
from bookwarp.spec.exact_sums import exact_markets
from bookwarp.spec.measure_sums import sum_shapes
from bookwarp.spec.runs import Runs

ReadRows = Callable[[np.ndarray], Sums]
"""Returns the rows of markets, int64 [row, market], by their places in sums."""

_REFERENCE = "reference"


def write_facts(
    engine: str,
    groups: tuple[Group, ...],
    sums: Sums,
    rows: int,
    every: int,
    read_rows: ReadRows,
    found: Mapping[str, np.ndarray],
) -> None:
    """Make facts of the sums of some markets.

    Args:
        engine: "reference" for the formulas as they are written; any other for compiled ones.
        groups: what to make.
        sums: of the blocks of all groups, [..., market], as `RowSums` has them.
        rows: how many rows went into them.
        every: steps between two rows.
        read_rows: for markets whose sums do not fit in int64.
        found: float64 [market, ...] by name, which is written.
    """
    names = tuple(group.name for group in groups)
    if engine == _REFERENCE:
        again = np.stack([_write(group, sums, rows, every, found) for group in groups])
    else:
        again = compiled_facts(sums, names, rows, every, found)
    everywhere = Runs.one(0, again.shape[1])
    write_again(groups, again, rows, every, read_rows, found, everywhere)


def write_again(
    groups: tuple[Group, ...],
    again: np.ndarray,
    rows: int,
    every: int,
    read_rows: ReadRows,
    found: Mapping[str, np.ndarray],
    places: Runs,
) -> None:
    """Make facts anew, from sums that are Python's integers, where `again` [group, market] says.

    `places` says which entries of `found` belong to the markets.
    """
    for group, wanted in zip(groups, again, strict=True):
        markets = np.flatnonzero(wanted)
        if len(markets):
            sums = row_sums(_REFERENCE, read_rows(markets), group.blocks).sums(0, len(markets))
            _put(group.formulas(sums, rows, every), found, places.array()[markets])


def _write(
    group: Group, sums: Sums, rows: int, every: int, found: Mapping[str, np.ndarray]
) -> np.ndarray:
    """Write what the formulas make of sums that fit in int64; return where others do not."""
    own = {name: sums[name] for name in sum_shapes(group.blocks)}
    exact = exact_markets(own, rows)
    kept = {name: np.where(exact, array, 0).astype(np.int64) for name, array in own.items()}
    _put(group.formulas(kept, rows, every), found, slice(None))
    return ~exact


def _put(facts: Facts, found: Mapping[str, np.ndarray], markets: np.ndarray | slice) -> None:
    """Write facts [..., market] into [market, ...]."""
    for name, values in facts.items():
        found[name][markets] = np.moveaxis(values, -1, 0)
