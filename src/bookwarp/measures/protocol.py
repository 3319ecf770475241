"""The seam between measures and those who run them: what to record, and what comes of it.

A measure is given a simulation that has done all its steps, and returns arrays of one entry for
each market. It never sees a setting, a replica or a file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from bookwarp.engines.pinned import Pinned, new_array
from bookwarp.measures.recording import device_parts
from bookwarp.simulation import Simulation
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.runs import Runs


@dataclass(frozen=True, eq=False)
class Output:
    """One variable that a measure gives: its shape for one market, and what it says."""

    unit: str
    meaning: str
    """With the definition in words; the formula is in docs/measures.md."""
    dims: tuple[str, ...] = ()
    """Dimensions after "market", for example ("lag",)."""
    coords: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Coordinate of every one of `dims`, whose length is the dimension's."""
    coord_meanings: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Unit and meaning of coordinates, of those that have any."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of every one of `dims`."""
        return tuple(len(self.coords[name]) for name in self.dims)


class Measure(Protocol):
    """Something to compute of what a simulation recorded, market by market."""

    @property
    def series(self) -> tuple[str, ...]:
        """Names of `bookwarp.spec.record.SERIES` that are to be recorded."""

    @property
    def every(self) -> int:
        """Steps between two recorded rows: `record_every` of the simulation."""

    def outputs(self, steps: int) -> dict[str, Output]:
        """Return what comes of a run of `steps` steps, by name.

        Raises:
            ParameterError: so few steps record no row.
        """

    def of_simulation(self, simulation: Simulation) -> dict[str, np.ndarray]:
        """Return every output of `outputs(simulation.steps_done)`, float64 [market, *shape].

        Where the simulation keeps its rows on a GPU they are read there. NaN is what is not defined
        for a market, or for so few steps.

        Raises:
            ParameterError: the simulation has not recorded `series` every `every` steps.
        """

    def describe(self) -> dict[str, Any]:
        """Return what tells this measure from others, to be kept as JSON beside its results."""


@runtime_checkable
class Fills(Protocol):
    """A measure that can write to arrays which are there already, so that nothing is copied."""

    def fill(self, simulation: Simulation, found: Mapping[str, np.ndarray], places: Runs) -> None:
        """Write what `Measure.of_simulation` returns into arrays of the caller's.

        Args:
            simulation: of what.
            found: float64 [entry, *shape] by name, contiguous.
            places: which entries belong to the simulation's markets: one run, unless the simulation
                has all its markets on one GPU.
        """


def fill(
    measure: Measure,
    simulation: Simulation,
    found: Mapping[str, np.ndarray],
    places: Runs | np.ndarray,
) -> None:
    """Write every output of a measure into arrays of the caller's, float64 [entry, *shape].

    Args:
        measure: what to compute.
        simulation: of what.
        found: arrays by name, contiguous.
        places: which of their entries belong to the simulation's markets: runs, or int64 [market].

    Raises:
        ParameterError: as `Measure.of_simulation`; or what it returned are not its outputs.
    """
    outputs, markets = measure.outputs(simulation.steps_done), simulation.auction.markets
    if (
        isinstance(measure, Fills)
        and isinstance(places, Runs)
        and (places.is_one or len(device_parts(simulation) or ()) == 1)
    ):
        measure.fill(simulation, {name: found[name] for name in outputs}, places)
        return
    entries = places.index if isinstance(places, Runs) else places
    shapes = {name: (markets, *output.shape) for name, output in outputs.items()}
    values = check_returned(type(measure).__qualname__, measure.of_simulation(simulation), shapes)
    for name, array in values.items():
        found[name][entries] = array


def filled(
    measure: Fills, outputs: Mapping[str, Output], simulation: Simulation
) -> dict[str, np.ndarray]:
    """Return what `Measure.of_simulation` does, by `Fills.fill`.

    Args:
        measure: what to compute.
        outputs: those of the measure.
        simulation: of what.
    """
    markets = simulation.auction.markets
    found = {name: new_array((markets, *output.shape)) for name, output in outputs.items()}
    parts, everywhere = device_parts(simulation), Runs.one(0, markets)
    if parts is None:
        measure.fill(simulation, found, everywhere)
        return found
    rows = next(iter(parts[0].values()))
    with Pinned(rows.device, found.values(), simulation.threads):
        measure.fill(simulation, found, everywhere)
    return found


def check_returned(
    who: str, values: Any, shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, np.ndarray]:
    """Return what a measure of somebody's own gave, as float64 arrays.

    Args:
        who: how an error names the measure.
        values: by name.
        shapes: what they must have, by name of every output.

    Raises:
        ParameterError: an output is missing, is no output, or has another shape or no numbers.
    """
    if not isinstance(values, Mapping) or set(values) != set(shapes):
        names = sorted(values) if isinstance(values, Mapping) else repr(values)
        raise ParameterError(
            f"the measure {who} returned {names}; its outputs are {sorted(shapes)}"
        )
    found = {}
    for name, shape in shapes.items():
        array = np.asarray(values[name])
        if array.shape != shape or array.dtype.kind not in "biuf":
            raise ParameterError(
                f"the measure {who} returned {name!r} as {array.dtype} {array.shape}; it must be "
                f"numbers of the shape {shape}"
            )
        found[name] = array.astype(np.float64)
    return found
