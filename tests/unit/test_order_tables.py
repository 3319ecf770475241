"""Tables of orders in every form give the same messages, and what is wrong is named."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from bookwarp.io.order_tables import read_orders
from bookwarp.spec.errors import ParameterError, StoreError
from bookwarp.spec.orders import ORDER

ID_MAX, MAX, MIN = 2**64 - 1, 2**63 - 1, -(2**63)
COLUMNS = {
    "book": [0, 1, 0, 0, 2**32 - 2],
    "op": ["new", "new", "new", "modify", "cancel"],
    "order_id": [1, ID_MAX, 0, 1, 1],
    "side": ["B", "S", "B", None, None],
    "kind": ["limit", "limit", "market", None, None],
    "tif": ["GTC", "post_only", "FOK", None, None],
    "price": [MAX, MIN, None, -5, None],
    "qty": [1, MAX, 3, 4, None],
    "owner": [None, ID_MAX, 7, None, 0],
    "ts": [0, 1, MAX, MIN, 34_200_004_241_176_553],
}
ROWS = [
    (1, MAX, 1, 0, 0, 1, 0, 0),
    (ID_MAX, MIN, MAX, 1, 0, -1, 0, 3),
    (0, 0, 3, 0, 0, 1, 1, 2),
    (1, -5, 4, 0, 2, 0, 0, 0),
    (1, 0, 0, 2**32 - 2, 1, 0, 0, 0),
]
TYPES = {
    "book": pa.uint32(),
    "order_id": pa.uint64(),
    "owner": pa.uint64(),
    "price": pa.int64(),
    "qty": pa.int64(),
    "ts": pa.int64(),
}


class ForeignTable:
    """A table of a library that is not Arrow's: all there is to it is the stream."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def arrow_table():
    return pa.table({name: pa.array(COLUMNS[name], TYPES.get(name)) for name in COLUMNS})


def coded_table():
    """All codes as numbers, words as dictionaries, in chunks and in another order."""
    table = arrow_table()
    for name, words in (("kind", ("limit", "market")), ("op", ("new", "cancel", "modify"))):
        codes = pa.array([None if w is None else words.index(w) for w in COLUMNS[name]], pa.int8())
        table = table.set_column(table.column_names.index(name), name, codes)
    sides = pa.array([1, -1, 1, None, None], pa.int64())
    table = table.set_column(table.column_names.index("side"), "side", sides)
    table = table.set_column(
        table.column_names.index("tif"), "tif", table["tif"].dictionary_encode()
    )
    return pa.concat_tables([table[:2], table[2:3], table[3:]]).select(table.column_names[::-1])


def write_csv(path):
    pa_csv.write_csv(arrow_table(), path)
    return path


def write_parquet(path):
    pq.write_table(arrow_table(), path, row_group_size=2)
    return str(path)


FORMS = {
    "mapping": lambda folder: COLUMNS,
    "arrow": lambda folder: arrow_table(),
    "coded": lambda folder: coded_table(),
    "record batch": lambda folder: arrow_table().combine_chunks().to_batches()[0],
    "foreign": lambda folder: ForeignTable(arrow_table()),
    "pandas of arrow": lambda folder: arrow_table().to_pandas(types_mapper=pd.ArrowDtype),
    "parquet": lambda folder: write_parquet(folder / "orders.parquet"),
    "csv": lambda folder: write_csv(folder / "orders.csv"),
    "csv.gz": lambda folder: write_csv_gz(folder),
}


def write_csv_gz(folder):
    with pa.CompressedOutputStream(str(folder / "orders.csv.gz"), "gzip") as stream:
        pa_csv.write_csv(arrow_table(), stream)
    return folder / "orders.csv.gz"


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_messages(form, tmp_path):
    table = read_orders(FORMS[form](tmp_path))
    assert table.orders.tolist() == ROWS
    assert table.owners.tolist() == [0, ID_MAX, 7, 0, 0]
    assert table.times.tolist() == COLUMNS["ts"]


def test_polars_gives_the_same_messages():
    polars = pytest.importorskip("polars")
    table = read_orders(polars.from_arrow(arrow_table()))
    assert table.orders.tolist() == ROWS


def test_structured_array_with_other_fields_gives_the_same_messages():
    fields = [("qty", "<i4"), ("note", "U3"), ("op", "<i8"), ("order_id", ">u8"), ("price", "<f8")]
    rows = np.zeros(2, [*fields, ("side", "<i8"), ("owner", "u1")])
    rows["order_id"], rows["price"], rows["qty"] = [ID_MAX, 3], [2.0**53, -7], [4, 5]
    rows["side"], rows["owner"] = [1, -1], 9
    table = read_orders(rows)
    assert table.orders.tolist() == [
        (ID_MAX, 2**53, 4, 0, 0, 1, 0, 0),
        (3, -7, 5, 0, 0, -1, 0, 0),
    ]
    assert table.owners.tolist() == [9, 9]


