"""Recorded series and orders as Arrow tables, whole or in pieces."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bookwarp.results.dataset import parameter_attributes, series_attributes
from bookwarp.results.provenance import describe
from bookwarp.results.run import Run
from bookwarp.spec.errors import ParameterError

_KEY_MEANING = {
    "step": {"units": "1", "long_name": "step after which the row was taken, from 0"},
    "market": {"units": "1", "long_name": "market, from 0"},
}
# A piece of a table that is written holds about this many rows.
_PIECE_ROWS = 1 << 20


def series_table(run: Run) -> pa.Table:
    """Return the recorded series, a row for each recorded step and market; see `Run.to_table`.

    Cost: the series are shared with the run; every other column takes as much as one of them.
    """
    return _piece(run, slice(0, len(run.history_steps)), _schema(run))


def write_series(run: Run, path: Path) -> None:
    """Write the table of `series_table` as Parquet, a piece at a time.

    Raises:
        ParameterError: no series was recorded.
    """
    schema = _schema(run)
    rows = len(run.history_steps)
    stride = max(1, _PIECE_ROWS // run.markets)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for row in range(0, rows, stride):
            writer.write_table(_piece(run, slice(row, min(row + stride, rows)), schema))


def tape_table(run: Run) -> pa.Table:
    """Return the recorded orders, one a row.

    Raises:
        ParameterError: no tape was recorded.
    """
    if run.tape is None:
        raise ParameterError(
            "this run has no tape: put 'tape' into record and choose tape_markets and tape_steps"
        )
    names = run.tape.dtype.names or ()
    return pa.table({name: np.ascontiguousarray(run.tape[name]) for name in names})


def _schema(run: Run) -> pa.Schema:
    """Return the columns with units and meaning, and what made the run as metadata."""
    if not run.plan.series:
        raise ParameterError(
            "this run recorded no series, so there is no table: name some in record, for example "
            "record=('last', 'volume')"
        )
    document, _ = describe(run.auction, run.plan, run.engine, run.elapsed_s, run.made_by)
    document["step"] = run.steps
    fields = [_field(name, "int64", meaning) for name, meaning in _KEY_MEANING.items()]
    fields += [_field(n, "int64", series_attributes(n, run.plan)) for n in run.plan.series]
    for name in run.auction.varied:
        kind = run.auction.per_market(name).dtype.name
        fields.append(_field(name, kind, parameter_attributes(name)))
    return pa.schema(fields, {"bookwarp": json.dumps(document), "digest": run.digest()})


def _field(name: str, kind: str, meaning: Mapping[str, object]) -> pa.Field:
    metadata = {key: str(value) for key, value in meaning.items()}
    return pa.field(name, pa.type_for_alias(kind.replace("float64", "double")), False, metadata)


def _piece(run: Run, rows: slice, schema: pa.Schema) -> pa.Table:
    steps = run.history_steps[rows]
    columns = {
        "step": np.repeat(steps, run.markets),
        "market": np.tile(np.arange(run.markets), len(steps)),
    }
    columns |= {name: run.history[name][rows].reshape(-1) for name in run.plan.series}
    for name in run.auction.varied:
        columns[name] = np.tile(run.auction.per_market(name), len(steps))
    return pa.table([pa.array(columns[name]) for name in schema.names], schema=schema)
