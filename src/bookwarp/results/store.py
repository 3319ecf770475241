"""Runs in files: Zarr and NetCDF hold all of a run, Parquet the table of its steps."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bookwarp.results.output import as_path, check_absent, check_folder, written_whole
from bookwarp.results.run import Run
from bookwarp.spec.errors import ParameterError, StoreError
from bookwarp.spec.record import RecordPlan

if TYPE_CHECKING:
    import xarray as xr

ZARR, NETCDF, PARQUET = ".zarr", ".nc", ".parquet"
SUFFIXES = (ZARR, NETCDF, PARQUET)

# A chunk holds about this much before compression: some thousand markets of a book.
_CHUNK_BYTES = 1 << 23


def check_output(path: str | Path, overwrite: bool = False, plan: RecordPlan | None = None) -> None:
    """Check, before a run starts, that it can be saved at `path`.

    Args:
        path: where `Run.save` will write.
        overwrite: whether it may replace what is there.
        plan: what will be recorded, if a table of nothing shall be refused too.

    Raises:
        ParameterError: the suffix is not known, or nothing would be in the table.
        StoreError: it exists, or its folder cannot be written to.
    """
    given = as_path(path)
    suffix = _suffix(given)
    if suffix == PARQUET and plan is not None and not plan.series:
        raise ParameterError(
            f"{given} would be an empty table: name series in record, or use .zarr"
        )
    check_absent(given, overwrite)
    check_folder(given)


def save_run(run: Run, path: str | Path, overwrite: bool = False) -> None:
    """Write `run` to `path`; `Run.save` says how."""
    given = as_path(path)
    check_output(given, overwrite, run.plan)
    with written_whole(given, overwrite) as temporary:
        _WRITERS[_suffix(given)](run, temporary)


def load(path: str | Path) -> Run:
    """Read a run that was saved as .zarr or .nc.

    Args:
        path: what was given to `Run.save`.

    Raises:
        ParameterError: it is not a path, or its suffix is not one of a saved run.
        StoreError: it is missing, damaged, not from bookwarp, of a newer format, or a table.
    """
    given = as_path(path)
    suffix = _suffix(given)
    if suffix == PARQUET:
        raise StoreError(
            f"{given} is a table of steps and does not hold a whole run: read it with pyarrow or "
            f"pandas, and save as .zarr or .nc what shall be loaded"
        )
    if not given.exists():
        raise StoreError(f"there is no saved run {given}")
    from bookwarp.results.dataset import dataset_to_run

    try:
        with _open(given, suffix) as dataset:
            return dataset_to_run(dataset.load(), str(given))
    except (StoreError, MemoryError):
        raise
    except Exception as error:
        # What a damaged file raises is up to the library and the place of the damage.
        kind = "Zarr store" if suffix == ZARR else "NetCDF file"
        raise StoreError(
            f"{given} cannot be read: it is damaged, or not a {kind} of bookwarp ({error})"
        ) from error


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ParameterError(
            f"{path} has the suffix {path.suffix!r}: a run is saved as {ZARR} or {NETCDF}, the "
            f"table of its steps as {PARQUET}"
        )
    return suffix


def _open(path: Path, suffix: str) -> "xr.Dataset":
    import xarray as xr

    if suffix == ZARR:
        return xr.open_dataset(
            path,
            engine="zarr",
            chunks=None,
            decode_cf=False,
            backend_kwargs={"consolidated": False},
        )
    return xr.open_dataset(path, engine="h5netcdf", chunks=None, decode_cf=False)


def _write_zarr(run: Run, path: Path) -> None:
    from zarr.codecs import BloscCodec

    compressors = (BloscCodec(cname="zstd", clevel=3, shuffle="shuffle"),)
    dataset = run.to_xarray()
    encoding = _encoding(dataset, "chunks", {"compressors": compressors})
    with warnings.catch_warnings():
        # xarray looks for consolidated metadata and zarr warns that its format has none yet.
        warnings.filterwarnings("ignore", "Consolidated metadata is currently not part")
        dataset.to_zarr(path, mode="w-", zarr_format=3, consolidated=True, encoding=encoding)


def _write_netcdf(run: Run, path: Path) -> None:
    from bookwarp.results.netcdf import write_netcdf

    dataset = run.to_xarray()
    encoding = _encoding(dataset, "chunksizes", {"zlib": True, "complevel": 1, "shuffle": True})
    write_netcdf(dataset, path, encoding)


def _write_parquet(run: Run, path: Path) -> None:
    from bookwarp.results.table import write_series

    write_series(run, path)


_WRITERS: dict[str, Callable[[Run, Path], None]] = {
    ZARR: _write_zarr,
    NETCDF: _write_netcdf,
    PARQUET: _write_parquet,
}


def _encoding(dataset: "xr.Dataset", chunks: str, how: dict[str, Any]) -> dict[Any, dict[str, Any]]:
    """Return how every array is stored: in chunks, compressed, floats without a fill value."""
    encoding: dict[Any, dict[str, Any]] = {}
    for name, variable in dataset.variables.items():
        encoding[name] = {"_FillValue": None}
        if variable.size:
            shape = _chunk_shape(variable.shape, variable.dtype.itemsize)
            encoding[name] |= {chunks: shape, **how}
    return encoding


def _chunk_shape(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Return the shape of a chunk of at most `_CHUNK_BYTES`, long in the last dimensions."""
    left = max(1, _CHUNK_BYTES // itemsize)
    chunk = []
    for length in reversed(shape):
        chunk.append(min(length, left))
        left = max(1, left // chunk[-1])
    return tuple(reversed(chunk))
