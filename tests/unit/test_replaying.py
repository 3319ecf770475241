"""Replays in one call and block by block, and all that can be made of one."""

import gc
import gzip
import json
import threading
import tracemalloc

import numpy as np
import pyarrow.parquet as pq
import pytest
from itch_messages import add, frame, message
from lobster_text import EMPTY, columns, write_day

import bookwarp as bw
from bookwarp.engines.replay_protocol import REPLAY_ENGINES
from bookwarp.io import lobster
from bookwarp.io.lobster_book import BookCheck, read_book_rows
from bookwarp.spec.errors import ParameterError, StoreError
from bookwarp.spec.market_data import RESTING_ORDER, Oddity

NO_PRICE = bw.NO_PRICE
ROWS = 2500


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("day")
    write_day(folder / "ABC_message.csv", ROWS)
    symbols = [
        message("R", stock_locate=locate, stock=name) for locate, name in ((1, "ABC"), (2, "XYZ"))
    ]
    orders = [
        add(1, "B", 5, 100),
        add(1, "S", 7, 200, locate=2),
        message("U", stock_locate=1, order_reference_number=1, new_order_reference_number=2,
                shares=3, price=90),
        message("E", stock_locate=2, order_reference_number=1, shares=2),
        message("D", stock_locate=1, order_reference_number=9),
    ]  # fmt: skip
    (folder / "day.itch").write_bytes(frame([*symbols, *orders, message("S", event_code="C")]))
    return folder


@pytest.fixture(scope="module")
def day(folder):
    return bw.replay(folder / "ABC_message.csv", levels=3)


@pytest.mark.parametrize("engine", REPLAY_ENGINES)
def test_engines_replay_alike(folder, day, engine):
    other = bw.replay(folder / "ABC_message.csv", levels=3, engine=engine)
    assert columns(other.rows) == columns(day.rows)
    np.testing.assert_array_equal(other.levels, day.levels)
    assert other.oddities == day.oddities


def test_day_counts_its_rows(folder, day):
    lines = (folder / "ABC_message.csv").read_text().split()
    kinds = [line.split(",")[1] for line in lines]
    assert day.counts.rows == ROWS
    assert day.messages == {kind: kinds.count(kind) for kind in sorted(set(kinds))}
    traded = [line.split(",") for line in lines if line.split(",")[1] == "4"]
    assert day.counts.trades == len(traded)
    assert day.counts.lots == sum(int(cells[3]) for cells in traded)
    assert day.trades().num_rows == len(traded)
    assert day.trades()["row"].to_pylist() == [i for i, kind in enumerate(kinds) if kind == "4"]
    assert day.oddities["hidden"] == kinds.count("5")
    assert day.rows_with("hidden").tolist() == [i for i, kind in enumerate(kinds) if kind == "5"]
    assert day.rows_with(Oddity.HIDDEN).tolist() == day.rows_with("hidden").tolist()
    assert sum(day.oddities.values()) == sum(bin(bits).count("1") for bits in day.rows.oddity)
    assert json.loads(json.dumps(day.summary()))["rows"] == ROWS


def test_blocks_are_the_day_in_pieces(folder, day, monkeypatch):
    monkeypatch.setattr(lobster, "_BLOCK_ROWS", 97)
    run = bw.Replay(folder / "ABC_message.csv", levels=3)
    for _ in range(2):  # a replay can start anew
        seen = 0
        for block in run:
            assert block.first_row == seen
            part = slice(seen, seen + block.rows.row_count)
            np.testing.assert_array_equal(block.levels, day.levels[part])
            assert columns(block.rows) == columns(day.rows.cut(part.start, part.stop))
            seen = part.stop
        assert seen == ROWS
        assert run.counts.oddities == day.counts.oddities
    best = run.depth(side=1)[0].tolist()
    assert best == day.levels[-1, 0, 2:].tolist()
    orders = run.orders(side=1)
    assert orders.dtype == RESTING_ORDER
    assert orders[orders["price"] == best[0]]["qty"].sum() == best[1]


def test_replay_that_is_left_early_leaves_no_thread(folder, monkeypatch):
    monkeypatch.setattr(lobster, "_BLOCK_ROWS", 10)
    before = threading.active_count()
    for _ in bw.Replay(folder / "ABC_message.csv"):
        break
    gc.collect()
    assert threading.active_count() == before


