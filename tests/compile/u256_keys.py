"""The kernels for books of 256-bit numbers, by name."""

from bookwarp.engines.cuda.u256.kernel_key import ARENAS, MATCHING

CASES = {key.name: key for key in (MATCHING, ARENAS)}
