"""ITCH 5.0 files: every type of message, every symbol, and a clear error for what is none."""

import gzip
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from itch_messages import add, frame, message

from bookwarp.io import itch, source
from bookwarp.io.itch import ItchReader, read_messages
from bookwarp.io.itch_layout import MESSAGE_TYPES
from bookwarp.spec.codes import NO_PRICE
from bookwarp.spec.errors import ParameterError, StoreError
from bookwarp.spec.market_data import NO_BOOK, MarketEvent, MarketRows, Oddity

# Of the specification: the bytes of a message of each type, its letter among them.
LENGTHS = {"S": 12, "R": 39, "H": 25, "Y": 20, "L": 26, "V": 35, "W": 12, "K": 28, "J": 35}
LENGTHS |= {"h": 21, "A": 36, "F": 40, "E": 31, "C": 36, "X": 23, "D": 19, "U": 35, "P": 44}
LENGTHS |= {"Q": 40, "B": 19, "I": 50, "N": 20, "O": 48}
BOOK = [
    message("R", stock_locate=1, stock="ABC"),
    message("H", stock_locate=1, stock="ABC", trading_state="T", timestamp=1),
    add(7, "B", 300, 1_000_000, timestamp=2),
    add(8, "S", 200, 1_000_400, timestamp=3),
    message("E", stock_locate=1, order_reference_number=7, shares=100, timestamp=2**48 - 1),
]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("itch") / "01302020.NASDAQ_ITCH50"


def read(path, data: bytes, **options) -> MarketRows:
    path.write_bytes(data)
    blocks = list(ItchReader(path, **options).blocks())
    return MarketRows(*(np.concatenate(column) for column in zip(*blocks, strict=True)))


def fault_of(path, data: bytes) -> str:
    with pytest.raises(StoreError) as caught:
        read(path, data)
    return str(caught.value)


def test_lengths_are_those_of_the_specification():
    assert {letter: each.length for letter, each in MESSAGE_TYPES.items()} == LENGTHS


@pytest.mark.parametrize("lengths", [True, False])
def test_messages_become_rows(path, lengths):
    rows = read(path, frame(BOOK, lengths))
    assert [chr(code) for code in rows.source] == ["R", "H", "A", "A", "E"]
    events = (MarketEvent.OTHER, MarketEvent.RESUME, *[MarketEvent.ADD] * 2, MarketEvent.EXECUTE)
    assert rows.event.tolist() == list(events)
    assert rows.order_id.tolist() == [0, 0, 7, 8, 7]
    assert rows.side.tolist() == [0, 0, 1, -1, 0]
    assert rows.price.tolist() == [NO_PRICE, 1, 1_000_000, 1_000_400, NO_PRICE]
    assert rows.qty.tolist() == [0, 0, 300, 200, 100]
    assert rows.time_ns.tolist() == [0, 1, 2, 3, 2**48 - 1]
    assert rows.book.tolist() == [1] * 5


@pytest.mark.parametrize(
    "each, event, expected",
    [
        (message("C", order_reference_number=5, shares=3, price=9, printable="Y"),
         MarketEvent.EXECUTE_AT, {"order_id": 5, "qty": 3, "price": 9, "oddity": 0}),
        (message("C", order_reference_number=5, shares=3, price=9, printable="N"),
         MarketEvent.EXECUTE_AT, {"oddity": int(Oddity.UNPRINTED)}),
        (message("X", order_reference_number=2**64 - 1, shares=2**32 - 1),
         MarketEvent.REDUCE, {"order_id": 2**64 - 1, "qty": 2**32 - 1, "price": NO_PRICE}),
        (message("D", order_reference_number=5), MarketEvent.DELETE, {"order_id": 5, "qty": 0}),
        (message("U", order_reference_number=5, new_order_reference_number=6, shares=3, price=9),
         MarketEvent.REPLACE, {"order_id": 5, "new_id": 6, "qty": 3, "price": 9, "side": 0}),
        (message("F", order_reference_number=5, buy_sell_indicator="S", shares=3, price=2**32 - 1,
                 attribution="MPID"),
         MarketEvent.ADD, {"order_id": 5, "side": -1, "qty": 3, "price": 2**32 - 1}),
        (message("P", buy_sell_indicator="B", shares=3, price=9),
         MarketEvent.HIDDEN, {"side": 1, "qty": 3, "price": 9}),
        (message("Q", shares=2**40, price=9), MarketEvent.CROSS, {"qty": 2**40, "price": 9}),
        (message("B", match_number=5), MarketEvent.BROKEN, {"order_id": 0}),
        (message("H", trading_state="H"), MarketEvent.HALT, {"price": -1}),
        (message("H", trading_state="P"), MarketEvent.HALT, {"price": -1}),
        (message("H", trading_state="Q"), MarketEvent.RESUME, {"price": 0}),
        (message("h", trading_state="H"), MarketEvent.HALT, {"price": -1}),
        (message("h", trading_state="T"), MarketEvent.RESUME, {"price": 1}),
        (message("S", event_code="O"), MarketEvent.OTHER, {"price": NO_PRICE}),
        (message("I", paired_shares=7), MarketEvent.OTHER, {"qty": 0}),
    ],
)  # fmt: skip
def test_each_type_says_what_it_says(path, each, event, expected):
    rows = read(path, frame([each]))
    assert rows.event.tolist() == [event]
    assert {name: int(getattr(rows, name)[0]) for name in expected} == expected
    assert rows.book.tolist() == [NO_BOOK]


