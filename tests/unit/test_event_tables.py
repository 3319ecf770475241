"""Tables of events of any venue: exact numbers, known words, and a clear error for the rest."""

import gzip
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwarp.io.event_tables import TYPE_WORDS, EventReader
from bookwarp.io.exact_numbers import NotExactError, parse_unit, read_exact
from bookwarp.spec.codes import NO_PRICE
from bookwarp.spec.errors import ParameterError, StoreError
from bookwarp.spec.market_data import MarketEvent, MarketRows, Oddity

HEADER = "ts,type,id,side,price,qty\n"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("events") / "log.csv"


def read(path, text: str | bytes | pa.Table, **options) -> MarketRows:
    if isinstance(text, pa.Table):
        pq.write_table(text, path)
    else:
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    blocks = list(EventReader(path, **options).blocks())
    return MarketRows(*(np.concatenate(column) for column in zip(*blocks, strict=True)))


def fault_of(path, text, **options) -> str:
    with pytest.raises(StoreError) as caught:
        read(path, text, **options)
    return str(caught.value).removeprefix(f"{path}: ")


def test_rows_are_read(path):
    text = HEADER + "1,add,5,buy,100.25,0.5\n2,execute,5,,,0.25\n3,delete,5,B,,\n"
    for data in (text, gzip.compress(text.encode()), text.replace("\n", "\r\n")):
        rows = read(path, data, price_unit="0.25", qty_unit="0.01")
        assert rows.event.tolist() == [MarketEvent.ADD, MarketEvent.EXECUTE, MarketEvent.DELETE]
        assert rows.time_ns.tolist() == [1, 2, 3]
        assert rows.order_id.tolist() == [5, 5, 5]
        assert rows.side.tolist() == [1, 0, 1]
        assert rows.price.tolist() == [401, NO_PRICE, NO_PRICE]
        assert rows.qty.tolist() == [50, 25, 0]
        assert not rows.oddity.any()


def test_parquet_of_any_types_is_read(path):
    table = pa.table(
        {
            "timestamp": pa.array([1_700_000_000_123_456, 2], pa.timestamp("us")),
            "event": pa.array(["open", "done"]).dictionary_encode(),
            "order_id": pa.array([2**64 - 1, 7], pa.uint64()),
            "side": pa.array([1, -1], pa.int64()),
            "price": pa.array([0.1, None], pa.float64()),
            "size": pa.array([Decimal("1.50"), Decimal("0.00")]),
            "symbol": ["ETH", "BTC"],
            "unused": [1, 2],
        }
    )
    rows = read(path, table, price_unit="0.1", qty_unit="0.5")
    assert rows.time_ns.tolist() == [1_700_000_000_123_456_000, 2000]
    assert rows.order_id.tolist() == [2**64 - 1, 7]
    assert rows.price.tolist() == [1, NO_PRICE]
    assert rows.qty.tolist() == [3, 0]
    assert rows.book.tolist() == [0, 1]
    assert rows.oddity.tolist() == [0, int(Oddity.TIME_BACK)]


@pytest.mark.parametrize(
    "ts, unit, time_ns",
    [
        ("1593561600123456789", "ns", 1593561600123456789),
        ("1593561600123456.789", "us", 1593561600123456789),
        ("1593561600.123456789", "s", 1593561600123456789),
        ("2020-07-01T00:00:00.123456789Z", "ns", 1593561600123456789),
        ("2020-07-01 02:00:00.5+02:00", "ns", 1593561600500000000),
        ("2020-07-01T00:00:00", "ns", 1593561600000000000),
    ],
)
def test_times_are_exact(path, ts, unit, time_ns):
    rows = read(path, HEADER + f"{ts},add,1,b,1,1\n", time_unit=unit)
    assert rows.time_ns.tolist() == [time_ns]


@pytest.mark.parametrize("word", TYPE_WORDS)
def test_words_for_types_are_known(path, word):
    rows = read(path, f"type,id,side,price\n{word.upper()},1,bid,1\n")
    assert MarketEvent(int(rows.event[0])).name.lower() == TYPE_WORDS[word]


def test_words_and_columns_can_be_given(path):
    text = "oid,what,px,vol,dir\n1,RECEIVED,1,2,0\n1,rests,1,2,0\n1,match,1,1,1\n"
    rows = read(
        path,
        text,
        columns={"id": "oid", "type": "what", "price": "px", "qty": "vol", "side": "dir"},
        types={"received": "other", "rests": "add"},
        sides=(0, 1),
        trade_side="taker",
    )
    assert rows.event.tolist() == [MarketEvent.OTHER, MarketEvent.ADD, MarketEvent.EXECUTE]
    assert rows.side.tolist() == [1, 1, 1]


def test_ids_may_be_text(path):
    text = "type,id,side,price,new_id\nadd,a-1,b,1,\nadd,b-2,b,1,\nreplace,a-1,,2,c-3\nadd,,b,1,\n"
    rows = read(path, text)
    assert rows.order_id.tolist() == [1, 2, 1, 0]
    assert rows.new_id.tolist() == [0, 0, 3, 0]


def test_replacement_without_a_new_id_keeps_its_own(path):
    assert read(path, "type,id,price,qty\nreplace,5,2,3\n").new_id.tolist() == [5]


def test_sequence_shows_gaps(path, monkeypatch):
    monkeypatch.setattr("bookwarp.io.event_batches._BLOCK_BYTES", 64)
    lines = "".join(f"other,0,{seq}\n" for seq in [*range(5, 25), 26, 27, 27, 28])
    rows = read(path, "type,id,seq\n" + lines)
    assert np.flatnonzero(rows.oddity).tolist() == [20, 22]
    assert set(rows.oddity.tolist()) == {0, int(Oddity.GAP)}


