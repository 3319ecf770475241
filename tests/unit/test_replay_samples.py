"""Published samples of market data, replayed: what is known of them holds."""

from pathlib import Path

import numpy as np
import pytest

import bookwarp as bw
from bookwarp.engines.replay_protocol import REPLAY_ENGINES
from bookwarp.spec.market_data import EXECUTIONS

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
LOBSTER = DATA / "lobster" / "AAPL_2012-06-21_message.csv"
BOOKS = LOBSTER.with_name("AAPL_2012-06-21_orderbook_1.csv")
FIRST_BOOKS = LOBSTER.with_name("AAPL_2012-06-21_orderbook_50_first672.csv")
ITCH = DATA / "itch" / "ex20101224.TEST_ITCH_50"


@pytest.fixture(scope="module", autouse=True)
def samples():
    for path in (LOBSTER, BOOKS, FIRST_BOOKS, ITCH):
        if not path.is_file():
            pytest.skip(f"{path.name} is not here (../shared/data)")


def seen(day: bw.Day) -> dict[str, int]:
    return {name: count for name, count in day.oddities.items() if count}


@pytest.fixture(scope="module", params=REPLAY_ENGINES)
def hour(request):
    return bw.replay(LOBSTER, initial=FIRST_BOOKS, check=BOOKS, engine=request.param)


def test_lobster_hour_agrees_with_the_published_books(hour):
    assert (hour.check.rows, hour.check.agree) == (91_996, 91_906)
    assert hour.counts.rows == 91_997
    assert hour.messages == {"1": 44_256, "2": 469, "3": 41_004, "4": 4_067, "5": 2_201}


def test_oddities_of_the_lobster_hour(hour):
    assert hour.unknown_ids == 84
    assert seen(hour) == {
        "unknown_delete": 72,
        "unknown_execute": 12,
        "opening_depth": 39,
        "too_much": 1,
        "off_front": 24,
        "off_front_by_id": 9,
        "old_order": 229,
        "hidden": 2_201,
        "time_rounded": 1,
    }
    at_one_time = hour.rows.time_ns[hour.rows_with("old_order")]
    assert int((at_one_time == 34203_599943790).sum()) == 60
    _, counts = np.unique(hour.rows.time_ns, return_counts=True)
    assert int(counts[counts > 1].sum()) == 11_015


def test_first_rows_agree_on_many_levels():
    day = bw.replay(LOBSTER, initial=FIRST_BOOKS, check=FIRST_BOOKS, levels=10, collect=False)
    assert day.check.rows == 671
    assert day.check.agree_by_level.tolist() == [671] * 10


def test_lobster_hour_is_written_as_it_was(tmp_path):
    bw.replay(LOBSTER, initial=FIRST_BOOKS, lobster=tmp_path / "out", collect=False)
    written = (tmp_path / "out_message_1.csv").read_text().split("\n")
    differ = [
        pair for pair in zip(written, LOBSTER.read_text().split("\n"), strict=True)
        if pair[0] != pair[1]
    ]  # fmt: skip
    assert differ == [
        (
            "35821.088778456,3,44276101,100,5851500,1",
            "35821.088778456004,3,44276101,100,5851500,1",
        )
    ]
    books = (tmp_path / "out_orderbook_1.csv").read_text().split("\n")
    published = BOOKS.read_text().split("\n")
    assert sum(one != other for one, other in zip(books, published, strict=True)) == 90


def traded(day: bw.Day) -> list[tuple[int, int, int, int]]:
    rows = day.rows
    chosen = np.isin(rows.event, EXECUTIONS) & (rows.price != bw.NO_PRICE)
    columns = (rows.book, rows.order_id, rows.price, rows.qty)
    found = zip(*(column[chosen].tolist() for column in columns), strict=True)
    return sorted(found, key=lambda trade: trade[0])


def matched(path: Path) -> list[tuple[int, int, int, int]]:
    done = bw.match(path)
    assert done.summary()["rejected"] == 0
    events = done.events.to_pandas()
    trades = events[events["type"] == "trade"].sort_values("book", kind="stable")
    names = ["book", "maker_id", "price", "qty"]
    return [tuple(map(int, trade)) for trade in trades[names].itertuples(index=False)]


@pytest.mark.parametrize("initial", [None, FIRST_BOOKS])
def test_matching_gives_the_trades_of_the_lobster_hour(tmp_path, initial):
    day = bw.replay(LOBSTER, initial=initial, orders=tmp_path / "orders.parquet")
    assert day.order_counts["left_out"] == 0
    assert len(traded(day)) == 4_067
    assert matched(tmp_path / "orders.parquet") == traded(day)


@pytest.mark.parametrize("engine", REPLAY_ENGINES)
def test_itch_sample_has_the_known_messages_and_oddities(engine):
    day = bw.replay(ITCH, "itch", engine=engine)
    assert day.counts.rows == 12_012
    orders = {"A": 4_997, "D": 1_745, "E": 198, "F": 3, "U": 12, "X": 45}
    assert day.messages == orders | {"H": 3, "P": 5_000, "R": 3, "S": 6}
    assert day.symbols == {1: "ALC", 2: "BOB", 3: "CHAR"}
    assert day.unknown_ids == 117
    found = seen(day)
    names = ("unknown_delete", "unknown_execute", "unknown_reduce", "unknown_replace", "off_front")
    assert [found[name] for name in names] == [94, 18, 3, 2, 114]
    assert found["hidden"] == 5_000


def test_matching_gives_the_trades_of_the_itch_sample(tmp_path):
    """Its books are crossed most of the time, and still each known execution is found again."""
    day = bw.replay(ITCH, "itch", orders=tmp_path / "orders.parquet")
    assert (day.order_counts["trades"], day.order_counts["left_out"]) == (180, 18)
    assert matched(tmp_path / "orders.parquet") == traded(day)
