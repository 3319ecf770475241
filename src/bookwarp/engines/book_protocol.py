"""The seam between bookwarp and an engine for continuous books."""

from typing import Protocol

import numpy as np

from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.book_state import BookState
from bookwarp.spec.events import Matched


class BookEngine(Protocol):
    """Matches messages on many books. Engines are equal to the last bit."""

    def __init__(self, rules: BookRules, books: int, threads: int | None = None) -> None:
        """Allocate, and hold `books` empty books; `threads` is 1 if None."""

    def match(
        self,
        orders: np.ndarray,
        owners: np.ndarray | None,
        *,
        events: bool = True,
        levels: int = 0,
    ) -> Matched:
        """Match one batch, all codes and books of which were checked.

        Grouping by book is the engine's: stable, so that a book gets its messages in the order of
        the batch.

        Args:
            orders: `ORDER` [message], C-contiguous, at most 2**32 - 1; it may be read only, and
                empty: then all is compiled that messages would need.
            owners: uint64 [message], 0 for no owner; given if `rules.tracks_owner`, else None.
            events: whether events are wanted.
            levels: price levels a side wanted after every message; 0 for none.

        Raises:
            EngineError: there is not enough memory; the books are as they were.
        """

    def read_state(self) -> BookState:
        """Return the state in host memory: a copy that later messages leave alone."""

    def write_state(self, state: BookState) -> None:
        """Continue from `state`, which has this many books, and whose orders fit the rules."""
