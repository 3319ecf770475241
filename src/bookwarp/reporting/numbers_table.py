"""The numbers behind the figures: mean and interval of every quantity, setting by setting."""

from dataclasses import dataclass
from math import isfinite

import numpy as np

from bookwarp.reporting.averages import Averages
from bookwarp.reporting.quantity import Quantity
from bookwarp.reporting.swept import Swept, format_value

MOST_ROWS = 150


@dataclass(frozen=True)
class Cell:
    """A mean over replicas, and half the width of its interval; NaN is no value."""

    mean: float
    half_width: float

    def __str__(self) -> str:
        if not isfinite(self.mean):
            return "–"
        if not isfinite(self.half_width):
            return f"{self.mean:.4g}"
        return f"{self.mean:.4g} ± {self.half_width:.2g}"


@dataclass(frozen=True)
class NumbersTable:
    """One row for each setting: its parameters, then a cell for each quantity."""

    parameters: tuple[str, ...]
    quantities: tuple[Quantity, ...]
    rows: list[tuple[list[str], list[Cell]]]
    settings: int
    """Of the sweep; there are fewer rows where it has more than `MOST_ROWS`."""

    @classmethod
    def of(cls, swept: Swept, quantities: list[Quantity]) -> "NumbersTable":
        """Average every quantity in every setting that has a row: the first ones."""
        shape = tuple(swept.dataset.sizes[dim] for dim in swept.dims)
        count = int(np.prod(shape, dtype=np.int64))
        found = [Averages.of(swept, quantity, swept.dims) for quantity in quantities]
        rows: list[tuple[list[str], list[Cell]]] = []
        for place in np.ndindex(shape):
            if len(rows) == MOST_ROWS:
                break
            at = dict(zip(swept.dims, place, strict=True))
            words = [
                format_value(swept.values(name)[at[dim]]) for name, dim in swept.parameters.items()
            ]
            cells = [
                Cell(float(each.mean[place]), float(each.high[place] - each.mean[place]))
                for each in found
            ]
            rows.append((words, cells))
        return cls(tuple(swept.parameters), tuple(quantities), rows, count)