def test_itch_books_are_by_symbol(folder):
    day = bw.replay(folder / "day.itch", "itch")
    assert day.symbols == {1: "ABC", 2: "XYZ"}
    assert day.summary()["books"] == 2
    assert day.messages == {"R": 2, "A": 2, "D": 1, "E": 1, "S": 1, "U": 1}
    assert day.levels[3:, 0].tolist() == [
        [200, 7, NO_PRICE, 0],
        [NO_PRICE, 0, 90, 3],
        [200, 5, NO_PRICE, 0],
        [NO_PRICE, 0, 90, 3],
        [NO_PRICE, 0, NO_PRICE, 0],
    ]
    assert day.unknown_ids == day.oddities["unknown_delete"] == 1
    table = day.to_table()
    assert table["symbol"].to_pylist() == ["ABC", "XYZ", "ABC", "XYZ", "ABC", "XYZ", "ABC", ""]
    assert table["source"].to_pylist() == list("RRAAUEDS")
    assert table["event"].to_pylist()[2:] == ["add", "add", "replace", "execute", "delete", "other"]


def initial_files(folder, first: str, book: str, *further: str):
    (folder / "m.csv").write_text(first + "\n" + "".join(row + "\n" for row in further))
    (folder / "b.csv").write_text(book + "\n")
    return {"path": folder / "m.csv", "initial": folder / "b.csv"}


def test_initial_book_holds_the_order_of_the_first_row(tmp_path):
    files = initial_files(
        tmp_path, "1,1,5,30,1000,1", f"1100,20,1000,80,{EMPTY}", "2,4,5,30,1000,1",
        "3,4,9,50,1000,1",
    )  # fmt: skip
    day = bw.replay(**files)
    assert day.levels[:, 0].tolist() == [
        [1100, 20, 1000, 80], [1100, 20, 1000, 50], [1100, 20, NO_PRICE, 0]
    ]  # fmt: skip
    assert [Oddity(int(each)) for each in day.rows.oddity] == [
        Oddity(0), Oddity(0), Oddity.UNKNOWN_EXECUTE | Oddity.OPENING_DEPTH
    ]  # fmt: skip


def test_initial_book_is_the_one_after_the_first_row(tmp_path):
    files = initial_files(tmp_path, "1,3,5,30,1000,1", "1100,20,1000,80", "2,1,6,5,1000,1")
    day = bw.replay(**files)
    assert day.levels[:, 0].tolist() == [[1100, 20, 1000, 80], [1100, 20, 1000, 85]]
    assert day.rows.event.tolist() == [bw.MarketEvent.DELETE, bw.MarketEvent.ADD]


def test_order_beyond_the_initial_book_comes_on_top(tmp_path):
    files = initial_files(tmp_path, "1,1,5,30,900,1", "1100,20,1000,80")
    assert bw.replay(**files, levels=2).levels[0, 1].tolist() == [NO_PRICE, 0, 900, 30]


def write_books(path, levels):
    sentinels = np.where(levels == NO_PRICE, [9999999999, 0, -9999999999, 0], levels)
    rows = sentinels.reshape(len(levels), -1).tolist()
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))


def test_books_are_compared_row_by_row(folder, day, tmp_path):
    published = day.levels.copy()
    published[[7, 1100], 0, 1] += 1
    published[50, 2, 3] += 1
    write_books(tmp_path / "books.csv", published)
    checked = bw.replay(folder / "ABC_message.csv", levels=3, check=tmp_path / "books.csv")
    assert checked.check.rows == ROWS
    assert checked.check.agree == ROWS - 2
    assert checked.check.agree_by_level.tolist() == [ROWS - 2, ROWS - 2, ROWS - 3]
    assert checked.check.first_difference == 7
    assert checked.summary()["check"]["agree"] == ROWS - 2


def test_fewer_published_books_are_compared_as_far_as_they_go(folder, day, tmp_path):
    write_books(tmp_path / "books.csv", day.levels[:100, :1])
    write_books(tmp_path / "first.csv", day.levels[:1])
    run = bw.replay(
        folder / "ABC_message.csv", levels=2, check=tmp_path / "books.csv",
        initial=tmp_path / "first.csv",
    )  # fmt: skip
    assert (run.check.rows, run.check.agree, run.check.level_count) == (99, 99, 1)
    assert run.check.first_difference is None


