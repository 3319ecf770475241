"""Datasets into NetCDF files, without what HDF5 does when it cannot write."""

import io
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import xarray as xr


class _SwallowingFile(io.FileIO):
    """A file that keeps the first error of a write to itself, and takes no more from then on.

    The HDF5 library can end the process when a write fails, a full disk for example, while it
    closes a file. It is told that all went well, and the error is raised once it is done.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, "x+")
        self.error: OSError | None = None

    def write(self, data: Any) -> int:
        """Write all of `data`, unless a write has failed."""
        left = memoryview(data).cast("B")
        whole = len(left)
        try:
            while len(left) and self.error is None:
                left = left[super().write(left) :]
        except OSError as error:
            self.error = error
        return whole

    def truncate(self, size: int | None = None) -> int:
        """Set the length of the file, unless a write has failed."""
        try:
            if self.error is None:
                return super().truncate(size)
        except OSError as error:
            self.error = error
        return size or 0


def write_netcdf(
    dataset: xr.Dataset, path: Path, encoding: Mapping[Hashable, Mapping[str, Any]]
) -> None:
    """Write `dataset` to `path`, where nothing is yet.

    Raises:
        OSError: it cannot be written; part of it is left.
    """
    with _SwallowingFile(path) as file:
        try:
            dataset.to_netcdf(file, engine="h5netcdf", encoding=encoding)
        finally:
            if file.error is not None:
                raise file.error
