"""Where the kernels of measures put sums and facts, and what they are told about it."""

from collections.abc import Iterator

import numpy as np

from bookwarp.spec.exact_sums import exact_limits
from bookwarp.spec.measure_facts import FACTS, fact_shapes
from bookwarp.spec.measure_sums import (
    HORIZONS,
    LAGS,
    LOG_BITS,
    LOG_UNIT,
    SUMS,
    TAIL_SHARE,
    WINDOW,
    sum_shapes,
)

_BYTES = 8


def entries_of(blocks: tuple[str, ...]) -> int:
    """Return how many sums a market has."""
    return _entries(sum_shapes(blocks))


def macros() -> dict[str, int | float | str]:
    """Return what the kernels are specialised by: nothing but the constants of the measures."""
    return {
        "HORIZONS": ", ".join(map(str, HORIZONS)),
        "HORIZON_COUNT": len(HORIZONS),
        "LAGS": LAGS,
        "WINDOW": WINDOW,
        "TAIL_SHARE": TAIL_SHARE,
        "LOG_BITS": LOG_BITS,
        "LOG_UNIT": LOG_UNIT,
    }


def numbering() -> str:
    """Return C++ that gives every sum its number within its block, and every fact its own."""
    lines = [line for block in SUMS for line in _numbers(sum_shapes((block,)))]
    facts = [line for group in FACTS for line in _numbers(fact_shapes((group,)))]
    return "".join([*lines, "namespace fact {\n", *facts, "}\n"])


def lay_out_limits(rows: int) -> np.ndarray:
    """Return the limits of exact sums over some rows, as the structure `Limits`, int64."""
    limits = exact_limits(rows)
    return np.array([limits.square, limits.window, limits.depth, *limits.returns], np.int64)


class FactLayout:
    """Where the facts of a piece of markets lie: all of a fact together, [market, ...].

    Args:
        groups: names of `bookwarp.spec.measure_facts.FACTS`.
        piece: markets of a piece.
    """

    def __init__(self, groups: tuple[str, ...], piece: int) -> None:
        self._groups, self._piece = groups, piece
        self._firsts: dict[str, int] = {}
        self.places: dict[str, int] = {}
        """Where each fact starts, bytes."""
        entries = 0
        for group in groups:
            self._firsts[group] = entries
            for name, shape in fact_shapes((group,)).items():
                self.places[name] = piece * entries * _BYTES
                entries += _length(shape)
        self._flags = piece * entries * _BYTES
        self.nbytes = self._flags + piece * len(groups)
        """Of a piece."""

    def places_of(self, group: str) -> tuple[int, int]:
        """Return where the facts of a group start, and the bytes that tell which to make anew.

        Those bytes of all groups follow each other, bool [group, market], at the end of the piece.
        """
        flags = self._flags + self._groups.index(group) * self._piece
        return self._firsts[group] * self._piece * _BYTES, flags


def _numbers(shapes: dict[str, tuple[int, ...]]) -> Iterator[str]:
    number = 0
    for name, shape in shapes.items():
        yield f"constexpr uint32 {name} = {number};\n"
        number += _length(shape)


def _entries(shapes: dict[str, tuple[int, ...]]) -> int:
    return sum(map(_length, shapes.values()))


def _length(shape: tuple[int, ...]) -> int:
    return shape[0] if shape else 1
