"""Where results go: paths are checked before work starts, files appear whole or not at all."""

import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from bookwarp.spec.errors import ParameterError, StoreError

MAY_OVERWRITE = ", or set overwrite"
"""How the sentence ends that refuses a path which could be replaced."""


def as_path(path: Any) -> Path:
    """Return `path` as a Path.

    Raises:
        ParameterError: it is not a path.
    """
    try:
        given = os.fspath(path)
    except TypeError:
        raise ParameterError(f"path must be a path or its text, not {path!r}") from None
    if not isinstance(given, str) or not given or "\0" in given:
        raise ParameterError(f"path must name a file, not {given!r}")
    return Path(given)


def check_absent(path: Path, overwrite: bool) -> None:
    """Refuse a path at which something is already.

    A folder is only overwritten if it is a Zarr store, whatever `overwrite` says.

    Raises:
        StoreError: it exists, and may not be replaced.
    """
    if not path.exists():
        return
    if not overwrite:
        raise StoreError(f"{path} exists: choose another path, remove it{MAY_OVERWRITE}")
    store = path.suffix.lower() == ".zarr"
    if store and not (path / "zarr.json").is_file():
        raise StoreError(f"{path} exists and is not a Zarr store: it is not overwritten")
    if not store and not path.is_file():
        raise StoreError(f"{path} exists and is not a file: it is not overwritten")


def check_folder(path: Path) -> None:
    """Refuse a path whose folder does not exist or cannot be written to; it is tried.

    Raises:
        StoreError: naming the folder.
    """
    folder = path.resolve().parent
    if not folder.is_dir():
        raise StoreError(f"{path} cannot be written: there is no folder {folder}")
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".bookwarp-", suffix=".tmp"):
            pass
    except OSError as error:
        raise StoreError(explain(error, path)) from error


@contextmanager
def written_whole(path: Path, overwrite: bool = True) -> Iterator[Path]:
    """Yield a path to write to, which takes the place of `path` when the block ends without error.

    What is written may be a file or a folder. It lies beside `path`, so that it can be renamed,
    and is removed if the block ends in an error.

    Raises:
        StoreError: it cannot be written or renamed; the message says why.
    """
    target = path.resolve()
    temporary = target.with_name(f".bookwarp-{secrets.token_hex(8)}.tmp")
    try:
        yield temporary
        _flush(temporary)
        check_absent(path, overwrite)
        _replace(temporary, target)
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(explain(error, path)) from error
    finally:
        _remove(temporary)


def explain(error: OSError, path: Path) -> str:
    """Return the sentence for an error of the operating system while `path` was written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{path} cannot be written: the disk is full; nothing was left behind"
    return f"{path} cannot be written: {error.strerror or error}"


def _flush(path: Path) -> None:
    """Have a file on the disk before it gets its name; a folder of files is left to the system."""
    if path.is_file():
        with path.open("rb+") as file:
            os.fsync(file.fileno())


def _replace(temporary: Path, target: Path) -> None:
    if not target.is_dir():
        temporary.replace(target)
        return
    old = temporary.with_suffix(".old")
    target.rename(old)
    try:
        temporary.rename(target)
    except OSError:
        old.rename(target)
        raise
    _remove(old)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
