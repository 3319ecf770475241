"""A group of outputs that are made of the same sums."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from bookwarp.measures.protocol import Output
from bookwarp.spec.measure_facts import USES

Sums = Mapping[str, np.ndarray]
Facts = dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Group:
    """What a group of outputs needs, and the formulas that make them."""

    name: str
    """Of `bookwarp.spec.measure_facts.FACTS`."""
    outputs: Mapping[str, Output]
    formulas: Callable[[Sums, int, int], Facts]
    """From sums, the number of rows and the steps between them to float64 [..., market]: what every
    engine makes of sums in 64 bits, to the last bit."""

    @property
    def blocks(self) -> tuple[str, ...]:
        """Names of the blocks of sums that it is made of."""
        return USES[self.name]
