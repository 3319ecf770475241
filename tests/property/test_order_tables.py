"""Whatever is in a table or a file, it gives the messages that it says, or an error of ours."""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwarp.io.order_tables import COLUMNS, read_orders
from bookwarp.spec.errors import ParameterError, StoreError
from bookwarp.spec.orders import ORDER
from bookwarp.testing.order_streams import order_streams

HEADER = "op,order_id,side,price,qty"
ROWS = "new,1,B,100,5\r\nnew,18446744073709551615,S,-9223372036854775808,1\r\ncancel,1,,,\r\n"
WHOLE = f"{HEADER}\r\n{ROWS}".encode()
CELLS = st.one_of(
    st.sampled_from(
        ["", "new", "modify", "1", "-1", "1e400", "9" * 30, "0x10", "nan", "B", '"', "NULL"]
    ),
    st.integers(-(2**70), 2**70).map(str),
    st.text(max_size=4),
)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=3),
    st.binary(),
)


def read_or_refuse(source):
    """Return the messages, or None if they are refused as they should be."""
    try:
        return read_orders(source).orders
    except (ParameterError, StoreError):
        return None


def read_file(name, content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        return read_or_refuse(path)


@given(order_streams())
def test_columns_of_a_stream_are_the_stream(stream):
    """Through Arrow, and through a file of each kind."""
    columns = {name: stream.orders[name].copy() for name in ORDER.names}
    columns["owner"] = stream.owners
    table = pa.table(columns)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "orders.parquet"
        pq.write_table(table, path)
        for source in (columns, table, path):
            found = read_orders(source)
            kept = stream.orders.copy()
            # Of these, and of nothing else, codes that are not looked at are dropped.
            for name in ("side", "kind", "tif"):
                kept[name][kept["op"] != 0] = 0
            np.testing.assert_array_equal(found.orders, kept)
            np.testing.assert_array_equal(found.owners, stream.owners)


@given(st.lists(st.tuples(*[CELLS] * 5), max_size=4))
def test_any_cells_of_a_csv_file_are_read_or_refused(rows):
    text = "\n".join([HEADER, *(",".join(row) for row in rows)])
    found = read_file("orders.csv", text.encode())
    if found is not None:
        assert len(found) <= len(rows)


@given(st.data())
def test_any_damage_to_a_csv_file_is_read_or_refused(data):
    content = bytearray(WHOLE)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    read_file("orders.csv", bytes(content))


@pytest.mark.parametrize("length", range(0, len(WHOLE), 7))
def test_csv_file_that_ends_anywhere_is_read_or_refused(length):
    found = read_file("orders.csv", WHOLE[:length])
    assert found is None or len(found) <= 3


@given(st.data())
def test_any_damage_to_a_parquet_file_is_read_or_refused(data):
    buffer = pa.BufferOutputStream()
    columns = {"op": [0, 0], "order_id": [1, 2], "side": ["B", "S"], "price": [5, 6], "qty": [1, 1]}
    pq.write_table(pa.table(columns), buffer)
    content = bytearray(buffer.getvalue().to_pybytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    read_file("orders.parquet", bytes(content[: data.draw(st.integers(0, len(content)))]))


@given(
    st.dictionaries(
        st.one_of(st.sampled_from(COLUMNS), st.text(max_size=3)),
        st.lists(VALUES, min_size=2, max_size=2),
        max_size=7,
    )
)
def test_any_columns_are_read_or_refused(columns):
    found = read_or_refuse(columns)
    assert found is None or len(found) == 2
