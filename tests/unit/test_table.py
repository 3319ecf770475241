"""Recorded series and orders as tables."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from bookwarp.results import table
from bookwarp.spec.errors import ParameterError


def test_table_has_a_row_for_each_step_and_market(plain):
    found = plain.to_table()
    assert found.column_names == ["step", "market", "last", "volume"]
    assert found.num_rows == 12 * 4
    assert found["step"].to_pylist() == [step for step in range(12) for _ in range(4)]
    assert found["market"].to_pylist() == list(range(4)) * 12
    np.testing.assert_array_equal(found["last"].to_numpy().reshape(12, 4), plain.history["last"])
    np.testing.assert_array_equal(found["volume"].to_numpy(), plain.history["volume"].ravel())


def test_parameters_that_differ_are_columns(varied):
    found = varied.to_table()
    assert found.column_names[:3] == ["step", "market", "last"]
    assert found["step"].to_pylist()[::6] == [1, 3, 5, 7, 9]
    for name in varied.auction.varied:
        values = found[name].to_numpy()
        np.testing.assert_array_equal(values, np.tile(varied.auction.per_market(name), 5))
        assert values.dtype == varied.auction.per_market(name).dtype


def test_columns_say_unit_and_meaning(varied):
    schema = varied.to_table().schema
    assert schema.field("mid2").metadata[b"units"] == b"half tick"
    assert schema.field("best_bid").metadata[b"no_price"] == b"-9223372036854775808"
    assert all(b"long_name" in field.metadata for field in schema)


def test_whole_table_and_pieces_are_the_same(varied, tmp_path, monkeypatch):
    whole = varied.to_table()
    monkeypatch.setattr(table, "_PIECE_ROWS", 13)
    varied.save(tmp_path / "run.parquet")
    assert pq.ParquetFile(tmp_path / "run.parquet").num_row_groups == 3
    assert pq.read_table(tmp_path / "run.parquet").equals(whole)


def test_saved_table_says_what_made_it(varied, tmp_path):
    varied.save(tmp_path / "run.parquet")
    metadata = pq.read_schema(tmp_path / "run.parquet").metadata
    document = json.loads(metadata[b"bookwarp"])
    assert document["step"] == 11
    assert document["auction"]["window"] == "following"
    assert metadata[b"digest"].decode() == varied.digest()


def test_orders_have_a_row_each(varied):
    found = varied.tape_table()
    assert found.column_names == ["step", "market", "agent", "side", "price", "qty", "filled"]
    assert found.num_rows == 3 * 2 * 9
    np.testing.assert_array_equal(found["filled"].to_numpy(), varied.tape["filled"])


def test_no_orders_and_no_series_are_errors_that_say_what_to_record(run):
    if run.tape is None:
        with pytest.raises(ParameterError, match="tape_markets"):
            run.tape_table()
    if not run.plan.series:
        with pytest.raises(ParameterError, match="recorded no series"):
            run.to_table()
