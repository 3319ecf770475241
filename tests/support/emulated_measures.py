"""The kernels of measures on the processor, over rows that a played GPU keeps."""

from threading import Lock

import numpy as np
from emulated_gpu import EmulatedGpu
from emulated_kernels import EmulatedCode, EmulatedKernel

from bookwarp.engines.cuda.arrays import DeviceArray
from bookwarp.engines.cuda.gpu import Memory
from bookwarp.engines.cuda.measures import columns, facts, sums
from bookwarp.engines.cuda.measures.compile import join_sources
from bookwarp.engines.cuda.measures.sums import CudaSums
from bookwarp.spec.measure_facts import fact_shapes
from bookwarp.spec.measure_sums import sum_shapes

_ONE_AT_A_TIME = Lock()
"""Emulated warps have one state for all GPUs; engines drive each GPU by a thread of its own."""


class MeasuringGpu(EmulatedGpu):
    """A played GPU that runs kernels of CUDA C++ as well as those that are Python."""

    def launch(self, config, kernel, *arguments):
        if not isinstance(kernel, EmulatedKernel):
            super().launch(config, kernel, *arguments)
            return
        grid, block, shared_bytes = config
        assert grid > 0
        assert shared_bytes == 0
        self.launches.append((config, kernel, arguments))
        with _ONE_AT_A_TIME:
            kernel(grid, block, *arguments)


def play_kernels(patch):
    """Let the kernels of measures be compiled for this processor while `patch` lasts."""
    for module in (columns, facts, sums):
        patch.setattr(module, "load_kernels", lambda arch: EmulatedCode(join_sources()))


def on_device(gpu, rows):
    """Return rows as a GPU keeps them: "total_volume" are the lots so far."""
    kept = {**rows, "total_volume": np.cumsum(rows["volume"], axis=0)}
    return {name: _put(gpu, array) for name, array in kept.items() if name != "volume"}


def _put(gpu, array):
    memory = Memory(gpu, array.nbytes)
    gpu.write(memory, array)
    return DeviceArray(memory, 0, array.shape, np.dtype(np.int64))


def sum_on(gpu, rows, blocks):
    """Return what the kernels sum of rows of every series, int64 [..., market] by name."""
    source = CudaSums(on_device(gpu, rows), blocks)
    pieces = -(-source.markets // source.piece)
    memory = Memory(gpu, pieces * source.piece_nbytes)
    source.make(memory.pointer, 0, source.markets)
    numbers = gpu.read(memory, np.empty((pieces, source.entries, source.piece), np.int64))
    table = np.concatenate(numbers, axis=1)[:, : source.markets]
    found, first = {}, 0
    for name, shape in sum_shapes(source.blocks).items():
        count = shape[0] if shape else 1
        found[name] = table[first : first + count] if shape else table[first]
        first += count
    return found


def gather(source, groups):
    """Return all facts that a `DeviceFacts` brings, and whose are to be made anew."""
    found = {
        name: np.full((source.markets, *shape), np.inf)
        for group in groups
        for name, shape in fact_shapes((group,)).items()
    }
    return found, source.bring(found)
