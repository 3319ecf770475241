"""The markets of a sweep whose prices are kept step by step."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bookwarp.spec.errors import ParameterError, shown, unknown_name
from bookwarp.sweeping.design import Design
from bookwarp.sweeping.settings import Settings
from bookwarp.sweeping.varied import REPLICA, check_number, check_values, is_several

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
        if isinstance(wanted, bool) or not isinstance(wanted, int | np.integer | Mapping):
            raise ParameterError(
                f"paths must be a number of replicas, or a mapping from parameters to values, "
                f"not {shown(wanted)}"
            )
        try:
            chosen, replicas = _chosen(wanted, design, settings)
        except ParameterError as error:
            raise ParameterError(f"paths: {error}") from None
        chosen[settings.refused] = False
        count = np.count_nonzero(chosen) * len(replicas)
        if count > _MOST_PATHS:
            raise ParameterError(f"paths: {count} are chosen; at most {_MOST_PATHS} are kept")
        found = np.flatnonzero(chosen)[:, None] * design.replicas + replicas
        return cls(found.reshape(-1), steps)

    def within(self, first: int, stop: int) -> tuple[int, int]:
        """Return which paths are of markets `first` .. `stop`, as a half-open range of numbers."""
        low, high = np.searchsorted(self.markets, (first, stop)).tolist()
        return low, high


def _chosen(
    wanted: int | np.integer | Mapping[Any, Any], design: Design, settings: Settings
) -> tuple[np.ndarray, np.ndarray]:
    """Return which settings are chosen, bool [setting], and of each the replicas, int64."""
    chosen = np.ones(design.settings, bool)
    if not isinstance(wanted, Mapping):
        return chosen, np.arange(check_number("replicas", wanted, 0, design.replicas))
    replicas = np.arange(design.replicas)
    for name, values in wanted.items():
        several = values if is_several(values) else [values]
        if name == REPLICA:
            replicas = _replicas(several, design.replicas)
        else:
            chosen &= _has_one_of(name, several, settings)
    return chosen, replicas


def _replicas(values: Any, count: int) -> np.ndarray:
    """Return the numbers of chosen replicas, int64, increasing."""
    found = [check_number(REPLICA, each, 0, count - 1) for each in values]
    if not found:
        raise ParameterError(f"{REPLICA} must be a list with at least one value")
    return np.unique(found)


def _has_one_of(name: str, values: Any, settings: Settings) -> np.ndarray:
    """Return which settings have one of the values of a swept parameter, bool [setting]."""
    if name not in settings.columns:
        raise ParameterError(unknown_name("parameter", name, settings.columns))
    column, found = settings.columns[name], np.zeros(settings.count, bool)
    for value in check_values(name, values).tolist():
        if column.dtype.kind == "f":
            same = np.isclose(column, value, rtol=1e-9, atol=1e-12)
        else:
            same = column == value
        if not np.any(same):
            known = ", ".join(str(each) for each in dict.fromkeys(column.tolist()))
            raise ParameterError(f"{name} = {value} is not in the design: {known[:200]}")
        found |= same
    return found
