"""Means and intervals over replicas: what a setting is, and how surely."""

from typing import TYPE_CHECKING

import numpy as np

from bookwarp.measures.student import student_quantile
from bookwarp.spec.codes import NO_PRICE
from bookwarp.spec.errors import ParameterError

if TYPE_CHECKING:
    import xarray as xr

REPLICA = "replica"
"""Name of the dimension."""


def over_replicas(dataset: "xr.Dataset", confidence: float = 0.95) -> "xr.Dataset":
    """Return mean, standard deviation and confidence interval of every variable over replicas.

    The interval is mean -/+ t s / sqrt(m), where m is how many replicas are not NaN, s their
    standard deviation (ddof = 1) and t the quantile of Student's distribution with m - 1 degrees of
    freedom. It holds for replicas that are independent, of which there are enough for their mean to
    be normal. With one replica it is NaN. `NO_PRICE` in a variable of integers counts as NaN.

    Args:
        dataset: with a dimension "replica"; variables without it stay as they are.
        confidence: of the two-sided interval, between 0 and 1.

    Returns:
        `X` for each variable X that has replicas, its mean, and beside it `X_std`, `X_low`,
        `X_high` and `X_count`. Sums are in the order of the replicas.

    Raises:
        ParameterError: there is no such dimension, the confidence is outside its domain, or a name
            of the result is taken.

    Source: Student, Biometrika 6 (1908) 1.
    """
    import xarray as xr

    if REPLICA not in dataset.dims:
        raise ParameterError(
            f"over_replicas needs the dimension {REPLICA!r}; there is "
            f"{', '.join(map(str, dataset.dims))}"
        )
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence = {confidence} is outside 0 .. 1")
    found: dict[str, xr.DataArray] = {}
    for name, variable in dataset.data_vars.items():
        if REPLICA not in variable.dims or variable.dtype.kind not in "biuf":
            found[str(name)] = variable
            continue
        values = np.moveaxis(variable.values, variable.dims.index(REPLICA), 0)
        parts = _interval(_as_numbers(values), confidence)
        for suffix, meaning, values in zip(_SUFFIXES, _MEANINGS, parts, strict=True):
            attributes = dict(variable.attrs)
            if suffix:
                attributes["long_name"] = f"{meaning} of {name}"
            if suffix == "_count":
                attributes["units"] = "1"
            template = variable.isel({REPLICA: 0}, drop=True)
            if suffix and f"{name}{suffix}" in dataset:
                raise ParameterError(
                    f"the dataset has a variable {name}{suffix} already, beside {name}: rename one"
                )
            found[f"{name}{suffix}"] = template.copy(data=values).assign_attrs(attributes)
    kept = {n: c for n, c in dataset.coords.items() if REPLICA not in c.dims}
    return xr.Dataset(found, coords=kept, attrs={**dataset.attrs, "confidence": confidence})


_SUFFIXES = ("", "_std", "_low", "_high", "_count")
_MEANINGS = (
    "mean over replicas",
    "standard deviation over replicas",
    "low end of the confidence interval of the mean over replicas",
    "high end of the confidence interval of the mean over replicas",
    "replicas that are not NaN",
)


def _as_numbers(values: np.ndarray) -> np.ndarray:
    """Return values as float64, NaN where an integer says that there is none."""
    numbers = values.astype(np.float64)
    return np.where(values == NO_PRICE, np.nan, numbers) if values.dtype == np.int64 else numbers


def _interval(values: np.ndarray, confidence: float) -> tuple[np.ndarray, ...]:
    """Return mean, standard deviation, both ends and number, float64, of values [replica, ...]."""
    there = ~np.isnan(values)
    count = there.sum(axis=0).astype(np.float64)
    some, several = count > 0, count > 1
    safe = np.where(some, count, 1.0)
    mean = np.where(some, np.where(there, values, 0.0).sum(axis=0) / safe, np.nan)
    from_mean = np.where(there, values - np.where(some, mean, 0.0), 0.0)
    divisor = np.where(several, count - 1, 1.0)
    deviation = np.where(several, np.sqrt((from_mean**2).sum(axis=0) / divisor), np.nan)
    met, places = np.unique(count, return_inverse=True)
    quantiles = np.array([student_quantile(confidence, int(each)) for each in met])
    half = quantiles[places].reshape(count.shape) * deviation / np.sqrt(safe)
    return mean, deviation, mean - half, mean + half, count
