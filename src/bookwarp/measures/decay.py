"""How slowly the autocorrelation of absolute returns decays: a power of the lag."""

from typing import TYPE_CHECKING

import numpy as np

from bookwarp.measures.replicas import REPLICA
from bookwarp.spec.errors import ParameterError

if TYPE_CHECKING:
    import xarray as xr

_FEWEST = 3
"""Lags that a line is put through, at least."""


def decay_exponent(dataset: "xr.Dataset", variable: str = "acf_abs_returns") -> "xr.Dataset":
    """Fit rho(k) = c k**-b to an autocorrelation, by least squares of ln rho on ln k.

    rho is the mean over replicas, where there are any. Lags are used from the first up to the one
    before rho is first not positive; with fewer than three of them all is NaN.

    Args:
        dataset: with `variable`, which has the dimension "lag".
        variable: name of the autocorrelation.

    Returns:
        decay_exponent (b), decay_level (c) and decay_lags (how many lags were used), without the
        dimensions lag and replica.

    Raises:
        ParameterError: there is no such variable, or it has no lags.

    Source: R. Cont, Quantitative Finance 1 (2001) 223, fact 8: b of 0.2 to 0.4 in real markets.
    """
    import xarray as xr

    if variable not in dataset or "lag" not in dataset[variable].dims:
        raise ParameterError(f"decay_exponent needs {variable!r} with the dimension 'lag'")
    rho = dataset[variable]
    if REPLICA in rho.dims:
        rho = rho.mean(REPLICA)
    rho = rho.transpose(..., "lag")
    fits = _fit(np.asarray(rho.lag.values, np.float64), rho.values)
    template = rho.isel(lag=0, drop=True)
    found = {}
    for (name, meaning), values in zip(_OUTPUTS.items(), fits, strict=True):
        attributes = {"units": "1", "long_name": f"{meaning} of {variable}"}
        found[name] = template.copy(data=values).assign_attrs(attributes)
    return xr.Dataset(found)


_OUTPUTS = {
    "decay_exponent": "b of the fit c k**-b",
    "decay_level": "c of the fit c k**-b",
    "decay_lags": "lags used for the fit",
}


def _fit(lags: np.ndarray, rho: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return exponent, level and number of lags of the fits to rho [..., lag]."""
    used = np.cumprod(rho > 0, axis=-1).astype(bool)
    count = used.sum(axis=-1)
    enough = count >= _FEWEST
    divisor = np.where(enough, count, 1)
    x = np.where(used, np.log(lags), 0.0)
    y = np.where(used, np.log(np.where(used, rho, 1.0)), 0.0)
    mean_x, mean_y = (each.sum(axis=-1) / divisor for each in (x, y))
    from_mean = np.where(used, x - mean_x[..., None], 0.0)
    square = (from_mean**2).sum(axis=-1)
    slope = (from_mean * y).sum(axis=-1) / np.where(enough, square, 1.0)
    level = np.exp(np.where(enough, mean_y - slope * mean_x, 0.0))
    return (
        np.where(enough, -slope, np.nan),
        np.where(enough, level, np.nan),
        count.astype(np.float64),
    )
