"""Facts of the rows that a GPU keeps: made there, and brought to the host piece by piece."""

from collections.abc import Mapping
from concurrent.futures import Executor, Future
from typing import Any

import numpy as np

from bookwarp.engines.cuda.arrays import DeviceArray
from bookwarp.engines.cuda.gpu import Gpu, Memory
from bookwarp.engines.cuda.measures.compile import load_kernels
from bookwarp.engines.cuda.measures.layout import FactLayout, lay_out_limits
from bookwarp.engines.cuda.measures.sums import CudaSums
from bookwarp.engines.measure_protocol import TakeFacts
from bookwarp.spec.measure_facts import USES, blocks_of

_PIECES_TOGETHER = 16
"""Pieces whose sums are made at once: enough markets for a GPU. While the next ones are made, their
facts are copied."""
_MOST_IMAGES = 8
"""Pieces that are copied at once, and taken over by as many threads."""
_SHARE_OF_FREE = 2
"""Sums and facts take no more than this part of the memory that is free."""
_BLOCK = 128


class _Image:
    """Pinned memory for a piece, the end of the copy into it, and who takes what it holds."""

    def __init__(self, gpu: Gpu, nbytes: int) -> None:
        self.memory = gpu.allocate_pinned(nbytes)
        self.arrival = gpu.create_event()
        self.busy: Future[None] | None = None

    def finish(self) -> None:
        """Return when all that it holds was taken."""
        if self.busy is not None:
            self.busy.result()


class CudaFacts:
    """Implements `bookwarp.engines.measure_protocol.DeviceFacts`.

    Args:
        rows: arrays [row, market] on one GPU, by name, at least one row.
        groups: names of `bookwarp.spec.measure_facts.FACTS`.
        every: steps between two rows.
    """

    def __init__(
        self, rows: Mapping[str, DeviceArray], groups: tuple[str, ...], every: int
    ) -> None:
        self._sums = CudaSums(rows, blocks_of(groups))
        self._groups, self._every = groups, every
        self.markets = self._sums.markets
        self._gpu, self._piece = self._sums.gpu, self._sums.piece
        self._layout = FactLayout(groups, self._piece)
        with self._gpu:
            code = load_kernels(self._gpu.arch)
            self._kernels = {group: code.get_kernel(f"make_{group}") for group in groups}

    def bring(self, take: TakeFacts, pool: Executor) -> None:
        """Hand over the facts of some markets after the other, as `DeviceFacts` says."""
        together, at_once = self._choose_pieces()
        # First of all, for it takes milliseconds in which the GPU may still be at the steps.
        images = [_Image(self._gpu, self._layout.nbytes) for _ in range(min(_MOST_IMAGES, at_once))]
        facts = Memory(self._gpu, at_once * self._layout.nbytes)
        sums = Memory(self._gpu, together * self._sums.piece_nbytes)
        most = lay_out_limits(self._sums.rows_count)
        limits = Memory(self._gpu, most.nbytes)
        self._gpu.write(limits, most)

        def give(image: _Image, first: int, count: int) -> None:
            self._gpu.finish_fetch(image.arrival)
            take(first, *self._layout.by_name(image.memory, count))

        for first in range(0, self.markets, at_once * self._piece):
            count = min(at_once * self._piece, self.markets - first)
            made = self._make(first, count, together, sums, facts, limits)
            for piece, end in enumerate(made):
                image = images[piece % len(images)]
                image.finish()
                address = facts.pointer + piece * self._layout.nbytes
                self._gpu.fetch(image.memory, address, end, image.arrival)
                begin = piece * self._piece
                own = min(self._piece, count - begin)
                image.busy = pool.submit(give, image, first + begin, own)
            # What comes next is made where these are.
            for image in images:
                image.finish()

    def _pieces(self, markets: int) -> int:
        return -(-markets // self._piece)

    def _choose_pieces(self) -> tuple[int, int]:
        """Return of how many pieces there are sums at once, and of how many facts."""
        room = self._gpu.free_bytes() // _SHARE_OF_FREE
        facts, sums = self._layout.nbytes, self._sums.piece_nbytes
        wanted = self._pieces(self.markets)
        together = max(1, min(_PIECES_TOGETHER, wanted, room // (sums + facts)))
        return together, max(together, min(wanted, (room - together * sums) // facts))

    def _make(
        self, first: int, count: int, together: int, sums: Memory, facts: Memory, limits: Memory
    ) -> list[Any]:
        """Start to make facts of some markets; return what marks their end, for every piece."""
        made: list[Any] = []
        for piece in range(0, self._pieces(count), together):
            begin = piece * self._piece
            own = min(together * self._piece, count - begin)
            self._sums.make(sums.pointer, first + begin, own)
            for group in self._groups:
                address = facts.pointer + piece * self._layout.nbytes
                self._launch(group, own, sums.pointer, address, limits.pointer)
            end = self._gpu.create_event()
            self._gpu.mark(end)
            made += [end] * self._pieces(own)
        return made

    def _launch(self, group: str, count: int, sums: int, facts: int, limits: int) -> None:
        place, again = self._layout.places_of(group)
        numbers = [self._sums.entries, self._piece, self._layout.nbytes, self._sums.rows_count]
        numbers += [count, *([self._every] if group == "volume" else [])]
        self._gpu.launch(
            self._gpu.configure(-(-count // _BLOCK), _BLOCK, 0),
            self._kernels[group],
            *(sums + self._sums.start_of(block) for block in USES[group]),
            *(facts + place, facts + again, limits),
            *map(np.uint32, numbers),
        )