@pytest.mark.parametrize("letter", MESSAGE_TYPES)
@settings(max_examples=12)
@given(data=st.data())
def test_all_fields_of_all_types_are_read(path, letter, data):
    each = MESSAGE_TYPES[letter]
    text = st.text("ABCxyz019.+", min_size=1)
    values = {}
    for name, form in each.fields:
        size = int(form[1:])
        number = st.integers(0, 256**size - 1)
        values[name] = data.draw(number if form[0] == "u" else text.map(lambda t, n=size: t[:n]))
    path.write_bytes(frame([BOOK[0], message(letter, **values)], data.draw(st.booleans())))
    found = next(iter(read_messages(path)))[letter][-1]
    assert found["message"] == 1
    for name, value in values.items():
        got = found[name]
        assert (got.decode().rstrip() if isinstance(got, bytes) else int(got)) == value, name


def test_types_can_be_chosen(path):
    path.write_bytes(frame(BOOK * 3))
    (found,) = read_messages(path, ["E"])
    assert list(found) == ["E"]
    assert found["E"]["message"].tolist() == [4, 9, 14]
    with pytest.raises(ParameterError, match="unknown ITCH message type 'Z'"):
        next(read_messages(path, ["Z"]))


def test_symbols_can_be_chosen(path):
    messages = [message("S"), *BOOK, add(9, "B", 5, 10, locate=2, stock="XYZ W"), *BOOK[2:4]]
    data = frame(messages)
    assert read(path, data, symbols=["ABC"]).book.tolist() == [1] * 7
    assert read(path, data, symbols=("XYZ W",)).order_id.tolist() == [9]
    assert read(path, data).row_count == len(messages)
    reader = ItchReader(path)
    list(reader.blocks())
    assert reader.symbols == {1: "ABC", 2: "XYZ W"}
    with pytest.raises(StoreError, match="has no symbol 'NONE'"):
        read(path, data, symbols=["NONE"])


@pytest.mark.parametrize("symbols", [[], ["ninechars"], [""], ["É"]])
def test_wrong_symbols_are_told(path, symbols):
    path.write_bytes(frame(BOOK))
    with pytest.raises(ParameterError, match="symbols"):
        ItchReader(path, symbols)


def test_gzip_and_end_of_session_are_read(path):
    assert read(path, gzip.compress(frame(BOOK * 4000) + b"\0\0")).row_count == 20_000


def test_time_that_goes_back_is_noted(path):
    rows = read(path, frame([message("S", timestamp=5), message("S", timestamp=4)]))
    assert rows.oddity.tolist() == [0, int(Oddity.TIME_BACK)]


def test_type_that_is_not_known_is_passed_over(path):
    strange = b"z" + struct.pack(">HHHI", 1, 0, 0, 2) + bytes(20)
    rows = read(path, frame([BOOK[2], strange, BOOK[3]]))
    assert rows.event.tolist() == [MarketEvent.ADD, MarketEvent.OTHER, MarketEvent.ADD]
    assert rows.oddity.tolist() == [0, int(Oddity.UNKNOWN_TYPE), 0]
    assert [len(found["A"]) for found in read_messages(path)] == [2]


@pytest.mark.parametrize(
    "data, expected",
    [
        (b"", "is empty"),
        (b"\0", "message 1 (offset 0) is cut off: 1 bytes are left of it"),
        (frame(BOOK)[:-1], "message 5 (offset 144) is cut off: 32 bytes are left of it"),
        (frame(BOOK) + b"\0\0\0", "message 6 (offset 177) has the length 0 and the type '\\x00'"),
        (frame(BOOK) + b"\0\x05Axxxxx", "has the length 5; of type A it must be 36, or 0"),
        (frame(BOOK) + b"\0\0?", "has the length 0 and the type '?', which ITCH 5.0 does not have"),
        (frame(BOOK) + b"\xff\xff?" + bytes(70000), "has the length 65535 and the type '?'"),
        (frame([add(1, "X", 1, 1)]), "message 1 (offset 0) has the side 'X', which must be B or S"),
        (gzip.compress(frame(BOOK * 3), mtime=0)[:60], "compressed data are damaged"),
    ],
)
def test_damage_is_told(path, data, expected):
    assert expected in fault_of(path, data)


def test_windows_and_blocks_may_end_anywhere(path, monkeypatch):
    messages = [add(i, "BS"[i % 2], i % 9 + 1, 1000 + i, locate=i % 5 + 1) for i in range(3000)]
    whole = read(path, frame(messages))
    for window, rows in ((60, 7), (997, 2048), (1 << 20, 1)):
        monkeypatch.setattr(itch, "_BLOCK_ROWS", rows)
        monkeypatch.setattr(source.ByteStream.__init__, "__defaults__", (window,))
        pieces = read(path, frame(messages))
        for name, column in zip(whole._fields, whole, strict=True):
            np.testing.assert_array_equal(getattr(pieces, name), column)
        numbers = [found["A"]["message"] for found in read_messages(path)]
        np.testing.assert_array_equal(np.concatenate(numbers), np.arange(3000))


@given(st.binary(max_size=60), st.integers(0, 200), st.integers(0, 60), st.booleans())
def test_damaged_files_are_read_or_told(path, put, at, taken, lengths):
    """No crash, no endless loop, and no more rows than the bytes have room for."""
    data = frame(BOOK, lengths)
    path.write_bytes(data[:at] + put + data[at + taken :])
    assert count_or_none(path) in (None, *range(60))


def count_or_none(path) -> int | None:
    try:
        return sum(block.row_count for block in ItchReader(path).blocks())
    except StoreError:
        return None
