"""Means and intervals over replicas, and the decay of an autocorrelation."""

import numpy as np
import pytest
import scipy.stats
import xarray as xr

import bookwarp as bw
from bookwarp.measures.student import student_quantile


def dataset(replicas=9, settings=4, lags=3, seed=0):
    rng = np.random.default_rng(seed)
    return xr.Dataset(
        {
            "flat": (("setting", "replica"), rng.normal(size=(settings, replicas)), {"units": "1"}),
            "deep": (("replica", "setting", "lag"), rng.normal(size=(replicas, settings, lags))),
            "count": (("setting", "replica"), rng.integers(0, 9, (settings, replicas))),
            "share": (("setting",), rng.normal(size=settings)),
        },
        coords={"setting": np.arange(settings), "replica": np.arange(replicas)},
        attrs={"title": "a sweep"},
    )


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("replicas", [2, 3, 9, 200])
def test_intervals_are_those_of_student(confidence, replicas):
    data = dataset(replicas)
    found = bw.measures.over_replicas(data, confidence)
    for name, axis in {"flat": 1, "deep": 0, "count": 1}.items():
        values = np.moveaxis(data[name].values, axis, 0)
        wanted = scipy.stats.t.interval(
            confidence, replicas - 1, values.mean(axis=0), scipy.stats.sem(values, axis=0)
        )
        np.testing.assert_allclose(found[name], values.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(found[f"{name}_std"], values.std(axis=0, ddof=1), rtol=1e-12)
        np.testing.assert_allclose(found[f"{name}_low"], wanted[0], rtol=1e-9)
        np.testing.assert_allclose(found[f"{name}_high"], wanted[1], rtol=1e-9)
        assert (found[f"{name}_count"] == replicas).all()
    xr.testing.assert_identical(found["share"], data["share"])
    assert found.attrs == {"title": "a sweep", "confidence": confidence}
    assert "replica" not in found.dims
    assert found["flat"].attrs == {"units": "1"}
    assert found["flat_low"].attrs["units"] == "1"
    assert found["deep"].dims == ("setting", "lag")


def test_what_is_not_a_number_is_left_out_and_counted():
    data = dataset(6)
    values = data["flat"].values
    values[0, :2] = np.nan
    values[1, 1:] = np.nan
    values[2] = np.nan
    found = bw.measures.over_replicas(data)
    assert found["flat_count"].values.tolist() == [4, 1, 0, 6]
    kept = values[0, 2:]
    assert found["flat"].values[0] == pytest.approx(kept.mean())
    low, high = scipy.stats.t.interval(0.95, 3, kept.mean(), scipy.stats.sem(kept))
    assert found["flat_low"].values[0] == pytest.approx(low)
    assert found["flat_high"].values[0] == pytest.approx(high)
    assert found["flat"].values[1] == values[1, 0]
    assert np.isnan(found["flat_low"].values[1:3]).all()
    assert np.isnan(found["flat"].values[2])


def test_integers_that_say_there_is_none_are_left_out():
    data = dataset(4)
    data["count"].values[0, 1] = bw.NO_PRICE
    data["count"].values[1] = bw.NO_PRICE
    found = bw.measures.over_replicas(data)
    assert found["count_count"].values.tolist() == [3, 0, 4, 4]
    assert found["count"].values[0] == data["count"].values[0, [0, 2, 3]].mean()
    assert np.isnan(found["count"].values[1])


def test_an_interval_of_replicas_holds_the_mean_as_often_as_it_says():
    rng = np.random.default_rng(5)
    data = xr.Dataset({"x": (("setting", "replica"), rng.normal(2, 3, (20_000, 4)))})
    found = bw.measures.over_replicas(data, 0.9)
    inside = (found["x_low"] < 2) & (found["x_high"] > 2)
    assert abs(float(inside.mean()) - 0.9) < 0.01


@pytest.mark.parametrize("confidence", [1e-3, 0.5, 0.9, 0.95, 0.99, 1 - 1e-6])
def test_quantiles_are_those_of_scipy(confidence):
    for count in (*range(2, 40), 1001, 10_000):
        wanted = scipy.stats.t.ppf((1 + confidence) / 2, count - 1)
        assert student_quantile(confidence, count) == pytest.approx(wanted, rel=1e-8)
    assert np.isnan(student_quantile(confidence, 1))


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: bw.measures.over_replicas(dataset().isel(replica=0)), "the dimension 'replica'"),
        (lambda: bw.measures.over_replicas(dataset(), 1.0), "confidence = 1.0 is outside 0 .. 1"),
        (
            lambda: bw.measures.over_replicas(dataset().assign(flat_low=dataset()["flat"])),
            "has a variable flat_low already, beside flat",
        ),
        (lambda: bw.measures.decay_exponent(dataset()), "needs 'acf_abs_returns'"),
        (lambda: bw.measures.decay_exponent(dataset(), "flat"), "with the dimension 'lag'"),
    ],
)
def test_wrong_requests_are_refused(call, sentence):
    with pytest.raises(bw.ParameterError, match=sentence):
        call()


def test_decay_is_that_of_a_power_up_to_the_first_lag_that_is_not_positive():
    lag = np.arange(1, 51)
    rho = np.stack([0.5 * lag**-0.3, 0.2 * lag**-2.0, -(lag**-1.0), np.where(lag < 3, 0.1, -0.1)])
    rho[1, 20:] = 0.0
    rho[1, 40:] = 9.0  # beyond the first that is not positive
    replicas = np.stack([rho * 0.5, rho * 1.5], axis=1)
    data = xr.Dataset(
        {"acf_abs_returns": (("setting", "replica", "lag"), replicas)}, coords={"lag": lag}
    )
    found = bw.measures.decay_exponent(data)
    assert found["decay_lags"].values.tolist() == [50, 20, 0, 2]
    np.testing.assert_allclose(found["decay_exponent"], [0.3, 2.0, np.nan, np.nan], rtol=1e-9)
    np.testing.assert_allclose(found["decay_level"], [0.5, 0.2, np.nan, np.nan], rtol=1e-9)
    assert found["decay_exponent"].dims == ("setting",)
