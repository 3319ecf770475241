"""Measures that are formulas of exact sums: made where the rows are, the same on every engine."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from bookwarp.engines.measure_protocol import (
    DeviceSums,
    device_columns,
    device_sums,
    row_sums,
)
from bookwarp.measures.exact import exact_markets
from bookwarp.measures.group import Facts, Group, Sums
from bookwarp.measures.protocol import Output
from bookwarp.measures.recording import check_every, check_recorded, check_rows, device_parts
from bookwarp.simulation import Simulation
from bookwarp.spec.measure_sums import (
    HORIZONS,
    LAGS,
    READS,
    TAIL_SHARE,
    WINDOW,
    sum_shapes,
)

Rows = Mapping[str, Any]
"""What a GPU keeps, by name."""

_AT_ONCE = 256
"""Markets that the formulas take at a time: what they work on stays in the cache of a core, and no
array is so large (128 KiB) that the allocator asks the system for new pages for it each time."""
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
        return tuple(dict.fromkeys(block for group in self.groups for block in group.blocks))

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
        rows = check_recorded(simulation, self.series, self.every)
        markets = simulation.auction.markets
        outputs = self.outputs(simulation.steps_done)
        found = {name: np.empty((markets, *output.shape)) for name, output in outputs.items()}
        parts = device_parts(simulation)
        with ThreadPoolExecutor(simulation.threads) as pool:
            if parts is None:
                self._measure_host(simulation, rows, found, pool)
            else:
                self._measure_devices(parts, rows, found, pool)
        return found

    def _measure_host(
        self, simulation: Simulation, rows: int, found: Facts, pool: ThreadPoolExecutor
    ) -> None:
        """Sum the rows in host memory and make facts of the sums, some markets on each core."""
        history = simulation.history
        source = row_sums(simulation.engine, history, self.blocks)

        def measure(first: int) -> None:
            stop = min(first + _AT_ONCE, source.markets)
            own = {name: history[name][:, first:stop] for name in self.series}
            _put(found, first, self._facts(source.sums(first, stop), rows, partial(_columns, own)))

        list(pool.map(measure, range(0, source.markets, _AT_ONCE)))

    def _measure_devices(
        self, parts: list[Rows], rows: int, found: Facts, pool: ThreadPoolExecutor
    ) -> None:
        """Let every GPU sum its own rows, all at once."""
        sources = [device_sums(part, self.blocks) for part in parts]
        firsts = np.cumsum([0, *(source.markets for source in sources[:-1])]).tolist()

        def measure(part: Rows, source: DeviceSums, first: int) -> None:
            self._measure_part(part, source, first, rows, found, pool)

        with ThreadPoolExecutor(len(parts)) as devices:
            list(devices.map(measure, parts, sources, firsts))

    def _measure_part(
        self,
        part: Rows,
        source: DeviceSums,
        first: int,
        rows: int,
        found: Facts,
        pool: ThreadPoolExecutor,
    ) -> None:
        """Make facts of the sums of a GPU as they come; its first market is `first` of all."""
        lock = Lock()  # a GPU gives memory to one thread at a time

        def measure(begin: int, sums: Sums) -> None:
            def read_rows(markets: np.ndarray) -> Sums:
                with lock:
                    return device_columns(part, self.series, begin + markets)

            _put(found, first + begin, self._facts(sums, rows, read_rows))

        for begin, sums in source:
            pieces = range(0, next(iter(sums.values())).shape[-1], _AT_ONCE)
            views = [{n: a[..., at : at + _AT_ONCE] for n, a in sums.items()} for at in pieces]
            list(pool.map(measure, [begin + at for at in pieces], views))

    def _facts(self, sums: Sums, rows: int, read_rows: Callable[[np.ndarray], Sums]) -> Facts:
        """Return the facts of some markets, float64 [..., market].

        Args:
            sums: of `blocks`.
            rows: how many rows went into them.
            read_rows: returns the rows of markets by their places in `sums`.
        """
        facts: Facts = {}
        for group in self.groups:
            own = {name: sums[name] for name in sum_shapes(group.blocks)}
            facts |= _facts_of_group(group, own, rows, self.every, read_rows)
        return facts


def _facts_of_group(
    group: Group,
    sums: Sums,
    rows: int,
    every: int,
    read_rows: Callable[[np.ndarray], Sums],
) -> Facts:
    """Return the facts of a group; where sums do not fit in int64, from Python's integers."""
    exact = exact_markets(sums, rows)
    if exact.all():
        whole = {name: array.astype(np.int64, copy=False) for name, array in sums.items()}
        return group.formulas(whole, rows, every)
    kept = {name: np.where(exact, array, 0).astype(np.int64) for name, array in sums.items()}
    facts = group.formulas(kept, rows, every)
    others = np.flatnonzero(~exact)
    again = row_sums("reference", read_rows(others), group.blocks).sums(0, len(others))
    for name, values in group.formulas(again, rows, every).items():
        facts[name][..., others] = values
    return facts


def _columns(rows: Sums, markets: np.ndarray) -> Sums:
    return {name: array[:, markets] for name, array in rows.items()}


def _put(found: Facts, first: int, facts: Facts) -> None:
    """Write the facts [..., market] of markets from `first` on into the results [market, ...]."""
    for name, values in facts.items():
        found[name][first : first + values.shape[-1]] = np.moveaxis(values, -1, 0)
