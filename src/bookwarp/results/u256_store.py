"""Books of 256-bit numbers in files, read back to the last byte or refused."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bookwarp.results.archive import ArchiveKind
from bookwarp.results.provenance import made_now

if TYPE_CHECKING:
    from bookwarp.consensus.u256_books import U256Books

FORMAT = 1
U256_BOOKS = ArchiveKind("bookwarp-u256-books.json", "file of 256-bit books")


def write_u256_books(path: str | Path, books: "U256Books") -> None:
    """Write books, replacing those saved at `path`; the file appears whole or not at all.

    Raises:
        ParameterError: it is not a path.
        StoreError: it cannot be written, or would replace something else.
    """
    ids = books.book_ids
    document: dict[str, Any] = {
        "format": FORMAT,
        "books": books.books,
        "capacity": books.capacity,
        "book_ids": None if ids is None else [[key.hex(), book] for key, book in ids.items()],
        "made_by": made_now(),
    }
    U256_BOOKS.write(path, document, _arrays(books))


def _arrays(books: "U256Books") -> Iterator[tuple[str, np.ndarray]]:
    for number, arenas in enumerate(books.arena_pieces()):
        yield f"arenas_{number}", arenas


def read_u256_books(path: str | Path, make: Callable[..., "U256Books"]) -> "U256Books":
    """Read what `write_u256_books` wrote.

    Args:
        path: the file.
        make: makes empty books; called with books, capacity and book_ids.

    Raises:
        ParameterError: it is not a path.
        StoreError: there is no such file, or it is damaged, of a newer format, or holds no such
            books.
    """
    with U256_BOOKS.opened(path) as archive:
        document = U256_BOOKS.read_document(archive, path, FORMAT)
        ids = document["book_ids"]
        books = make(
            books=document["books"],
            capacity=document["capacity"],
            book_ids=None if ids is None else {bytes.fromhex(key): book for key, book in ids},
        )
        first = number = 0
        while first < books.books:
            arenas = archive[f"arenas_{number}"]
            books.load_arenas(arenas, first)
            first, number = first + len(arenas), number + 1
        return books
