"""Designs that are drawn at random: independent draws, and Latin hypercubes."""

from typing import Any

import numpy as np

from bookwarp.spec.errors import ParameterError, shown
from bookwarp.spec.market import SHARES
from bookwarp.spec.parameters import PARAMETERS
from bookwarp.sweeping.design import Design, check_settings, listed
from bookwarp.sweeping.varied import (
    CHOICES,
    check_constant,
    check_name,
    check_number,
    check_values,
    is_several,
)

_PAIR = 2


def random_design(
    settings: int, *, draw_seed: int = 0, replicas: int = 1, **parameters: Any
) -> Design:
    """Return a design of settings that are drawn independently of each other.

    Args:
        settings: how many.
        draw_seed: of `numpy.random.default_rng`; not the seed of the markets.
        replicas: markets of each setting.
        **parameters: names as for `grid`. A tuple (low, high) is a range, both ends included: a
            real parameter is uniform on it, an integer one on its integers. A list or an array
            is a set of values of which one is drawn. Any other value holds for all settings.

    Raises:
        ParameterError: an unknown name, or a range or value outside its domain.
    """
    count, start = _check_numbers(settings, draw_seed)
    ranges, constants = _read(parameters)
    points = np.random.default_rng(start).random((count, len(ranges)))
    return _design(points, ranges, constants, replicas)


def latin_hypercube(
    settings: int, *, draw_seed: int = 0, replicas: int = 1, **parameters: Any
) -> Design:
    """Return a design whose settings fill the ranges evenly: a Latin hypercube.

    Of a parameter's range, cut into `settings` equal parts, each part holds one setting.

    Args:
        settings, draw_seed, replicas, **parameters: as for `random_design`.

    Raises:
        ParameterError: as for `random_design`, or SciPy is not installed (extra `sweep`).

    Source: `scipy.stats.qmc.LatinHypercube`.
    """
    count, start = _check_numbers(settings, draw_seed)
    ranges, constants = _read(parameters)
    try:
        from scipy.stats import qmc
    except ImportError:
        raise ParameterError(
            'latin_hypercube needs SciPy, which is not installed: pip install "bookwarp[sweep]"'
        ) from None
    points = np.zeros((count, 0))
    if ranges:
        sampler = qmc.LatinHypercube(len(ranges), rng=np.random.default_rng(start))
        points = sampler.random(count)
    return _design(points, ranges, constants, replicas)


def _check_numbers(settings: Any, seed: Any) -> tuple[int, int]:
    return check_settings(settings), check_number("draw_seed", seed, 0, PARAMETERS["seed"].high)


def _read(parameters: dict[str, Any]) -> tuple[dict[str, tuple[bool, np.ndarray]], dict[str, Any]]:
    """Return for every drawn parameter whether it is a range, and its ends or values."""
    ranges: dict[str, tuple[bool, np.ndarray]] = {}
    constants: dict[str, Any] = {}
    for name, value in parameters.items():
        check_name(name)
        if not is_several(value):
            constants[name] = check_constant(name, value)
            continue
        ends = isinstance(value, tuple)
        checked = check_values(name, list(value) if ends else value)
        if ends:
            _check_range(name, checked)
        ranges[name] = ends, checked
    return ranges, constants


def _check_range(name: str, ends: np.ndarray) -> None:
    if name in CHOICES:
        raise ParameterError(f"{name} has no range: give a list of the names to draw from")
    if len(ends) != _PAIR or ends[0] > ends[1]:
        said = shown(tuple(ends.tolist()))
        raise ParameterError(
            f"{name} must be a range (low, high), low not above high, or a list of values, not "
            f"{said}"
        )


def _design(
    points: np.ndarray,
    ranges: dict[str, tuple[bool, np.ndarray]],
    constants: dict[str, Any],
    replicas: Any,
) -> Design:
    """Return the design at points of the unit cube, float64 [setting, parameter] in 0 .. 1."""
    columns = {
        name: _values(name, points[:, column], *ranges[name]) for column, name in enumerate(ranges)
    }
    return listed(columns, constants, replicas)


def _values(name: str, points: np.ndarray, ends: bool, given: np.ndarray) -> np.ndarray:
    if not ends:
        return np.asarray(given[np.minimum(points * len(given), len(given) - 1).astype(np.int64)])
    if name in SHARES or PARAMETERS[name].real:
        low, high = given
        return np.asarray(np.minimum(low + points * (high - low), high))
    low, high = (int(end) for end in given.tolist())
    count = high - low + 1
    # In Python's integers: a seed has 64 bits, which a float has not.
    drawn = [low + min(int(point * count), count - 1) for point in points.tolist()]
    return check_values(name, drawn)
