"""Memory that a batch works in, kept for the next one: to be given fresh pages takes long."""

import numpy as np

# An array more than this many times larger than what is wanted of it is given back.
_MOST_TOO_LARGE = 8


class Room:
    """Arrays by name, which hold what was last left in them."""

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}
        self._returned: dict[str, list[np.ndarray]] = {}

    def array(self, name: str, size: int, dtype: np.dtype) -> np.ndarray:
        """Return an array of `size` elements, which the next call for this name may hand out again.

        Raises:
            MemoryError: there is not enough.
        """
        kept = self._arrays.get(name)
        if kept is None or not _fits(kept, size):
            self._arrays.pop(name, None)
            del kept  # so that the two are never held at once
            kept = self._arrays[name] = np.empty(size, dtype)
        return kept[:size]

    def lend(self, name: str, size: int, dtype: np.dtype) -> np.ndarray:
        """Return an array of `size` elements that is the caller's as long as a view of it lives.

        Only then is its memory handed out again. An element has a multiple of 8 bytes.

        Raises:
            MemoryError: there is not enough.
        """
        words = size * dtype.itemsize // 8
        returned = self._returned.setdefault(name, [])
        memory = None
        while returned and memory is None:
            found = returned.pop()
            memory = found if _fits(found, words) else None
        if memory is None:
            memory = np.empty(words, np.uint64)
        return np.asarray(_Loan(memory, returned))[:words].view(dtype)


class _Loan:
    """Memory that comes back when no array over it is left: all of them have this as their base."""

    def __init__(self, memory: np.ndarray, returned: list[np.ndarray]) -> None:
        self.__array_interface__ = memory.__array_interface__
        self._memory, self._returned = memory, returned

    def __del__(self) -> None:
        self._returned.append(self._memory)


def _fits(array: np.ndarray, size: int) -> bool:
    return size <= len(array) <= _MOST_TOO_LARGE * size
