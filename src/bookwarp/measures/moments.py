"""From exact sums to floats: moments and correlations, by one formula for every engine.

Sums are int64, or objects that are Python integers, [..., market]. They are first moved, by
integers and so without any error, to the whole number nearest to the mean. What is left for floats
is well conditioned: a mean of at most one half, and no digits that cancel.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

Count = int | np.ndarray


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean and central moments of the population, float64 [..., market]; moments 0 if constant."""

    mean: np.ndarray
    second: np.ndarray
    third: np.ndarray
    fourth: np.ndarray


def central_moments(count: int, sums: tuple[np.ndarray, ...]) -> Moments:
    """Return mean and central moments.

    Args:
        count: how many values, at least 1.
        sums: of the values, their squares, cubes and fourth powers.
    """
    first, second, third, fourth = sums
    near = nearest(first, count)
    square = near * near
    moved = [
        first - count * near,
        second - 2 * near * first + count * square,
        third - 3 * near * second + 3 * square * first - count * square * near,
        fourth - 4 * near * third + 6 * square * second - 4 * square * near * first
        + count * square * square,
    ]  # fmt: skip
    d, a, b, c = (as_float(each) / count for each in moved)
    varies = moved[1] > 0
    return Moments(
        mean=as_float(near) + d,
        second=np.where(varies, a - d * d, 0.0),
        third=np.where(varies, b - 3 * d * a + 2 * d * d * d, 0.0),
        fourth=np.where(varies, c - 4 * d * b + 6 * d * d * a - 3 * d * d * d * d, 0.0),
    )


def variance(count: Count, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the population's variance from sums of values and of squares; 0 if constant.

    Args:
        count: how many values, at least 1; one number, or [market].
        first, second: sums, [market].
    """
    near = nearest(first, count)
    divisor = np.asarray(count, np.float64)
    rest = as_float(first - count * near) / divisor
    square = second - 2 * near * first + count * near * near
    return np.where(square > 0, as_float(square) / divisor - rest * rest, 0.0)


@dataclass(frozen=True, eq=False)
class Sums2:
    """Sum and sum of squares of one of two series, [..., market]."""

    first: np.ndarray
    second: np.ndarray


def correlation(count: Count, x: Sums2, y: Sums2, product: np.ndarray) -> np.ndarray:
    """Return Pearson's correlation of two series; 0 where one of them never changes.

    Args:
        count: how many pairs, at least 1; one number, or [..., 1].
        x, y: of each series.
        product: sum of the products of the pairs.

    Returns:
        float64 [..., market], within -1 .. 1.
    """
    near_x, near_y = nearest(x.first, count), nearest(y.first, count)
    mean_x = as_float(x.first - count * near_x) / count
    mean_y = as_float(y.first - count * near_y) / count
    square_x = x.second - 2 * near_x * x.first + count * near_x * near_x
    square_y = y.second - 2 * near_y * y.first + count * near_y * near_y
    moved = product - near_y * x.first - near_x * y.first + count * near_x * near_y
    varies = (square_x > 0) & (square_y > 0)
    shared = as_float(moved) / count - mean_x * mean_y
    scale = (as_float(square_x) / count - mean_x * mean_x) * (
        as_float(square_y) / count - mean_y * mean_y
    )
    ratio = shared / np.sqrt(np.where(varies, scale, 1.0))
    return np.where(varies, np.clip(ratio, -1.0, 1.0), 0.0)


def nearest(total: np.ndarray, count: Count) -> np.ndarray:
    """Return the whole number nearest to total / count, or one beside it, of the type of `total`.

    It is the mean itself where that is whole and below 2**52.
    """
    if total.dtype == object:
        return np.asarray((2 * total + count) // (2 * np.asarray(count, object)))
    return np.rint(total / count).astype(np.int64)


def as_float(integers: np.ndarray) -> np.ndarray:
    """Return the nearest float64 of every integer."""
    return integers.astype(np.float64)


def ratio(part: np.ndarray, whole: np.ndarray, otherwise: float) -> np.ndarray:
    """Return part / whole, and `otherwise` where the whole is 0."""
    there = whole != 0
    return np.where(there, part / np.where(there, whole, 1.0), otherwise)


def undefined(*shape: int) -> np.ndarray:
    """Return NaN, for what so few rows do not define, float64 of a shape."""
    return np.full(shape, np.nan)


def select(sums: dict[str, Any], chosen: Any) -> dict[str, np.ndarray]:
    """Return the sums of chosen markets, an index of the last axis."""
    return {name: array[..., chosen] for name, array in sums.items()}
