"""Several measures as one, of one run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bookwarp.measures.facts import FactMeasure
from bookwarp.measures.protocol import Measure, Output, fill, filled
from bookwarp.simulation import Simulation
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.runs import Runs


@dataclass(frozen=True, eq=False)
class _AllOf:
    measures: tuple[Measure, ...]

    @property
    def every(self) -> int:
        return self.measures[0].every

    @property
    def series(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for each in self.measures for name in each.series))

    def outputs(self, steps: int) -> dict[str, Output]:
        found: dict[str, Output] = {}
        for each in self.measures:
            for name, output in each.outputs(steps).items():
                if name in found:
                    raise ParameterError(f"two measures have an output of the name {name!r}")
                found[name] = output
        return found

    def of_simulation(self, simulation: Simulation) -> dict[str, np.ndarray]:
        return filled(self, self.outputs(simulation.steps_done), simulation)

    def fill(self, simulation: Simulation, found: Mapping[str, np.ndarray], places: Runs) -> None:
        for each in self.measures:
            own = {name: found[name] for name in each.outputs(simulation.steps_done)}
            fill(each, simulation, own, places)

    def describe(self) -> dict[str, Any]:
        return {"all_of": [each.describe() for each in self.measures]}


def all_of(*measures: Measure) -> Measure:
    """Return one measure with the outputs of several; rows are read once for all groups of facts.

    Raises:
        ParameterError: there is none, or they need rows at different distances.
    """
    if not measures:
        raise ParameterError("all_of needs at least one measure")
    distances = sorted({each.every for each in measures})
    if len(distances) > 1:
        raise ParameterError(
            f"measures need rows at different distances, {' and '.join(map(str, distances))} "
            f"steps: give all of them the same every"
        )
    groups = [g for each in measures if isinstance(each, FactMeasure) for g in each.groups]
    others = [each for each in measures if not isinstance(each, FactMeasure)]
    parts: list[Measure] = [FactMeasure(tuple(dict.fromkeys(groups)), distances[0])]
    parts = [*(parts if groups else []), *others]
    return parts[0] if len(parts) == 1 else _AllOf(tuple(parts))
