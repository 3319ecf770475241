"""The seam for the sums and facts that measures are made of, and who makes them of which rows."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from bookwarp.spec.runs import Runs


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


class DeviceFacts(Protocol):
    """Facts of the rows that one GPU keeps."""

    @property
    def markets(self) -> int:
        """How many markets the rows are of."""

    def bring(self, found: Mapping[str, np.ndarray]) -> np.ndarray:
        """Make the facts of all markets, and return when they are in host memory.

        Args:
            found: those of the groups, float64 [entry, ...] by name, contiguous, which are
                written; the GPU does it by itself where they are of `pinned`.

        Returns:
            Where the facts of a group are to be made anew, for its sums do not fit in 64 bits, bool
            [group, market].

        Raises:
            EngineError: a GPU failed, or has no memory left for sums and facts.
            ParameterError: an array is not contiguous.
        """


# engine -> module and class of sums over rows in host memory.
_ROW_SUMS = {
    "cpu": ("bookwarp.engines.cpu.measures.sums", "CpuSums"),
    "reference": ("bookwarp.reference.measures", "ReferenceSums"),
}
_COMPILED_FACTS = ("bookwarp.engines.cpu.measures.facts", "make_facts")
_DEVICE_FACTS = ("bookwarp.engines.cuda.measures.facts", "CudaFacts")
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


def compiled_facts(
    sums: Mapping[str, np.ndarray],
    groups: tuple[str, ...],
    rows: int,
    every: int,
    facts: Mapping[str, np.ndarray],
) -> np.ndarray:
    """Make facts of the sums of some markets, on the cores.

    Args:
        sums: int64 [..., market], of the blocks that the groups are made of.
        groups: names of `bookwarp.spec.measure_facts.FACTS`.
        rows: how many rows went into the sums.
        every: steps between two rows.
        facts: those of the groups, float64 [market, ...] by name, which are written.

    Returns:
        Where the facts of a group are to be made anew, for its sums do not fit in 64 bits, bool
        [group, market], in the order of `groups`.
    """
    module, name = _COMPILED_FACTS
    found: np.ndarray = getattr(import_module(module), name)(sums, groups, rows, every, facts)
    return found


def device_facts(
    rows: Mapping[str, Any], groups: tuple[str, ...], every: int, places: Runs
) -> DeviceFacts:
    """Return the facts of rows in the memory of a GPU.

    Args:
        rows: as `bookwarp.engines.protocol.DeviceEngine.device_rows` has them, at least one row.
        groups, every: as for `compiled_facts`.
        places: which entries of the arrays to be written belong to the markets.
    """
    module, name = _DEVICE_FACTS
    found: DeviceFacts = getattr(import_module(module), name)(rows, groups, every, places)
    return found


def device_columns(
    rows: Mapping[str, Any], series: tuple[str, ...], markets: np.ndarray
) -> dict[str, np.ndarray]:
    """Return series of chosen markets of a GPU in host memory, as `Simulation.history` has them.

    Args:
        rows: as for `device_facts`.
        series: names of the series.
        markets: which of the GPU's markets.

    Returns:
        int64 [row, chosen market] by name.
    """
    module, name = _DEVICE_COLUMNS
    found: dict[str, np.ndarray] = getattr(import_module(module), name)(rows, series, markets)
    return found
