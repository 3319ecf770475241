"""Clearing intervals and execution agents: cases worked out by hand, before every engine."""

import numpy as np
import pytest
from worked_cases import WORKED_CASES

from bookwarp.engines.registry import engine_class
from bookwarp.reference.tape import auction_fills, fill_orders, send_orders
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.state import opening_state
from bookwarp.tape import order_tape

LEVELS = 8


def lots(by_level):
    """Return what rests at each level, from the levels at which something does."""
    return [by_level.get(level, 0) for level in range(LEVELS)]


def begin(engine, case, markets=1):
    """Return a running engine, all of whose markets stand before step 0 of a case."""
    auction = CallAuction.of(
        markets, levels=LEVELS, max_qty=1, open_depth=0, **case.parameters, seed=range(markets)
    )
    state = opening_state(auction)
    state.bid[:], state.ask[:] = lots(case.bid), lots(case.ask)
    if case.last is not None:
        state.last[:] = case.last
    running = engine_class(engine)(auction, RecordPlan())
    running.write_state(state)
    return auction, running


@pytest.mark.parametrize("name", WORKED_CASES)
def test_worked_case(engine, name):
    case = WORKED_CASES[name]
    running = begin(engine, case)[1]
    for step, expected in enumerate(case.steps):
        running.run(1, {})
        arrays = running.read_state().arrays()
        for array, value in expected.items():
            wanted = lots(value) if isinstance(value, dict) else value
            assert arrays[array][0].tolist() == wanted, f"{array} after step {step}"


@pytest.mark.parametrize("name", WORKED_CASES)
def test_worked_case_in_one_go(engine, name):
    case = WORKED_CASES[name]
    running = begin(engine, case, markets=3)[1]
    running.run(len(case.steps), {})
    whole = running.read_state()
    again = begin(engine, case, markets=3)[1]
    for _ in case.steps:
        again.run(1, {})
    assert whole.digest() == again.read_state().digest()
    for array in whole.arrays().values():
        assert len(np.unique(array, axis=0)) == 1, "seeds make no difference"


@pytest.mark.parametrize("name", WORKED_CASES)
def test_tape_of_a_worked_case(name):
    case = WORKED_CASES[name]
    auction, running = begin("reference", case)
    interval = auction.clearing_interval
    filled, others = [], []
    for first in range(0, len(case.steps), interval):
        sent = []
        for step in range(first, min(first + interval, len(case.steps))):
            state = running.read_state()
            sent.append(send_orders(auction, running.read_state()))
            fills = auction_fills(auction, state) if (step + 1) % interval == 0 else None
            running.run(1, {})
        for orders in sent:
            tape = fill_orders(auction, orders, fills)
            filled += tape["filled"][tape["agent"] == auction.agents].tolist()
            others.append(tape["filled"][tape["agent"] < auction.agents].tolist())
    assert filled == case.filled
    if case.others_filled:
        assert others[0] == case.others_filled


def test_orders_are_not_filled_before_their_auction():
    parameters = {"agents": 40, "levels": 16, "clearing_interval": 4, "parent_qty": 90}
    auction = CallAuction.of(2, **parameters, parent_horizon=9)
    plan = RecordPlan.of(auction, "tape", tape_markets=[0, 1], tape_steps=range(10))
    early, late = order_tape(auction, plan, 7), order_tape(auction, plan, 8)
    assert early[early["step"] < 4]["filled"].sum() > 0
    assert early[early["step"] >= 4]["filled"].sum() == 0
    assert late[late["step"] >= 4]["filled"].sum() > 0
