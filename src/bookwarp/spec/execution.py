"""Parent orders: how their schedules are given, and the whole numbers that stand for them."""

from typing import Any

import numpy as np

from bookwarp.spec.codes import Schedule
from bookwarp.spec.errors import ParameterError, shown, unknown_name
from bookwarp.spec.parameters import regular_array

SHARE_UNITS = 2**32
"""A share of the volume is compared as so many parts of one."""

PROFILE_MOST = 2**31 - 1
"""Largest sum of a volume profile."""

_NAMES = {code.name.lower(): code for code in Schedule}


def schedule_codes(value: Any) -> Any:
    """Return schedules that are given by name as their codes, and anything else as it is.

    Args:
        value: a name or code, or one for each market.

    Raises:
        ParameterError: there is no schedule of that name.
    """
    if isinstance(value, str):
        return _code(value)
    listed = isinstance(value, list | tuple) or getattr(value, "ndim", 0) == 1
    if not listed or not all(isinstance(each, str) for each in value):
        return value
    return [_code(each) for each in value]


def _code(name: str) -> int:
    if name not in _NAMES:
        raise ParameterError(unknown_name("schedule", name, _NAMES))
    return int(_NAMES[name])


def check_volume_profile(value: Any) -> np.ndarray | None:
    """Return the weights of a volume profile, checked and read-only, int64 [point]; None if None.

    Raises:
        ParameterError: they are no list of whole numbers, or their sum is outside its limits.
    """
    if value is None:
        return None
    weights = regular_array("volume_profile", value)
    # NumPy makes integers of what is true or false among them.
    bools = isinstance(value, list | tuple) and any(isinstance(each, bool) for each in value)
    if weights.ndim != 1 or weights.dtype.kind not in "iu" or bools:
        raise ParameterError(f"volume_profile must be a list of integers, not {shown(value)}")
    bad = (weights < 0) | (weights > PROFILE_MOST)
    if np.any(bad):
        point = int(np.argmax(bad))
        raise ParameterError(
            f"volume_profile[{point}] = {weights[point]} is outside 0 .. {PROFILE_MOST}"
        )
    total = sum(weights.tolist())
    if not 1 <= total <= PROFILE_MOST:
        raise ParameterError(f"volume_profile sums to {total}, outside 1 .. {PROFILE_MOST}")
    kept = weights.astype(np.int64)
    kept.flags.writeable = False
    return kept


def cumulative_profile(profile: np.ndarray | None) -> np.ndarray:
    """Return the weight of the first 0, 1, ... points of a profile, int64 [point + 1].

    A run without a profile has one of a single point, so that engines need not ask.
    """
    weights = np.ones(1, np.int64) if profile is None else profile
    return np.concatenate(([0], np.cumsum(weights))).astype(np.int64)


def share_units(volume_share: np.ndarray) -> np.ndarray:
    """Return shares of the volume in `SHARE_UNITS`, halves to even, int64 0 .. 2**32."""
    return np.rint(np.asarray(volume_share, np.float64) * SHARE_UNITS).astype(np.int64)
