"""The execution root of a block: one hash for the books after it, its trades and its orders."""

import struct
from typing import Any

import numpy as np

from bookwarp.consensus.flat.states import rows_for_root
from bookwarp.consensus.keccak import keccak256
from bookwarp.consensus.merkle import row_root
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.flat import FlatState
from bookwarp.spec.u256_orders import check_integer

ROOT_BYTES = 32


def execution_root(
    parent: bytes,
    resting: FlatState | np.ndarray,
    trades: np.ndarray,
    orders: np.ndarray,
    height: int,
) -> bytes:
    """Return keccak256(parent, root of the books, of the trades, of the orders, height as u64 LE).

    Args:
        parent: the execution root of the block before, 32 bytes.
        resting: what rests after the block: books, taken in order of their index, or the orders of
            one book. In a book bids come first, by price falling, then asks, by price rising; then
            the order id decides.
        trades: `FLAT_TRADE` [trade], as they happened.
        orders: `FLAT_ORDER` [order], as they came in.
        height: of the block, 0 .. 2**64 - 1.

    Returns:
        32 bytes.

    Raises:
        ParameterError: `parent` or `height` is wrong, or the package for keccak256 is not
            installed.
    """
    number = check_integer("height", height, 0, 2**64 - 1)
    roots = (row_root(rows_for_root(resting)), row_root(trades), row_root(orders))
    return keccak256(check_root("parent", parent) + b"".join(roots) + struct.pack("<Q", number))


def check_root(name: str, root: Any) -> bytes:
    """Return a root, 32 bytes.

    Raises:
        ParameterError: it is none.
    """
    if not isinstance(root, bytes | bytearray) or len(root) != ROOT_BYTES:
        shown = f"{len(root)} bytes" if isinstance(root, bytes | bytearray) else repr(root)
        raise ParameterError(f"{name} must be {ROOT_BYTES} bytes, not {shown}")
    return bytes(root)
