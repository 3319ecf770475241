"""The auction and the window of the reference, case by case."""

import numpy as np
import pytest

from bookwarp.reference.agents import Orders
from bookwarp.reference.auction import (
    add_orders,
    best_ask,
    best_bid,
    clear_auction,
    mid_price,
    shift_book,
    window_shift,
)


def book(*rows):
    return np.array(rows, np.int64)


def cleared(buy, sell):
    """Return price, volume, resting bid and ask of one auction, as plain numbers."""
    out = clear_auction(book(buy), book(sell))
    return out.price[0], out.volume[0], out.bid[0].tolist(), out.ask[0].tolist()


def test_worked_case_of_the_paper():
    buy, sell = [10, 5, 8, 0, 2], [0, 4, 7, 6, 3]
    assert np.cumsum(buy[::-1])[::-1].tolist() == [25, 15, 10, 2, 2]
    assert np.cumsum(sell).tolist() == [0, 4, 11, 17, 20]
    assert cleared(buy, sell) == (2, 10, [10, 5, 0, 0, 0], [0, 0, 1, 6, 3])


@pytest.mark.parametrize(
    "buy, sell, expected",
    [
        # Nothing to trade: an empty book, one side, sides that do not meet.
        ([0, 0, 0], [0, 0, 0], (0, 0, [0, 0, 0], [0, 0, 0])),
        ([5, 5, 5], [0, 0, 0], (0, 0, [5, 5, 5], [0, 0, 0])),
        ([0, 0, 0], [5, 5, 5], (0, 0, [0, 0, 0], [5, 5, 5])),
        ([4, 0, 0], [0, 0, 4], (0, 0, [4, 0, 0], [0, 0, 4])),
        # One level: the shorter side is filled whole.
        ([0, 3, 0], [0, 5, 0], (1, 3, [0, 0, 0], [0, 2, 0])),
        ([0, 5, 0], [0, 3, 0], (1, 3, [0, 2, 0], [0, 0, 0])),
        # Buy at 3 meets sell at 1: every price between trades all of it, the lowest wins.
        ([0, 0, 0, 7], [0, 7, 0, 0], (1, 7, [0, 0, 0, 0], [0, 0, 0, 0])),
        # The tie of V at 1 and 2 goes to 1.
        ([0, 0, 4, 0], [0, 4, 4, 0], (1, 4, [0, 0, 0, 0], [0, 0, 4, 0])),
        # A larger V higher up beats a lower price: V = 1, 3, 3, 2.
        ([1, 1, 1, 2], [1, 2, 0, 9], (1, 3, [1, 1, 0, 0], [0, 0, 0, 9])),
        # Marketable orders on both ends of the grid meet each other.
        ([0, 0, 0, 6], [6, 0, 0, 0], (0, 6, [0, 0, 0, 0], [0, 0, 0, 0])),
        # The best price is filled first, the marginal one in part.
        ([0, 5, 4, 3], [9, 0, 0, 0], (0, 9, [0, 3, 0, 0], [0, 0, 0, 0])),
        ([0, 0, 0, 9], [3, 4, 5, 0], (2, 9, [0, 0, 0, 0], [0, 0, 3, 0])),
    ],
)
def test_auction_of_a_small_book(buy, sell, expected):
    assert cleared(buy, sell) == expected


def test_markets_are_cleared_apart():
    out = clear_auction(book([0, 3], [2, 0]), book([0, 5], [4, 1]))
    assert out.price.tolist() == [1, 0]
    assert out.volume.tolist() == [3, 2]
    assert out.bid.tolist() == [[0, 0], [0, 0]]
    assert out.ask.tolist() == [[0, 2], [2, 1]]


def test_auction_of_quantities_at_the_bound_of_int64():
    most = 2**63 - 1
    assert cleared([0, most, 0], [1, 0, most - 1]) == (0, 1, [0, most - 1, 0], [0, 0, most - 1])
    assert cleared([0, 0, most], [most, 0, 0]) == (0, most, [0, 0, 0], [0, 0, 0])


def test_auction_leaves_its_arguments_as_they_are():
    buy, sell = book([0, 3]), book([2, 2])
    clear_auction(buy, sell)
    assert (buy.tolist(), sell.tolist()) == ([[0, 3]], [[2, 2]])


