"""The cuda engine for continuous books on the processor: its own code, kernels compiled as C++."""

import ctypes

import numpy as np
from emulated_kernels import EmulatedCode

from bookwarp.engines.cuda.books import engine
from bookwarp.engines.cuda.books.compile import join_sources

GUARD = 64
_POISON = 0xA5


class EmulatedTableGpu:
    """Has what the engine uses of `bookwarp.engines.cuda.books.transfer.TableGpu`."""

    arch = "sm_90"
    free = 1 << 40

    def __init__(self, ordinal=0, threads=None):
        self.blocks = {}
        self.launches = []

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        pass

    def free_bytes(self):
        return self.free

    def claim(self, nbytes):
        block = np.full(max(1, nbytes) + 3 * GUARD, _POISON, np.uint8)
        start = -(-(block.ctypes.data + GUARD) // GUARD) * GUARD - block.ctypes.data
        self.blocks[block.ctypes.data + start] = block, start, nbytes
        return block.ctypes.data + start

    def release(self, pointer):
        block, start, nbytes = self.blocks.pop(pointer)
        assert (block[:start] == _POISON).all()
        assert (block[start + nbytes :] == _POISON).all()

    def write(self, memory, array):
        assert array.nbytes <= memory.nbytes
        ctypes.memmove(memory.pointer, np.ascontiguousarray(array).ctypes.data, array.nbytes)

    send = write

    def read(self, memory, array):
        assert array.nbytes <= memory.nbytes
        assert array.flags.c_contiguous
        ctypes.memmove(array.ctypes.data, memory.pointer, array.nbytes)
        return array

    def fetch_table(self, memory, dtype, count):
        return self.read(memory, np.empty(count, dtype))

    def fill(self, memory, byte, nbytes):
        assert nbytes <= memory.nbytes
        ctypes.memset(memory.pointer, byte, nbytes)

    def copy(self, target, source, nbytes):
        assert nbytes <= min(target.nbytes, source.nbytes)
        ctypes.memmove(target.pointer, source.pointer, nbytes)

    def wait(self):
        pass

    def mark_time(self):
        return None

    def seconds_between(self, begin, end):
        return 1.0

    def configure(self, grid, block, shared_bytes):
        return grid, block, shared_bytes

    def launch(self, config, kernel, *arguments):
        grid, block, shared_bytes = config
        assert grid > 0
        assert shared_bytes == 0
        kernel(grid, block, *arguments)


def play_gpu(patch):
    """Let the engine work on the processor while `patch`, a MonkeyPatch, lasts."""
    patch.setattr(engine, "unavailable_reason", lambda: None)
    patch.setattr(engine, "TableGpu", EmulatedTableGpu)
    patch.setattr(engine, "load_kernels", lambda key, arch: EmulatedCode(join_sources(key)))
    # It has a test of its own; kernels that no test asks for would be compiled for it everywhere.
    patch.setattr(engine, "check_known_answers", lambda rules, arch: None)
