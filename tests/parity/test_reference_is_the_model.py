"""The reference held against the model in plain Python, written apart from it."""

import numpy as np
import pytest
from hypothesis import given, settings
from plain_model import Parent, PlainMarket, largest_remainder

from bookwarp.reference.engine import ReferenceEngine
from bookwarp.spec.codes import NO_PRICE
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan
from bookwarp.tape import order_tape
from bookwarp.testing.strategies import RunCase, runs

EXAMPLES = 4 * settings.default.max_examples


def plain_market(auction, market):
    if auction.agent_types is None:
        names = ("noise", "momentum", "maker", "fundamental")
        shares = [float(auction.per_market(f"mix_{name}")[market]) for name in names]
        counts = largest_remainder(shares, auction.agents)
        types = [code for code in range(4) for _ in range(counts[code])]
    else:
        types = auction.agent_types[market].tolist()

    def value(name):
        return auction.per_market(name)[market].item()

    parent = None
    if value("parent_qty") > 0:
        parent = Parent(
            qty=value("parent_qty"),
            buy=value("parent_side") == 1,
            start=value("parent_start"),
            horizon=value("parent_horizon"),
            schedule=("twap", "profile", "share")[value("schedule")],
            share=float(value("volume_share")),
            profile=np.array(auction.volume_profile).tolist(),
        )
    return PlainMarket(
        agents=auction.agents,
        levels=auction.levels,
        seed=value("seed"),
        number=int(auction.market_ids[market]),
        types=types,
        open_price=value("open_price"),
        open_depth=value("open_depth"),
        max_qty=value("max_qty"),
        noise_spread=value("noise_spread"),
        market_order_prob=float(value("market_order_prob")),
        maker_half_spread=value("maker_half_spread"),
        stream=auction.stream.name.lower(),
        window=auction.window.name.lower(),
        clearing_interval=value("clearing_interval"),
        parent=parent,
    )


def plain_state(plain, has_waiting_orders, has_execution_agents):
    state = {
        "bid": plain.bid,
        "ask": plain.ask,
        "last": plain.last,
        "prev_mid2": 2 * (plain.mid - plain.base),
        "base": plain.base,
        "volume": plain.volume,
        "trades": plain.trades,
        "pruned_bid": plain.pruned_bid,
        "pruned_ask": plain.pruned_ask,
    }
    if has_waiting_orders:
        for name, buy in (("waiting_buy", True), ("waiting_sell", False)):
            state[name] = [0] * plain.levels
            for order in plain.waiting:
                state[name][order.level] += order.qty if order.buy is buy else 0
    if has_execution_agents:
        parent = plain.parent
        own = sum(order.qty for order in plain.waiting if order.agent == plain.agents)
        begun = parent is not None and plain.steps > parent.start
        arrival = 2 * (parent.arrival - plain.open_price) if begun else 0
        state["own_waiting"] = own
        state["own_filled"] = parent.filled if parent else 0
        state["own_cost"] = parent.cost if parent else 0
        state["arrival_mid2"] = arrival
        state["start_volume"] = parent.start_volume if parent else 0
    return state


def plain_row(plain, depth_ticks):
    bid, ask = plain.quotes()
    near_bid = [] if bid is None else plain.bid[max(bid - depth_ticks, 0) : bid + 1]
    near_ask = [] if ask is None else plain.ask[ask : ask + depth_ticks + 1]
    return {
        "last": plain.last,
        "volume": plain.volume,
        "mid2": 2 * plain.mid,
        "best_bid": NO_PRICE if bid is None else plain.base + bid,
        "best_ask": NO_PRICE if ask is None else plain.base + ask,
        "bid_depth": sum(near_bid),
        "ask_depth": sum(near_ask),
    }


def assert_reference_is_the_model(case: RunCase) -> None:
    auction, plan = case.auction, case.plan
    markets = [plain_market(auction, market) for market in range(auction.markets)]
    engine = ReferenceEngine(auction, plan)
    for step in range(case.steps):
        rows = plan.allocate(auction, plan.rows(step, step + 1))
        engine.run(1, rows)
        state = engine.read_state().arrays()
        for number, plain in enumerate(markets):
            plain.step()
            found = {name: array[number].tolist() for name, array in state.items()}
            expected = plain_state(plain, auction.has_waiting_orders, auction.has_execution_agents)
            assert found == expected, f"step {step}, market {number}"
            if (step + 1) % plan.every:
                continue
            row = plain_row(plain, plan.depth_ticks)
            found = {name: rows[name][0, number].item() for name in plan.series}
            assert found == {name: row[name] for name in plan.series}, (step, number)
            for place in np.flatnonzero(plan.book_markets == number):
                assert rows["book_bid"][0, place].tolist() == plain.bid
                assert rows["book_ask"][0, place].tolist() == plain.ask


@settings(max_examples=EXAMPLES)
@given(runs())
def test_every_array_and_row_of_the_reference_is_that_of_the_plain_model(case):
    assert_reference_is_the_model(case)


@settings(max_examples=EXAMPLES // 5)
@given(runs(max_markets=2, max_agents=20, max_levels=20, max_steps=6))
def test_every_order_of_the_tape_is_that_of_the_plain_model(case):
    auction = case.auction
    markets = [plain_market(auction, market) for market in range(auction.markets)]
    plan = RecordPlan.of(
        auction, "tape", tape_markets=range(auction.markets), tape_steps=range(case.steps)
    )
    expected = []
    for step in range(case.steps):
        for number, plain in enumerate(markets):
            orders = plain.step()
            expected += [(step, number, plain.base, order) for order in orders]
    tape = order_tape(auction, plan, case.steps)
    assert tape.tolist() == [
        (
            *(step, number, order.agent, 1 if order.buy else -1),
            *(order.level + base, order.qty, order.filled),
        )
        for step, number, base, order in expected
    ]


@pytest.mark.parametrize("stream", ["default", "paper"])
@pytest.mark.parametrize("window", ["fixed", "following"])
def test_a_longer_run_of_the_reference_is_that_of_the_plain_model(stream, window):
    auction = CallAuction.of(
        2, agents=37, levels=23, mix={"noise": 0.4, "momentum": 0.6}, stream=stream, window=window
    )
    plan = RecordPlan.of(auction, ("last", "volume", "mid2", "bid_depth"), every=3)
    assert_reference_is_the_model(RunCase(auction, 150, plan))
