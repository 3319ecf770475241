"""The cpu engine: Numba kernels over blocks of markets, one thread a block."""
