"""Correlations of what a return tells of later ones, from exact sums, by a compiled kernel.

It does, market by market and in the same order of the same operations, what
`bookwarp.measures.moments.correlation` does with whole arrays, and so gives the same bits; but it
makes no array on the way, and needs no interpreter lock.
"""

from typing import Any

import numpy as np

from bookwarp.engines.cpu.compile import entry_point, inlined, source_digest
from bookwarp.engines.measure_protocol import LagSums


@inlined
def moved_square(count, first, second):  # type: ignore[no-untyped-def]
    """Return the whole number nearest to a mean, what the mean is beyond it, and the square sum.

    The last is the sum of squares of the distances to that whole number.
    """
    near = np.int64(np.rint(np.float64(first) / np.float64(count)))
    mean = np.float64(first - count * near) / np.float64(count)
    return near, mean, second - 2 * near * first + count * near * near


@inlined
def correlation(count, first_x, second_x, first_y, second_y, product):  # type: ignore[no-untyped-def]
    """Return Pearson's correlation of two series; 0 where one of them never changes."""
    near_x, mean_x, square_x = moved_square(count, first_x, second_x)
    near_y, mean_y, square_y = moved_square(count, first_y, second_y)
    moved = product - near_y * first_x - near_x * first_y + count * near_x * near_y
    pairs = np.float64(count)
    shared = np.float64(moved) / pairs - mean_x * mean_y
    scale = (np.float64(square_x) / pairs - mean_x * mean_x) * (
        np.float64(square_y) / pairs - mean_y * mean_y
    )
    if square_x <= 0 or square_y <= 0:
        return 0.0
    return min(max(shared / np.sqrt(scale), -1.0), 1.0)


def _build(digest: str) -> Any:
    @entry_point
    def correlate(sums, returns, acf, acf_abs, leverage):  # type: ignore[no-untyped-def]
        """Fill the correlations of every market.

        Args:
            sums: LagSums.
            returns: how many there are, at least two more than lags.
            acf, acf_abs, leverage: float64 [lag, market], set to the correlations of r_t with
                r_(t+k), of their absolute values, and of r_t with r_(t+k)**2.
        """
        _ = digest  # in the closure, and so in the key of the cache
        for m in range(len(sums.total)):
            # Sums over everything but the last, and but the first, returns.
            before, after = sums.total[m], sums.total[m]
            size_before, size_after = sums.absolute[m], sums.absolute[m]
            square_before, square_after = sums.square[m], sums.square[m]
            fourth_after = sums.fourth[m]
            for k in range(len(sums.head)):
                head, foot = sums.head[k, m], sums.foot[k, m]
                before, after = before - foot, after - head
                size_before, size_after = size_before - abs(foot), size_after - abs(head)
                square_before, square_after = (
                    square_before - foot * foot,
                    square_after - head * head,
                )
                fourth_after -= head * head * head * head
                pairs = np.int64(returns - 1 - k)
                acf[k, m] = correlation(
                    pairs, before, square_before, after, square_after, sums.product[k, m]
                )
                acf_abs[k, m] = correlation(
                    pairs, size_before, square_before, size_after, square_after,
                    sums.abs_product[k, m],
                )  # fmt: skip
                leverage[k, m] = correlation(
                    pairs, before, square_before, square_after, fourth_after,
                    sums.square_product[k, m],
                )  # fmt: skip

    return correlate


correlate = _build(source_digest())


def correlate_lags(sums: LagSums, returns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the autocorrelations of the returns and of their sizes, and the leverage effect.

    Args:
        sums, returns: as for `bookwarp.engines.measure_protocol.lag_correlations`.

    Returns:
        float64 [lag, market] each.
    """
    found = tuple(np.empty(sums.head.shape) for _ in range(3))
    # Of one layout in memory, so that the kernel is compiled once.
    correlate(LagSums(*map(np.ascontiguousarray, sums)), np.int64(returns), *found)
    return found[0], found[1], found[2]
