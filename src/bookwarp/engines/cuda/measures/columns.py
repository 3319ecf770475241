"""Rows of some markets, brought from a GPU that keeps those of all."""

from collections.abc import Mapping

import numpy as np

from bookwarp.engines.cuda.arrays import DeviceArray
from bookwarp.engines.cuda.gpu import Memory
from bookwarp.engines.cuda.measures.compile import load_kernels

_BLOCK = 128
_INDEX, _ROW = np.dtype(np.uint32), np.dtype(np.int64)


def read_columns(
    rows: Mapping[str, DeviceArray], series: tuple[str, ...], markets: np.ndarray
) -> dict[str, np.ndarray]:
    """Return recorded series of chosen markets in host memory, as `Simulation.history` has them.

    Args:
        rows: what one GPU keeps, as `row_arrays` names it.
        series: names of the series to bring.
        markets: which of the GPU's markets.

    Returns:
        int64 [row, chosen market] by name.

    Raises:
        EngineError: the GPU failed, or has no memory left for the columns of one series.
    """
    found = {}
    for name in series:
        array = rows["total_volume" if name == "volume" else name]
        found[name] = _read(array, markets)
    if "volume" in found:
        found["volume"][1:] -= found["volume"][:-1].copy()
    return found


def _read(array: DeviceArray, markets: np.ndarray) -> np.ndarray:
    gpu, (count, of) = array.gpu, array.shape
    columns = np.empty((count, len(markets)), _ROW)
    chosen = Memory(gpu, len(markets) * _INDEX.itemsize)
    gpu.write(chosen, markets.astype(_INDEX))
    memory = Memory(gpu, columns.nbytes)
    with gpu:
        kernel = load_kernels(gpu.arch).get_kernel("gather_columns")
    gpu.launch(
        gpu.configure(-(-columns.size // _BLOCK), _BLOCK, 0),
        kernel,
        *(array.pointer, chosen.pointer, memory.pointer),
        *map(np.uint32, (count, of, len(markets))),
    )
    return gpu.read(memory, columns)
