"""What holds for every run, on every engine; and that each check can fail."""

import numpy as np
import pytest
from hypothesis import given

from bookwarp.engines.registry import engine_class
from bookwarp.reference.auction import Cleared, clear_auction
from bookwarp.reference.engine import ReferenceEngine
from bookwarp.spec.codes import Side
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan
from bookwarp.testing.invariants import (
    assert_auction_valid,
    assert_quantity_conserved,
    assert_state_valid,
    assert_step_valid,
    count_incoming,
)
from bookwarp.testing.strategies import runs


@given(runs())
def test_state_is_valid_after_every_step(engine, case):
    running = engine_class(engine)(case.auction, RecordPlan())
    before = running.read_state()
    assert_state_valid(case.auction, before)
    for _ in range(case.steps):
        running.run(1, {})
        after = running.read_state()
        assert_state_valid(case.auction, after)
        assert_step_valid(case.auction, before, after)
        before = after


@given(runs())
def test_every_lot_that_came_in_rests_was_traded_or_fell_off_the_window(engine, case):
    running = engine_class(engine)(case.auction, RecordPlan())
    running.run(case.steps, {})
    incoming = count_incoming(case.auction, case.steps)
    assert_quantity_conserved(case.auction, running.read_state(), incoming)


AUCTION = CallAuction.of(3, agents=20, levels=16, mix={"noise": 0.5, "momentum": 0.5})
FOLLOWING = CallAuction.of(3, agents=20, levels=16, window="following")


def state_after(steps, auction=AUCTION):
    engine = ReferenceEngine(auction, RecordPlan())
    engine.run(steps, {})
    return engine.read_state()


def cross(state):
    state.bid[1, 7], state.ask[1, 7] = 9, 4
    state.bid[1, 8:] = state.ask[1, :7] = 0


def spoil(name, index, value):
    """Return a function that sets one element of one array of a state."""

    def change(state):
        getattr(state, name)[index] = value

    return change


@pytest.mark.parametrize(
    "change, message",
    [
        (spoil("bid", (1, 2), -5), r"^bid\[market 1, level 2\] = -5 is negative$"),
        (spoil("ask", (2, 0), -1), r"^ask\[market 2, level 0\] = -1 is negative$"),
        (spoil("trades", 0, -1), r"^trades\[market 0\] = -1 is negative$"),
        (cross, r"^crossed after 9 steps\[market 1\]: 9 lots bid at level 7, 4 asked at level 7$"),
        (spoil("last", 2, 16), r"^last\[market 2\] = 16 is outside 0 \.\. 15$"),
        (spoil("prev_mid2", 1, 31), r"^prev_mid2\[market 1\] = 31 is outside 0 \.\. 30$"),
        (spoil("base", 2, 1), r"^a fixed window moved\[market 2\], base = 1$"),
        (spoil("pruned_ask", 0, 1), r"^a fixed window moved\[market 0\]"),
        (spoil("trades", 1, 0), r"^no auction traded\[market 1\], but last = "),
        (spoil("trades", 1, 10), r"^10 trades of \d+ lots in 9 auctions of 9 steps\[market 1\]$"),
        (spoil("volume", 1, 10**6), r"lots came in\[market 1\], outside 180 \.\. 720 \(agents"),
    ],
)
def test_state_that_cannot_be_is_named(change, message):
    state = state_after(9)
    change(state)
    with pytest.raises(AssertionError, match=message):
        assert_state_valid(AUCTION, state)


# Two markets whose orders wait for two of three steps, with 9 lots to buy and to sell.
WORKED = CallAuction.of(
    2,
    agents=20,
    levels=16,
    clearing_interval=3,
    parent_qty=[9, 9],
    parent_side=[1, -1],
    parent_start=2,
    parent_horizon=6,
    open_depth=100,
)


