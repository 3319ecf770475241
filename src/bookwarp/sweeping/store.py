"""The store of a sweep: a Zarr group that is filled block by block, and ends in the same bytes.

Every result is an array of which a block is one chunk, uncompressed, in a file that appears whole.
The block's chunk of `block_sha256` is written last: it says that the block is there, and what its
files hold. Nothing in the store tells of the machine or the time.
"""

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bookwarp.results.output import as_path, check_folder, explain, written_whole
from bookwarp.signals import SignalsDeferred
from bookwarp.spec.errors import ParameterError, StoreError
from bookwarp.sweeping.creating import (
    MARKERS,
    SEPARATOR,
    SHA256_BYTES,
    create_store,
    root_attributes,
)
from bookwarp.sweeping.identity import ROOT, read_description, refuse_other
from bookwarp.sweeping.layout import path_variable, result_variables
from bookwarp.sweeping.paths import PATH_PRICE
from bookwarp.sweeping.plan import SweepPlan
from bookwarp.sweeping.running import Block

if TYPE_CHECKING:
    import xarray as xr

Buffer = bytes | memoryview

SUFFIX = ".zarr"
_PARTIAL = ".partial"
"""Folder in the store where files are made before they get their names."""
_READERS = 8
_DIGEST_HEADER = b"bookwarp sweep 1\n"


def check_out(out: Any) -> Path:
    """Return where a store is or will be.

    Raises:
        ParameterError: it is no path with the suffix .zarr.
    """
    path = as_path(out)
    if path.suffix.lower() != SUFFIX:
        raise ParameterError(f"out must be a Zarr store, *{SUFFIX}, not {str(path)!r}")
    return path


