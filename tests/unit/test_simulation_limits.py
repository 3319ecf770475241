"""Runs that would take too much memory or overflow are refused; those at the bound are right."""

import tracemalloc

import pytest

from bookwarp.engines.registry import engine_nbytes
from bookwarp.simulation import Simulation
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.market import CallAuction

INT64_MAX = 2**63 - 1


def refusal(make):
    with pytest.raises(ParameterError) as caught:
        make()
    return str(caught.value)


@pytest.mark.parametrize(
    "given, lower",
    [
        ({"markets": 20_000_000, "levels": 65_536}, "lower markets or levels"),
        ({"markets": 20_000_000, "levels": 8}, "lower markets or levels"),
        ({"markets": 10_000, "levels": 65_536}, "lower markets or levels"),
        ({"markets": 5_000, "levels": 1000}, "lower markets, levels or agents"),
        ({"markets": 1, "agents": 2**30}, "lower markets, levels or agents"),
        (
            {"markets": 1000, "steps": 2**32 - 1},
            "lower markets, steps or what is recorded, or raise record_every",
        ),
        (
            {"markets": 1, "levels": 65_536, "record": "book", "book_markets": 0},
            "lower markets, steps or what is recorded, or raise record_every",
        ),
        (
            {
                "markets": 1000,
                "record": "tape",
                "tape_markets": range(1000),
                "tape_steps": range(500),
            },
            "lower markets, steps or what is recorded",
        ),
    ],
)
def test_too_much_memory_is_refused_before_it_is_taken(engine, given, lower):
    given = {"agents": 256, "levels": 16, "open_price": 5, **given}
    tracemalloc.start()
    message = refusal(lambda: Simulation(**given, engine=engine, memory_limit=10**8))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert message.startswith("this run would take ")
    assert "; 0.1 GB may be used: " in message
    assert lower in message
    assert message.endswith(", or set memory_limit")
    assert peak < 10**7


def test_free_memory_is_the_limit_if_none_is_set():
    message = refusal(lambda: Simulation(2_000_000, levels=65_536))
    assert message.startswith("this run would take at least 2.1e+03 GB for the books; ")


def test_simulation_refuses_to_go_on_into_too_much_memory(engine):
    simulation = Simulation(
        100, agents=5, levels=8, steps=10, record="last", engine=engine, memory_limit=10**6
    )
    simulation.step(10)
    message = refusal(lambda: simulation.step(10_000))
    assert "for 10010 recorded rows" in message
    assert simulation.steps_done == 10
    assert simulation.step(30).digest() == (
        Simulation(100, agents=5, levels=8, engine="reference").step(40).digest()
    )


@pytest.mark.parametrize(
    "markets, given",
    [
        (2000, {"agents": 8, "levels": 8, "steps": 30, "record": ("last", "volume")}),
        (2000, {"agents": 1, "levels": 8, "steps": 200, "record": "volume"}),
        (100, {"agents": 256, "levels": 128, "steps": 5, "record": ()}),
        (200, {"agents": 10, "levels": 1024, "steps": 5, "record": ()}),
        (400, {"agents": 256, "levels": 16, "steps": 5, "stream": "paper", "record": ()}),
        (400, {"agents": 256, "levels": 16, "steps": 5, "max_qty": 5000, "record": ()}),
        (400, {"agents": 100, "levels": 16, "steps": 5, "window": "following", "record": ()}),
    ],
)
def test_a_run_takes_no_more_memory_than_is_foretold(engine, markets, given):
    # Only what NumPy takes is measured: for the cpu engine that is all but its small scratch.
    Simulation(2, **{**given, "agents": 3}, engine=engine).step(1)
    tracemalloc.start()
    simulation = Simulation(markets, **given, engine=engine)
    kept = simulation.step(given["steps"]).history, simulation.state()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept
    rows = 8 * given["steps"] * markets
    foretold = engine_nbytes(engine, simulation.auction, simulation.threads) + 10**5
    foretold += rows * (len(simulation.plan.series) + ("volume" in simulation.plan.names))
    assert peak <= foretold
    assert foretold <= 4 * peak


def horizon_of(steps, **parameters):
    given = {"agents": 10, "levels": 16, **parameters}
    CallAuction.of(2, **given).check_horizon(steps)


