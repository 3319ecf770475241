"""What a simulation has recorded, as measures read it: on the GPU, or in host memory."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from bookwarp.engines.measure_protocol import device_columns
from bookwarp.simulation import Simulation
from bookwarp.spec.errors import EngineError, ParameterError

_BLOCK_BYTES = 2**28
"""Rows of so many bytes are brought from a GPU at a time."""


def check_every(every: Any) -> int:
    """Return the steps between two rows."""
    if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
        raise ParameterError(f"every must be a positive integer, not {every!r}")
    return int(every)


def check_rows(steps: int, every: int) -> int:
    """Return how many rows a run of `steps` steps records; at least one.

    Raises:
        ParameterError: there is none.
    """
    rows = steps // every
    if rows < 1:
        raise ParameterError(
            f"measures need at least one recorded row: {steps} steps record none with "
            f"every = {every}"
        )
    return rows


def check_recorded(simulation: Simulation, series: tuple[str, ...], every: int) -> int:
    """Return how many rows a simulation has recorded of what a measure needs.

    Raises:
        ParameterError: it has not recorded that, or no row yet.
    """
    plan = simulation.plan
    missing = [name for name in series if name not in plan.series]
    if missing:
        raise ParameterError(
            f"a measure needs {', '.join(missing)}: the simulation has to record it"
        )
    if plan.every != every:
        raise ParameterError(
            f"a measure of rows that are {every} steps apart needs record_every = {every}, not "
            f"{plan.every}"
        )
    return check_rows(simulation.steps_done, every)


def device_parts(simulation: Simulation) -> list[Mapping[str, Any]] | None:
    """Return the rows on every GPU, arrays by name; None if they are not all there.

    A simulation that went on from a checkpoint has the rows before it in host memory.
    """
    parts: list[Mapping[str, Any]] = []
    markets = 0
    while markets < simulation.auction.markets:
        try:
            rows = simulation.device_history(len(parts))
        except EngineError:
            return None
        parts.append(rows)
        count, own = _shape_of(rows)
        if count < simulation.plan.rows(0, simulation.steps_done):
            return None
        markets += own
    return parts


def markets_of(rows: Mapping[str, Any]) -> int:
    """Return of how many markets a GPU keeps rows."""
    return _shape_of(rows)[1]


def _shape_of(rows: Mapping[str, Any]) -> tuple[int, int]:
    """Return rows and markets; books have a third dimension, and fewer markets."""
    count, markets = next(array.shape for array in rows.values() if len(array.shape) == 2)
    return count, markets


def recorded_blocks(
    simulation: Simulation, series: tuple[str, ...]
) -> Iterator[dict[str, np.ndarray]]:
    """Yield the recorded rows of some markets after the other, int64 [row, market] by name."""
    parts = device_parts(simulation)
    if parts is None:
        history = simulation.history
        yield {name: history[name] for name in series}
        return
    row_bytes = 8 * len(series) * simulation.plan.rows(0, simulation.steps_done)
    at_once = max(1, _BLOCK_BYTES // row_bytes)
    for rows in parts:
        markets = markets_of(rows)
        for first in range(0, markets, at_once):
            chosen = np.arange(first, min(first + at_once, markets))
            yield device_columns(rows, series, chosen)
