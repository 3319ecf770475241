"""What the kernels for books of 256-bit numbers are compiled with."""

from dataclasses import dataclass

LANES = 32
BLOCK = 128
"""Threads a block."""
_BLOCKS_PER_SM = 4
"""Blocks for which registers are kept free on a multiprocessor."""

_BOOK = ("numbers.cuh", "division.cuh", "average.cuh", "book.cuh")


@dataclass(frozen=True)
class U256Key:
    """Some kernels, by the files that they are in; there is one specialisation of each."""

    name: str
    files: tuple[str, ...]

    def macros(self) -> dict[str, int]:
        """Return what the sources are compiled with, by name."""
        return {"BLOCK": BLOCK, "BLOCKS_PER_SM": _BLOCKS_PER_SM}


MATCHING = U256Key(
    "matching of 256-bit numbers",
    (*_BOOK, "matching.cuh", "async_copy.cuh", "rows.cuh", "match.cu"),
)
ARENAS = U256Key("arenas of 256-bit numbers", (*_BOOK, "arenas.cu"))
