"""Sums over rows in host memory, by a compiled kernel."""

from collections.abc import Mapping

import numpy as np

from bookwarp.engines.cpu.measures.kernel import sum_markets
from bookwarp.engines.cpu.measures.layout import (
    allocate_scratch,
    allocate_sums,
    lay_out_rows,
)
from bookwarp.spec.measure_sums import READS, sum_shapes


class CpuSums:
    """Implements `bookwarp.engines.measure_protocol.RowSums`.

    Args:
        rows: int64 [row, market] by name of the series.
        blocks: names of `bookwarp.spec.measure_sums.SUMS`.
    """

    def __init__(self, rows: Mapping[str, np.ndarray], blocks: tuple[str, ...]) -> None:
        self._blocks = blocks
        self._rows = lay_out_rows(rows)
        self._count, self.markets = rows[READS[blocks[0]][0]].shape

    def sums(self, first: int, stop: int) -> dict[str, np.ndarray]:
        """Return the sums of the markets `first` .. `stop`, half-open, int64 [..., market]."""
        sums = allocate_sums(self._blocks, stop - first)
        sum_markets(self._rows, first, stop, allocate_scratch(self._count), sums)
        return {name: getattr(sums, name) for name in sum_shapes(self._blocks)}
