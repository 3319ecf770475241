"""What the KineticSim paper and its repository publish of speed and memory, and what was measured.

Rates are 10^9 agent events a second, S = 500 steps, L = 128 levels, in the order of `SIZES`. Names
are those of our contenders of the same kind; "kineticsim" is the paper's own engine.

Its PyTorch engine with CUDA graphs is left out: in the published results its mean price is 64.0
with a deviation of 0, or 1100 on a grid of 128 ticks, and its volume 0 or past 10^12, so its rate
is not that of the model.

Sources: arXiv:2606.21784, Tables III to V; benchmarks/results.csv of KineticSim/Project-KineticSim
on GitHub; the engines of that repository, run once on another GPU before bookwarp was written.
"""

PUBLISHED_GPU = "NVIDIA GeForce RTX 5090"
"""With CUDA 13.2 and PyTorch 2.10."""
RERUN_GPU = "NVIDIA H200"
"""With CUDA 13.0, PyTorch 2.11 and JAX 0.11.2."""

SIZES = (
    (64, 256),
    (256, 256),
    (1024, 256),
    (4096, 256),
    (16384, 256),
    (8192, 16),
    (8192, 64),
    (8192, 256),
    (8192, 1024),
)
"""(markets, agents)."""

PUBLISHED: dict[str, tuple[float, ...]] = {
    "numpy": (0.02036, 0.02099, 0.02112, 0.016, 0.01458, 0.006127, 0.01405, 0.01536, 0.01551),
    "torch": (0.01484, 0.05944, 0.2238, 0.9104, 3.537, 0.1129, 0.4505, 1.867, 4.965),
    "torch-compile": (0.073, 0.2816, 1.022, 3.401, 5.965, 0.4815, 1.809, 4.948, 5.78),
    "jax": (0.01146, 0.04471, 0.154, 0.6125, 2.349, 0.08274, 0.3272, 1.173, 4.456),
    "naive-cuda": (0.06392, 0.195, 0.7564, 3.09, 11.42, 0.8007, 2.578, 6.127, 8.887),
    "kineticsim": (3.612, 13.45, 36.93, 47.35, 53.88, 8.413, 28.43, 51.65, 54.68),
}
"""Of results.csv, on `PUBLISHED_GPU`; NumPy on an AMD Ryzen 9 9950X3D."""

RERUN: dict[str, tuple[float, ...]] = {
    "torch": (0.009447, 0.03466, 0.16, 0.7428, 1.992, 0.09634, 0.374, 1.373, 4.056),
    "torch-compile": (0.05042, 0.2593, 0.9489, 2.619, 4.341, 0.3712, 1.368, 3.633, 5.531),
    "jax": (0.8995, 2.977, 7.717, 14.51, 16.69, 3.031, 8.657, 16.76, 18.52),
    "naive-cuda": (0.06153, 0.1847, 0.7373, 2.921, 9.971, 0.6289, 2.2, 5.831, 9.528),
    "kineticsim": (2.737, 10.69, 33.58, 42.03, 46.73, 6.635, 21.94, 45.07, 58.84),
}
"""The same engines on `RERUN_GPU`."""

PUBLISHED_MEMORY = {
    "torch": (1.34, 5.32, 21.28, 85.09, 340.40),
    "naive-cuda": (0.27, 1.08, 4.32, 17.26, 69.06),
    "kineticsim": (0.14, 0.54, 2.16, 8.66, 34.63),
}
"""Table V: peak memory of the GPU, MB, for the first five of `SIZES`."""


def published_rate(
    table: dict[str, tuple[float, ...]], name: str, markets: int, agents: int
) -> float | None:
    """Return agent events a second of a published engine, None where there is no such number."""
    if name not in table or (markets, agents) not in SIZES:
        return None
    return 1e9 * table[name][SIZES.index((markets, agents))]