def test_best_bid_is_the_highest_and_best_ask_the_lowest_level_with_quantity():
    side = book([0, 2, 0, 1, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 9], [0, 0, 0, 0, 0])
    assert best_bid(side).tolist() == [3, 0, 4, -1]
    assert best_ask(side).tolist() == [1, 0, 4, 5]


def test_mid_is_that_of_the_quotes_or_the_last_price_where_a_side_is_empty():
    bid = book([0, 1, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0])
    ask = book([0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0])
    last = np.array([0, 3, -7, 200])
    assert mid_price(bid, ask, last).tolist() == [4, 6, -14, 400]


def test_mid_of_quotes_an_odd_distance_apart_is_half_a_tick():
    assert mid_price(book([0, 1, 0, 0]), book([0, 0, 1, 0]), np.array([0])).tolist() == [3]


def test_orders_join_what_rests_at_their_level():
    bid, ask = book([1, 0, 0], [0, 0, 0]), book([0, 0, 2], [0, 0, 0])
    orders = Orders(
        side=np.array([[1, 1, -1, -1], [1, -1, 1, -1]]),
        price=np.array([[0, 0, 2, 0], [1, 1, 2, 1]]),
        qty=np.array([[3, 4, 5, 6], [7, 8, 9, 10]]),
    )
    buy, sell = add_orders(bid, ask, orders)
    assert buy.tolist() == [[8, 0, 0], [0, 7, 9]]
    assert sell.tolist() == [[6, 0, 7], [0, 18, 0]]
    assert bid.tolist() == [[1, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    "levels, mid2, shift",
    [
        # levels 16: margin 2, the mid may be 2 .. 13 ticks.
        (16, 4, 0),
        (16, 26, 0),
        (16, 3, 2 - 8),  # R(3) = 2
        (16, 2, 1 - 8),
        (16, 0, 0 - 8),
        (16, 27, 14 - 8),  # R(27) = 14
        (16, 28, 14 - 8),
        (16, 30, 15 - 8),
        # levels 8: margin 1; levels 9: margin 1, centre 4; levels 23: margin 2, 2 .. 20 ticks.
        (8, 2, 0),
        (8, 12, 0),
        (8, 1, 0 - 4),
        (8, 13, 6 - 4),
        (9, 14, 0),
        (9, 15, 8 - 4),
        (23, 40, 0),
        (23, 41, 20 - 11),
        # A side is empty and the last trade lies outside the window, even by more than its width.
        (16, -2, -1 - 8),
        (16, -5, -2 - 8),  # R(-5) = -2
        (16, -7, -4 - 8),  # R(-7) = -4
        (16, -100, -50 - 8),
        (16, 201, 100 - 8),
        (128, 2 * 16, 0),
        (128, 2 * 16 - 1, 16 - 64),
        (128, 2 * 111, 0),
        (128, 2 * 111 + 1, 112 - 64),
    ],
)
def test_window_moves_when_the_mid_is_near_an_edge(levels, mid2, shift):
    assert window_shift(np.array([mid2]), levels).tolist() == [shift]


@pytest.mark.parametrize(
    "shift, moved, fallen",
    [
        (0, [1, 2, 3, 4], 0),
        (1, [2, 3, 4, 0], 1),
        (3, [4, 0, 0, 0], 6),
        (-1, [0, 1, 2, 3], 4),
        (-3, [0, 0, 0, 1], 9),
        (4, [0, 0, 0, 0], 10),
        (-4, [0, 0, 0, 0], 10),
        (1000, [0, 0, 0, 0], 10),
        (-(10**12), [0, 0, 0, 0], 10),
    ],
)
def test_book_keeps_its_ticks_when_the_window_moves_and_loses_what_falls_off(shift, moved, fallen):
    after, off = shift_book(book([1, 2, 3, 4]), np.array([shift]))
    assert after.tolist() == [moved]
    assert off.tolist() == [fallen]


def test_each_market_moves_its_own_window():
    after, off = shift_book(book([1, 2, 3], [1, 2, 3], [0, 0, 0]), np.array([1, -2, 5]))
    assert after.tolist() == [[2, 3, 0], [0, 0, 1], [0, 0, 0]]
    assert off.tolist() == [1, 5, 0]
