"""Stylised facts of price series: moments, returns, fat tails and memory, market by market.

Every function takes a series [step, market] and works along the steps. Nothing returns NaN: a
market whose series never changes has standard deviation 0, excess kurtosis 0 and autocorrelation
0. An average over markets counts it as such.
"""

from collections.abc import Sequence

import numpy as np

from bookwarp.spec.errors import ParameterError

_CONFIDENCE_95 = 1.959964
"""Two-sided 95 % quantile of the normal distribution, in standard errors."""


def price_moments(price: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each market's mean price and the standard deviation of its price over the steps.

    mean = sum_t p_t / T, std = sqrt(sum_t (p_t - mean)**2 / T): the population's, ddof = 0.
    Both are taken from the differences to the first price, so that no digit of the standard
    deviation is lost where the price is far from tick 0.

    Args:
        price: int64 [step, market], tick, at least one step.

    Returns:
        mean and standard deviation, float64 [market], tick.
    """
    _check_series("price", price, 1)
    moved = (price - price[0]).astype(np.float64)
    return price[0] + moved.mean(axis=0), moved.std(axis=0)


def linear_trend(price: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the slope of the straight line through each market's price, and the spread about it.

    The line is that of least squares over the steps. With the standard deviation s of the price
    and a slope b, the spread about the line is sqrt(s**2 - b**2 (T**2 - 1) / 12).

    Args:
        price: int64 [step, market], tick, at least two steps.

    Returns:
        slope, tick a step, and standard deviation about the line, tick (ddof = 0), float64
        [market].
    """
    _check_series("price", price, 2)
    steps = len(price)
    moved = (price - price[0]).astype(np.float64)
    moved -= moved.mean(axis=0)
    time = np.arange(steps)[:, None] - (steps - 1) / 2
    slope = (time * moved).sum(axis=0) / (time * time).sum()
    return slope, (moved - slope * time).std(axis=0)


def price_returns(price: np.ndarray) -> np.ndarray:
    """Return the change of the price from each step to the next, p_(t+1) - p_t.

    These are differences and not differences of logarithms: the price of a following window may
    be zero or negative, and a tick has no natural scale.

    Args:
        price: int64 [step, market], tick, at least two steps.

    Returns:
        int64 [step - 1, market], tick.
    """
    _check_series("price", price, 2)
    return np.diff(price, axis=0)


def excess_kurtosis(series: np.ndarray) -> np.ndarray:
    """Return each market's excess kurtosis, m4 / m2**2 - 3; 0 for a series that never changes.

    m_k = sum_t (x_t - mean)**k / T are the population's central moments, without a correction for
    small samples. A normal distribution has 0.

    Args:
        series: [step, market], at least one step.

    Returns:
        float64 [market].

    Source: R. A. Fisher's definition; R. Cont, Quantitative Finance 1 (2001) 223, section 3.
    """
    _check_series("series", series, 1)
    square = _centred(series) ** 2
    varies = _varies(series)
    second = np.where(varies, square.mean(axis=0), 1.0)
    return np.asarray(np.where(varies, (square**2).mean(axis=0) / second**2 - 3.0, 0.0))


def autocorrelation(series: np.ndarray, lags: Sequence[int]) -> np.ndarray:
    """Return each market's autocorrelation at each lag; 0 where a series never changes.

    At lag k it is Pearson's correlation of x_0 .. x_(T-k-1) with x_k .. x_(T-1), each of the two
    with its own mean and standard deviation, so that it is always within -1 .. 1.

    Args:
        series: [step, market].
        lags: steps, each at least 1 and at most steps - 2.

    Returns:
        float64 [lag, market].

    Raises:
        ParameterError: a lag is outside its domain.

    Source: R. Cont, Quantitative Finance 1 (2001) 223, section 3; the published script of
    arXiv:2606.21784 uses the same estimator.
    """
    _check_series("series", series, 1)
    steps = len(series)
    for lag in lags:
        if not 1 <= lag <= steps - 2:
            raise ParameterError(f"lag = {lag} is outside 1 .. {steps - 2} (steps - 2)")
    correlations = [_correlation(series[:-lag], series[lag:]) for lag in lags]
    return np.array(correlations).reshape(len(lags), series.shape[1])


def mean_interval(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean over markets and the half width of its 95 % interval.

    The half width is 1.96 standard errors, s / sqrt(M) with the sample's s (ddof = 1), which
    assumes that the markets are independent; it is 0 for a single market.

    Args:
        values: [..., market].

    Returns:
        mean and half width, float64 [...].
    """
    markets = values.shape[-1]
    mean = values.mean(axis=-1)
    if markets == 1:
        return mean, np.zeros_like(mean)
    error = values.std(axis=-1, ddof=1) / np.sqrt(markets)
    return mean, _CONFIDENCE_95 * error


def _correlation(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    varies = _varies(first) & _varies(second)
    a, b = _centred(first), _centred(second)
    scale = np.sqrt((a * a).sum(axis=0) * (b * b).sum(axis=0))
    ratio = (a * b).sum(axis=0) / np.where(varies, scale, 1.0)
    return np.where(varies, np.clip(ratio, -1.0, 1.0), 0.0)


def _centred(series: np.ndarray) -> np.ndarray:
    """Return the series less its mean, in units of the largest difference from it."""
    centred = series - series.mean(axis=0)
    largest = np.abs(centred).max(axis=0)
    return np.asarray(centred / np.where(largest > 0, largest, 1.0))


def _varies(series: np.ndarray) -> np.ndarray:
    """Return in which markets a series takes more than one value, exactly. bool [market]."""
    return np.asarray((series != series[0]).any(axis=0))


def _check_series(name: str, series: np.ndarray, steps: int) -> None:
    if np.ndim(series) != 2 or len(series) < steps:
        raise ParameterError(
            f"{name} has shape {np.shape(series)}; it must be [step, market] with at least "
            f"{steps} step{'s' if steps > 1 else ''}"
        )
