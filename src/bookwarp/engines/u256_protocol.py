"""The seam between bookwarp and an engine for books of 256-bit numbers."""

from typing import Any, Protocol, runtime_checkable

import numpy as np


class U256Engine(Protocol):
    """Matches orders of 256-bit numbers (`bookwarp.spec.u256`). Engines are equal to the last bit.

    What comes in was checked: lengths, types, the range of books, and that arenas are sound.
    """

    def __init__(
        self, books: int, capacity: int, threads: int | None = None, **options: Any
    ) -> None:
        """Allocate, and hold `books` empty books of `capacity` slots a side.

        Raises:
            EngineError: there is not enough memory.
        """

    def match(
        self, calldata: np.ndarray, book: np.ndarray | None, tile: int | None = None
    ) -> np.ndarray:
        """Match orders; those of a book in the sequence of the array, books in parallel.

        Args:
            calldata: uint8 [order, 117], C-contiguous, maybe read only, maybe empty.
            book: int64 [order], C-contiguous, maybe read only; None: all go to book 0.
            tile: most books that are worked at a time; None is the engine's choice. It makes no
                difference to what comes out.

        Returns:
            uint8 [order, 68], in the order of arrival.

        Raises:
            EngineError: there is not enough memory; the books are as they were.
        """

    def read_arenas(self, first: int, stop: int) -> np.ndarray:
        """Return the books `first` .. `stop`, half-open, uint8 [book, 8 + 128 * capacity]."""

    def write_arenas(self, first: int, arenas: np.ndarray) -> None:
        """Set the books from `first` on; `arenas` is uint8 [book, 8 + 128 * capacity]."""


@runtime_checkable
class U256DeviceEngine(U256Engine, Protocol):
    """An engine that keeps its books on a device: there the time without copies can be taken."""

    def time_passes(
        self, calldata: np.ndarray, book: np.ndarray | None, together: bool
    ) -> tuple[np.ndarray, float]:
        """Match passes whose orders lie on the device already, and time the device.

        Args:
            calldata: uint8 [pass, order, 117]; the stride between passes may be 0.
            book: int64 [order], the same in every pass; None: order i goes to book i.
            together: one launch for all passes; else one launch for each.

        Returns:
            uint8 [pass, order, 68], and the seconds from the first launch to the end of the last,
            copies left out.
        """