def test_array_of_orders_is_not_copied():
    orders = np.array(ROWS, ORDER)
    assert np.shares_memory(read_orders(orders).orders, orders)
    unaligned = orders.astype(np.dtype(ORDER.descr))
    assert np.shares_memory(read_orders(unaligned).orders, unaligned)


def test_pandas_numbers_with_gaps_are_floats_and_exact():
    frame = pd.DataFrame(
        {
            "op": ["new", "cancel", "new"],
            "order_id": [1, 1, 2],
            "side": ["buy", None, "SELL"],
            "price": [100.0, np.nan, -3.0],
            "qty": [5.0, np.nan, 2.0],
        }
    )
    assert read_orders(frame).orders.tolist() == [
        (1, 100, 5, 0, 0, 1, 0, 0),
        (1, 0, 0, 0, 1, 0, 0, 0),
        (2, -3, 2, 0, 0, -1, 0, 0),
    ]


def test_decimals_text_and_times_are_exact():
    moment = dt.datetime(1970, 1, 1, 0, 0, 1, 500, dt.UTC)
    table = pa.table(
        {
            "op": [0],
            "order_id": ["18446744073709551615"],
            "side": ["+1"],
            "price": pa.array([Decimal("123.00")]),
            "qty": ["7"],
            "ts": pa.array([moment], pa.timestamp("us", "UTC")),
        }
    )
    found = read_orders(table)
    assert found.orders.tolist() == [(ID_MAX, 123, 7, 0, 0, 1, 0, 0)]
    assert found.times.tolist() == [1_000_500_000]


def test_side_has_the_values_that_the_caller_says():
    rows = {"op": [0, 0, 1], "order_id": [1, 2, 1], "price": [1, 2, 0], "qty": [1, 1, 0]}
    for given, values in (
        ([0, 1, 9], (0, 1)),
        ([1, 2, 0], (1, 2)),
        (["bid", "Ask", "?"], ("BID", "ask")),
    ):
        found = read_orders(rows | {"side": given}, values)
        assert found.orders["side"].tolist() == [1, -1, 0]


@pytest.mark.parametrize("rows", [[], np.zeros(0, ORDER)], ids=["mapping", "array"])
def test_empty_table_is_a_table(rows):
    columns = {"op": [], "order_id": [], "side": [], "price": [], "qty": []}
    assert len(read_orders(columns if isinstance(rows, list) else rows).orders) == 0


GOOD = {
    "op": [0, 0, 0],
    "order_id": [1, 2, 3],
    "side": [1, 1, -1],
    "price": [1, 2, 3],
    "qty": [1, 2, 3],
}
WRONG = [
    ({"op": [0, 3, 0]}, r"op in row 1 \(counted from 0\) is 3; it must be one of 0 \.\. 2 \(new,"),
    ({"op": ["new", "New", "neu"]}, r"op in row 2 .* is 'neu'; it must be one of new, cancel, mod"),
    ({"op": [0, None, 0]}, r"op in row 1 .* is empty"),
    ({"order_id": [1, -1, 3]}, r"order_id in row 1 .* is -1; it must be an integer 0 \.\. 2\^64-1"),
    ({"order_id": [1, 2**64, 3]}, r"order_id holds neither integers nor words"),
    ({"order_id": [1.0, 2.0**60, 3]}, r"order_id in row 1 .* exact as a floating-point number"),
    (
        {"side": [1, 0, -1]},
        r"side in row 1 .* is 0; it must be 1 \(buy\) or -1 \(sell\); side_values",
    ),
    ({"side": ["B", "x", "S"]}, r"side in row 1 .* is 'x'; it must be one of b, buy"),
    ({"side": ["B", "S", None]}, r"side in row 2 .* is empty"),
    ({"price": [1, 100.5, 3]}, r"price in row 1 .* is 100\.5; it must be an integer -2\^63"),
    ({"price": [1, 2, float("nan")]}, r"price in row 2 .* is (empty|nan)"),
    ({"price": [1, 2, float("inf")]}, r"price in row 2 .* is inf"),
    ({"price": [1, 2, 2**63]}, r"price in row 2 .* is 9223372036854775808; .* \.\. 2\^63-1"),
    ({"price": ["1", "2", "three"]}, r"price in row 2 .* is 'three'"),
    ({"price": ["1", "9" * 70, "3"]}, r"price in row 1 .* is '9{60}\.\.\.'"),
    ({"price": [True, False, True]}, r"price holds bool, neither integers nor words"),
    ({"price": [[1], [2], [3]]}, r"price holds list"),
    ({"price": np.zeros((3, 2))}, r"price has shape \(3, 2\)"),
    ({"qty": [1, None, 3]}, r"qty in row 1 .* is empty"),
    ({"qty": [1, 2]}, r"unequal lengths: op 3, .*qty 2"),
    ({"kind": [0, 2, 0]}, r"kind in row 1 .* is 2; it must be one of 0 \.\. 1 \(limit, market\)"),
    ({"tif": ["gtc", "day", "gtc"]}, r"tif in row 1 .* is 'day'; it must be one of gtc, ioc, fok"),
    (
        {"book": [0, 2**32, 0]},
        r"book in row 1 .* is 4294967296; it must be an integer 0 \.\. 2\^32-1",
    ),
    ({"owner": [0, -1, 0]}, r"owner in row 1 .* is -1"),
    ({"ts": [0, None, 0]}, r"ts in row 1 .* is empty"),
    ({"Owner": [0, 0, 0]}, r"have a column 'Owner' and none 'owner': is it misspelt"),
    ({"tiff": [0, 0, 0]}, r"have a column 'tiff' and none 'tif'"),
]


