"""LOBSTER message files: exact numbers, and a clear error for what is none."""

import gzip
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bookwarp.io import lobster, source
from bookwarp.io.lobster import LobsterReader
from bookwarp.spec.errors import ParameterError, StoreError
from bookwarp.spec.market_data import MarketEvent, MarketRows, Oddity

GOOD = b"34200.004241176,1,16113575,18,5853300,1\n"
COLUMNS = ("time_ns", "source", "order_id", "qty", "price", "side")


def read(path, data: bytes) -> MarketRows:
    path.write_bytes(data)
    blocks = list(LobsterReader(path).blocks())
    return MarketRows(*(np.concatenate(column) for column in zip(*blocks, strict=True)))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("lobster") / "ABC_2012-06-21_message.csv"


def fault_of(path, data: bytes) -> str:
    with pytest.raises(StoreError) as caught:
        read(path, data)
    text = str(caught.value)
    assert text.startswith(f"{path}: row ") or "compressed" in text or "empty" in text
    return text.removeprefix(f"{path}: ")


def test_row_is_read_exactly(path):
    rows = read(path, GOOD + b"34200.5,7,-1,0,-1,-1\r\n")
    found = [tuple(int(getattr(rows, name)[i]) for name in COLUMNS) for i in range(2)]
    assert found[0] == (34200004241176, 1, 16113575, 18, 5853300, 1)
    assert found[1] == (34200500000000, 7, 2**64 - 1, 0, -1, -1)
    assert rows.event.tolist() == [MarketEvent.ADD, MarketEvent.HALT]
    assert not rows.oddity.any()
    assert LobsterReader(path).symbols == {0: "ABC"}


@pytest.mark.parametrize(
    "text, time_ns, rounded",
    [
        ("0", 0, False),
        ("34200", 34200 * 10**9, False),
        ("34200.", 34200 * 10**9, False),
        ("34200.00426064", 34200004260640, False),
        ("35821.088778456004", 35821088778456, True),
        ("35821.0887784559996", 35821088778456, True),
        ("1.9999999995", 2 * 10**9, True),
        ("1.99999999949999999999999999999", 1999999999, True),
        ("1.50000000000000000000000000000", 1500000000, False),
        ("1700000000.123456789", 1700000000123456789, False),
    ],
)
def test_time_is_decimal_text(path, text, time_ns, rounded):
    rows = read(path, f"{text},1,1,1,1,1\n".encode())
    assert rows.time_ns.tolist() == [time_ns]
    assert bool(rows.oddity[0] & np.uint32(Oddity.TIME_ROUNDED)) == rounded


def test_states_of_trading_and_times_that_go_back(path):
    rows = read(path, b"2,7,0,0,-1,-1\n1,7,0,0,0,-1\n3,7,0,0,1,-1\n")
    halt, resume = MarketEvent.HALT, MarketEvent.RESUME
    assert rows.event.tolist() == [halt, resume, resume]
    assert rows.oddity.tolist() == [0, int(Oddity.TIME_BACK), 0]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\n\n\n", b"\n \r\n\n"])
def test_end_of_file_takes_any_form(path, end):
    assert read(path, GOOD * 2 + GOOD.rstrip() + end).row_count == 3


def test_further_columns_are_passed_over(path):
    rows = read(path, b"1,1,5,6,7,1,null,x\r\n2,3,5,6,7,1,,y\n")
    assert rows.order_id.tolist() == [5, 5]


def test_gzip_is_seen_by_its_bytes(path):
    assert read(path, gzip.compress(GOOD * 5000)).row_count == 5000


@pytest.mark.parametrize(
    "line, message",
    [
        (b"x,1,1,1,1,1", "row 3 (offset 80) has the time 'x', which must be a decimal number"),
        (b"-1,1,1,1,1,1", "has the time '-1', which must be a decimal number"),
        (b"3.4e4,1,1,1,1,1", "has the time '3.4e4', which must be a decimal number"),
        (b"nan,1,1,1,1,1", "has the time 'nan'"),
        (b"9223372037,1,1,1,1,1", "has the time '9223372037', which does not fit 64 bits"),
        (b"1,0,1,1,1,1", "has the type '0', which must be one of 1 to 7"),
        (b"1,8,1,1,1,1", "has the type '8'"),
        (b"1,-1,1,1,1,1", "has the type '-1'"),
        (b"1,99999999999999999999,1,1,1,1", "has the type '99999999999999999999'"),
        (b"1,1,-1,1,1,1", "has the order_id '-1', which must be 0 to 2^64-1"),
        (b"1,5,-2,1,1,1", "has the order_id '-2'"),
        (b"1,1,18446744073709551616,1,1,1", "does not fit 64 bits"),
        (b"1,1,1,1.5,1,1", "has the size '1.5', which must be an integer"),
        (b"1,1,1,9223372036854775808,1,1", "has the size '9223372036854775808', which does not"),
        (b"1,1,1,1,5853300.0,1", "has the price '5853300.0', which must be an integer"),
        (b"1,1,1,1,,1", "has the price '', which must be an integer"),
        (b"1,1,1,1,-,1", "has the price '-', which must be an integer"),
        (b"1,1,1,1,1,2", "has the direction '2', which must be 1 or -1"),
        (b"1,1,1,1,1,0", "has the direction '0', which must be 1 or -1"),
        (b"1,1,1,1,1,1x", "has the direction '1x', which must be an integer"),
        (b"1,1,1,1,1, 1", "has the direction ' 1', which must be an integer"),
        (b"1,1,1,1,1", "has 5 columns instead of 6"),
        (b"1,1,1,1,1,", "has the direction '', which must be an integer"),
        (b"1,1,1,1,1,1,1", "has 7 columns instead of 6"),
        (b"1;1;1;1;1;1", "has the time '1;1;1;1;1;1'"),
        (b"", "row 3 (offset 80) is empty"),
        (b"\xff\x00", "has the time '"),
        (b"Time,Type,ID,Size,Price,Direction", "has the time 'Time'"),
    ],
)
def test_wrong_row_is_told(path, line, message):
    assert message in fault_of(path, GOOD * 2 + line + b"\n" + GOOD)


