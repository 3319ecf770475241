"""Means over replicas along the axes that a figure shows, with their intervals."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bookwarp.measures.replicas import over_replicas
from bookwarp.reporting.quantity import Quantity
from bookwarp.reporting.swept import Swept
from bookwarp.sweeping.varied import REPLICA

if TYPE_CHECKING:
    import xarray as xr

CONFIDENCE = 0.95


def say_interval(swept: Swept, marks: str) -> str:
    """Return what `marks`, such as Bands, are in a figure."""
    if swept.dataset.sizes[REPLICA] == 1:
        return "There is one replica, and so no interval."
    return f"{marks} are 95 % intervals of the mean over replicas."


@dataclass(frozen=True, eq=False)
class Averages:
    """Mean and interval at every point of the shown axes, float64 [*shown]; NaN is no value."""

    shown: tuple[str, ...]
    """Dimensions."""
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    cannot_run: np.ndarray
    """Where no setting that is averaged here can run, bool [*shown]."""

    @classmethod
    def of(cls, swept: Swept, quantity: Quantity, shown: tuple[str, ...]) -> "Averages":
        """Average over settings along all other dimensions, then over replicas.

        Replica r draws the same numbers in every setting. So settings are averaged within a
        replica, and only replicas, which are independent, make the interval.
        """
        others = [dim for dim in swept.dims if dim not in shown]
        values = quantity.read(swept).mean(others, skipna=True)
        found = interval(values.transpose(*shown, REPLICA))
        feasible = swept.feasible.any(others).transpose(*shown)
        return cls(shown, *found, ~feasible.values)


def interval(values: "xr.DataArray") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean over replicas, and the ends of its 95 % interval, float64 [...].

    Args:
        values: float64 [..., replica].
    """
    found = over_replicas(values.rename("x").to_dataset(), CONFIDENCE)
    return found["x"].values, found["x_low"].values, found["x_high"].values