class SweepStore:
    """The store of one sweep, to be made or gone on with.

    Args:
        path: where it is.
        plan: of the sweep.
        create: whether there may be nothing yet, as is not so for workers.

    Raises:
        StoreError: what is there is not this sweep, or nothing can be written there.
    """

    def __init__(self, path: Path, plan: SweepPlan, create: bool = True) -> None:
        self.path, self.plan = path, plan
        self._variables = result_variables(plan) | path_variable(plan)
        self._token, self._made = secrets.token_hex(8), count()
        self._is_new = not path.exists()
        if not self._is_new:
            refuse_other(path, plan)
        elif create:
            check_folder(path)
        else:
            raise StoreError(f"there is no store {path}")

    def prepare(self) -> None:
        """Make the store if there is nothing; before the first `write`.

        It takes some hundredths of a second, in which the first blocks may run already.

        Raises:
            StoreError: nothing can be written there, or somebody else has made something meanwhile.
        """
        if self._is_new:
            with written_whole(self.path, overwrite=False) as temporary:
                create_store(temporary, self.plan, self._variables)
            self._is_new = False

    def missing(self, numbers: Sequence[int] | None = None) -> list[int]:
        """Return which of the blocks are not in the store, or not as they were written.

        Args:
            numbers: blocks to look at; all of them if None.

        Cost: all that is in the store of them is read.
        """
        looked_at = range(self.plan.blocks.count) if numbers is None else numbers
        if self._is_new:
            return list(looked_at)
        with ThreadPoolExecutor(_READERS) as pool:
            whole = pool.map(self._is_whole, looked_at)
            return [number for number, here in zip(looked_at, whole, strict=True) if not here]

    def write(self, block: Block) -> None:
        """Write a block, and then that it is there. Threads and processes may write at once.

        Raises:
            StoreError: it cannot be written; what is in the store stays as it was.
        """
        with self._explained():
            (self.path / _PARTIAL).mkdir(exist_ok=True)
            hasher = hashlib.sha256()
            for name, content in self._chunks(block).items():
                self._put(name, content)
                # Now it is in the cache of the core.
                hasher.update(content)
            self._put(_marker_file(block.number), block.exact_sha256 + hasher.digest())

    def exact_sha256(self, number: int) -> bytes | None:
        """Return `Block.exact_sha256` of a block that was written; None if it is not there."""
        marker = self._read_marker(number)
        return None if marker is None else marker[:SHA256_BYTES]

    def finish(self) -> str:
        """Write the digest of the whole sweep, once no block is missing, and return it.

        Raises:
            StoreError: a block is missing, or the store cannot be written.
        """
        exact = []
        for number in range(self.plan.blocks.count):
            found = self.exact_sha256(number)
            if found is None:
                raise StoreError(f"{self.path} lacks block {number}: run the sweep again")
            exact.append(found)
        digest = sweep_digest(exact)
        with SignalsDeferred(), self._explained():
            root = json.loads((self.path / ROOT).read_bytes())
            if root["attributes"] != (said := root_attributes(self.plan, digest)):
                root["attributes"] = said
                (self.path / _PARTIAL).mkdir(exist_ok=True)
                self._put(ROOT, json.dumps(root, indent=2).encode())
            shutil.rmtree(self.path / _PARTIAL, ignore_errors=True)
        return digest

    def kept(self, written: int) -> str:
        """Say what is left of an interrupted sweep."""
        blocks = self.plan.blocks.count
        return f"{written} of {blocks} blocks are in {self.path}, and the same sweep goes on there"

    def open(self) -> "xr.Dataset":
        """Return what is in the store as a dataset whose values are read when they are used."""
        return open_sweep(self.path)

    @contextmanager
    def holding(self, content: bytes) -> Iterator[Path]:
        """Keep a file in the store for those who see it, and remove it again.

        It has a name that was never there before, so that no file system remembers it to be
        missing.

        Raises:
            StoreError: it cannot be written.
        """
        name = f"{_PARTIAL}/{secrets.token_hex(16)}"
        with self._explained():
            (self.path / _PARTIAL).mkdir(exist_ok=True)
            self._put(name, content)
        held = self.path.absolute() / name
        try:
            yield held
        finally:
            held.unlink(missing_ok=True)

    def _is_whole(self, number: int) -> bool:
        """Say whether a block is in the store with the bytes that were written."""
        marker = self._read_marker(number)
        if marker is None:
            return False
        files = (self.path / name for name in self._files(number))
        try:
            return marker[SHA256_BYTES:] == _hash_chunks(file.read_bytes() for file in files)
        except OSError:
            return False

    def _read_marker(self, number: int) -> bytes | None:
        try:
            marker = (self.path / _marker_file(number)).read_bytes()
        except OSError:
            return None
        return marker if len(marker) == 2 * SHA256_BYTES else None

    def _files(self, number: int) -> list[str]:
        """Return the names of the files of a block, as `_chunks` has them."""
        place = self.plan.blocks.place(number)
        names = [
            _chunk_file(name, (*place, *(0,) * (len(each.shape) - len(place))))
            for name, each in self._variables.items()
            if name != PATH_PRICE
        ]
        first, stop = self.plan.paths.within(*self.plan.blocks.markets(number))
        return names + [_chunk_file(PATH_PRICE, (path, 0)) for path in range(first, stop)]

    def _chunks(self, block: Block) -> dict[str, memoryview]:
        """Return the files of a block: every chunk has its full size, filled up at the edges."""
        extent = self.plan.blocks.extent(block.number)
        contents, results = [], block.results
        for name, variable in self._variables.items():
            if name == PATH_PRICE:
                continue
            rest = variable.shape[len(extent) :]
            values = results[name].reshape((*extent, *rest))
            if values.shape != variable.chunk:
                full = np.full(variable.chunk, variable.fill, variable.dtype)
                full[tuple(slice(length) for length in extent)] = values
                values = full
            contents.append(np.ascontiguousarray(values, variable.dtype))
        contents += [np.ascontiguousarray(path, "<i8") for path in block.paths]
        views = (array.reshape(-1).view(np.uint8).data for array in contents)
        return dict(zip(self._files(block.number), views, strict=True))

    def _put(self, name: str, content: Buffer) -> None:
        """Write a file of the store, which appears whole or not at all."""
        partial = f"{self.path}/{_PARTIAL}/{self._token}-{next(self._made)}"
        _write_file(partial, content)
        os.replace(partial, f"{self.path}/{name}")  # noqa: PTH105

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say of an error of the system that the blocks so far are kept."""
        try:
            yield
        except OSError as error:
            why = explain(error, self.path).replace("; nothing was left behind", "")
            raise StoreError(
                f"{why}; the blocks written before are kept, and the same sweep goes on from them"
            ) from error


def sweep_digest(exact: list[bytes]) -> str:
    """Return the digest of a sweep, 64 hexadecimal digits.

    Args:
        exact: `Block.exact_sha256` of every block, in order.
    """
    return hashlib.sha256(_DIGEST_HEADER + b"".join(exact)).hexdigest()


def open_sweep(path: str | Path) -> "xr.Dataset":
    """Return the dataset of a stored sweep, also of one that is not complete.

    Values are read when they are used. What is not there yet is NaN, and as long as something is
    not there the attribute `digest` is missing.

    Args:
        path: what was given to `sweep` as `out`.

    Raises:
        ParameterError: it is not a path, or has not the suffix .zarr.
        StoreError: there is none, or it is no store of a sweep.
    """
    import xarray as xr

    store = check_out(path)
    read_description(store)
    dataset = xr.open_dataset(store, engine="zarr", chunks=None, consolidated=True)
    return dataset.drop_vars(MARKERS)


def _write_file(path: str, content: Buffer) -> None:
    # Thousands of files are written in a second, by threads that take turns in Python: `Path` and
    # file objects would take half of the time.
    left = memoryview(content)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        while left:
            left = left[os.write(file, left) :]
    finally:
        os.close(file)


def _marker_file(number: int) -> str:
    return _chunk_file(MARKERS, (number, 0))


def _chunk_file(name: str, place: tuple[int, ...]) -> str:
    return f"{name}/{SEPARATOR.join(('c', *map(str, place)))}"


def _hash_chunks(chunks: Iterable[Buffer]) -> bytes:
    """Return the SHA-256 of the files of a block, one after the other."""
    hasher = hashlib.sha256()
    for content in chunks:
        hasher.update(content)
    return hasher.digest()
