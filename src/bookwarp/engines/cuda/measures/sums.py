"""Sums over the rows that a GPU keeps: made there, and brought to the host piece by piece."""

from collections.abc import Iterator, Mapping

import numpy as np

from bookwarp.engines.cuda.arrays import DeviceArray
from bookwarp.engines.cuda.gpu import Memory
from bookwarp.engines.cuda.measures.compile import load_kernels
from bookwarp.engines.cuda.measures.layout import entries_of
from bookwarp.spec.measure_sums import HORIZONS, LAGS, SUMS, sum_shapes

MOST_MARKETS = 16384
"""Markets whose sums are a piece, [sum, market]: some tens of megabytes, to be copied at once."""
_BLOCK = 128
_LANES = 32
_LAGS_TOGETHER = 8
_SHARE_OF_FREE = 2
"""Sums take no more than this part of the memory that is free."""
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
    """Implements `bookwarp.engines.measure_protocol.DeviceSums`.

    Args:
        rows: arrays [row, market] on one GPU, by name, at least one row.
        blocks: names of `bookwarp.spec.measure_sums.SUMS`.
    """

    def __init__(self, rows: Mapping[str, DeviceArray], blocks: tuple[str, ...]) -> None:
        self._rows = rows
        self._blocks = tuple(block for block in SUMS if block in blocks)
        self._entries = entries_of(self._blocks)
        array = rows[_READS[self._blocks[0]][0]]
        self._gpu = array.gpu
        self._count, self.markets = array.shape
        self._piece = min(MOST_MARKETS, -(-self.markets // _LANES) * _LANES)
        self._nbytes = self._entries * self._piece * _BYTES

    def __iter__(self) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        """Yield the sums of some markets after the other, and the first of these.

        Raises:
            EngineError: a GPU failed, or has no memory left for the sums.
        """
        with self._gpu:
            code = load_kernels(self._gpu.arch)
            kernels = {block: code.get_kernel(f"sum_{block}") for block in self._blocks}
        at_once, nbytes = self._markets_at_once(), self._nbytes
        memory = Memory(self._gpu, self._pieces(at_once) * nbytes)
        images = [self._gpu.allocate_pinned(nbytes) for _ in range(min(2, self._pieces(at_once)))]
        written, arrivals = self._gpu.create_event(), [self._gpu.create_event() for _ in images]
        for first in range(0, self.markets, at_once):
            count = min(at_once, self.markets - first)
            for block, kernel in kernels.items():
                self._launch(block, kernel, memory, first, count)
            self._gpu.mark(written)
            pieces = self._pieces(count)
            self._gpu.fetch(images[0], memory.pointer, written, arrivals[0])
            for piece in range(pieces):
                here, ahead = piece % 2, (piece + 1) % 2
                if piece + 1 < pieces:
                    address = memory.pointer + (piece + 1) * nbytes
                    self._gpu.fetch(images[ahead], address, written, arrivals[ahead])
                self._gpu.finish_fetch(arrivals[here])
                begin = piece * self._piece
                own = min(self._piece, count - begin)
                yield first + begin, self._by_name(images[here], own)

    def _pieces(self, markets: int) -> int:
        return -(-markets // self._piece)

    def _markets_at_once(self) -> int:
        """Return how many markets' sums there is memory for: whole pieces, or all markets."""
        room = self._gpu.free_bytes() // _SHARE_OF_FREE // self._nbytes
        return min(self.markets, max(1, room) * self._piece)

    def _launch(self, block: str, kernel: object, memory: Memory, first: int, count: int) -> None:
        before = self._blocks[: self._blocks.index(block)]
        blocks = -(-count // _BLOCK)
        threads = _BLOCK
        if block == "returns":
            blocks *= len(HORIZONS)
        if block == "memory":
            blocks, threads = -(-count // _LANES), _LANES * -(-LAGS // _LAGS_TOGETHER)
        self._gpu.launch(
            self._gpu.configure(blocks, threads, 0),
            kernel,
            *(self._rows[name].pointer for name in _READS[block]),
            memory.pointer + entries_of(before) * self._piece * _BYTES,
            *map(np.uint32, (self._entries, self._piece, self._count, self.markets, first, count)),
        )

    def _by_name(self, image: np.ndarray, markets: int) -> dict[str, np.ndarray]:
        """Return the sums in the bytes of a piece as views, int64 [..., market]."""
        table = image.view(np.int64).reshape(self._entries, self._piece)[:, :markets]
        found, first = {}, 0
        for name, shape in sum_shapes(self._blocks).items():
            count = shape[0] if shape else 1
            found[name] = table[first : first + count] if shape else table[first]
            first += count
        return found