@pytest.mark.parametrize(
    "steps, change, message",
    [
        (4, spoil("waiting_buy", (0, 3), -1), r"^waiting_buy\[market 0, level 3\] = -1 is neg"),
        (
            6,
            spoil("waiting_sell", (1, 2), 4),
            r"^waiting_sell\[market 1, level 2\] = 4 after an au",
        ),
        (2, spoil("own_filled", 1, 1), r"^own_filled\[market 1\] = 1, begun: False$"),
        (5, spoil("own_waiting", 0, -1), r"^own_waiting\[market 0\] = -1, begun: True$"),
        (
            6,
            spoil("own_filled", 0, 10),
            r"^10 lots filled and 0 waiting of a parent order of 9\[mar",
        ),
        (4, spoil("own_waiting", 1, 8), r"^8 own lots wait\[market 1\] among \d$"),
        (
            6,
            spoil("start_volume", 0, 10**6),
            r"^\d own lots filled of -\d+ that traded\[market 0\]$",
        ),
        (6, spoil("own_cost", 1, 1000), r"^own_cost\[market 1\] = 1000 of \d lots, arrival_mid2 ="),
        (6, spoil("arrival_mid2", 0, -33), r"^own_cost\[market 0\] = .* arrival_mid2 = -33"),
        (7, spoil("trades", 0, 3), r"^3 trades of \d+ lots in 2 auctions of 7 steps\[market 0\]$"),
    ],
)
def test_waiting_and_parent_orders_that_cannot_be_are_named(steps, change, message):
    state = state_after(steps, WORKED)
    assert_state_valid(WORKED, state)
    change(state)
    with pytest.raises(AssertionError, match=message):
        assert_state_valid(WORKED, state)


@pytest.mark.parametrize(
    "step, change, message",
    [
        (
            3,
            spoil("bid", (1, 0), 7),
            r"^step 3\[market 1\] has no auction, and bid went from \d+ to",
        ),
        (4, spoil("ask", (0, 15), 99), r"^step 4\[market 0\] has no auction, and ask went from"),
        (5, spoil("own_filled", 1, 0), r"^step 5\[market 1\] filled -\d own lots of \d+ that"),
        (3, spoil("own_cost", 0, 77), r"^step 3\[market 0\] cost -?\d+ for 0 lots$"),
    ],
)
def test_step_of_waiting_and_parent_orders_that_cannot_be_is_named(step, change, message):
    before, after = state_after(step, WORKED), state_after(step + 1, WORKED)
    assert_step_valid(WORKED, before, after)
    change(after)
    with pytest.raises(AssertionError, match=message):
        assert_step_valid(WORKED, before, after)


@pytest.mark.parametrize("name", ["waiting_buy", "waiting_sell"])
def test_waiting_lot_that_is_lost_is_named(name):
    state = state_after(5, WORKED)
    waiting = getattr(state, name)
    waiting[1, np.argmax(waiting[1])] -= 1
    with pytest.raises(AssertionError, match=r"\[market 1\]: resting \+ waiting .* lots came in"):
        assert_quantity_conserved(WORKED, state, count_incoming(WORKED, 5))


def test_state_of_another_type_or_shape_is_named():
    state = state_after(2)
    state.last = state.last.astype(np.int32)
    with pytest.raises(AssertionError, match="last is int32, not int64"):
        assert_state_valid(AUCTION, state)
    state = state_after(2)
    state.bid = state.bid[:, :-1]
    with pytest.raises(AssertionError, match=r"bid has shape \(3, 15\), not \(3, 16\)"):
        assert_state_valid(AUCTION, state)


def test_last_price_of_a_following_window_that_no_trade_can_reach_is_named():
    state = state_after(2, FOLLOWING)
    state.last[1] = 8 + 3 * 16 + 1
    message = r"last\[market 1\] = 57 is outside -40 \.\. 56"
    with pytest.raises(AssertionError, match=message):
        assert_state_valid(FOLLOWING, state)


