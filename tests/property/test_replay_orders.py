"""A replayed day as orders: matching them gives its trades again, and its books."""

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from market_rows import long_stream, market_rows, rows_of

import bookwarp as bw
from bookwarp.engines.replay_protocol import REPLAY_ENGINES, replay_books
from bookwarp.io.order_writer import FIRST_OWN_ID
from bookwarp.io.replay_orders import OrdersExport
from bookwarp.spec.codes import NO_PRICE
from bookwarp.spec.market_data import EXECUTIONS, MarketEvent, MarketRows, Oddity

ADD, DELETE, EXECUTE = MarketEvent.ADD, MarketEvent.DELETE, MarketEvent.EXECUTE
BOOKS = 3
Trade = tuple[int, int, int, int, int]


def export(rows: MarketRows, edges=(), depth=(), engine="cpu"):
    """Return replayed books, the orders, and what was counted."""
    books = replay_books(engine, True)
    for each in depth:
        books.open_depth(*each)
    made = OrdersExport()
    levels = np.zeros((rows.row_count, 1, 4), np.int64)
    written = []
    first = 0
    for edge in (*sorted(edges), rows.row_count):
        edge = min(edge, rows.row_count)
        made.apply(books, rows.cut(first, edge), levels[first:edge])
        written.append(made.take()[0])
        first = edge
    return books, np.concatenate(written), made


def trades_of(rows: MarketRows) -> list[Trade]:
    """Return book, maker, price, lots and side of the incoming order, of what can be matched."""
    executed = np.isin(rows.event, EXECUTIONS) & (rows.book >= 0)
    executed &= rows.oddity & np.uint32(Oddity.BAD_QTY) == 0
    executed &= (rows.side != 0) & (rows.price != NO_PRICE)
    chosen = np.flatnonzero(executed)
    chosen = chosen[np.argsort(rows.book[chosen], kind="stable")]
    columns = (rows.book, rows.order_id, rows.price, rows.qty, -rows.side)
    return list(zip(*(column[chosen].tolist() for column in columns), strict=True))


def matched_trades(matched) -> list[Trade]:
    events = matched.events.to_pandas()
    found = events[events["type"] == "trade"].sort_values("book", kind="stable")
    names = ["book", "maker_id", "price", "qty", "side"]
    return [tuple(int(value) for value in row) for row in found[names].itertuples(index=False)]


def resting(books: bw.Books) -> dict[tuple[int, int], list[tuple[int, int, int]]]:
    """Return id, price and lots of the live orders of each book and side, by priority."""
    table = books.level3().to_pandas()
    found: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for row in table.itertuples(index=False):
        key = (int(row.book), int(row.side))
        found.setdefault(key, []).append((int(row.order_id), int(row.price), int(row.qty)))
    return found


def assert_orders_give_the_trades(rows, edges=(), depth=(), engine="cpu"):
    books, orders, made = export(rows, edges, depth, engine)
    matched = bw.match(orders, BOOKS, engine="reference")
    assert matched.summary()["rejected"] == 0
    expected = trades_of(rows)
    assert matched_trades(matched) == expected
    assert made.counts.trades == len(expected)
    assert made.counts.orders == len(orders)
    found = resting(matched.books)
    for book in range(BOOKS):
        held = made._held[book]
        own = set(held.opening_ids.values())
        for side in (1, -1):
            live = [o for o in books.orders(book, side).tolist() if o[0] not in held.kept_back]
            assert [o for o in found.get((book, side), []) if o[0] not in own] == live
    return made


openings = st.tuples(st.just(0), st.sampled_from((1, -1)), st.integers(-1, 9), st.integers(1, 9))


def uncrossed(depth):
    """Return the bids and asks of a depth that do not cross."""
    return [each for each in depth if (each[2] < 4) == (each[1] == 1)]


@settings(max_examples=60)
@given(
    market_rows(max_rows=40),
    st.sets(st.integers(0, 40), max_size=3),
    st.lists(openings, max_size=5, unique_by=lambda each: each[1:3]),
)
def test_matching_gives_the_trades_of_any_rows(rows, edges, depth):
    assert_orders_give_the_trades(rows, edges, uncrossed(depth))


@pytest.mark.parametrize("engine", REPLAY_ENGINES)
def test_matching_gives_the_trades_of_long_streams(engine):
    rows = long_stream(7, 3000, 300, 40, BOOKS)
    made = assert_orders_give_the_trades(rows, (1000, 2000), (), engine)
    assert made.counts.forced > 50
    assert made.counts.kept_back > 50


def orders_of(*rows, **keywords):
    _, orders, made = export(rows_of(*rows), **keywords)
    names = ("op", "order_id", "side", "price", "qty", "tif")
    return [tuple(int(order[name]) for name in names) for order in orders], made.counts


