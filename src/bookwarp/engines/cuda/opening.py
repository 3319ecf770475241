"""Parameters and the opening state on a device, written there: each is brought to it once.

Markets share parameters, mostly, and a book opens with two levels that are not 0. To make all of it
in host memory, and to bring it, would take about as long as to run many markets.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bookwarp.engines.cuda.compile import compile_source, find_compiled
from bookwarp.engines.cuda.gpu import Gpu, Memory, MemoryPart
from bookwarp.engines.cuda.layout import market_assertions
from bookwarp.engines.cuda.slices import Slice
from bookwarp.spec.codes import Window
from bookwarp.spec.market import CallAuction

_KERNELS = Path(__file__).parent / "kernels"
_WHAT = "the kernels that open markets"
_BLOCK = 128
_ALIGNED = 16


def join_sources() -> str:
    """Return the source of the kernels, which is the same for all ensembles."""
    market, splitmix, opening = map(_read, ("market.cuh", "splitmix.cuh", "open.cu"))
    return f'{market}#line 1 "layout.py"\n{market_assertions()}{splitmix}{opening}'


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
    own: Slice,
    *,
    parameters: Memory,
    book: Memory,
    scalars: Memory,
    lots: np.dtype,
) -> None:
    """Start to write the parameters of some markets, and how they open.

    Args:
        gpu: the device.
        auction: the whole ensemble.
        own: which markets.
        parameters: where theirs go, MARKET [market].
        book: where signed books go, lots [market, level].
        scalars: where scalars go, int64 [scalar, pitch].
        lots: type of the lots at a level, int32 or int64.

    Raises:
        EngineError: the kernel does not compile, or the GPU failed.
    """
    gpu.fill(scalars, 0, scalars.nbytes)
    # What is brought lies where the books will, if there is room.
    extra = extra_nbytes(own, book.nbytes)
    memory = Memory(gpu, extra) if extra else book
    with gpu:
        code = load_kernels(gpu.arch)
        kernels = {name: code.get_kernel(name) for name in ("lay_out", f"open_{lots}")}
    grid = gpu.configure(-(-own.count // _BLOCK), _BLOCK, 0)
    gpu.launch(
        grid,
        kernels["lay_out"],
        *_bring(gpu, own, memory),
        *(parameters.pointer, scalars.pointer),
        *map(np.uint32, (len(own.parameters), len(own.depths), own.count)),
        *map(np.uint32, (own.settings.first, own.settings.period, own.ids.first, own.ids.period)),
    )
    gpu.fill(book, 0, book.nbytes)
    gpu.launch(
        grid,
        kernels[f"open_{lots}"],
        *(memory.pointer for memory in (parameters, book, scalars)),
        *map(np.uint32, (own.count, auction.levels, auction.window is Window.FOLLOWING)),
    )


def extra_nbytes(own: Slice, book_nbytes: int) -> int:
    """Return the memory that opening takes for itself, as it is given back at its end."""
    brought = sum(_aligned(array.nbytes) for array in _to_bring(own) if array is not None)
    return brought if brought > book_nbytes else 0


def _bring(gpu: Gpu, own: Slice, memory: Memory) -> list[int]:
    """Bring what the kernel takes; return the addresses in its order, 0 of what there is not."""
    pointers, place = [], memory.pointer
    for array in _to_bring(own):
        pointers.append(0 if array is None else place)
        if array is not None:
            gpu.write(MemoryPart(place, array.nbytes), array)
            place += _aligned(array.nbytes)
    return pointers


def _to_bring(own: Slice) -> tuple[np.ndarray | None, ...]:
    return own.parameters, own.depths, own.settings.numbers, own.ids.numbers, own.book_rows


def _aligned(nbytes: int) -> int:
    return -(-nbytes // _ALIGNED) * _ALIGNED


def _read(name: str) -> str:
    return f'#line 1 "{name}"\n' + (_KERNELS / name).read_text(encoding="utf-8")
