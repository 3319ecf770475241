"""Bytes of a file, plain or compressed by gzip, a window at a time."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from bookwarp.results.output import as_path
from bookwarp.spec.errors import ParameterError, StoreError

_GZIP_MAGIC = b"\x1f\x8b"
CHUNK_BYTES = 1 << 20
"""Small enough that what is read is still in the cache of the core when it is parsed."""


def check_file(path: Any) -> Path:
    """Return the path of a file that is there.

    Raises:
        ParameterError: it is not a path, or there is no file.
    """
    given = as_path(path)
    if not given.exists():
        raise ParameterError(f"there is no file {given}")
    if not given.is_file():
        raise ParameterError(f"{given} is not a file")
    return given


def is_gzip(path: Path) -> bool:
    """Say whether a file is compressed by gzip, whatever its name.

    Raises:
        StoreError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}") from error


class ByteStream:
    """A window that moves over what a file holds, uncompressed, without copying it twice.

    Args:
        path: the file.
        size: bytes of the window, at first; it grows if nothing in it can be used up.
    """

    def __init__(self, path: Path, size: int = CHUNK_BYTES) -> None:
        self.path = path
        self.data = bytearray(size + 1)
        """What was read; the last byte is free for who wants to end it with a mark."""
        self.filled = 0
        """Bytes of `data` that hold something."""
        self.offset = 0
        """Where in the file, uncompressed, `data` starts."""
        self.ended = False
        opened: Any = gzip.open if is_gzip(path) else open
        with self._explained():
            self._file: BinaryIO = opened(path, "rb")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def advance(self, used: int) -> None:
        """Give up the first `used` bytes of the window, and fill it up, or note the end.

        Raises:
            StoreError: the file cannot be read, or its compressed data are damaged.
        """
        kept = self.filled - used
        if used == 0 and kept == len(self.data) - 1:
            self.data = self.data + bytearray(len(self.data))
        view = memoryview(self.data)[:-1]
        if used:
            view[:kept] = view[used : self.filled]
        self.offset += used
        self.filled = kept
        with self._explained():
            while self.filled < len(view):
                # `Any`: what `open` returns can read into a buffer, whatever its type says.
                count = cast("Any", self._file).readinto(view[self.filled :])
                self.filled += count
                if count == 0:
                    self.ended = True
                    break

    @property
    def is_empty(self) -> bool:
        """Whether the file ended before it began."""
        return self.ended and self.offset + self.filled == 0

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise StoreError(
                f"{self.path}: the compressed data are damaged, behind byte "
                f"{self.offset + self.filled} of what they hold: {error}"
            ) from error
        except OSError as error:
            raise StoreError(f"{self.path} cannot be read: {error.strerror or error}") from error
