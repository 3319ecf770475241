"""Sealed archives: a description and arrays in one file, read back to the last bit or refused.

The file is a NumPy .npz archive without pickles. Its first member holds the description as JSON,
the others the arrays. The archive's comment, the last 64 bytes of the file, is the SHA-256 of all
bytes before it, in hexadecimal digits: a file that was changed anywhere is not read.
"""

import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from bookwarp.results.output import as_path, check_absent, check_folder, written_whole
from bookwarp.spec.errors import StoreError

# A zip archive begins with a header of 30 bytes that starts with this, then its first name.
_ZIP_START = b"PK\x03\x04"
_NAME_AT = 30
_SEAL_LENGTH = 64
# Most arrays are mostly zeros: the lightest compression makes them many times smaller.
_COMPRESSION_LEVEL = 1
_BLOCK_BYTES = 1 << 20
# The time in an archive says nothing, so that equal content gives equal arrays and layout.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class ArchiveKind:
    """What an archive holds: told from the name of its first member."""

    description: str
    """Name of the first member."""
    noun: str
    """What errors call it."""

    def check_writable(self, path: str | Path) -> None:
        """Refuse a path to which no archive of this kind can be written; it is tried.

        Raises:
            ParameterError: it is not a path.
            StoreError: its folder cannot be written to, or something else is there that the
                archive would replace.
        """
        given = as_path(path)
        check_absent(given, overwrite=True)
        if given.exists() and given.stat().st_size and not self._is_one(given):
            raise StoreError(
                f"{given} exists and is not a {self.noun} of bookwarp: it is not overwritten"
            )
        check_folder(given)

    def write(
        self, path: str | Path, document: dict[str, Any], arrays: Iterable[tuple[str, np.ndarray]]
    ) -> None:
        """Write an archive, replacing the one at `path`; it appears whole or not at all.

        `arrays` are named; each is asked for when it is written.

        Raises:
            ParameterError: it is not a path.
            StoreError: it cannot be written, or would replace something else.
        """
        self.check_writable(path)
        with written_whole(as_path(path)) as temporary:
            _write_members(temporary, self.description, document, arrays)
            _seal(temporary)

    @contextmanager
    def opened(self, path: str | Path) -> Iterator[Any]:
        """Yield the members of an archive by name: its description as bytes, and arrays.

        Raises:
            ParameterError: it is not a path.
            StoreError: there is no such file, or it is damaged, or of another kind.
        """
        given = as_path(path)
        if given.is_dir():
            raise StoreError(f"{given} is a folder, not a {self.noun}")
        try:
            self._check_seal(given)
            with np.load(given, allow_pickle=False) as archive:
                yield archive
        except FileNotFoundError:
            raise StoreError(f"there is no {self.noun} {given}") from None
        except StoreError:
            raise
        except OSError as error:
            raise StoreError(f"{given} cannot be read: {error.strerror or error}") from error

    def read_document(self, archive: Any, path: str | Path, newest: int) -> dict[str, Any]:
        """Return the description in an opened archive, of a format up to `newest`.

        Raises:
            StoreError: the format is a newer one.
        """
        document: dict[str, Any] = json.loads(archive[self.description])
        if document["format"] > newest:
            raise StoreError(
                f"{path} has format {document['format']}, and this version of bookwarp reads up "
                f"to {newest}: update bookwarp"
            )
        return document

    def _check_seal(self, path: Path) -> None:
        """Refuse a file of another kind, or whose bytes are not those that were written."""
        if not self._is_one(path):
            empty = " (it is empty)" if path.stat().st_size == 0 else ""
            raise StoreError(f"{path} is not a {self.noun} of bookwarp{empty}")
        with path.open("rb") as file:
            file.seek(-_SEAL_LENGTH, 2)
            seal = file.read()
        if _hash_body(path) != seal:
            raise StoreError(
                f"{path} is damaged: its SHA-256 is not the one that was written with it; go on "
                f"from an earlier {self.noun}, or start anew"
            )

    def _is_one(self, path: Path) -> bool:
        """Return whether a file begins as this kind does, and is long enough to have a seal."""
        name = self.description.encode()
        with path.open("rb") as file:
            start = file.read(_NAME_AT + len(name))
        long_enough = path.stat().st_size > len(start) + _SEAL_LENGTH
        return long_enough and start.startswith(_ZIP_START) and start.endswith(name)


def _write_members(
    path: Path,
    description: str,
    document: dict[str, Any],
    arrays: Iterable[tuple[str, np.ndarray]],
) -> None:
    with zipfile.ZipFile(
        path, "x", zipfile.ZIP_DEFLATED, compresslevel=_COMPRESSION_LEVEL
    ) as archive:
        archive.comment = bytes(_SEAL_LENGTH)
        with _member(archive, description) as member:
            member.write(json.dumps(document).encode())
        for name, array in arrays:
            with _member(archive, f"{name}.npy") as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


def _member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    info = zipfile.ZipInfo(name, _NO_TIME)
    info.compress_type = archive.compression
    return archive.open(info, "w", force_zip64=True)


def _seal(path: Path) -> None:
    digest = _hash_body(path)
    with path.open("rb+") as file:
        file.seek(-_SEAL_LENGTH, 2)
        file.write(digest)


def _hash_body(path: Path) -> bytes:
    """Return the SHA-256 of all bytes but the seal, as hexadecimal digits."""
    hasher = hashlib.sha256()
    for block in _body_blocks(path):
        hasher.update(block)
    return hasher.hexdigest().encode()


def _body_blocks(path: Path) -> Iterator[bytes]:
    left = path.stat().st_size - _SEAL_LENGTH
    with path.open("rb") as file:
        while left > 0:
            block = file.read(min(left, _BLOCK_BYTES))
            if not block:
                return
            left -= len(block)
            yield block