@pytest.mark.parametrize(
    "text, expected",
    [
        ("", "not a LOBSTER order book file"),
        ("1,2,3\n", "3 columns are no multiple of 4"),
        ("1,2,3,x\n", "an order book holds integers"),
        ("1,2,3,4\n1,2,3\n", "Expected 4 columns, got 3"),
    ],
)
def test_wrong_book_file_is_told(folder, tmp_path, text, expected):
    (tmp_path / "books.csv").write_text(text)
    for keyword in ("check", "initial"):
        with pytest.raises(StoreError, match=expected):
            bw.replay(folder / "ABC_message.csv", **{keyword: tmp_path / "books.csv"})


def test_late_fault_in_a_book_file_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("bookwarp.io.lobster_book._BLOCK_BYTES", 64)
    (tmp_path / "books.csv").write_text("1,2,3,4\n" * 60 + "1,2,3,x\n")
    with pytest.raises(StoreError, match="behind row"):
        list(read_book_rows(tmp_path / "books.csv"))
    check = BookCheck(tmp_path / "books.csv", 0, 1)
    with pytest.raises(StoreError, match="behind row"):
        check.add(np.zeros((99, 1, 4), np.int64))


def test_parquet_is_the_table_of_the_day(folder, day, tmp_path):
    run = bw.replay(
        folder / "ABC_message.csv", levels=3, out=tmp_path / "day.parquet", collect=False
    )
    assert run.rows is None
    with pytest.raises(ParameterError, match="collect=True"):
        run.to_table()
    table = pq.read_table(tmp_path / "day.parquet")
    assert table.equals(day.to_table())
    metadata = pq.read_metadata(tmp_path / "day.parquet").metadata
    assert json.loads(metadata[b"bookwarp"])["rows"] == ROWS


def test_lobster_files_are_those_that_were_read(folder, day, tmp_path):
    bw.replay(folder / "ABC_message.csv", levels=2, lobster=tmp_path / "out", check=None)
    written = (tmp_path / "out_message_2.csv").read_text()
    assert written == (folder / "ABC_message.csv").read_text()
    found = np.concatenate(list(read_book_rows(tmp_path / "out_orderbook_2.csv")))
    np.testing.assert_array_equal(found, day.levels[:, :2])
    first = (tmp_path / "out_orderbook_2.csv").read_text().split("\n")[0]
    assert EMPTY in first


def test_orders_give_the_trades_again(folder, day, tmp_path):
    run = bw.replay(folder / "ABC_message.csv", orders=tmp_path / "orders.parquet", collect=False)
    matched = bw.match(tmp_path / "orders.parquet")
    assert matched.summary()["trades"] == day.counts.trades == run.order_counts["trades"]
    assert matched.summary()["rejected"] == 0
    assert matched.summary()["messages"] == run.order_counts["orders"]