@pytest.mark.parametrize("name", ["volume", "trades", "pruned_bid", "pruned_ask"])
def test_counter_that_falls_is_named(name):
    before, after = state_after(3), state_after(4)
    getattr(before, name)[2] = 10**6
    with pytest.raises(AssertionError, match=rf"^{name}\[market 2\] fell from 1000000 to \d+$"):
        assert_step_valid(AUCTION, before, after)


def test_trade_without_volume_is_named():
    before, after = state_after(3), state_after(4)
    after.trades[1] += 1
    with pytest.raises(AssertionError, match=r"step 3\[market 1\] traded \d+ lots in 2 auctions"):
        assert_step_valid(AUCTION, before, after)


def test_last_price_that_moves_without_a_trade_is_named():
    before, after = state_after(3), state_after(4)
    after.volume[0], after.trades[0] = before.volume[0], before.trades[0]
    after.last[0] = before.last[0] + 1
    with pytest.raises(AssertionError, match=r"step 3\[market 0\] traded 0 lots, and last went"):
        assert_step_valid(AUCTION, before, after)


def test_step_that_is_left_out_is_named():
    with pytest.raises(AssertionError, match="step 3 is followed by 5"):
        assert_step_valid(AUCTION, state_after(3), state_after(5))


@pytest.mark.parametrize("side", Side)
def test_lot_that_is_lost_is_named(side):
    state = state_after(5)
    book = state.bid if side is Side.BUY else state.ask
    book[1, np.argmax(book[1])] -= 1
    message = rf"^{side.name}\[market 1\]: resting \+ waiting \+ volume .* but \d+ lots came in"
    with pytest.raises(AssertionError, match=message):
        assert_quantity_conserved(AUCTION, state, count_incoming(AUCTION, 5))


BUY = np.array([[1, 0, 0], [10, 5, 8]])
SELL = np.array([[0, 0, 1], [0, 4, 7]])


@pytest.mark.parametrize(
    "price, volume, bid, ask, message",
    [
        # All that is right: price 2, volume 8, bid 10 5 0, ask 0 0 3.
        (1, 8, [10, 5, 0], [0, 0, 3], "market 1 trades 8 lots at level 1; most is 8 lots, and 2"),
        (2, 7, [10, 5, 1], [0, 0, 4], "market 1 trades 7 lots at level 2; most is 8 lots"),
        (2, 8, [10, 5, 1], [0, 0, 3], r"7 lots of buys are filled\[market 1\], but volume is 8"),
        (2, 8, [10, 5, 0], [0, 0, 4], r"7 lots of sells are filled\[market 1\], but volume is 8"),
        (2, 8, [9, 5, 1], [0, 0, 3], "market 1: a buy is filled while a better price waits"),
        (2, 8, [10, 5, 0], [0, 1, 2], "market 1: a sell is filled while a better price waits"),
        (2, 8, [10, 6, -1], [0, 0, 3], r"-1 of 5 lots filled, buy\[market 1, level 1\]"),
        (2, 8, [10, 5, 0], [0, -1, 4], r"5 of 4 lots filled, sell\[market 1, level 1\]"),
    ],
)
def test_auction_that_is_not_the_best_is_named(price, volume, bid, ask, message):
    right = Cleared(
        np.array([0, 2]),
        np.array([0, 8]),
        np.array([[1, 0, 0], [10, 5, 0]]),
        np.array([[0, 0, 1], [0, 0, 3]]),
    )
    assert_auction_valid(BUY, SELL, right)
    found = clear_auction(BUY, SELL)
    assert (found.price.tolist(), found.volume.tolist()) == ([0, 2], [0, 8])
    wrong = Cleared(
        np.array([0, price]),
        np.array([0, volume]),
        np.array([[1, 0, 0], bid]),
        np.array([[0, 0, 1], ask]),
    )
    with pytest.raises(AssertionError, match=message):
        assert_auction_valid(BUY, SELL, wrong)
