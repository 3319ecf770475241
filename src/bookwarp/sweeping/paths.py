"""The markets of a sweep whose prices are kept step by step."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bookwarp.spec.errors import ParameterError, unknown_name
from bookwarp.sweeping.design import Design
from bookwarp.sweeping.settings import Settings
from bookwarp.sweeping.varied import CHOICES, REPLICA

PATH, PATH_STEP, PATH_PRICE = "path", "path_step", "path_price"
PATH_SERIES = (PATH, PATH_STEP, PATH_PRICE)
_MOST_PATHS = 2**20


@dataclass(frozen=True, eq=False)
class Paths:
    """Chosen markets, in increasing order."""

    markets: np.ndarray
    """int64 [path], counted as in `Blocks`."""
    steps: int
    """Most steps of a setting."""

    @classmethod
    def of(cls, wanted: Any, design: Design, settings: Settings) -> "Paths":
        """Check which markets are chosen; those of settings that cannot run are not.

        Args:
            wanted: None for none; a number for so many replicas of every setting; or a mapping
                from swept parameters, and "replica", to lists of values: the markets that have one
                of the values of every parameter that is named.
            design, settings: of the sweep.

        Raises:
            ParameterError: an unknown name, or a value that is not in the design.
        """
        steps = max(group.shared["steps"] for group in settings.groups)
        if wanted is None:
            return cls(np.zeros(0, np.int64), steps)
        if isinstance(wanted, int | np.integer) and not isinstance(wanted, bool):
            wanted = {REPLICA: range(int(wanted))}
        if not isinstance(wanted, Mapping):
            raise ParameterError(
                f"paths must be a number of replicas, or a mapping from parameters to values, "
                f"not {wanted!r}"
            )
        chosen = np.ones(design.settings, bool)
        chosen[settings.refused] = False
        for name, values in wanted.items():
            if name != REPLICA:
                chosen &= _has_one_of(name, values, settings)
        replicas = _replicas(wanted.get(REPLICA), design.replicas)
        found = np.flatnonzero(chosen)[:, None] * design.replicas + replicas
        if found.size > _MOST_PATHS:
            raise ParameterError(f"paths: {found.size} are chosen; at most {_MOST_PATHS} are kept")
        return cls(found.reshape(-1), steps)

    def within(self, first: int, stop: int) -> tuple[int, int]:
        """Return which paths are of markets `first` .. `stop`, as a half-open range of numbers."""
        low, high = np.searchsorted(self.markets, (first, stop)).tolist()
        return low, high


def _has_one_of(name: str, values: Any, settings: Settings) -> np.ndarray:
    """Return which settings have one of the values of a swept parameter, bool [setting]."""
    if name not in settings.columns:
        raise ParameterError(f"paths: {unknown_name('parameter', name, settings.columns)}")
    column, found = settings.columns[name], np.zeros(settings.count, bool)
    for value in np.atleast_1d(np.asarray(values, object)).tolist():
        if name in CHOICES or column.dtype.kind in "iu":
            same = column == value
        else:
            same = np.isclose(column, float(value), rtol=1e-9, atol=1e-12)
        if not np.any(same):
            known = ", ".join(str(each) for each in dict.fromkeys(column.tolist()))
            raise ParameterError(f"paths: {name} = {value} is not in the design: {known[:200]}")
        found |= np.asarray(same, bool)
    return found


def _replicas(values: Any, count: int) -> np.ndarray:
    wanted = np.arange(count) if values is None else np.unique(np.atleast_1d(np.asarray(values)))
    if wanted.dtype.kind not in "iu" or np.any(wanted < 0) or np.any(wanted >= count):
        raise ParameterError(f"paths: replica must be among 0 .. {count - 1}, not {values!r}")
    return wanted.astype(np.int64)