def test_itch_becomes_lobster_files_of_one_symbol(folder, tmp_path):
    with pytest.raises(ParameterError, match="LOBSTER files hold one symbol"):
        bw.replay(folder / "day.itch", "itch", lobster=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    bw.replay(folder / "day.itch", "itch", lobster=tmp_path / "out", symbols=["ABC"])
    assert (tmp_path / "out_message_1.csv").read_text().split() == [
        "0,1,1,5,100,1", "0,3,1,5,100,1", "0,1,2,3,90,1"
    ]  # fmt: skip
    assert (tmp_path / "out_orderbook_1.csv").read_text().split() == [
        "9999999999,0,100,5", "9999999999,0,-9999999999,0", "9999999999,0,90,3"
    ]  # fmt: skip


def test_changes_become_lobster_files(tmp_path):
    (tmp_path / "log.csv").write_text(
        "ts,type,id,side,price,qty\n1000000000,add,1,b,100,9\n2000000000,change,1,,,4\n"
        "3000000000,change,1,,,4\n4000000000,change,1,,99,5\n4000000000,add,2,b,99,1\n"
        "5000000000,change,1,,99,6\n"
    )
    bw.replay(tmp_path / "log.csv", "events", lobster=tmp_path / "out")
    assert (tmp_path / "out_message_1.csv").read_text().split() == [
        "1,1,1,9,100,1", "2,2,1,5,100,1", "4,3,1,4,100,1", "4,1,1,5,99,1", "4,1,2,1,99,1",
        "5,3,1,5,99,1", "5,1,1,6,99,1",
    ]  # fmt: skip
    books = [row.split(",")[2:] for row in (tmp_path / "out_orderbook_1.csv").read_text().split()]
    assert [list(map(int, row)) for row in books] == [
        [100, 9], [100, 4], [-9999999999, 0], [99, 5], [99, 6], [99, 1], [99, 7]
    ]  # fmt: skip


def test_memory_does_not_grow_with_the_file(tmp_path):
    """Four times the rows take no more: few orders live at any time."""
    line = "34200.5,1,{0},5,1000000,1\n34200.5,3,{0},5,1000000,1\n"
    peaks = []
    for count in (50_000, 200_000):
        (tmp_path / "m.csv").write_text("".join(line.format(i) for i in range(count)))
        run = bw.Replay(tmp_path / "m.csv")
        tracemalloc.start()
        for _ in run:
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert run.counts.rows == 2 * count
    assert peaks[1] < 1.2 * peaks[0]


def test_rows_that_would_not_fit_are_told(folder):
    with pytest.raises(ParameterError, match=r"the rows up to \d+ already take .*collect=False"):
        bw.replay(folder / "ABC_message.csv", memory_limit=100_000)
    assert bw.replay(folder / "ABC_message.csv", memory_limit=100_000, collect=False).rows is None


@pytest.mark.parametrize(
    "options, message",
    [
        ({"format": "lobstr"}, "unknown format 'lobstr': did you mean 'lobster'?"),
        ({"levels": 0}, r"levels = 0 is outside 1 .. 1000"),
        ({"levels": 1.5}, "levels must be an integer"),
        ({"engine": "cuda"}, "unknown engine 'cuda'"),
        ({"symbols": ["ABC"]}, "symbols is for format 'itch' only"),
        ({"price_unit": "1"}, "price_unit is for format 'events' only"),
        ({"format": "itch", "initial": "b.csv"}, "initial is for format 'lobster' only"),
        ({"path": "none.csv"}, "there is no file none.csv"),
        ({"check": "none.csv"}, "there is no file none.csv"),
        ({"out": "day.csv"}, "out: day.csv has the suffix '.csv', not .parquet"),
        ({"orders": "day.nc"}, "orders: day.nc has the suffix '.nc'"),
        ({"plot": "day.gif"}, "day.gif has the suffix '.gif'"),
        ({"memory_limit": 0}, "memory_limit must be a positive number"),
    ],
)
def test_wrong_use_is_told_before_any_work(folder, options, message):
    path = options.pop("path", folder / "ABC_message.csv")
    with pytest.raises(ParameterError, match=message):
        bw.replay(path, **options)


def test_check_is_for_lobster_only(folder):
    with pytest.raises(ParameterError, match="check is for format 'lobster' only"):
        bw.replay(folder / "day.itch", "itch", check=folder / "ABC_message.csv")


def test_files_that_exist_are_kept_unless_told(folder, tmp_path):
    for name, keyword in (("x.parquet", "out"), ("y.parquet", "orders"), ("z.png", "plot")):
        (tmp_path / name).write_text("mine")
        with pytest.raises(StoreError, match="exists"):
            bw.replay(folder / "ABC_message.csv", **{keyword: tmp_path / name})
        assert (tmp_path / name).read_text() == "mine"
        bw.replay(folder / "ABC_message.csv", **{keyword: tmp_path / name}, overwrite=True)
        assert (tmp_path / name).read_bytes() != b"mine"


def test_nothing_is_left_of_a_replay_that_fails(folder, tmp_path):
    data = (folder / "ABC_message.csv").read_bytes()
    (tmp_path / "torn.csv.gz").write_bytes(gzip.compress(data)[:-200])
    for keyword in ("out", "orders"):
        with pytest.raises(StoreError, match="damaged"):
            bw.replay(tmp_path / "torn.csv.gz", **{keyword: tmp_path / "day.parquet"})
    with pytest.raises(StoreError, match="damaged"):
        bw.replay(tmp_path / "torn.csv.gz", lobster=tmp_path / "out")
    assert [each.name for each in tmp_path.iterdir()] == ["torn.csv.gz"]


def test_wrong_book_and_side_are_told(folder):
    run = bw.Replay(folder / "ABC_message.csv")
    with pytest.raises(ParameterError, match="book = -1 is no index"):
        run.depth(book=-1)
    with pytest.raises(ParameterError, match="side = 0 is neither"):
        run.orders(side=0)
    with pytest.raises(ParameterError, match="unknown oddity 'odd'"):
        bw.replay(folder / "ABC_message.csv").rows_with("odd")
