"""Tables in files: Parquet and CSV, read by Arrow."""

from typing import Any

import pyarrow as pa

from bookwarp.results.output import as_path
from bookwarp.spec.errors import ParameterError, StoreError

# Of a CSV file, which has no types: what stands in these columns is an integer, at any size.
_CSV_TYPES = {
    "order_id": pa.uint64(),
    "owner": pa.uint64(),
    "price": pa.int64(),
    "qty": pa.int64(),
    "ts": pa.int64(),
    "book": pa.int64(),
}
_READERS = (".parquet", ".csv", ".csv.gz")


def read_table(path: Any) -> Any:
    """Return the table in a Parquet or CSV file, chosen by its suffix, as Arrow's.

    Raises:
        ParameterError: it is no path, there is no such file, or its suffix is not known.
        StoreError: the file cannot be read.
    """
    try:
        file = as_path(path)
    except ParameterError:
        raise ParameterError(
            f"orders must be a NumPy structured array, a mapping of columns, a table of Arrow, "
            f"pandas or polars, or the path of a Parquet or CSV file, not {type(path).__name__}"
        ) from None
    name = file.name.lower()
    if not name.endswith(_READERS):
        raise ParameterError(f"{file} is none of {', '.join(_READERS)}")
    if not file.is_file():
        raise ParameterError(f"there is no file {file}")
    try:
        table = _read_parquet(file) if name.endswith(".parquet") else _read_csv(file)
        # Arrow reads names only when they are asked for, and then refuses those that are no text.
        list(table.column_names)
        return table
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise StoreError(f"{file} cannot be read: {error}") from None
    except OSError as error:
        raise StoreError(f"{file} cannot be read: {error.strerror or error}") from error


def _read_parquet(path: Any) -> Any:
    import pyarrow.parquet as pq

    return pq.read_table(path, partitioning=None)


def _read_csv(path: Any) -> Any:
    """Return the table in a CSV file; where a cell is not of its column's type, all as words."""
    from pyarrow import csv

    def read(types: dict[str, Any]) -> Any:
        options = csv.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=True)
        return csv.read_csv(path, convert_options=options)

    try:
        return read(_CSV_TYPES)
    except pa.ArrowInvalid as error:
        if "conversion error" not in str(error):
            raise
    return read(dict.fromkeys(_CSV_TYPES, pa.string()))