@pytest.mark.parametrize(
    "stream, max_qty, steps, lots",
    [
        ("default", 7, 100, 10 * 7 * 100),
        ("paper", 7, 100, 10 * 8 * 100),
        ("default", 2**31 - 1, 2**28, 10 * (2**31 - 1) * 2**28),
        ("paper", 2**24, 2**32 - 1, 10 * (2**24 + 1) * (2**32 - 1)),
        ("default", 4, 0, 0),
    ],
)
def test_quantity_bound_is_exact(stream, max_qty, steps, lots):
    given = {"stream": stream, "max_qty": max_qty}
    horizon_of(steps, **given, open_depth=INT64_MAX - lots)
    if lots:
        message = refusal(lambda: horizon_of(steps, **given, open_depth=INT64_MAX - lots + 1))
        assert message == (
            f"open_depth + agents * max_qty * steps = {2**63} could overflow a quantity (limit "
            f"2**63 - 1): lower max_qty, agents (10), steps ({steps}) or open_depth"
        )


def test_quantity_bound_names_the_market_that_breaks_it():
    message = refusal(lambda: horizon_of(2**30, max_qty=[1, 2**30]))
    assert message.startswith("open_depth + agents * max_qty * steps = ")
    assert " in market 1 could overflow a quantity" in message
    message = refusal(lambda: horizon_of(1, open_depth=[INT64_MAX, 8]))
    assert " in market 0 could overflow a quantity" in message


@pytest.mark.parametrize("sign", [-1, 1])
def test_price_bound_is_exact(sign):
    reach = 101 * 16
    horizon_of(100, window="following", open_price=sign * (INT64_MAX - reach))
    message = refusal(
        lambda: horizon_of(100, window="following", open_price=sign * (INT64_MAX - reach + 1))
    )
    assert message == (
        f"abs(open_price) + (steps + 1) * levels = {2**63} could overflow a price (limit "
        "2**63 - 1): bring open_price nearer to 0, or lower steps (100)"
    )


def test_open_price_too_far_out_for_a_window_at_all_is_refused_at_once():
    message = refusal(lambda: CallAuction.of(1, window="following", open_price=INT64_MAX))
    assert message.startswith("abs(open_price) + (steps + 1) * levels = ")


@pytest.mark.parametrize("sign", [-1, 1])
def test_bound_of_a_recorded_mid2_is_exact_and_holds_for_mid2_only(sign):
    farthest = INT64_MAX // 2 - 11 * 16

    def make(open_price, record):
        return Simulation(
            1,
            agents=2,
            levels=16,
            steps=10,
            window="following",
            open_price=open_price,
            record=record,
            engine="reference",
        )

    history = make(sign * farthest, "mid2").step(10).history
    assert abs(history["mid2"] - 2 * sign * farthest).max() <= 2 * 11 * 16
    message = refusal(lambda: make(sign * (farthest + 1), "mid2"))
    assert "could overflow a recorded mid2 (limit 2**63 - 1)" in message
    assert "or do not record mid2" in message
    make(sign * (farthest + 1), "last").step(10)


def test_overflow_is_refused_by_the_planned_steps_and_by_steps_beyond_them(engine):
    depth = INT64_MAX - 5 * 4 * 10
    given = {"agents": 5, "levels": 16, "open_depth": depth, "engine": engine}
    refusal(lambda: Simulation(2, **given, steps=11))
    simulation = Simulation(2, **given, steps=5).step(10)
    before = simulation.digest()
    assert "lower max_qty, agents (5), steps (11)" in refusal(lambda: simulation.step(1))
    assert (simulation.digest(), simulation.steps_done) == (before, 10)


def test_run_exactly_at_the_quantity_bound_is_right(engine):
    steps, agents, max_qty = 30, 4, 2**31 - 1
    depth = INT64_MAX - agents * max_qty * steps
    simulation = Simulation(
        3,
        agents=agents,
        levels=16,
        steps=steps,
        max_qty=max_qty,
        open_depth=depth,
        market_order_prob=0.5,
        engine=engine,
    )
    state = simulation.step(steps).state()
    sent = 0
    for market in range(3):
        bid, ask = (sum(side[market].tolist()) for side in (state.bid, state.ask))
        volume = state.volume[market].item()
        sent_buy, sent_sell = bid + volume - depth, ask + volume - depth
        assert 0 <= sent_buy <= agents * max_qty * steps
        assert 0 <= sent_sell <= agents * max_qty * steps
        sent += sent_buy + sent_sell
    orders = 3 * agents * steps
    assert 0.4 * orders * max_qty < sent < 0.6 * orders * max_qty
    assert (state.bid >= 0).all()
    assert (state.ask >= 0).all()


def test_huge_volume_is_counted_exactly(engine):
    given = {"agents": 200, "max_qty": 2**31 - 1, "market_order_prob": 1, "mix": {"noise": 1}}
    simulation = Simulation(1, **given, levels=8, steps=50, open_depth=0, engine=engine)
    state = simulation.step(50).state()
    # All orders are marketable: buyers and sellers meet, and only the difference rests.
    assert state.volume[0] > 2**31 * 50 * 40
    assert (state.bid[0] > 0).sum() + (state.ask[0] > 0).sum() == 1
