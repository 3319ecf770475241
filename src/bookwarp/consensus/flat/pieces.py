"""Many rows: as wholes, or a piece at a time on several threads."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

_PIECE_ROWS = 1 << 14
"""Few enough to stay close to the core from one look at them to the next."""

_Found = TypeVar("_Found")


def in_pieces(work: Callable[[slice], _Found], rows: int, threads: int) -> list[_Found]:
    """Return what `work` gives for each piece of the rows, in their order.

    Args:
        work: what is done to a piece; it waits for no other.
        rows: how many there are.
        threads: how many pieces are worked at once; NumPy lets others run while it computes.
    """
    pieces = [slice(at, min(at + _PIECE_ROWS, rows)) for at in range(0, rows, _PIECE_ROWS)]
    if threads == 1 or len(pieces) < 2:
        return [work(piece) for piece in pieces]
    with ThreadPoolExecutor(min(threads, len(pieces))) as pool:
        return list(pool.map(work, pieces))


def wholes(rows: np.ndarray) -> np.ndarray:
    """Return a view of contiguous rows without their fields, which NumPy copies ten times as fast.

    It copies rows field by field.
    """
    return rows.view(np.dtype((np.void, rows.dtype.itemsize)))
