"""The agents of the reference: rounding, the four rules, and who gets which rule."""

import numpy as np
import pytest

from bookwarp.reference.agents import decide_orders, round_half_even
from bookwarp.reference.random import Draws
from bookwarp.spec.agents import exact_agent_types, exact_type_counts
from bookwarp.spec.codes import MIXED_TYPES
from bookwarp.spec.market import CallAuction

LEVELS = 32
NOISE, MOMENTUM, MAKER, FUNDAMENTAL = MIXED_TYPES
BUY, SELL = 1, -1


def order_of(
    kind,
    mid2,
    *,
    agent=0,
    step=0,
    ret=0,
    base=0,
    buy=True,
    marketable=False,
    qty=1,
    offset=0,
    **parameters,
):
    """Return (side, price, qty) of one agent that sees `mid2`, with draws given by hand."""
    auction = CallAuction.of(1, agents=agent + 1, levels=LEVELS, **parameters)

    def everybody(value, dtype):
        return np.full((1, agent + 1), value, dtype)

    orders = decide_orders(
        auction,
        everybody(kind, np.int8),
        Draws(
            everybody(buy, bool),
            everybody(marketable, bool),
            everybody(qty, np.int64),
            everybody(offset, np.int64),
        ),
        np.array([mid2]),
        np.array([ret]),
        np.array([base]),
        step,
    )
    return orders.side[0, agent], orders.price[0, agent], orders.qty[0, agent]


@pytest.mark.parametrize(
    "half_ticks, tick",
    [
        (0, 0),
        (1, 0),
        (2, 1),
        (3, 2),
        (4, 2),
        (5, 2),
        (6, 3),
        (7, 4),
        (128, 64),
        (129, 64),
        (131, 66),
        (-1, 0),
        (-2, -1),
        (-3, -2),
        (-4, -2),
        (-5, -2),
        (-7, -4),
        (2**62 + 1, 2**61),
        (-(2**62) - 1, -(2**61)),
    ],
)
def test_half_ticks_round_to_the_even_tick(half_ticks, tick):
    assert round_half_even(np.array([half_ticks])).tolist() == [tick]


@pytest.mark.parametrize(
    "mid2, offset, price",
    [(32, 0, 16), (32, 3, 19), (32, -3, 13), (33, 0, 16), (33, 1, 18), (33, -1, 16), (35, 0, 18)],
)
@pytest.mark.parametrize("buy", [True, False])
def test_noise_agent_orders_at_its_offset_from_the_mid_on_the_drawn_side(mid2, offset, price, buy):
    side = BUY if buy else SELL
    found = order_of(NOISE, mid2, offset=offset, buy=buy, qty=3, ret=1)
    assert found == (side, price, 3)


@pytest.mark.parametrize(
    "ret, buy, mid2, expected",
    [
        (1, False, 32, (BUY, 17, 2)),
        (-1, True, 32, (SELL, 15, 2)),
        (0, True, 32, (BUY, 17, 2)),
        (0, False, 32, (SELL, 15, 2)),
        (1, False, 33, (BUY, 18, 2)),
        (-1, True, 33, (SELL, 16, 2)),
    ],
)
def test_momentum_agent_follows_the_last_return_one_tick_beyond_the_mid(ret, buy, mid2, expected):
    assert order_of(MOMENTUM, mid2, ret=ret, buy=buy, qty=2, offset=9) == expected


@pytest.mark.parametrize(
    "agent, step, expected",
    [
        (0, 0, (BUY, 14, 4)),
        (1, 0, (SELL, 18, 4)),
        (0, 1, (SELL, 18, 4)),
        (1, 1, (BUY, 14, 4)),
        (7, 10, (SELL, 18, 4)),
        (7, 11, (BUY, 14, 4)),
    ],
)
@pytest.mark.parametrize("buy", [True, False])
def test_maker_alternates_sides_by_agent_and_step_whatever_is_drawn(agent, step, expected, buy):
    found = order_of(
        MAKER, 32, agent=agent, step=step, buy=buy, qty=4, offset=9, ret=1, maker_half_spread=2
    )
    assert found == expected


def test_maker_rounds_its_own_price_and_not_the_mid():
    # 33 / 2 -+ 1 is 15.5 and 17.5, which round to 16 and 18.
    assert order_of(MAKER, 33, step=0)[1] == 16
    assert order_of(MAKER, 33, step=1)[1] == 18
    assert order_of(MAKER, 32, maker_half_spread=0)[1] == 16


@pytest.mark.parametrize(
    "mid2, buy, expected",
    [
        (30, False, (BUY, 16, 1)),
        (31, False, (BUY, 16, 1)),  # 16.5
        (32, True, (BUY, 17, 1)),
        (32, False, (SELL, 15, 1)),
        (33, True, (SELL, 16, 1)),  # 15.5
        (34, True, (SELL, 16, 1)),
    ],
)
def test_fundamental_agent_trades_towards_the_open_price(mid2, buy, expected):
    assert order_of(FUNDAMENTAL, mid2, buy=buy, ret=1, open_price=16, offset=9) == expected


@pytest.mark.parametrize("base, side", [(-1000, SELL), (-1001, BUY), (-999, SELL)])
def test_fundamental_agent_of_a_following_window_compares_ticks(base, side):
    # Tick -985 is level 15, 16 and 14 of these windows; the mid is level 15.5.
    wrong = side == SELL
    found = order_of(FUNDAMENTAL, 31, base=base, open_price=-985, window="following", buy=wrong)
    assert found[0] == side


