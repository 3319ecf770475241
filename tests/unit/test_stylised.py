"""The statistics against values worked out by hand, against SciPy, and where they could break."""

import numpy as np
import pytest
from scipy import stats

from bookwarp.analysis.stylised import (
    autocorrelation,
    excess_kurtosis,
    linear_trend,
    mean_interval,
    price_moments,
    price_returns,
)
from bookwarp.spec.errors import ParameterError


@pytest.fixture
def price() -> np.ndarray:
    """Five random walks of 400 steps, int64 [step, market]."""
    return np.cumsum(np.random.default_rng(3).integers(-3, 4, (400, 5)), axis=0)


def columns(*series: list[int]) -> np.ndarray:
    return np.array(series, np.int64).T


def test_moments_are_those_of_the_population():
    mean, std = price_moments(columns([1, 3, 5, 7], [2, 2, 2, 2]))
    assert mean.tolist() == [4.0, 2.0]
    assert std.tolist() == [np.sqrt(5.0), 0.0]


def test_moments_keep_their_digits_far_from_tick_zero():
    near = columns([1, 3, 5, 7])
    far = near + 2**60
    assert price_moments(far)[1] == price_moments(near)[1]


def test_trend_of_a_straight_line_is_its_slope_with_nothing_about_it():
    slope, about = linear_trend(columns([5, 8, 11, 14, 17], [2**60 - 2 * t for t in range(5)]))
    assert slope.tolist() == [3.0, -2.0]
    assert about.tolist() == [0.0, 0.0]


def test_trend_equals_that_of_numpy_and_splits_the_variance(price):
    slope, about = linear_trend(price)
    wanted = np.polynomial.polynomial.polyfit(np.arange(400), price, 1)[1]
    assert slope == pytest.approx(wanted, rel=1e-9)
    variance = about**2 + slope**2 * (400**2 - 1) / 12
    assert variance == pytest.approx(price_moments(price)[1] ** 2, rel=1e-9)


def test_returns_are_differences_in_ticks():
    found = price_returns(columns([64, 65, 63], [0, -2, 5]))
    assert found.dtype == np.int64
    assert found.T.tolist() == [[1, -2], [-2, 7]]


def test_kurtosis_of_two_equal_points_is_minus_two_and_of_one_spike_is_known():
    two = [1, -1] * 8
    spike = [16, *[0] * 15]
    found = excess_kurtosis(columns(two, spike))
    # One spike in T steps has m4 / m2**2 = (T**2 - 3 T + 3) / (T - 1).
    assert found[0] == pytest.approx(-2.0, abs=1e-12)
    assert found[1] == pytest.approx((256 - 48 + 3) / 15 - 3, rel=1e-12)


def test_kurtosis_equals_that_of_scipy(price):
    series = price_returns(price)
    assert excess_kurtosis(series) == pytest.approx(stats.kurtosis(series, axis=0), rel=1e-12)


def test_kurtosis_of_a_normal_sample_is_near_zero():
    sample = np.random.default_rng(1).normal(size=(100_000, 4))
    assert np.all(np.abs(excess_kurtosis(sample)) < 5 * np.sqrt(24 / 100_000))


def test_autocorrelation_equals_pearson_of_the_two_segments(price):
    series = price_returns(price)
    found = autocorrelation(series, (1, 2, 7))
    assert found.shape == (3, 5)
    for row, lag in zip(found, (1, 2, 7), strict=True):
        for market, value in enumerate(row):
            pair = np.corrcoef(series[:-lag, market], series[lag:, market])
            assert value == pytest.approx(pair[0, 1], rel=1e-12)


def test_autocorrelation_of_an_alternating_series_is_minus_one_then_one():
    assert autocorrelation(columns([1, -1] * 20), (1, 2))[:, 0] == pytest.approx([-1.0, 1.0])


def test_bounce_between_bid_and_ask_gives_minus_one_half():
    """A price that jumps at random between two quotes: Roll (1984)."""
    price = np.random.default_rng(5).integers(0, 2, (50_000, 8))
    found = autocorrelation(price_returns(price), (1, 2)).mean(axis=1)
    assert found == pytest.approx([-0.5, 0.0], abs=0.01)


def test_series_that_never_changes_gives_zeros_and_no_warning():
    still = np.full((50, 2), 64)
    assert price_moments(still)[1].tolist() == [0.0, 0.0]
    assert excess_kurtosis(price_returns(still)).tolist() == [0.0, 0.0]
    assert autocorrelation(price_returns(still), (1, 5)).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert excess_kurtosis(np.full((50, 1), 0.1)).tolist() == [0.0]


def test_series_whose_change_is_cut_off_by_the_lag_gives_zero():
    """The first 38 values are constant: their correlation with anything is undefined."""
    assert autocorrelation(columns([*[0] * 38, 1, 0]), (2,)).tolist() == [[0.0]]


def test_values_of_any_size_give_finite_statistics():
    shape = np.array([[1.0, -2.0, 3.0, 0.5, 2.0, -1.0]]).T
    for scale in (1e-200, 1e200):
        assert excess_kurtosis(shape * scale) == pytest.approx(excess_kurtosis(shape))
        assert autocorrelation(shape * scale, (1,)) == pytest.approx(autocorrelation(shape, (1,)))


def test_interval_has_the_width_of_the_standard_error():
    mean, half = mean_interval(np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 5.0, 5.0, 5.0]]))
    assert mean.tolist() == [2.5, 5.0]
    assert half == pytest.approx([1.959964 * stats.sem([1, 2, 3, 4]), 0.0])
    assert mean_interval(np.array([7.0]))[1] == 0.0


@pytest.mark.parametrize("lag", [0, -1, 9, 10])
def test_lag_outside_the_series_is_refused(lag):
    with pytest.raises(ParameterError, match=rf"lag = {lag} is outside 1 \.\. 8"):
        autocorrelation(np.arange(20).reshape(10, 2), (lag,))


@pytest.mark.parametrize("shape", [(5,), (1, 3), (0, 3)])
def test_shape_that_is_no_series_is_refused(shape):
    with pytest.raises(ParameterError, match="must be \\[step, market\\]"):
        price_returns(np.zeros(shape, np.int64))
