"""What a block cost: exact, the same as what the tape says order by order, and worked by hand."""

from fractions import Fraction

import numpy as np
import pytest
from worked_cases import WORKED_CASES

from bookwarp.analysis.execution import execution_costs, shortfall_parts
from bookwarp.reference.engine import ReferenceEngine
from bookwarp.results.run import Run
from bookwarp.simulating import simulate
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.state import opening_state


def run_worked_case(name, **changes):
    """Return a worked case as a run on the reference."""
    case = WORKED_CASES[name]
    auction = CallAuction.of(1, levels=8, max_qty=1, open_depth=0, **{**case.parameters, **changes})
    engine = ReferenceEngine(auction, RecordPlan())
    state = opening_state(auction)
    for level in range(8):
        state.bid[0, level] = case.bid.get(level, 0)
        state.ask[0, level] = case.ask.get(level, 0)
    engine.write_state(state)
    engine.run(3, {})
    state = engine.read_state()
    return Run(
        auction=auction,
        plan=RecordPlan(),
        state=state,
        history={},
        tape=None,
        engine="reference",
        elapsed_s=0.0,
    )


def test_costs_of_a_buyer_are_those_worked_out_by_hand():
    # 3 lots at 5, 3 at 7, 1 at 7, decided on at 4; two are left when nobody sells, at 7.
    costs = execution_costs(run_worked_case("a buyer for whom the other side runs out"))
    assert (costs.qty, costs.filled, costs.unfilled) == (9, 7, 2)
    assert (costs.price_cost2, costs.opportunity_cost2) == (30, 12)
    assert (costs.price_cost, costs.opportunity_cost, costs.shortfall) == (15, 6, 21)
    assert costs.shortfall_per_lot == pytest.approx(21 / 9)
    assert costs.price_cost_per_lot == pytest.approx(15 / 7)
    assert costs.average_price == pytest.approx((3 * 5 + 4 * 7) / 7)
    assert costs.arrival_price == 4
    assert costs.fill_rate == pytest.approx(7 / 9)


def test_a_loss_of_a_seller_is_positive_too():
    # Step 0: 3 lots at 0, step 1: 3 lots at 0, decided on at 4.
    costs = execution_costs(run_worked_case("a seller"))
    assert (costs.price_cost, costs.opportunity_cost, costs.shortfall) == (24, 0, 24)
    assert costs.average_price == 0


@pytest.mark.parametrize("price", [-(10**15), 10**15])
def test_costs_do_not_depend_on_how_far_prices_are_from_0(price):
    here = execution_costs(run_worked_case("the same in a window that moves"))
    there = execution_costs(run_worked_case("the same in a window that moves", open_price=price))
    assert there.price_cost2 == here.price_cost2 == 36
    assert there.opportunity_cost2 == here.opportunity_cost2
    assert there.arrival_price == price


def test_what_has_not_begun_or_does_not_exist_costs_nothing():
    run = simulate(3, agents=20, steps=10, parent_qty=[5, 0, 5], parent_start=[10, 0, 9])
    costs = run.execution_costs()
    assert costs.qty.tolist() == [0, 0, 5]
    for name in ("filled", "price_cost", "opportunity_cost", "shortfall"):
        assert getattr(costs, name)[:2].tolist() == [0, 0]
    for name in ("shortfall_per_lot", "price_cost_per_lot", "average_price", "arrival_price"):
        assert np.isnan(getattr(costs, name)).tolist() == [True, True, False]
    assert np.isnan(costs.fill_rate).tolist() == [True, True, False]


def test_a_run_without_parent_orders_has_no_costs():
    with pytest.raises(ParameterError, match="this run has no parent order: parent_qty is 0"):
        simulate(2, agents=4, steps=2).execution_costs()


@pytest.mark.parametrize("interval", [1, 3])
@pytest.mark.parametrize("window", ["fixed", "following"])
@pytest.mark.parametrize("schedule", ["twap", "profile", "share"])
def test_costs_are_those_of_the_fills_on_the_tape(interval, window, schedule):
    steps, start = 30, 4
    run = simulate(
        3,
        agents=30,
        levels=32,
        steps=steps,
        window=window,
        clearing_interval=interval,
        parent_qty=[300, 41, 10_000],
        parent_side=[1, -1, 1],
        parent_start=start,
        parent_horizon=22,
        schedule=schedule,
        volume_profile=[3, 1, 1, 3],
        volume_share=0.2,
        record=("last", "mid2", "tape"),
        tape_markets=range(3),
        tape_steps=range(steps),
    )
    costs, last, mid2 = run.execution_costs(), run.history["last"], run.history["mid2"]
    after = simulate(3, **again(run), steps=steps + 1, record="mid2").history["mid2"][-1]
    for market in range(3):
        own = run.tape[(run.tape["market"] == market) & (run.tape["agent"] == 30)]
        paid = filled = 0
        for order in own:
            auction = (order["step"] // interval + 1) * interval - 1
            paid += int(order["filled"]) * int(last[auction, market])
            filled += int(order["filled"])
        side, qty = run.auction.per_market("parent_side")[market], costs.qty[market]
        arrival, final = Fraction(int(mid2[start, market]), 2), Fraction(int(after[market]), 2)
        assert filled == costs.filled[market] > 0
        assert costs.price_cost[market] == side * (paid - filled * arrival)
        assert costs.opportunity_cost[market] == side * (qty - filled) * (final - arrival)
        assert costs.average_price[market] == pytest.approx(paid / filled)
        assert costs.arrival_price[market] == arrival


def again(run):
    """Return the parameters of a run that are not the defaults, markets aside."""
    names = ("agents", "levels", "clearing_interval", "parent_qty", "parent_side", "parent_start")
    names += ("parent_horizon", "schedule", "volume_profile", "volume_share")
    return {name: getattr(run.auction, name) for name in names} | {"window": run.window}


def test_parts_of_the_largest_shortfall_fit():
    lots, farthest = np.int64(2**31 - 1), np.int64((2**60 - 1) // (2**31 - 1))
    price2, opportunity2 = shortfall_parts(
        np.int64(1), lots, lots, lots * farthest, -2 * farthest, 2 * farthest
    )
    assert int(price2) == 4 * int(lots) * int(farthest)
    assert opportunity2 == 0
    _, opportunity2 = shortfall_parts(
        np.int64(-1), lots, np.int64(0), np.int64(0), -2 * farthest, 2 * farthest
    )
    assert int(opportunity2) == -4 * int(lots) * int(farthest)
