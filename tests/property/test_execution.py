"""What must hold of markets that clear every few steps and of execution agents, on every engine."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bookwarp as bw
from bookwarp.engines.registry import engine_class
from bookwarp.reference.execution import target_lots
from bookwarp.spec.codes import Schedule
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.state import STATE_LAYOUT, opening_state
from bookwarp.testing.strategies import runs

SMALL = {"agents": 30, "levels": 40, "window": "following", "seed": 5}
BLOCK = {"parent_qty": 300, "parent_start": 10, "parent_horizon": 20}


def run(engine, steps, markets=4, **parameters):
    auction = CallAuction.of(markets, **{**SMALL, **parameters})
    running = engine_class(engine)(auction, RecordPlan())
    running.run(steps, {})
    return running.read_state()


def assert_same_market(one, other):
    for name in STATE_LAYOUT:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def test_a_parent_order_changes_nothing_before_it_begins(engine):
    with_it, without = run(engine, 10, **BLOCK), run(engine, 10)
    assert_same_market(with_it, without)
    assert with_it.digest() != without.digest(), "it has numbers of its own"
    assert not np.array_equal(run(engine, 11, **BLOCK).ask, run(engine, 11).ask)


@pytest.mark.parametrize("stream", ["default", "paper"])
def test_other_agents_draw_what_they_draw_without_a_parent_order(stream):
    shared = {**SMALL, "mix": {"noise": 0.5, "maker": 0.5}, "stream": stream, "steps": 30}
    tape = {"record": "tape", "tape_markets": range(3), "tape_steps": range(30)}
    one = bw.simulate(3, **shared, **tape, **BLOCK).tape
    other = bw.simulate(3, **shared, **tape).tape
    ours = one["agent"] == 30
    assert ours.sum() == 3 * 20
    for name in ("step", "market", "agent", "side", "qty"):
        np.testing.assert_array_equal(one[~ours][name], other[name])
    assert not np.array_equal(one[~ours]["price"], other["price"]), "they see another mid"


def test_nothing_trades_before_the_first_auction(engine):
    opening = opening_state(CallAuction.of(4, **SMALL))
    state = run(engine, 6, clearing_interval=7, **BLOCK | {"parent_start": 0})
    for name in ("bid", "ask", "last", "volume", "trades", "prev_mid2", "base"):
        np.testing.assert_array_equal(getattr(state, name), getattr(opening, name))
    assert (state.own_waiting == 300 * 6 // 20).all()
    assert run(engine, 7, clearing_interval=7).trades.tolist() == [1] * 4


def test_a_market_that_clears_in_every_step_is_one_among_others_that_wait(engine):
    mixed = run(engine, 25, clearing_interval=[1, 5, 1, 1])
    alone = run(engine, 25)
    for name in STATE_LAYOUT:
        kept = [0, 2, 3]
        np.testing.assert_array_equal(getattr(mixed, name)[kept], getattr(alone, name)[kept])
    assert not mixed.waiting_buy[[0, 2, 3]].any()
    assert not np.array_equal(mixed.bid[1], alone.bid[1])


def test_momentum_agents_follow_a_move_once(engine):
    # Between two auctions they draw their sides, so that both sides wait.
    state = run(engine, 49, mix={"momentum": 1}, clearing_interval=50, agents=4)
    assert state.waiting_buy.any(axis=1).all()
    assert state.waiting_sell.any(axis=1).all()


@given(runs(max_levels=30))
def test_no_more_is_filled_than_the_schedule_asks_for(engine, case):
    auction = case.auction
    running = engine_class(engine)(auction, RecordPlan())
    if not auction.has_execution_agents:
        return
    start, horizon = auction.per_market("parent_start"), auction.per_market("parent_horizon")
    for step in range(case.steps):
        before = running.read_state()
        running.run(1, {})
        after = running.read_state()
        done_before = before.own_filled + before.own_waiting
        target = target_lots(auction, as_it_begins(auction, before))
        working = (start <= step) & (step - start < horizon)
        most = np.where(working, np.maximum(target, done_before), done_before)
        assert (after.own_filled + after.own_waiting <= most).all()


def as_it_begins(auction, state):
    """Return a state with the volume at the start of a parent that begins in the next step."""
    begins = auction.per_market("parent_start") == state.step
    state.start_volume = np.where(begins, state.volume, state.start_volume)
    return state


@given(
    st.integers(1, 2**31 - 1),
    st.integers(1, 2**31 - 1),
    st.lists(st.integers(0, 2**27), min_size=1, max_size=9).filter(any),
    st.data(),
)
def test_targets_rise_to_the_whole_of_the_parent_order(lots, horizon, weights, data):
    passed = sorted({0, 1, horizon, *data.draw(st.lists(st.integers(0, horizon), max_size=9))})
    for schedule in (Schedule.TWAP, Schedule.PROFILE):
        auction = CallAuction.of(
            1,
            parent_qty=lots,
            parent_horizon=horizon,
            schedule=schedule,
            volume_profile=weights,
        )
        targets = []
        for steps in passed:
            state = opening_state(auction)
            state.step = steps - 1
            targets.append(int(target_lots(auction, state)[0]))
        assert targets == sorted(targets)
        assert (targets[0], targets[-1]) == (0, lots)


@given(st.integers(0, 2**63 - 1), st.floats(0, 1), st.integers(1, 2**31 - 1))
def test_a_share_is_that_of_the_volume_to_the_lot(volume, share, lots):
    auction = CallAuction.of(
        1, parent_qty=lots, parent_horizon=9, schedule="share", volume_share=share
    )
    state = opening_state(auction)
    state.volume[:] = volume
    found = int(target_lots(auction, state)[0])
    assert found == min(lots, round(share * 2**32) * volume // 2**32)


@pytest.mark.parametrize("share", [0.0, 0.1, 1 / 3, 0.5, 1.0])
@pytest.mark.parametrize("volume", [0, 1, 2**32 - 1, 2**32, 2**62 + 2**31 - 1, 2**63 - 2**32])
def test_engines_take_the_same_share_of_the_largest_volumes(engine, share, volume):
    auction = CallAuction.of(
        1,
        agents=1,
        levels=8,
        open_depth=0,
        parent_qty=2**31 - 1,
        parent_horizon=9,
        schedule="share",
        volume_share=share,
        clearing_interval=2,
    )
    state = opening_state(auction)
    state.step, state.start_volume[:] = 2, 0
    state.volume[:] = volume
    running = engine_class(engine)(auction, RecordPlan())
    running.write_state(state)
    running.run(1, {})
    expected = min(2**31 - 1, round(share * 2**32) * volume // 2**32)
    assert running.read_state().own_waiting.tolist() == [expected]
