"""From exact sums of one market to floats, as `bookwarp.measures.moments` does it with arrays.

The operations are the same, in the same order, and so are the bits. A sum of a market whose facts
are to be made anew may be anything: no operation here traps.
"""

import numpy as np

from bookwarp.engines.cpu.compile import inlined


@inlined
def nearest(total, count):  # type: ignore[no-untyped-def]
    """Return the whole number nearest to total / count."""
    return np.int64(np.rint(np.float64(total) / np.float64(count)))


@inlined
def ratio(part, whole, otherwise):  # type: ignore[no-untyped-def]
    """Return part / whole, and `otherwise` where the whole is 0."""
    return part / whole if whole != 0 else otherwise


@inlined
def central_moments(count, first, second, third, fourth):  # type: ignore[no-untyped-def]
    """Return the mean and three central moments, from sums of powers; moments 0 if constant."""
    near = nearest(first, count)
    square = near * near
    moved = second - 2 * near * first + count * square
    cube = third - 3 * near * second + 3 * square * first - count * square * near
    biquadrate = (
        fourth - 4 * near * third + 6 * square * second - 4 * square * near * first
        + count * square * square
    )  # fmt: skip
    values = np.float64(count)
    d = np.float64(first - count * near) / values
    a, b, c = np.float64(moved) / values, np.float64(cube) / values, np.float64(biquadrate) / values
    mean = np.float64(near) + d
    if moved <= 0:
        return mean, 0.0, 0.0, 0.0
    return (
        mean,
        a - d * d,
        b - 3 * d * a + 2 * d * d * d,
        c - 4 * d * b + 6 * d * d * a - 3 * d * d * d * d,
    )


@inlined
def center(count, first, second):  # type: ignore[no-untyped-def]
    """Return what a correlation needs of one of two series, from its sum and its sum of squares.

    That is the whole number nearest to its mean, its mean beyond that, and its variance, which is
    0 if the series is constant, and only then.
    """
    values = np.float64(count)
    near = nearest(first, count)
    rest = np.float64(first - count * near) / values
    square = second - 2 * near * first + count * near * near
    found = np.float64(square) / values - rest * rest
    return near, rest, found if square > 0 else 0.0


@inlined
def variance(count, first, second):  # type: ignore[no-untyped-def]
    """Return the population's variance from sums of values and of squares; 0 if constant."""
    _, _, found = center(count, first, second)
    return found


@inlined
def correlate(count, first_x, x, first_y, y, product):  # type: ignore[no-untyped-def]
    """Return Pearson's correlation of two series; 0 where one of them never changes.

    Args:
        count: how many pairs.
        first_x, first_y: sum of each series.
        x, y: what `center` makes of each.
        product: sum of the products of the pairs.
    """
    near_x, rest_x, variance_x = x
    near_y, rest_y, variance_y = y
    moved = product - near_y * first_x - near_x * first_y + count * near_x * near_y
    shared = np.float64(moved) / np.float64(count) - rest_x * rest_y
    found = min(max(shared / np.sqrt(variance_x * variance_y), -1.0), 1.0)
    return found if (variance_x > 0) & (variance_y > 0) else 0.0


@inlined
def leave_undefined(facts, place):  # type: ignore[no-untyped-def]
    """Write NaN for every market at a place of [market, place]."""
    for m in range(len(facts)):
        facts[m, place] = np.nan