def test_largest_numbers_are_read(path):
    rows = read(path, b"9223372035.999999999,1,18446744073709551615,9223372036854775807,-5,-1\n")
    assert rows.order_id.tolist() == [2**64 - 1]
    assert rows.qty.tolist() == [2**63 - 1]
    assert rows.price.tolist() == [-5]


def test_empty_file_is_told(path):
    assert "is empty" in fault_of(path, b"")


def test_blank_file_has_no_rows(path):
    path.write_bytes(b"\n\n")
    assert list(LobsterReader(path).blocks()) == []


def test_file_without_lines_is_told(path, monkeypatch):
    assert "there is no end of line in" in fault_of(path, b"1" * (source.CHUNK_BYTES + 5))


@pytest.mark.parametrize("cut", [20, 200, -9])
def test_damaged_gzip_is_told(path, cut):
    data = gzip.compress("".join(f"{i}.{i * i},1,{i},1,1,1\n" for i in range(900)).encode())
    assert "compressed data are damaged" in fault_of(path, data[:cut])


def test_flipped_gzip_is_told(path):
    data = bytearray(gzip.compress(bytes(range(32, 127)) * 300))
    data[len(data) // 2] ^= 255
    assert fault_of(path, bytes(data))


def test_absent_file_is_told(tmp_path):
    with pytest.raises(ParameterError, match="there is no file"):
        LobsterReader(tmp_path / "none.csv")
    with pytest.raises(ParameterError, match="is not a file"):
        LobsterReader(tmp_path)


def test_windows_and_blocks_may_end_anywhere(path, monkeypatch):
    lines = [f"{i}.{i % 1000:03},1,{i},{i % 7 + 1},{10**6 + i},1\n" for i in range(4000)]
    whole = read(path, "".join(lines).encode())
    for window, rows in ((64, 7), (997, 4096), (1 << 20, 1)):
        monkeypatch.setattr(lobster, "_BLOCK_ROWS", rows)
        monkeypatch.setattr(lobster, "CHUNK_BYTES", 64)
        monkeypatch.setattr(source.ByteStream.__init__, "__defaults__", (window,))
        pieces = read(path, "".join(lines).encode())
        for name, column in zip(whole._fields, whole, strict=True):
            np.testing.assert_array_equal(getattr(pieces, name), column)


digits = st.integers(0, 2**63 - 1)
good_rows = st.tuples(
    st.decimals(0, 9_000_000_000, places=9, allow_nan=False),
    st.integers(1, 4),
    st.integers(0, 2**64 - 1),
    digits,
    digits,
    st.sampled_from((1, -1)),
)


@given(st.lists(good_rows, min_size=1, max_size=20), st.booleans())
def test_what_is_written_is_read(path, rows, windows):
    end = "\r\n" if windows else "\n"
    text = "".join(
        ",".join(format(cell, "f" if at == 0 else "d") for at, cell in enumerate(row)) + end
        for row in rows
    )
    found = read(path, text.encode())
    for i, row in enumerate(rows):
        time_ns = int((Decimal(row[0]) * 10**9).to_integral_value(ROUND_HALF_UP))
        assert [int(getattr(found, name)[i]) for name in COLUMNS] == [time_ns, *row[1:]]


@given(st.binary(max_size=80), st.integers(0, 3 * len(GOOD)), st.integers(0, 60))
@example(b"\r", len(GOOD) - 1, 0)
@example(b"\x1f\x8b", 0, 0)
def test_damaged_files_are_read_or_told(path, put, at, taken):
    """No crash, no endless loop, and no row that is not in the text."""
    data = GOOD * 3
    data = data[:at] + put + data[at + taken :]
    path.write_bytes(data)
    lines = sum(bool(line.strip()) for line in data.split(b"\n"))
    assert count_or_none(path) in (None, lines)


def count_or_none(path) -> int | None:
    try:
        return sum(block.row_count for block in LobsterReader(path).blocks())
    except StoreError:
        return None
