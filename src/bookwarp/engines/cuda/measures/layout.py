"""Where the kernels of measures put their sums, and what they are told about it."""

from bookwarp.spec.measure_sums import (
    HORIZONS,
    LAGS,
    LOG_BITS,
    SUMS,
    TAIL_SHARE,
    WINDOW,
    sum_shapes,
)


def entries_of(blocks: tuple[str, ...]) -> int:
    """Return how many sums a market has."""
    return sum(_length(shape) for shape in sum_shapes(blocks).values())


def macros() -> dict[str, int | str]:
    """Return what the kernels are specialised by: nothing but the constants of the measures."""
    return {
        "HORIZONS": ", ".join(map(str, HORIZONS)),
        "HORIZON_COUNT": len(HORIZONS),
        "LAGS": LAGS,
        "WINDOW": WINDOW,
        "TAIL_SHARE": TAIL_SHARE,
        "LOG_BITS": LOG_BITS,
    }


def numbering() -> str:
    """Return C++ that gives every sum its number within its block."""
    lines = []
    for block in SUMS:
        number = 0
        for name, shape in sum_shapes((block,)).items():
            lines.append(f"constexpr uint32 {name} = {number};\n")
            number += _length(shape)
    return "".join(lines)


def _length(shape: tuple[int, ...]) -> int:
    return shape[0] if shape else 1
