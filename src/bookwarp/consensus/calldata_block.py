"""A block of orders of 256-bit numbers: what came out, and one digest."""

import hashlib
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from bookwarp.consensus.u256_books import U256Books
from bookwarp.spec.u256 import DEFAULT_TILE

_HEADER = b"bookwarp u256 block 1\n"


@dataclass(frozen=True, eq=False)
class CalldataBlock:
    """What a block of orders did to books of 256-bit numbers."""

    results: np.ndarray
    """uint8 [order, 68], in the order of arrival."""
    digest: str
    """The SHA-256 of results and books, as 64 hexadecimal digits.

    It is that of a header line, the number of orders (u64, little-endian), the results, and the 32
    bytes of the digest of the books after the block; see `U256Books.digest`.
    """


def execute_calldata(
    books: U256Books, calldata: Any, book: Any = None, tile: int = DEFAULT_TILE
) -> CalldataBlock:
    """Match a block of orders, and take the digest of what came out and of all books.

    Args:
        books: they change as by `U256Books.match`.
        calldata, book, tile: as of `U256Books.match`.

    Raises:
        ParameterError: a length is wrong or a book does not exist, naming order, field and offset;
            nothing was matched.
        EngineError: there is not enough memory; nothing was matched.

    Cost: beside the matching, a SHA-256 of the arenas of all books.
    """
    results = books.match(calldata, book, tile)
    hasher = hashlib.sha256(_HEADER)
    hasher.update(struct.pack("<Q", len(results)))
    hasher.update(np.ascontiguousarray(results).data)
    hasher.update(bytes.fromhex(books.digest()))
    return CalldataBlock(results, hasher.hexdigest())