@pytest.mark.parametrize("kind", [NOISE, MOMENTUM, FUNDAMENTAL])
@pytest.mark.parametrize("buy, expected", [(True, (BUY, LEVELS - 1, 1)), (False, (SELL, 0, 1))])
def test_marketable_order_goes_to_the_end_of_the_grid(kind, buy, expected):
    found = order_of(kind, 32, buy=buy, marketable=True, open_price=16, offset=1)
    assert found == expected


def test_marketable_order_takes_the_side_of_its_rule():
    found = order_of(MOMENTUM, 32, ret=-1, buy=True, marketable=True)
    assert found == (SELL, 0, 1)


def test_maker_is_never_marketable():
    assert order_of(MAKER, 32, marketable=True) == (BUY, 15, 1)


@pytest.mark.parametrize(
    "kind, mid2, given, price",
    [
        (NOISE, 0, {"offset": -3}, 0),
        (NOISE, 1, {"offset": -1}, 0),  # R(-1) = 0, no clamp
        (NOISE, 62, {"offset": 3}, 31),
        (NOISE, 62, {"offset": 2**30}, 31),
        (MOMENTUM, 0, {"ret": -1}, 0),
        (MOMENTUM, 62, {"ret": 1}, 31),
        (MAKER, 2, {"maker_half_spread": 2**31 - 1}, 0),
        (MAKER, 60, {"maker_half_spread": 2**31 - 1, "step": 1}, 31),
        (FUNDAMENTAL, 62, {"open_price": 30}, 30),
    ],
)
def test_price_is_clamped_to_the_grid(kind, mid2, given, price):
    assert order_of(kind, mid2, **given)[1] == price


def test_agents_of_one_market_follow_their_own_rules():
    auction = CallAuction.of(1, agents=4, levels=LEVELS, open_price=10)
    orders = decide_orders(
        auction,
        np.array([[FUNDAMENTAL, MAKER, MOMENTUM, NOISE]], np.int8),
        Draws(
            np.array([[True, True, False, True]]),
            np.zeros((1, 4), bool),
            np.array([[1, 2, 3, 4]]),
            np.array([[7, 7, 7, 2]]),
        ),
        np.array([32]),
        np.array([1]),
        np.array([0]),
        step=0,
    )
    assert orders.side.tolist() == [[SELL, SELL, BUY, BUY]]
    assert orders.price.tolist() == [[15, 17, 17, 18]]
    assert orders.qty.tolist() == [[1, 2, 3, 4]]


@pytest.mark.parametrize(
    "shares, agents, counts",
    [
        ([0.70, 0.15, 0.15, 0], 256, [179, 39, 38, 0]),  # 179.2 38.4 38.4: tie to momentum
        ([0.29, 0.71, 0, 0], 100, [29, 71, 0, 0]),  # 0.29 * 100 is 28.999999999999996
        ([0.57, 0.43, 0, 0], 100, [57, 43, 0, 0]),  # 0.57 * 100 is 56.99999999999999
        ([0.7, 0.2, 0.1, 0], 2, [2, 0, 0, 0]),  # 1.4 0.4 0.2: tie of 0.4 to noise
        ([0.1, 0.2, 0.7, 0], 2, [0, 1, 1, 0]),  # 0.2 0.4 1.4: tie of 0.4 to momentum
        ([1 / 3, 13 / 30, 7 / 30, 0], 10, [4, 4, 2, 0]),  # 3.33 4.33 2.33
        ([0.25, 0.25, 0.25, 0.25], 1, [1, 0, 0, 0]),
        ([0.25, 0.25, 0.25, 0.25], 2, [1, 1, 0, 0]),
        ([0.25, 0.25, 0.25, 0.25], 3, [1, 1, 1, 0]),
        ([0.25, 0.25, 0.25, 0.25], 7, [2, 2, 2, 1]),
        ([0.4, 0.4, 0.2, 0], 1, [1, 0, 0, 0]),
        ([0, 0, 0, 1], 5, [0, 0, 0, 5]),
        ([0, 0.5, 0, 0.5], 3, [0, 2, 0, 1]),
        ([0.34, 0.33, 0.33, 0], 10, [4, 3, 3, 0]),
        ([0.05, 0.05, 0.05, 0.85], 10, [1, 1, 0, 8]),  # 0.5 0.5 0.5 8.5: two for four ties
        ([1 / 3, 1 / 3, 1 / 3, 0], 2**30, [357913942, 357913941, 357913941, 0]),
    ],
)
def test_counts_of_the_types_are_those_of_the_largest_remainder(shares, agents, counts):
    found = exact_type_counts(np.array([shares]), agents).tolist()
    assert sum(counts) == agents
    assert found == [counts]


def test_counts_of_a_market_do_not_depend_on_its_neighbours():
    one, other = [0.7, 0.15, 0.15, 0.0], [0.25, 0.25, 0.25, 0.25]
    rows = np.array([one, one, other, one, other, other])
    alone = [exact_type_counts(row[None], 11)[0].tolist() for row in rows]
    assert exact_type_counts(rows, 11).tolist() == alone
    assert alone[0] != alone[2]


def test_each_market_has_its_own_counts_and_every_agent_a_type_in_order():
    auction = CallAuction.of(3, agents=5, mix={"noise": [1.0, 0.5, 0.0], "maker": "rest"})
    counts = auction.type_counts()
    assert counts.tolist() == [[5, 0, 0, 0], [3, 0, 2, 0], [0, 0, 5, 0]]
    types = exact_agent_types(counts)
    assert types.dtype == np.int8
    assert types.tolist() == [[0] * 5, [0, 0, 0, 2, 2], [2] * 5]


def test_given_types_are_counted():
    auction = CallAuction.of(2, agents=3, agent_types=[[3, 0, 3], [1, 2, 1]])
    assert auction.type_counts().tolist() == [[1, 0, 0, 2], [0, 2, 1, 0]]