@pytest.mark.parametrize("change, message", WRONG, ids=lambda each: str(each)[:40])
def test_what_is_wrong_is_named(change, message):
    with pytest.raises(ParameterError, match=message):
        read_orders(GOOD | change)


@pytest.mark.parametrize("name", ["op", "order_id", "side", "price", "qty"])
def test_column_that_is_needed_is_named(name):
    columns = {each: values for each, values in GOOD.items() if each != name}
    with pytest.raises(ParameterError, match=f"have no column '{name}'; they have"):
        read_orders(columns)


@pytest.mark.parametrize(
    "field, value", [("op", 3), ("side", 0), ("side", 2), ("kind", 2), ("tif", 4)]
)
def test_code_of_an_array_of_orders_is_checked(field, value):
    orders = np.zeros(100_000, ORDER)
    orders["side"] = 1
    orders[field][70_000] = value
    with pytest.raises(ParameterError, match=rf"{field} in row 70000 .* is {value}; it must be"):
        read_orders(orders)
    orders["op"] = 1
    if field != "op":
        assert read_orders(orders).orders is not None


@pytest.mark.parametrize("values", [(1,), "BS", (1, 1), ("B", "B")])
def test_side_values_are_two_that_differ(values):
    with pytest.raises(ParameterError, match="side_values"):
        read_orders(GOOD, values)


def test_words_for_sides_need_words_in_the_column():
    with pytest.raises(ParameterError, match="but the column side has numbers"):
        read_orders(GOOD, ("buy", "sell"))


@pytest.mark.parametrize("source", [7, None, [1, 2], np.zeros(3), object()])
def test_what_is_no_table_is_refused(source):
    with pytest.raises(ParameterError, match="orders must be a NumPy structured array"):
        read_orders(source)


def test_files_that_are_missing_or_of_another_kind_are_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"there is no file .*gone\.csv"):
        read_orders(tmp_path / "gone.csv")
    (tmp_path / "orders.xlsx").write_text("x")
    with pytest.raises(ParameterError, match=r"is none of \.parquet, \.csv"):
        read_orders(tmp_path / "orders.xlsx")


@pytest.mark.parametrize(
    "name, content",
    [
        ("empty.csv", b""),
        ("empty.parquet", b""),
        ("noise.parquet", b"\x00PAR1 nonsense"),
        ("ragged.csv", b"op,order_id,side,price,qty\n0,1,B,1,1\n0,2,B,1\n"),
        ("binary.csv", b"op,order_id\n\xff\xfe,\x00\x01\n"),
    ],
)
def test_damaged_file_is_refused(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises((StoreError, ParameterError), match=r"cannot be read|op in row 0"):
        read_orders(tmp_path / name)


def test_cut_parquet_file_is_refused(tmp_path):
    write_parquet(tmp_path / "whole.parquet")
    data = (tmp_path / "whole.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(data[: len(data) // 2])
    with pytest.raises(StoreError, match=r"cut\.parquet cannot be read"):
        read_orders(tmp_path / "cut.parquet")


def test_bad_cell_of_a_csv_file_is_named_by_its_row(tmp_path):
    path = tmp_path / "orders.csv"
    path.write_bytes(b"op,order_id,side,price,qty\r\nnew,1,B,10,1\r\nnew,2,S,1e3,1\r\n")
    with pytest.raises(ParameterError, match=r"price in row 1 .* is '1e3'; it must be an integer"):
        read_orders(path)
    path.write_bytes(b"op,order_id,side,price,qty\r\nnew,1,B,10,1\r\ncancel,1,,,\r\n")
    assert read_orders(path).orders["price"].tolist() == [10, 0]