NEW, CANCEL, MODIFY = int(bw.Op.NEW), int(bw.Op.CANCEL), int(bw.Op.MODIFY)
GTC, IOC = int(bw.TimeInForce.GTC), int(bw.TimeInForce.IOC)


def test_every_plain_row_becomes_its_order():
    found, counts = orders_of(
        (ADD, 1, 1, 100, 9),
        (MarketEvent.REDUCE, 1, 1, 100, 4),
        (EXECUTE, 1, 0, NO_PRICE, 2),
        (MarketEvent.CHANGE, 1, 0, 99, 7),
        (MarketEvent.REPLACE, 1, 0, 98, 6, 2),
        (MarketEvent.HIDDEN, 0, 1, 99, 5),
        (DELETE, 2, 0, NO_PRICE, 0),
    )
    assert found == [
        (NEW, 1, 1, 100, 9, GTC),
        (MODIFY, 1, 1, 100, 5, GTC),
        (NEW, FIRST_OWN_ID, -1, 100, 2, IOC),
        (MODIFY, 1, 1, 99, 7, GTC),
        (CANCEL, 1, 1, 98, 6, GTC),
        (NEW, 2, 1, 98, 6, GTC),
        (CANCEL, 2, 1, 98, 6, GTC),
    ]
    assert asdict(counts) == {
        "orders": 7, "trades": 1, "forced": 0, "left_out": 0, "kept_back": 0
    }  # fmt: skip


def test_executions_at_one_time_become_one_order():
    rows = [(ADD, 1, -1, 100, 3), (ADD, 2, -1, 101, 3), (ADD, 3, -1, 101, 3)]
    rows += [(EXECUTE, 1, -1, 100, 3), (EXECUTE, 2, -1, 101, 3), (EXECUTE, 3, -1, 101, 1)]
    found, counts = orders_of(*rows)
    assert found[3:] == [(NEW, FIRST_OWN_ID, 1, 101, 7, IOC)]
    assert counts.trades == 3


def test_executions_at_two_times_are_two_orders():
    rows = rows_of((ADD, 1, -1, 100, 3), (EXECUTE, 1, -1, 100, 1), (EXECUTE, 1, -1, 100, 1))
    rows.time_ns[:] = 0, 1, 2
    _, orders, _ = export(rows)
    assert orders["qty"].tolist() == [3, 1, 1]


def test_orders_ahead_of_the_maker_make_room_and_keep_their_order():
    found, counts = orders_of(
        (ADD, 1, 1, 100, 3), (ADD, 2, 1, 100, 4), (ADD, 3, 1, 100, 5), (EXECUTE, 2, 1, 100, 1)
    )
    assert [each[:2] for each in found[3:]] == [
        (CANCEL, 1), (CANCEL, 2), (CANCEL, 3), (NEW, 2), (NEW, FIRST_OWN_ID),
        (NEW, 1), (NEW, 2), (NEW, 3),
    ]  # fmt: skip
    assert [each[4] for each in found[6:]] == [1, 1, 3, 3, 5]
    assert counts.forced == 1


def test_execution_of_an_order_never_announced_needs_its_price():
    found, counts = orders_of((EXECUTE, 9, -1, 100, 3), (EXECUTE, 9, 0, NO_PRICE, 3))
    assert found == [(NEW, 9, -1, 100, 3, GTC), (NEW, FIRST_OWN_ID, 1, 100, 3, IOC)]
    assert (counts.trades, counts.left_out) == (1, 1)


def test_order_that_crosses_waits_until_it_fits():
    found, counts = orders_of(
        (ADD, 1, -1, 100, 3), (ADD, 2, 1, 101, 4), (DELETE, 1, -1, 100, 3), (DELETE, 2, 1, 101, 4)
    )
    assert [each[:2] for each in found] == [(NEW, 1), (CANCEL, 1), (NEW, 2), (CANCEL, 2)]
    assert counts.kept_back == 1


def test_own_ids_are_none_that_live():
    rows = [(ADD, FIRST_OWN_ID, 1, 100, 3), (ADD, 2, 1, 99, 3), (EXECUTE, FIRST_OWN_ID, 1, 100, 1)]
    found, _ = orders_of(*rows)
    assert found[-1][1] == FIRST_OWN_ID + 1


def test_opening_depth_that_is_used_up_is_forgotten():
    rows = rows_of((EXECUTE, 9, 1, 100, 4), (DELETE, 8, 1, 100, 1), (ADD, 7, 1, 100, 1))
    assert_orders_give_the_trades(rows, depth=[(0, 1, 100, 4)])


def test_opening_depth_makes_room_for_an_id_of_the_data():
    rows = rows_of((ADD, FIRST_OWN_ID, 1, 100, 4), (EXECUTE, FIRST_OWN_ID, 1, 100, 4))
    assert_orders_give_the_trades(rows, depth=[(0, 1, 100, 4)])
