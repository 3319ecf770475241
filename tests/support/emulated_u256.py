"""The cuda engine for books of 256-bit numbers on the processor: its own code, kernels as C++."""

import ctypes
from pathlib import Path

import numpy as np
from emulated_books import EmulatedTableGpu
from emulated_kernels import EmulatedCode

from bookwarp.engines.cuda.books import compile as book_compile
from bookwarp.engines.cuda.u256 import engine
from bookwarp.engines.cuda.u256.compile import join_sources

_COPIES = Path(__file__).with_name("u256_copies.h")
_BUILT_IN = """
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
struct ulonglong2 {
    unsigned long long x, y;
};
inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }
template <class Value>
void __stcs(Value* to, Value value) {
    *to = value;
}
inline int __clzll(unsigned long long word) { return word ? __builtin_clzll(word) : 64; }
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
    return (unsigned)((((std::uint64_t)high << 32 | low) << (by & 31)) >> 32);
}
"""


def in_cpp(source):
    """Return the source of some kernels with what is in PTX in C++."""
    parts = source.split("#line 1 ")
    copies = _COPIES.read_text(encoding="utf-8")
    return _BUILT_IN + "#line 1 ".join(
        f'"{_COPIES.name}"\n{copies}' if part.startswith('"u256/async_copy.cuh"') else part
        for part in parts
    )


class EmulatedU256Gpu(EmulatedTableGpu):
    """Has what the engine uses of a GPU."""

    def allocate_pinned(self, nbytes):
        pointer = self.claim(nbytes)
        return np.frombuffer((ctypes.c_uint8 * nbytes).from_address(pointer), np.uint8)


def play_gpu(patch):
    """Let the engine work on the processor while `patch`, a MonkeyPatch, lasts."""
    patch.setattr(engine, "unavailable_reason", lambda: None)
    patch.setattr(engine, "TableGpu", EmulatedU256Gpu)
    patch.setattr(engine, "load_kernels", lambda key, arch: EmulatedCode(in_cpp(join_sources(key))))
    # It has a test of its own.
    patch.setattr(engine, "check_known_answer", lambda arch: None)
    patch.setattr(
        book_compile,
        "load_kernels",
        lambda key, arch: EmulatedCode(book_compile.join_sources(key)),
    )
