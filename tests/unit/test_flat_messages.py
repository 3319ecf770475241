"""Flat rows as the tables of `bw.match`, and back."""

import numpy as np
import pytest
from flat_rows import ASK, BID, FOK, IOC, MARKET, order
from hypothesis import given
from hypothesis import strategies as st

import bookwarp as bw
from bookwarp.consensus.flat import FLAT_ORDER, PriceTicks, from_messages, match_block, to_messages
from bookwarp.testing.flat_orders import random_flat_orders

WORDS = st.sampled_from((0, 1, 5, 2**63, 2**64 - 1)) | st.integers(0, 2**64 - 1)


@given(st.lists(st.tuples(WORDS, WORDS)))
def test_ticks_are_in_the_order_of_the_prices_and_give_them_back(prices):
    rows = np.zeros(len(prices), FLAT_ORDER)
    for row, (integer, fraction) in zip(rows, prices, strict=True):
        row["price_integer"], row["price_fraction"] = integer, fraction
    found, ticks = PriceTicks.of(rows)
    assert ticks.dtype == np.int64
    by_price = sorted(range(len(prices)), key=prices.__getitem__)
    assert [prices[at] for at in np.argsort(ticks, kind="stable")] == [
        prices[at] for at in by_price
    ]
    assert len(set(ticks.tolist())) == len(set(prices))
    integers, fractions = found.prices(ticks)
    assert list(zip(integers.tolist(), fractions.tolist(), strict=True)) == prices


ROWS = b"".join(
    [
        order(2**64 - 1, BID, 100, 7, fraction=2**63),
        order(1, ASK, 101, 5),
        order(2, ASK, 0, 3, MARKET),
        order(3, ASK, 100, 3, IOC),
        order(4, BID, 101, 5, FOK),
    ]
)


def test_orders_become_messages_and_orders_again():
    book = [0, 1, 0, 4, 4]
    messages, prices = to_messages(ROWS, book)
    assert messages.dtype == bw.ORDER
    assert messages["order_id"].tolist() == [2**64 - 1, 1, 2, 3, 4]
    assert messages["qty"].tolist() == [7, 5, 3, 3, 5]
    assert messages["side"].tolist() == [1, -1, -1, -1, 1]
    assert messages["kind"].tolist() == [0, 0, 1, 0, 0]
    assert messages["tif"].tolist() == [0, 0, 1, 1, 2]
    assert messages["book"].tolist() == book
    assert not messages["op"].any()
    rows, books = from_messages(messages, prices)
    assert rows.tobytes() == ROWS
    assert books.tolist() == book


def test_only_what_remains_of_an_order_is_matched():
    messages, _ = to_messages(order(1, BID, 5, 9, remaining=4, status=1))
    assert messages["qty"].tolist() == [4]


def test_tables_match_as_blocks_do():
    block = random_flat_orders(3_000, 20, 1)
    block.orders["order_id"] = np.arange(3_000)
    messages, prices = to_messages(block.orders, block.book)
    done = bw.match(messages, 20)
    columns = done.event_columns
    trades = columns["type"] == bw.EventType.TRADE
    expected = match_block(block.orders, block.book).trades
    for name, column in (("taker_order", "order_id"), ("maker_order", "maker_id")):
        np.testing.assert_array_equal(expected[name], columns[column][trades])
    np.testing.assert_array_equal(expected["quantity"], columns["qty"][trades])
    integers, fractions = prices.prices(columns["price"][trades])
    np.testing.assert_array_equal(expected["price_integer"], integers)
    np.testing.assert_array_equal(expected["price_fraction"], fractions)


@pytest.mark.parametrize(
    "field, value", [("op", bw.Op.CANCEL), ("tif", bw.TimeInForce.POST_ONLY), ("kind", 1)]
)
def test_messages_that_no_flat_order_can_say_are_refused(field, value):
    messages, prices = to_messages(ROWS)
    messages["tif"][3] = bw.TimeInForce.FOK
    messages[field][3] = value
    with pytest.raises(bw.ParameterError, match=r"message 3 has op .*: a flat order is new"):
        from_messages(messages, prices)


def test_messages_without_lots_are_refused():
    messages, prices = to_messages(ROWS)
    messages["qty"][1] = 0
    with pytest.raises(bw.ParameterError, match=r"order 1: quantity \(offset 32\) is 0"):
        from_messages(messages, prices)
