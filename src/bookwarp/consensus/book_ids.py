"""Which book an order goes to, by the book id in it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bookwarp.spec.errors import ParameterError
from bookwarp.spec.u256 import BOOK_ID_AT, NUMBER_BYTES
from bookwarp.spec.u256_orders import check_integer

# Compared like the bytes they are: all have the same length.
_ID = np.dtype((np.bytes_, NUMBER_BYTES))


class BookIds:
    """The index of the book of each id."""

    def __init__(self, ids: np.ndarray, numbers: np.ndarray) -> None:
        """Hold ids, uint8 [id, 32], and the books that they name, int64 [id]."""
        keys = np.ascontiguousarray(ids).view(_ID).ravel()
        order = np.argsort(keys, kind="stable")
        self._keys, self.numbers = keys[order], numbers[order]

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

    @property
    def ids(self) -> np.ndarray:
        """The ids, uint8 [id, 32], in the order of `numbers`."""
        return self._keys.view(np.uint8).reshape(-1, NUMBER_BYTES)

    def to_dict(self) -> dict[bytes, int]:
        """Return the mapping."""
        pairs = zip(self.ids, self.numbers.tolist(), strict=True)
        return {each.tobytes(): number for each, number in pairs}

    def find(self, calldata: np.ndarray) -> np.ndarray:
        """Return the book of every order of uint8 [order, 117]: int64 [order].

        Raises:
            ParameterError: an order names a book that is not known, naming order and offset.
        """
        named = np.ascontiguousarray(calldata[:, BOOK_ID_AT:]).view(_ID).ravel()
        places = np.minimum(np.searchsorted(self._keys, named), len(self._keys) - 1)
        unknown = self._keys[places] != named
        if unknown.any():
            order = int(np.argmax(unknown))
            raise ParameterError(
                f"order {order}: its book id at offset {BOOK_ID_AT}, "
                f"{calldata[order, BOOK_ID_AT:].tobytes().hex()}, is not among book_ids"
            )
        return self.numbers[places]


def _shown(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else repr(value)
