"""Memory that a batch works in, kept for the next one: to be given fresh pages takes long."""

import numpy as np

# An array more than this many times larger than what is wanted of it is given back.
_MOST_TOO_LARGE = 8


class Room:
    """Arrays by name, which hold what the last batch left in them."""

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}

    def array(self, name: str, size: int, dtype: np.dtype) -> np.ndarray:
        """Return an array of `size` elements, which the next call for this name may hand out again.

        Raises:
            MemoryError: there is not enough.
        """
        kept = self._arrays.get(name)
        if kept is None or not size <= len(kept) <= _MOST_TOO_LARGE * size:
            self._arrays.pop(name, None)
            del kept  # so that the two are never held at once
            kept = self._arrays[name] = np.empty(size, dtype)
        return kept[:size]
