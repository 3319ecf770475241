"""Books of flat rows in files: saved between two blocks, read back to the last byte or refused."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bookwarp.results.archive import ArchiveKind
from bookwarp.results.provenance import made_now
from bookwarp.spec.flat import FLAT_ORDER, FlatState

FORMAT = 1
FLAT_BOOKS = ArchiveKind("bookwarp-flat-books.json", "file of flat books")


@dataclass(frozen=True, eq=False)
class SavedFlatBooks:
    """Books between two blocks."""

    state: FlatState
    next_trade_id: int
    block_count: int


def write_flat_books(path: str | Path, saved: SavedFlatBooks) -> None:
    """Write books, replacing those saved at `path`; the file appears whole or not at all.

    Raises:
        ParameterError: it is not a path.
        StoreError: it cannot be written, or would replace something else.
    """
    document: dict[str, Any] = {
        "format": FORMAT,
        "next_trade_id": saved.next_trade_id,
        "block_count": saved.block_count,
        "made_by": made_now(),
    }
    rows = np.ascontiguousarray(saved.state.orders).view(np.uint8)
    arrays = {"orders": rows, "order_offsets": saved.state.order_offsets}
    FLAT_BOOKS.write(path, document, arrays.items())


def read_flat_books(path: str | Path) -> SavedFlatBooks:
    """Read what `write_flat_books` wrote.

    Raises:
        ParameterError: it is not a path.
        StoreError: there is no such file, or it is damaged, of a newer format, or holds no such
            books.
    """
    with FLAT_BOOKS.opened(path) as archive:
        document = FLAT_BOOKS.read_document(archive, path, FORMAT)
        return SavedFlatBooks(
            FlatState(archive["orders"].view(FLAT_ORDER), archive["order_offsets"]),
            document["next_trade_id"],
            document["block_count"],
        )
