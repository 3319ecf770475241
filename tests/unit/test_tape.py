"""The order tape: who sent what, and what was filled of it."""

import numpy as np
import pytest

from bookwarp.reference.engine import ReferenceEngine
from bookwarp.reference.tape import (
    TAPE_ROW,
    auction_fills,
    fill_orders,
    queue_orders,
    send_orders,
)
from bookwarp.spec.codes import Side
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan
from bookwarp.tape import order_tape, tape_nbytes

BUY, SELL = Side.BUY, Side.SELL


def fills(orders, resting_buy, filled_buy, resting_sell=(0, 0, 0), filled_sell=(0, 0, 0)):
    """Return what is filled of `orders`, a list of (side, level, qty)."""
    side, level, qty = (np.array(column) for column in zip(*orders, strict=True))
    resting = {BUY: np.array(resting_buy), SELL: np.array(resting_sell)}
    filled = {BUY: np.array(filled_buy), SELL: np.array(filled_sell)}
    ahead = queue_orders(side, level, qty, resting)
    at_level = [filled[each][level[place]] for place, each in enumerate(side)]
    return np.clip(at_level - ahead, 0, qty).tolist()


def tape_step(auction, state):
    """Return the orders of the step after `state`, which is left with its mid and window."""
    fills = auction_fills(auction, state)
    return fill_orders(auction, send_orders(auction, state), fills)


def test_what_rested_is_filled_before_what_came_in():
    orders = [(BUY, 1, 4), (BUY, 1, 4)]
    assert fills(orders, [0, 10, 0], [0, 10, 0]) == [0, 0]
    assert fills(orders, [0, 10, 0], [0, 9, 0]) == [0, 0]
    assert fills(orders, [0, 10, 0], [0, 11, 0]) == [1, 0]


def test_orders_at_one_level_are_filled_in_the_order_of_the_agents():
    orders = [(BUY, 1, 4), (BUY, 2, 1), (BUY, 1, 4), (BUY, 1, 4)]
    assert fills(orders, [0, 2, 0], [0, 8, 1]) == [4, 1, 2, 0]
    assert fills(orders, [0, 2, 0], [0, 14, 1]) == [4, 1, 4, 4]


def test_levels_and_sides_are_filled_apart():
    orders = [(SELL, 0, 3), (BUY, 0, 3), (SELL, 1, 3), (BUY, 1, 3)]
    filled = fills(orders, [0, 0, 0], [0, 2, 0], [1, 0, 0], [3, 0, 0])
    assert filled == [2, 0, 0, 2]


def test_nothing_filled_fills_nobody():
    assert fills([(BUY, 0, 5), (SELL, 2, 5)], [1, 0, 0], [0, 0, 0]) == [0, 0]


CASES = {
    "default": {},
    "paper": {"stream": "paper"},
    "thin": {"open_depth": 0, "market_order_prob": 0.0},
    "crossing": {"market_order_prob": 1.0, "mix": {"noise": 1}},
    "following": {"window": "following", "mix": {"momentum": 1}, "open_price": -40},
    "given": {"agent_types": np.random.default_rng(2).integers(0, 4, (4, 23))},
}


@pytest.mark.parametrize("case", CASES)
def test_fills_of_orders_and_of_what_rested_are_the_volume_of_each_side(case):
    auction = CallAuction.of(4, agents=23, levels=20, **CASES[case])
    engine = ReferenceEngine(auction, RecordPlan())
    traded = 0
    for _ in range(30):
        # The tape leaves the window of the step in `here`: what rested before the orders came.
        here, before = engine.read_state(), engine.read_state()
        tape = tape_step(auction, here).reshape(4, 23)
        engine.run(1, {})
        after = engine.read_state()
        volume = after.volume - before.volume
        assert (tape["filled"] >= 0).all()
        assert (tape["filled"] <= tape["qty"]).all()
        for side, rested, rests in ((BUY, here.bid, after.bid), (SELL, here.ask, after.ask)):
            sent = np.where(tape["side"] == side, tape["qty"], 0).sum(axis=1)
            filled = np.where(tape["side"] == side, tape["filled"], 0).sum(axis=1)
            rest_filled = rested.sum(axis=1) + sent - rests.sum(axis=1) - filled
            np.testing.assert_array_equal(filled + rest_filled, volume)
            assert (rest_filled >= 0).all()
            assert (rest_filled <= rested.sum(axis=1)).all()
        traded += volume.sum()
    assert traded > 0