@pytest.mark.parametrize(
    "line, message",
    [
        ("1,add,5,buy,100.001,1", "row 2 has the price '100.001', which is no multiple of 0.01"),
        ("1,add,5,buy,abc,1", "row 2 has the price 'abc'"),
        ("1,add,5,buy,inf,1", "row 2 has the price 'inf'"),
        ("1,add,5,buy,1e30,1", "row 2 has the price '1e30'"),
        ("1,add,5,buy,1,0.001", "row 2 has the qty '0.001', which is no multiple of 0.01"),
        ("1,add,5,buy,1,99999999999999999999999999999999999999999", "row 2 has the qty '9999"),
        ("x,add,5,buy,1,1", "row 2 has the ts 'x', which is no time in whole nanoseconds"),
        ("1.5,add,5,buy,1,1", "row 2 has the ts '1.5'"),
        ("1,added,5,buy,1,1", "row 2 has the type 'added', which is not known: it is one of "),
        ("1,,5,buy,1,1", "row 2 has the type ''"),
        ("1,add,5,long,1,1", "row 2 has the side 'long', which is not known"),
        ("1,add,5,,1,1", "row 2 adds an order and says no side"),
        ("1,add,5,buy,,1", "row 2 adds an order and says no price"),
        ("1,add,5,buy,1", "Expected 6 columns, got 5"),
        ("1,add,5,buy,1,1,1", "Expected 6 columns, got 7"),
    ],
)
def test_wrong_row_is_told(path, line, message):
    text = HEADER + "1,add,4,buy,1,1\n" + line + "\n"
    assert message in fault_of(path, text, price_unit="0.01", qty_unit="0.01")


def test_price_between_two_ticks_is_told(path):
    text = HEADER + "1,add,4,buy,0.50,1\n1,add,4,buy,0.60,1\n"
    assert "row 2 has the price '0.60'" in fault_of(path, text, price_unit="0.25")


def test_row_in_a_later_batch_is_told(path, monkeypatch):
    monkeypatch.setattr("bookwarp.io.event_batches._BLOCK_BYTES", 64)
    text = HEADER + "1,add,4,buy,1,1\n" * 50
    assert fault_of(path, text + "1,add,4,buy,.5,1\n").startswith("row 51 has the price")
    assert fault_of(path, text + "1,add,x,buy,1,1\n").startswith("row 51 has the id 'x', after ids")


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "cannot be read: Empty CSV file"),
        (HEADER, "holds no rows"),
        ("ts,kind,id\n1,2,3\n", "has no column type or event for type; it has ts, kind, id"),
        ("type,id,order_id\nadd,1,2\n", "has more than one column for id"),
        (b"type,id\nadd,\xff\xfe\n", "cannot be read"),
        (b"PAR1 and nothing else", "cannot be read"),
        (gzip.compress(HEADER.encode() * 99, mtime=0)[:40], "cannot be read"),
    ],
)
def test_wrong_file_is_told(path, text, message):
    assert message in fault_of(path, text)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"price_unit": 0.01}, "price_unit = 0.01 is not decimal text above 0"),
        ({"price_unit": "0"}, "price_unit = '0' is not decimal text above 0"),
        ({"qty_unit": "-1"}, "qty_unit = '-1'"),
        ({"qty_unit": "x"}, "qty_unit = 'x'"),
        ({"qty_unit": "1e-19"}, "qty_unit = 1e-19 has more than 18 digits"),
        ({"time_unit": "h"}, "unknown time_unit 'h'"),
        ({"trade_side": "both"}, "unknown trade_side 'both'"),
        ({"columns": {"prize": "p"}}, "unknown column 'prize': did you mean 'price'?"),
        ({"types": {"x": "ad"}}, "types: 'x': unknown event 'ad': did you mean 'add'?"),
        ({"sides": ("b", "b")}, "is not a pair of words for"),
        ({"priceunit": "1"}, "did you mean 'price_unit'?"),
    ],
)
def test_wrong_option_is_told(path, options, message):
    path.write_text(HEADER)
    with pytest.raises(ParameterError) as caught:
        EventReader(path, **options)
    assert message in str(caught.value)


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=5),
    st.integers(1, 999),
    st.integers(0, 18),
)
def test_multiples_of_a_unit_are_exact(counts, mantissa, decimals):
    unit = Decimal(mantissa).scaleb(-decimals)
    fits = [n for n in counts if -(2**63) <= n * mantissa < 2**63] or [0]
    cells = pa.array([format(n * unit, "f") for n in fits])
    found = read_exact(cells, parse_unit("unit", format(unit, "f")), 0)
    assert found.tolist() == fits


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e9, max_value=1e9))
def test_float_is_taken_at_its_shortest_text_or_told(value):
    exact = Decimal(repr(value)).scaleb(8)
    try:
        found = read_exact(pa.array([value]), parse_unit("unit", "0.00000001"), 0)
    except NotExactError:
        assert exact != int(exact)
    else:
        assert found.tolist() == [int(exact)]
        assert exact == int(exact)


@given(st.binary(max_size=40), st.integers(0, 90), st.integers(0, 40))
def test_damaged_files_are_read_or_told(path, put, at, taken):
    data = (HEADER + "1,add,4,buy,1,1\n2,cancel,4,,,\n").encode()
    path.write_bytes(data[:at] + put + data[at + taken :])
    assert count_or_none(path) in (None, *range(60))


def count_or_none(path) -> int | None:
    try:
        return sum(block.row_count for block in EventReader(path).blocks())
    except StoreError:
        return None
