"""Which book an order goes to, by the book id in it."""

import secrets
from collections.abc import Mapping
from typing import Any

import numpy as np

from bookwarp.spec.errors import ParameterError
from bookwarp.spec.u256 import BOOK_ID_AT, NUMBER_BYTES
from bookwarp.spec.u256_orders import check_integer

_WORDS = NUMBER_BYTES // 8
_EMPTY = -1
_HALF = np.uint64(32)
# Orders looked up at once: what is computed of them stays in the cache.
_PIECE = 1 << 14


class BookIds:
    """The index of the book of each id, in a hash table that is looked up for many orders at once.

    Who chooses ids cannot choose them to collide: the hash is another one in each process. What is
    found does not depend on it.
    """

    def __init__(self, ids: np.ndarray, numbers: np.ndarray) -> None:
        """Hold different ids, uint8 [id, 32], and the books that they name, int64 [id]."""
        self.ids, self.numbers = ids, numbers
        self._words = np.ascontiguousarray(ids).view(np.uint64)
        self._bits = (2 * len(ids)).bit_length()
        self._factors = np.array([secrets.randbits(64) | 1 for _ in range(_WORDS + 1)], np.uint64)
        self._table = np.full(1 << self._bits, _EMPTY, np.int64)
        left, slots = np.arange(len(ids)), self._slots(self._words)
        while len(left):
            free = self._table[slots] == _EMPTY
            self._table[slots[free]] = left[free]  # of several, one stays
            lost = self._table[slots] != left
            left, slots = left[lost], self._next(slots[lost])

    def _slots(self, words: np.ndarray) -> np.ndarray:
        """Return where ids are looked for first; words are uint64 [id, 4]."""
        # Column by column: NumPy is slow along an axis of four.
        hashes = np.zeros(len(words), np.uint64)
        for word in range(_WORDS):
            hashes += words[:, word] * self._factors[word]
        hashes = (hashes ^ (hashes >> _HALF)) * self._factors[_WORDS]
        slots: np.ndarray = (hashes >> np.uint64(64 - self._bits)).astype(np.int64)
        return slots

    def _next(self, slots: np.ndarray) -> np.ndarray:
        return np.asarray((slots + 1) & (len(self._table) - 1))

    @classmethod
    def of(cls, ids: Any, books: int) -> "BookIds":
        """Check a mapping of ids to books, bytes to integers.

        Raises:
            ParameterError: an id has not 32 bytes, or names a book that does not exist.
        """
        if not isinstance(ids, Mapping) or not ids:
            raise ParameterError("book_ids must be a mapping of at least one id to its book")
        for each, number in ids.items():
            if not isinstance(each, bytes) or len(each) != NUMBER_BYTES:
                raise ParameterError(f"book id {_shown(each)} is not {NUMBER_BYTES} bytes")
            check_integer(f"the book of id {_shown(each)}", number, 0, books - 1)
        joined = np.frombuffer(b"".join(ids), np.uint8).reshape(-1, NUMBER_BYTES)
        return cls(joined, np.array(list(ids.values()), np.int64))

    def to_dict(self) -> dict[bytes, int]:
        """Return the mapping."""
        pairs = zip(self.ids, self.numbers.tolist(), strict=True)
        return {each.tobytes(): number for each, number in pairs}

    def find(self, calldata: np.ndarray) -> np.ndarray:
        """Return the book of every order of uint8 [order, 117]: int64 [order].

        Raises:
            ParameterError: an order names a book that is not known, naming order and offset.
        """
        numbers: np.ndarray = np.empty(len(calldata), np.int64)
        for first in range(0, len(calldata), _PIECE):
            named = np.ascontiguousarray(calldata[first : first + _PIECE, BOOK_ID_AT:])
            found = self._find(named.view(np.uint64))
            if (found == _EMPTY).any():
                order = first + int(np.argmax(found == _EMPTY))
                raise ParameterError(
                    f"order {order}: its book id at offset {BOOK_ID_AT}, "
                    f"{calldata[order, BOOK_ID_AT:].tobytes().hex()}, is not among book_ids"
                )
            numbers[first : first + len(named)] = self.numbers[found]
        return numbers

    def _find(self, words: np.ndarray) -> np.ndarray:
        """Return which ids are these, uint64 [order, 4], `_EMPTY` for none: int64 [order]."""
        slots = self._slots(words)
        found: np.ndarray = self._table[slots]
        left = np.flatnonzero(self._differ(words, found))
        slots = slots[left]
        while len(left):
            slots = self._next(slots)
            found[left] = self._table[slots]
            differ = self._differ(words[left], found[left])
            left, slots = left[differ], slots[differ]
        return found

    def _differ(self, words: np.ndarray, found: np.ndarray) -> np.ndarray:
        """Return whether something was found, and is not what was looked for."""
        known = self._words[found]
        differ = found != _EMPTY
        unlike = np.zeros(len(words), np.uint64)
        for word in range(_WORDS):
            unlike |= known[:, word] ^ words[:, word]
        return np.asarray(differ & (unlike != 0))


def _shown(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else repr(value)
