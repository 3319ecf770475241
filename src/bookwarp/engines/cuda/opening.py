"""The opening state on a device, written there: only what markets differ in is brought to it.

A book opens with two levels that are not 0. To make many of them in host memory, and to bring them,
would take about as long as to run them.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bookwarp.engines.cuda.compile import compile_source, find_compiled
from bookwarp.engines.cuda.gpu import Gpu, Memory, MemoryPart
from bookwarp.engines.cuda.layout import market_assertions, scalar_names, scalars_pitch
from bookwarp.spec.codes import Window
from bookwarp.spec.market import CallAuction

_KERNELS = Path(__file__).parent / "kernels"
_WHAT = "the kernels that open markets"
_BLOCK = 128


def join_sources() -> str:
    """Return the source of the kernels, which is the same for all ensembles."""
    market, opening = (_read(name) for name in ("market.cuh", "open.cu"))
    return f'{market}#line 1 "layout.py"\n{market_assertions()}{opening}'


def compile_kernels(arch: str) -> tuple[bytes, str]:
    """Compile the kernels; see `bookwarp.engines.cuda.compile.compile_source`."""
    return compile_source(join_sources(), arch, _WHAT)


@cache
def load_kernels(arch: str) -> Any:
    """Return the code for GPUs of kind `arch`; it is compiled if it never was."""
    from cuda.core import ObjectCode

    return ObjectCode.from_cubin(find_compiled(join_sources(), arch, _WHAT))


def open_markets(
    gpu: Gpu,
    auction: CallAuction,
    first: int,
    stop: int,
    *,
    markets: Memory,
    book: Memory,
    scalars: Memory,
    lots: np.dtype,
) -> None:
    """Start to write how the markets `first` .. `stop`, half-open, open.

    Args:
        gpu: the device.
        auction: the whole ensemble.
        first, stop: which markets.
        markets: their parameters, MARKET [market].
        book: where signed books go, lots [market, level].
        scalars: where scalars go, int64 [scalar, pitch].
        lots: type of the lots at a level, int32 or int64.

    Raises:
        EngineError: the kernel does not compile, or the GPU failed.
    """
    count = stop - first
    for memory in (book, scalars):
        gpu.fill(memory, 0, memory.nbytes)
    place = scalar_names(auction.has_execution_agents).index("best_bid") * scalars_pitch(count) * 8
    depth = np.ascontiguousarray(auction.per_market("open_depth")[first:stop], np.int64)
    gpu.write(MemoryPart(scalars.pointer + place, depth.nbytes), depth)
    with gpu:
        kernel = load_kernels(gpu.arch).get_kernel(f"open_{lots}")
    gpu.launch(
        gpu.configure(-(-count // _BLOCK), _BLOCK, 0),
        kernel,
        *(memory.pointer for memory in (markets, book, scalars)),
        *map(np.uint32, (count, auction.levels, auction.window is Window.FOLLOWING)),
    )


def _read(name: str) -> str:
    return f'#line 1 "{name}"\n' + (_KERNELS / name).read_text(encoding="utf-8")