def test_better_priced_orders_are_filled_first():
    auction = CallAuction.of(3, agents=50, levels=30, mix={"noise": 1}, open_depth=0)
    engine = ReferenceEngine(auction, RecordPlan())
    filled_in_part = 0
    for _ in range(20):
        tape = tape_step(auction, engine.read_state())
        engine.run(1, {})
        for market in range(3):
            for side in Side:
                orders = tape[(tape["market"] == market) & (tape["side"] == side)]
                rank = orders["price"] * side
                rests, filled = orders["filled"] < orders["qty"], orders["filled"] > 0
                if rests.any() and filled.any():
                    assert rank[filled].min() >= rank[rests].max()
                filled_in_part += (rests & filled).sum()
    assert filled_in_part > 0


def expected_tape(auction, markets, steps):
    """Make the tape from the whole ensemble, one step after the other."""
    engine = ReferenceEngine(auction, RecordPlan())
    rows = []
    for step in range(max(steps) + 1):
        tape = tape_step(auction, engine.read_state())
        if step in steps:
            rows.append(tape[np.isin(tape["market"], markets)])
        engine.run(1, {})
    return np.concatenate(rows)


@pytest.mark.parametrize("case", CASES)
def test_tape_of_chosen_markets_and_steps_is_cut_from_the_whole(case):
    auction = CallAuction.of(4, agents=23, levels=20, seed=[1, 2, 3, 4], **CASES[case])
    plan = RecordPlan.of(auction, "tape", tape_markets=[3, 1], tape_steps=[7, 0, 8])
    tape = order_tape(auction, plan, 20)
    np.testing.assert_array_equal(tape, expected_tape(auction, [1, 3], [0, 7, 8]))
    assert tape.dtype == TAPE_ROW
    keys = list(zip(tape["step"], tape["market"], tape["agent"], strict=True))
    assert keys == sorted(keys)
    assert len(keys) == 3 * 2 * 23


def test_tape_has_the_steps_that_are_done():
    auction = CallAuction.of(2, agents=3, levels=16)
    plan = RecordPlan.of(auction, "tape", tape_markets=1, tape_steps=[0, 4, 5])
    assert order_tape(auction, plan, 0).shape == (0,)
    assert order_tape(auction, plan, 0).dtype == TAPE_ROW
    assert set(order_tape(auction, plan, 4)["step"]) == {0}
    assert set(order_tape(auction, plan, 5)["step"]) == {0, 4}


def test_prices_of_the_tape_are_ticks():
    auction = CallAuction.of(
        1, agents=20, levels=16, window="following", open_price=-1000, mix={"maker": 1}
    )
    plan = RecordPlan.of(auction, "tape", tape_markets=0, tape_steps=0)
    tape = order_tape(auction, plan, 1)
    assert set(zip(tape["side"], tape["price"], strict=True)) == {(1, -1001), (-1, -999)}


def test_size_of_the_tape_is_foretold():
    auction = CallAuction.of(5, agents=7, levels=16)
    plan = RecordPlan.of(auction, "tape", tape_markets=[0, 2], tape_steps=[1, 3, 5])
    assert tape_nbytes(auction, plan) == order_tape(auction, plan, 10).nbytes == 2 * 3 * 7 * 56
    assert tape_nbytes(auction, RecordPlan()) == 0
