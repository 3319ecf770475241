"""The published results of the KineticSim paper's own engine, to every digit that is given."""

import numpy as np
import pytest

from bookwarp.analysis.stylised import excess_kurtosis, price_moments, price_returns
from bookwarp.reproduce.published import (
    END_OF_RUN,
    END_OF_RUN_STEPS,
    SWEEP,
    SWEEP_MARKETS,
    SWEEP_SEED,
    SWEEP_SHARES,
    SWEEP_STEPS,
    EndOfRun,
    equals_published,
)
from bookwarp.simulation import Simulation
from bookwarp.spec.agents import Mix, draw_agent_types

SLOW_EVENTS = 2_000_000_000
"""Runs with more agent events than this can take more than ten seconds."""


def end_of_run_cases() -> list[object]:
    cases = []
    for row in END_OF_RUN:
        slow = row.markets * row.agents * END_OF_RUN_STEPS > SLOW_EVENTS
        marks = [pytest.mark.slow] if slow else []
        cases.append(pytest.param(row, id=f"{row.markets}x{row.agents}", marks=marks))
    return cases


def run(markets: int, agents: int, steps: int, seed: int, mix: Mix, record=()) -> Simulation:
    types = draw_agent_types(markets, agents, mix, seed)
    simulation = Simulation(
        markets, agents, 128, steps, seed, stream="paper", agent_types=types, record=record
    )
    return simulation.step(steps)


@pytest.mark.parametrize("row", end_of_run_cases())
def test_end_of_run_means_equal_the_published_ones(row: EndOfRun):
    state = run(row.markets, row.agents, END_OF_RUN_STEPS, 0, Mix()).state()
    assert equals_published(state.last.mean(), row.mean_last_price)
    assert equals_published(state.volume.mean(), row.mean_volume)
    assert equals_published(state.trades.mean(), row.mean_trades)
    # Its authors took the standard deviation in float32.
    assert state.last.astype(np.float32).std() == pytest.approx(row.std_last_price, rel=1e-6)


@pytest.mark.parametrize("engine", ["reference", "cpu"])
def test_end_of_run_means_are_those_of_each_engine(engine):
    types = draw_agent_types(64, 256, seed=0)
    simulation = Simulation(64, stream="paper", agent_types=types, engine=engine).step(500)
    state = simulation.state()
    assert (state.last.mean(), state.volume.mean()) == (63.75, 96937.75)


@pytest.mark.parametrize(
    "index", [0, 3, 5, 8, 12, 14], ids=lambda index: f"share={SWEEP_SHARES[index]:.2f}"
)
def test_sweep_of_momentum_shares_equals_the_published_one(index):
    mix = Mix(noise="rest", momentum=SWEEP_SHARES[index], maker=0.15)
    simulation = run(SWEEP_MARKETS, 256, SWEEP_STEPS, SWEEP_SEED, mix, record=("last",))
    price = simulation.history["last"]
    found = {
        "price_std": price_moments(price)[1].mean(),
        "excess_kurtosis": excess_kurtosis(price_returns(price)).mean(),
        "volume_per_step": simulation.state().volume.mean() / SWEEP_STEPS,
    }
    wanted = {name: values[index] for name, values in SWEEP.items()}
    assert found == pytest.approx(wanted, rel=1e-12)


# momentum, maker, fundamental -> volatility, kurtosis, volume a step: other rows of the same file.
PHASES = {
    (0.7, 0.05, 0.0): (21.323964617324457, 21.712209945251942, 278.3463681640625),
    (0.0, 0.15, 0.05): (0.21437293233098353, 64.16915631899336, 189.3669375),
    (0.2, 0.15, 0.15): (0.6131362413776809, 19.63587354793765, 246.3409169921875),
}


@pytest.mark.parametrize("shares", PHASES, ids=str)
def test_phases_of_the_published_diagram_are_found_again(shares):
    momentum, maker, fundamental = shares
    mix = Mix(noise="rest", momentum=momentum, maker=maker, fundamental=fundamental)
    simulation = run(SWEEP_MARKETS, 256, SWEEP_STEPS, SWEEP_SEED, mix, record=("last",))
    price = simulation.history["last"]
    found = (
        price_moments(price)[1].mean(),
        excess_kurtosis(price_returns(price)).mean(),
        simulation.state().volume.mean() / SWEEP_STEPS,
    )
    assert found == pytest.approx(PHASES[shares], rel=1e-12)
