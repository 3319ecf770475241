"""The seam for the sums that measures are made of, and who fills it for which rows."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import numpy as np


class RowSums(Protocol):
    """Sums over rows in host memory, as `bookwarp.spec.measure_sums` says.

    Implementations are equal: each sum that is exact is the same number.
    """

    @property
    def markets(self) -> int:
        """How many markets the rows are of."""

    def sums(self, first: int, stop: int) -> dict[str, np.ndarray]:
        """Return the sums of the markets `first` .. `stop`, half-open, [..., market].

        They are int64, or objects that are Python integers. Threads may call this at once.
        """


class DeviceSums(Protocol):
    """Sums over the rows that one GPU keeps."""

    @property
    def markets(self) -> int:
        """How many markets the rows are of."""

    def __iter__(self) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        """Yield the sums of some markets after the other, int64 [..., market], and the first one.

        The GPU works on the next ones meanwhile. What was yielded is overwritten after the next.
        """


# engine -> module and class of sums over rows in host memory.
_ROW_SUMS = {
    "cpu": ("bookwarp.engines.cpu.measures.sums", "CpuSums"),
    "reference": ("bookwarp.reference.measures", "ReferenceSums"),
}
_CORRELATIONS = ("bookwarp.engines.cpu.measures.correlations", "correlate_lags")
_DEVICE_SUMS = ("bookwarp.engines.cuda.measures.sums", "CudaSums")
_DEVICE_COLUMNS = ("bookwarp.engines.cuda.measures.columns", "read_columns")


def row_sums(engine: str, rows: Mapping[str, np.ndarray], blocks: tuple[str, ...]) -> RowSums:
    """Return the sums over rows in host memory: by the reference, or, for any other, on the cores.

    Args:
        engine: name of the engine that recorded them.
        rows: int64 [row, market] by name of the series, at least one row.
        blocks: names of `bookwarp.spec.measure_sums.SUMS`.
    """
    module, name = _ROW_SUMS.get(engine, _ROW_SUMS["cpu"])
    found: RowSums = getattr(import_module(module), name)(rows, blocks)
    return found


class LagSums(NamedTuple):
    """Exact sums of some markets, int64; the first row is of lag 1."""

    head: np.ndarray
    """[lag, market]: the first returns."""
    foot: np.ndarray
    """[lag, market]: the last returns, from the last one on."""
    total: np.ndarray
    """[market]: sum of the returns."""
    absolute: np.ndarray
    """[market]: sum of their absolute values."""
    square: np.ndarray
    """[market]: sum of their squares."""
    fourth: np.ndarray
    """[market]: sum of their fourth powers."""
    product: np.ndarray
    """[lag, market]: sum of r_t r_(t+k)."""
    abs_product: np.ndarray
    """[lag, market]: sum of |r_t| |r_(t+k)|."""
    square_product: np.ndarray
    """[lag, market]: sum of r_t r_(t+k)**2."""


def lag_correlations(sums: LagSums, returns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the autocorrelations of returns and of their sizes, and the leverage effect.

    Args:
        sums: so small that what a correlation makes of them fits in int64.
        returns: how many returns they are of, at least two more than lags.

    Returns:
        float64 [lag, market] each.
    """
    module, name = _CORRELATIONS
    found: tuple[np.ndarray, np.ndarray, np.ndarray] = getattr(import_module(module), name)(
        sums, returns
    )
    return found


def device_sums(rows: Mapping[str, Any], blocks: tuple[str, ...]) -> DeviceSums:
    """Return the sums over rows in the memory of a GPU.

    Args:
        rows: as `bookwarp.engines.protocol.DeviceEngine.device_rows` has them, at least one row.
        blocks: as for `row_sums`.
    """
    module, name = _DEVICE_SUMS
    found: DeviceSums = getattr(import_module(module), name)(rows, blocks)
    return found


def device_columns(
    rows: Mapping[str, Any], series: tuple[str, ...], markets: np.ndarray
) -> dict[str, np.ndarray]:
    """Return series of chosen markets of a GPU in host memory, as `Simulation.history` has them.

    Args:
        rows: as for `device_sums`.
        series: names of the series.
        markets: which of the GPU's markets.

    Returns:
        int64 [row, chosen market] by name.
    """
    module, name = _DEVICE_COLUMNS
    found: dict[str, np.ndarray] = getattr(import_module(module), name)(rows, series, markets)
    return found
