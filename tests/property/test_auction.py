"""The auction of the reference, over books drawn at random."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bookwarp.reference.auction import clear_auction, shift_book
from bookwarp.testing.invariants import assert_auction_valid

LOTS = st.one_of(st.just(0), st.integers(0, 9), st.integers(0, 2**55))


@st.composite
def books(draw, max_markets=3, max_levels=30):
    """Draw buys and sells, int64 [market, level]."""
    markets, levels = draw(st.integers(1, max_markets)), draw(st.integers(1, max_levels))
    side = st.lists(
        st.lists(LOTS, min_size=levels, max_size=levels), min_size=markets, max_size=markets
    )
    return np.array(draw(side), np.int64), np.array(draw(side), np.int64)


@given(books())
def test_auction_trades_the_most_at_the_lowest_such_price_best_orders_first(sides):
    buy, sell = sides
    assert_auction_valid(buy, sell, clear_auction(buy, sell))


@given(books())
def test_auction_leaves_books_that_do_not_cross(sides):
    cleared = clear_auction(*sides)
    again = clear_auction(cleared.bid, cleared.ask)
    assert not again.volume.any()
    for bid, ask in zip(cleared.bid, cleared.ask, strict=True):
        bids, asks = np.flatnonzero(bid), np.flatnonzero(ask)
        assert not len(bids) or not len(asks) or bids[-1] < asks[0]


@given(books())
def test_mirrored_auction_trades_as_much_and_leaves_the_mirrored_books(sides):
    """Buyers and sellers change places and prices turn around.

    The price turns with them only where one price alone trades most: of several the lowest wins
    on both sides of the mirror, so the mirror shows the highest of them.
    """
    buy, sell = sides
    cleared = clear_auction(buy, sell)
    mirror = clear_auction(sell[:, ::-1], buy[:, ::-1])
    np.testing.assert_array_equal(mirror.volume, cleared.volume)
    np.testing.assert_array_equal(mirror.bid, cleared.ask[:, ::-1])
    np.testing.assert_array_equal(mirror.ask, cleared.bid[:, ::-1])
    demand = np.cumsum(buy[:, ::-1], axis=1)[:, ::-1]
    executable = np.minimum(demand, np.cumsum(sell, axis=1))
    for market, most in enumerate(executable.max(axis=1)):
        best = np.flatnonzero(executable[market] == most)
        assert cleared.price[market] == best[0]
        assert mirror.price[market] == buy.shape[1] - 1 - best[-1]


@given(books(max_levels=12), st.integers(-15, 15), st.integers(-15, 15))
def test_window_that_moves_twice_loses_what_it_loses_once(sides, first, second):
    book, _ = sides
    markets = len(book)
    once, fallen = shift_book(book, np.full(markets, first))
    twice, fallen_more = shift_book(once, np.full(markets, second))
    np.testing.assert_array_equal(book.sum(axis=1), twice.sum(axis=1) + fallen + fallen_more)
    if first * second >= 0:
        straight, _ = shift_book(book, np.full(markets, first + second))
        np.testing.assert_array_equal(twice, straight)
    back, _ = shift_book(once, np.full(markets, -first))
    levels = np.arange(book.shape[1])
    stays = (levels >= first) & (levels < book.shape[1] + first)
    np.testing.assert_array_equal(back, np.where(stays, book, 0))
