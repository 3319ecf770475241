"""The seam between measures and those who run them: what to record, and what comes of it.

A measure is given a simulation that has done all its steps, and returns arrays of one entry for
each market. It never sees a setting, a replica or a file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from bookwarp.simulation import Simulation


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

    def fill(self, simulation: Simulation, found: Mapping[str, np.ndarray]) -> None:
        """Write what `Measure.of_simulation` returns into `found`, float64 [market, *shape]."""


def fill(measure: Measure, simulation: Simulation, found: Mapping[str, np.ndarray]) -> None:
    """Write every output of a measure into arrays of the caller's, float64 [market, *shape].

    Raises:
        ParameterError: as `Measure.of_simulation`.
    """
    if isinstance(measure, Fills):
        measure.fill(simulation, found)
        return
    for name, values in measure.of_simulation(simulation).items():
        found[name][...] = values


def allocate(measure: Measure, simulation: Simulation) -> dict[str, np.ndarray]:
    """Return memory for every output of a simulation, float64 [market, *shape], not initialised."""
    outputs, markets = measure.outputs(simulation.steps_done), simulation.auction.markets
    return {name: np.empty((markets, *output.shape)) for name, output in outputs.items()}
