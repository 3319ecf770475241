"""Markets know nothing of each other, and a run nothing of how it is cut, on every engine."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwarp.engines.registry import engine_class
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import SERIES, RecordPlan
from bookwarp.testing.parity import find_difference
from bookwarp.testing.strategies import runs


def run(engine, auction, steps, plan=None):
    plan = plan or RecordPlan()
    rows = plan.allocate(auction, plan.rows(0, steps))
    running = engine_class(engine)(auction, plan, threads=2)
    running.run(steps, rows)
    return running.read_state(), rows


def assert_markets_equal(part, part_markets, whole, whole_markets):
    for name, array in whole.arrays().items():
        # A part has no arrays of what none of its markets has.
        none = np.zeros((len(part.last), *array.shape[1:]), np.int64)
        found = part.arrays().get(name, none)
        np.testing.assert_array_equal(found[part_markets], array[whole_markets], err_msg=name)


@given(runs(), st.data())
def test_a_run_in_pieces_is_the_run_in_one_go(engine, case, data):
    auction, plan, steps = case.auction, case.plan, case.steps
    whole, whole_rows = run(engine, auction, steps, plan)
    running = engine_class(engine)(auction, plan)
    rows = plan.allocate(auction, plan.rows(0, steps))
    cuts = data.draw(st.lists(st.integers(0, steps), max_size=5).map(sorted), label="cuts")
    for start, stop in zip([0, *cuts], [*cuts, steps], strict=True):
        first, last = plan.rows(0, start), plan.rows(0, stop)
        running.run(stop - start, {name: array[first:last] for name, array in rows.items()})
    assert find_difference(whole, whole_rows, running.read_state(), rows) is None


@given(runs(), st.data())
def test_any_markets_alone_end_as_they_end_in_the_ensemble(engine, case, data):
    whole, _ = run(engine, case.auction, case.steps)
    market = st.integers(0, case.auction.markets - 1)
    chosen = np.array(data.draw(st.lists(market, min_size=1, max_size=8), label="markets"))
    part, _ = run(engine, case.auction.subset(chosen), case.steps)
    assert_markets_equal(part, slice(None), whole, chosen)


PER_MARKET = {
    "seed": np.array([3, 3, 2**63, 7, 0], np.uint64),
    "open_price": [8, 5, 12, 8, 10],
    "open_depth": [8, 0, 100, 8, 1],
    "max_qty": [4, 4, 1000, 1, 9],
    "noise_spread": [3, 3, 0, 20, 5],
    "market_order_prob": [0.1, 0.1, 1.0, 0.0, 0.5],
    "maker_half_spread": [1, 2, 0, 30, 1],
    "market_ids": [9, 4711, 0, 2**31 - 1, 1],
}
PER_MARKET |= {
    "clearing_interval": [1, 2, 7, 1, 4],
    "parent_qty": [0, 40, 900, 7, 60],
    "parent_side": [1, -1, 1, 1, -1],
    "parent_start": [0, 1, 0, 9, 4],
    "parent_horizon": [1, 20, 30, 12, 100],
    "schedule": [0, 2, 0, 2, 0],
    "volume_share": [0, 0.5, 0.1, 1, 0.3],
}
SHARES = {"noise": [0.7, 1, 0, 0.2, 0.25], "maker": [0.3, 0, 0.5, 0.2, 0.25]}
TYPES = np.random.default_rng(5).integers(0, 4, (5, 33))


@pytest.mark.parametrize("stream", ["default", "paper"])
@pytest.mark.parametrize("window", ["fixed", "following"])
@pytest.mark.parametrize("who", ["mix", "agent_types"])
def test_markets_in_another_order_give_the_same_results_in_that_order(engine, stream, window, who):
    def ensemble(order):
        given = {name: np.array(values)[order] for name, values in PER_MARKET.items()}
        if who == "agent_types":
            given["agent_types"] = TYPES[order]
        else:
            shares = {name: np.array(values)[order] for name, values in SHARES.items()}
            given["mix"] = {**shares, "momentum": "rest"}
        return CallAuction.of(5, agents=33, levels=18, stream=stream, window=window, **given)

    straight, rows = run(engine, ensemble(np.arange(5)), 30, series_of(ensemble(np.arange(5))))
    order = np.array([4, 2, 0, 1, 3])
    shuffled, shuffled_rows = run(engine, ensemble(order), 30, series_of(ensemble(order)))
    assert_markets_equal(shuffled, slice(None), straight, order)
    for name in SERIES:
        np.testing.assert_array_equal(shuffled_rows[name], rows[name][:, order], err_msg=name)


def series_of(auction):
    return RecordPlan.of(auction, tuple(SERIES))


@pytest.mark.parametrize("stream", ["default", "paper"])
def test_market_4711_run_alone_ends_as_it_ends_among_5000(fast_engine, stream):
    parameters = {"agents": 8, "levels": 16, "seed": 12, "stream": stream}
    whole, _ = run(fast_engine, CallAuction.of(5000, **parameters), 20)
    alone, _ = run("reference", CallAuction.of(1, **parameters, market_ids=[4711]), 20)
    assert_markets_equal(alone, [0], whole, [4711])
    other, _ = run("reference", CallAuction.of(1, **parameters, market_ids=[4712]), 20)
    assert other.digest() != alone.digest()


@pytest.mark.parametrize("stream", ["default", "paper"])
def test_one_market_changed_leaves_the_others_as_they_were(engine, stream):
    def ensemble(depth):
        return CallAuction.of(3, agents=9, levels=16, open_depth=[8, depth, 8], stream=stream)

    one, _ = run(engine, ensemble(8), 25)
    two, _ = run(engine, ensemble(80), 25)
    assert_markets_equal(two, [0, 2], one, [0, 2])
    assert not np.array_equal(one.bid[1], two.bid[1])


@pytest.mark.parametrize("stream", ["default", "paper"])
def test_equal_markets_under_different_numbers_or_seeds_differ(engine, stream):
    auction = CallAuction.of(
        4, agents=9, levels=16, stream=stream, seed=[1, 1, 2, 1], market_ids=[5, 6, 5, 5]
    )
    state, _ = run(engine, auction, 25)
    books = [state.bid[market].tobytes() + state.ask[market].tobytes() for market in range(4)]
    assert len({*books}) == 3
    assert books[0] == books[3]
