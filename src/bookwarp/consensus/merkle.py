"""Roots of rows, and proofs that a row is under a root: the trees of RFC 6962, with keccak256.

What a leaf holds is keccak256 of a row followed by its index as u32, little-endian. Leaves and
inner nodes are hashed with different first bytes, so that one can never pass for the other. A tree
of no rows has the root keccak256 of nothing.
"""

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from bookwarp.consensus.keccak import keccak256, keccak_hasher
from bookwarp.spec.errors import ParameterError

_LEAF, _NODE = b"\x00", b"\x01"
_HASH_BYTES = 32
_INDEX = struct.Struct("<I")
MAX_ROWS = 2**32
"""Rows of a tree: an index has 32 bits."""


@dataclass(frozen=True)
class RowProof:
    """What shows, without the other rows, that a row is under a root (RFC 6962, 2.1.1)."""

    index: int
    """Which of the rows it is."""
    rows: int
    """How many rows there are."""
    path: tuple[bytes, ...]
    """The hashes beside the way from the leaf to the root, 32 bytes each, from the leaf on."""


def row_root(rows: np.ndarray) -> bytes:
    """Return the root of a tree of rows, 32 bytes.

    Args:
        rows: structured array [row] without gaps, or uint8 [row, byte].

    Raises:
        ParameterError: they are no rows, or too many, or the package for keccak256 is not
            installed.

    Cost: three hashes a row.
    """
    level = hash_leaves(rows)
    if not level:
        return keccak256(b"")
    while len(level) > 1:
        level = hash_pairs(level)
    return level[0]


def prove_row(rows: np.ndarray, index: int) -> RowProof:
    """Return the proof that a row is under the root of `rows`.

    Raises:
        ParameterError: there is no row of that index.
    """
    level = hash_leaves(rows)
    if not 0 <= index < len(level):
        raise ParameterError(f"index = {index} is none of {len(level)} rows, counted from 0")
    path = []
    at = index
    while len(level) > 1:
        if at ^ 1 < len(level):
            path.append(level[at ^ 1])
        level, at = hash_pairs(level), at // 2
    return RowProof(index, len(rows), tuple(path))


def verify_row(root: bytes, row: bytes, proof: RowProof) -> bool:
    """Return whether a proof shows that a row is under a root; any proof may be given.

    Args:
        root: 32 bytes.
        row: the bytes of the row.
        proof: as from `prove_row`.
    """
    if not 0 <= proof.index < proof.rows <= MAX_ROWS:
        return False
    at, last, left = proof.index, proof.rows - 1, list(proof.path)
    found = keccak256(_LEAF + keccak256(bytes(row) + _INDEX.pack(at)))
    while last:
        if at < last or at % 2:  # else it is alone, and goes up as it is
            if not left or len(left[0]) != _HASH_BYTES:
                return False
            beside = left.pop(0)
            found = keccak256(_NODE + (beside + found if at % 2 else found + beside))
        at, last = at // 2, last // 2
    return not left and found == root


def hash_leaves(rows: np.ndarray) -> list[bytes]:
    """Return the hashes of the leaves, one for each row."""
    width, data = _indexed(rows)
    keccak = keccak_hasher()
    view = memoryview(data)
    held = [keccak(view[at : at + width]).digest() for at in range(0, len(data), width)]
    return [keccak(_LEAF + each).digest() for each in held]


def hash_pairs(level: list[bytes]) -> list[bytes]:
    """Return the level above; the last node goes up as it is if it is alone."""
    keccak = keccak_hasher()
    pairs = zip(level[::2], level[1::2], strict=False)
    above = [keccak(_NODE + left + right).digest() for left, right in pairs]
    return above + level[-1:] if len(level) % 2 else above


def _indexed(rows: Any) -> tuple[int, bytes]:
    """Return the bytes of all rows, each followed by its index, and how many bytes that is each."""
    array = np.ascontiguousarray(rows)
    if array.dtype.names and array.ndim == 1:
        array = array.view(np.uint8).reshape(len(array), array.dtype.itemsize)
    if array.dtype != np.uint8 or array.ndim != 2:
        raise ParameterError(
            f"rows must be a structured array or uint8 [row, byte], not {array.dtype} with "
            f"{array.ndim} dimensions"
        )
    if len(array) > MAX_ROWS:
        raise ParameterError(f"there are {len(array)} rows; a tree has at most {MAX_ROWS}")
    index = np.arange(len(array), dtype="<u4").view(np.uint8).reshape(-1, _INDEX.size)
    joined = np.concatenate([array, index], axis=1)
    return joined.shape[1], joined.tobytes()
