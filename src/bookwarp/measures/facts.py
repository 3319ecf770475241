"""Measures that are formulas of exact sums: made where the rows are, the same on every engine."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from bookwarp.engines.measure_protocol import device_columns, device_facts, row_sums
from bookwarp.measures.group import Group, Sums
from bookwarp.measures.making import write_again, write_facts
from bookwarp.measures.protocol import Output, filled
from bookwarp.measures.recording import (
    check_every,
    check_recorded,
    check_rows,
    device_parts,
    markets_of,
)
from bookwarp.simulation import Simulation
from bookwarp.spec.measure_facts import blocks_of
from bookwarp.spec.measure_sums import (
    HORIZONS,
    LAGS,
    READS,
    TAIL_SHARE,
    WINDOW,
)
from bookwarp.spec.runs import Runs

Rows = Mapping[str, Any]
"""What a GPU keeps, by name."""
Found = Mapping[str, np.ndarray]
"""Facts, float64 [market, ...] by name."""

_AT_ONCE = 256
"""Markets whose sums are made at a time: they stay in the cache of a core, and no array is so large
(128 KiB) that the allocator asks the system for new pages for it each time."""
_VERSION = 1
"""Of the formulas; another one may give other numbers."""


@dataclass(frozen=True, eq=False)
class FactMeasure:
    """Groups of facts; implements `bookwarp.measures.Measure`.

    Args:
        groups: what is measured.
        every: steps between two recorded rows.
    """

    groups: tuple[Group, ...]
    every: int = 1

    def __post_init__(self) -> None:
        check_every(self.every)

    @property
    def blocks(self) -> tuple[str, ...]:
        """Names of the blocks of sums that the groups are made of."""
        return blocks_of(tuple(group.name for group in self.groups))

    @property
    def series(self) -> tuple[str, ...]:
        """Names of the series to record."""
        return tuple(dict.fromkeys(name for block in self.blocks for name in READS[block]))

    def with_every(self, every: int) -> "FactMeasure":
        """Return the same measure of rows that are `every` steps apart."""
        return replace(self, every=every)

    def outputs(self, steps: int) -> dict[str, Output]:
        """Return what comes of a run of `steps` steps, by name.

        Raises:
            ParameterError: so few steps record no row.
        """
        check_rows(steps, self.every)
        return {name: output for group in self.groups for name, output in group.outputs.items()}

    def describe(self) -> dict[str, Any]:
        """Return the names of the groups, and the constants of the formulas."""
        return {
            "measures": [group.name for group in self.groups],
            "every": self.every,
            "version": _VERSION,
            "horizons": list(HORIZONS),
            "lags": LAGS,
            "window": WINDOW,
            "tail_share": TAIL_SHARE,
        }

    def of_simulation(self, simulation: Simulation) -> dict[str, np.ndarray]:
        """Return every output, float64 [market, ...].

        Raises:
            ParameterError: the simulation has not recorded `series` every `every` steps.
        """
        return filled(self, self.outputs(simulation.steps_done), simulation)

    def fill(self, simulation: Simulation, found: Found, places: Runs) -> None:
        """Write every output into arrays of the caller's, as `Fills` of protocol.py says."""
        rows = check_recorded(simulation, self.series, self.every)
        parts = device_parts(simulation)
        if parts is None:
            own = {name: array[places.index] for name, array in found.items()}
            with ThreadPoolExecutor(simulation.threads) as pool:
                self._measure_host(simulation, rows, own, pool)
        else:
            self._measure_devices(parts, rows, found, places)

    def _measure_host(
        self, simulation: Simulation, rows: int, found: Found, pool: ThreadPoolExecutor
    ) -> None:
        """Sum the rows in host memory and make facts of the sums, some markets on each core."""
        history = simulation.history
        source = row_sums(simulation.engine, history, self.blocks)

        def measure(first: int) -> None:
            stop = min(first + _AT_ONCE, source.markets)
            columns = partial(_columns, {n: history[n][:, first:stop] for n in self.series})
            own = _rows_of(found, first, stop)
            sums = source.sums(first, stop)
            write_facts(simulation.engine, self.groups, sums, rows, self.every, columns, own)

        list(pool.map(measure, range(0, source.markets, _AT_ONCE)))

    def _measure_devices(self, parts: list[Rows], rows: int, found: Found, places: Runs) -> None:
        """Let every GPU make facts of its own rows, all at once."""
        names = tuple(group.name for group in self.groups)

        def measure(part: Rows, own: Runs) -> None:
            again = device_facts(part, names, self.every, own).bring(found)
            columns = partial(device_columns, part, self.series)
            write_again(self.groups, again, rows, self.every, columns, found, own)

        with ThreadPoolExecutor(len(parts)) as devices:
            list(devices.map(measure, parts, _places_of_parts(parts, places)))


def _places_of_parts(parts: list[Rows], places: Runs) -> list[Runs]:
    """Return the places of the markets of every part: many runs are those of one part."""
    if len(parts) == 1:
        return [places]
    edges = accumulate(map(markets_of, parts), initial=places.first)
    return [Runs.one(first, stop) for first, stop in pairwise(edges)]


def _rows_of(found: Found, first: int, stop: int) -> dict[str, np.ndarray]:
    return {name: array[first:stop] for name, array in found.items()}


def _columns(rows: Sums, markets: np.ndarray) -> Sums:
    return {name: array[:, markets] for name, array in rows.items()}
