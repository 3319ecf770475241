"""Facts of the rows that a GPU keeps: made there, and brought to the host piece by piece."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from bookwarp.engines.cuda.arrays import DeviceArray
from bookwarp.engines.cuda.gpu import Fetch, Memory
from bookwarp.engines.cuda.measures.compile import load_kernels
from bookwarp.engines.cuda.measures.layout import FactLayout, lay_out_limits
from bookwarp.engines.cuda.measures.sums import CudaSums
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.measure_facts import USES, blocks_of
from bookwarp.spec.runs import Runs

_MARKETS_TOGETHER = 1 << 17
"""Markets whose sums are made at once, in whole pieces: enough for a GPU. While the next ones are
made, their facts are copied."""
_SHARE_OF_FREE = 2
"""Sums and facts take no more than this part of the memory that is free."""
_BLOCK = 128


class CudaFacts:
    """Implements `bookwarp.engines.measure_protocol.DeviceFacts`.

    Args:
        rows: arrays [row, market] on one GPU, by name, at least one row.
        groups: names of `bookwarp.spec.measure_facts.FACTS`.
        every: steps between two rows.
        places: which entries of the arrays to be written belong to the markets. If these are many
            runs, each is a piece.
    """

    def __init__(
        self, rows: Mapping[str, DeviceArray], groups: tuple[str, ...], every: int, places: Runs
    ) -> None:
        piece = None if places.is_one else places.run
        self._sums = CudaSums(rows, blocks_of(groups), piece)
        self._groups, self._every = groups, every
        self.markets = self._sums.markets
        self._gpu, self._piece = self._sums.gpu, self._sums.piece
        self._places = places.in_runs_of(self._piece)
        self._layout = FactLayout(groups, self._piece)
        with self._gpu:
            code = load_kernels(self._gpu.arch)
            self._kernels = {group: code.get_kernel(f"make_{group}") for group in groups}

    def bring(self, found: Mapping[str, np.ndarray]) -> np.ndarray:
        """Make all facts and copy them to arrays, as `DeviceFacts` says."""
        for name in self._layout.places:
            if not found[name].flags.c_contiguous:
                raise ParameterError(f"the array for {name} must be contiguous")
        together, at_once = self._choose_pieces()
        # First of all, for it takes milliseconds in which the GPU may still be at the steps.
        size = len(self._groups) * self._piece
        flags = self._gpu.allocate_pinned(self._pieces(self.markets) * size)
        again = flags.reshape(-1, len(self._groups), self._piece)
        facts = Memory(self._gpu, at_once * self._layout.nbytes)
        sums = Memory(self._gpu, together * self._sums.piece_nbytes)
        most = lay_out_limits(self._sums.rows_count)
        limits = Memory(self._gpu, most.nbytes)
        self._gpu.write(limits, most, beside=True)
        try:
            for number in range(0, self._pieces(self.markets), together):
                place = number % at_once
                if place == 0:
                    # What comes next is made where the facts before are.
                    self._gpu.finish_fetches()
                address = facts.pointer + place * self._layout.nbytes
                first = number * self._piece
                count = min(together * self._piece, self.markets - first)
                self._sums.make(sums.pointer, first, count)
                for group in self._groups:
                    self._launch(group, count, sums.pointer, address, limits.pointer)
                end = self._gpu.create_event()
                self._gpu.mark(end)
                self._gpu.fetch_rows(self._fetches(found, again, address, first, count), end)
        finally:
            # Nothing is copied to arrays any longer that the caller may let go.
            self._gpu.finish_fetches()
        # Behind the last market is what was in the memory before.
        again[-1, :, self.markets - (len(again) - 1) * self._piece :] = 0
        marked = np.zeros((len(self._groups), again[:, 0].size), bool)
        if np.count_nonzero(flags.view(bool)):
            marked[...] = again.transpose(1, 0, 2).reshape(marked.shape)
        return marked[:, : self.markets]

    def _fetches(
        self,
        found: Mapping[str, np.ndarray],
        again: np.ndarray,
        address: int,
        first: int,
        count: int,
    ) -> Iterator[Fetch]:
        """Yield the copies of some pieces: whole ones together, and the last apart if it is not."""
        pitch, number = self._layout.nbytes, first // self._piece
        flags = address + self._layout.places_of(self._groups[0])[1]
        yield Fetch(again[number : number + self._pieces(count)], flags, pitch)
        (own,) = self._places.between(first, first + count)
        for name, place in self._layout.places.items():
            for before, pieces in own.views(found[name]):
                start = address + before // self._piece * pitch
                yield Fetch(pieces, start + place, pitch)

    def _pieces(self, markets: int) -> int:
        return -(-markets // self._piece)

    def _choose_pieces(self) -> tuple[int, int]:
        """Return of how many pieces there are sums at once, and of how many facts: a multiple."""
        room = self._gpu.free_bytes() // _SHARE_OF_FREE
        facts, sums = self._layout.nbytes, self._sums.piece_nbytes
        wanted = self._pieces(self.markets)
        together = max(1, min(_MARKETS_TOGETHER // self._piece, wanted, room // (sums + facts)))
        times = min(-(-wanted // together), (room - together * sums) // facts // together)
        return together, together * max(1, times)

    def _launch(self, group: str, count: int, sums: int, facts: int, limits: int) -> None:
        place, again = self._layout.places_of(group)
        numbers: list[Any] = [self._sums.entries, self._piece, self._layout.nbytes]
        numbers += [self._sums.rows_count, count, *([self._every] if group == "volume" else [])]
        self._gpu.launch(
            self._gpu.configure(-(-count // _BLOCK), _BLOCK, 0),
            self._kernels[group],
            *(sums + self._sums.start_of(block) for block in USES[group]),
            *(facts + place, facts + again, limits),
            *map(np.uint32, numbers),
        )
