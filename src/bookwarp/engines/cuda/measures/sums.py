"""Sums over the rows that a GPU keeps, made there."""

from collections.abc import Mapping

import numpy as np

from bookwarp.engines.cuda.arrays import DeviceArray
from bookwarp.engines.cuda.measures.compile import load_kernels
from bookwarp.engines.cuda.measures.layout import entries_of
from bookwarp.spec.measure_sums import HORIZONS, LAGS, SUMS

MOST_MARKETS = 8192
"""Markets whose sums, and facts, are a piece: some megabytes, to be copied at once."""
_BLOCK = 128
_LANES = 32
_LAGS_TOGETHER = 8
_BYTES = 8

# block of sums -> rows that its kernel reads, as `row_arrays` names them.
_READS = {
    "prices": ("last",),
    "returns": ("last",),
    "memory": ("last",),
    "windows": ("last",),
    "tail": ("last",),
    "volume": ("total_volume", "last"),
    "book": ("best_bid", "best_ask", "bid_depth", "ask_depth"),
}


class CudaSums:
    """Sums over the rows that a GPU keeps, made in its memory, some markets after the other.

    Args:
        rows: arrays [row, market] on one GPU, by name, at least one row.
        blocks: names of `bookwarp.spec.measure_sums.SUMS`.
        piece: markets of a piece; as many as are quick to copy if None.
    """

    def __init__(
        self, rows: Mapping[str, DeviceArray], blocks: tuple[str, ...], piece: int | None = None
    ) -> None:
        self._rows = rows
        self.blocks = tuple(block for block in SUMS if block in blocks)
        """In the order of their sums."""
        self.entries = entries_of(self.blocks)
        """Sums of a market."""
        array = rows[_READS[self.blocks[0]][0]]
        self.gpu = array.gpu
        self.rows_count, self.markets = array.shape
        self.piece = piece or min(MOST_MARKETS, -(-self.markets // _LANES) * _LANES)
        """Markets of a piece."""
        self.piece_nbytes = self.entries * self.piece * _BYTES
        with self.gpu:
            code = load_kernels(self.gpu.arch)
            self._kernels = {block: code.get_kernel(f"sum_{block}") for block in self.blocks}

    def make(self, address: int, first: int, count: int) -> None:
        """Start to sum the rows of some markets.

        Args:
            address: of the sums, [piece, sum, market of the piece].
            first, count: which markets.
        """
        for block in self.blocks:
            self._launch(block, address + self.start_of(block), first, count)

    def start_of(self, block: str) -> int:
        """Return where the sums of a block start in a piece, bytes."""
        return entries_of(self.blocks[: self.blocks.index(block)]) * self.piece * _BYTES

    def _launch(self, block: str, address: int, first: int, count: int) -> None:
        blocks = -(-count // _BLOCK)
        threads = _BLOCK
        if block == "returns":
            blocks *= len(HORIZONS)
        if block == "memory":
            blocks, threads = -(-count // _LANES), _LANES * -(-LAGS // _LAGS_TOGETHER)
        self.gpu.launch(
            self.gpu.configure(blocks, threads, 0),
            self._kernels[block],
            *(self._rows[name].pointer for name in _READS[block]),
            address,
            *map(
                np.uint32, (self.entries, self.piece, self.rows_count, self.markets, first, count)
            ),
        )
