"""A measure of the user's own: a function of a block of recorded rows."""

import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bookwarp.measures.protocol import Measure, Output, check_returned
from bookwarp.measures.recording import (
    check_every,
    check_recorded,
    check_rows,
    recorded_blocks,
)
from bookwarp.simulation import Simulation
from bookwarp.spec.errors import ParameterError, unknown_name
from bookwarp.spec.record import SERIES

Function = Callable[[dict[str, np.ndarray]], Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class _Custom:
    function: Function
    series: tuple[str, ...]
    given: Mapping[str, Output]
    every: int
    # Found where it was made: a process that it is sent to may have the code alone.
    source_sha256: str

    def outputs(self, steps: int) -> dict[str, Output]:
        check_rows(steps, self.every)
        return dict(self.given)

    def of_simulation(self, simulation: Simulation) -> dict[str, np.ndarray]:
        check_recorded(simulation, self.series, self.every)
        blocks = [self._measure(rows) for rows in recorded_blocks(simulation, self.series)]
        return {name: np.concatenate([block[name] for block in blocks]) for name in self.given}

    def _measure(self, rows: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return what the function makes of the rows of some markets, checked."""
        markets = next(iter(rows.values())).shape[1]
        shapes = {name: (markets, *output.shape) for name, output in self.given.items()}
        return check_returned(_name_of(self.function), self.function(rows), shapes)

    def describe(self) -> dict[str, Any]:
        return {
            "custom": _name_of(self.function),
            "source_sha256": self.source_sha256,
            "every": self.every,
            "outputs": sorted(self.given),
        }


def custom(
    function: Function,
    *,
    series: str | Iterable[str],
    outputs: str | Iterable[str] | Mapping[str, Output],
    every: int = 1,
) -> Measure:
    """Return a measure that is a function of recorded rows.

    Args:
        function: takes a dictionary of the series, int64 [row, market], in host memory: all rows of
            the markets of a block. Returns a mapping of every output, numbers [market, ...]. A
            market must not depend on the others of its block, nor on how many there are. Rows that
            a GPU keeps come in blocks of a quarter of a gigabyte.
        series: names to record, of `bookwarp.spec.record.SERIES`.
        outputs: names of the outputs that are one number a market, or what each output is by name.
        every: steps between two rows.

    Raises:
        ParameterError: a name is unknown, or there is none.
    """
    names = (series,) if isinstance(series, str) else tuple(series)
    for name in names:
        if name not in SERIES:
            raise ParameterError(unknown_name("series", name, SERIES))
    if isinstance(outputs, str):
        outputs = (outputs,)
    if not isinstance(outputs, Mapping):
        outputs = {name: Output("1", f"{name}, by {_name_of(function)}") for name in outputs}
    if not names or not outputs:
        raise ParameterError("a measure needs at least one series and one output")
    source_sha256 = hashlib.sha256(_source_of(function).encode()).hexdigest()
    names = tuple(dict.fromkeys(names))
    return _Custom(function, names, dict(outputs), check_every(every), source_sha256)


def _name_of(function: Function) -> str:
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def _source_of(function: Function) -> str:
    """Return what tells a function from others: its source, or its code where there is none."""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        return repr((code.co_code, code.co_names)) if code else _name_of(function)
