"""When a simulation waits for an engine that works on its own, and what it counts as time."""

import time

import numpy as np
import pytest

from bookwarp import simulation as module
from bookwarp.reference.engine import ReferenceEngine
from bookwarp.simulation import Simulation


class LateEngine(ReferenceEngine):
    """Does what it is asked for when it is waited for, and keeps count."""

    def __init__(self, auction, plan, threads=None):
        super().__init__(auction, plan)
        self.asked, self.pieces, self.waits = [], [], 0

    def run(self, steps, rows):
        self.asked.append((steps, rows))
        self.pieces += [steps] * (steps > 0)

    def wait(self):
        self.waits += 1
        for steps, rows in self.asked:
            super().run(steps, rows)
            time.sleep(0.001)
        self.asked = []

    def read_state(self):
        self.wait()
        return super().read_state()


@pytest.fixture
def late(monkeypatch):
    """Return a function that makes a simulation on a late engine, and the engine."""
    monkeypatch.setattr(module, "engine_class", lambda name: LateEngine)

    def make(**given):
        simulation = Simulation(3, agents=5, levels=8, engine="reference", **given)
        return simulation, simulation._engine

    return make


def test_single_steps_are_not_waited_for(late):
    simulation, engine = late(steps=100)
    for _ in range(50):
        simulation.step()
    assert engine.pieces == [1] * 50
    assert engine.waits == 0
    assert simulation.steps_done == 50


def test_every_piece_of_a_long_step_is_waited_for(late):
    simulation, engine = late(steps=100)
    simulation.step(60)
    assert engine.pieces[:3] == [1, 4, 16]
    assert sum(engine.pieces) == 60
    assert engine.waits == len(engine.pieces)


def test_a_step_that_was_found_short_is_not_waited_for(late):
    simulation, engine = late(steps=100)
    simulation.step(20)
    waits = engine.waits
    for _ in range(4):
        simulation.step(16)
    assert engine.pieces[-4:] == [16] * 4
    assert engine.waits == waits


def test_pieces_are_as_long_as_they_may_last(late, monkeypatch):
    monkeypatch.setattr(module, "_PIECE_SECONDS", 1e-9)
    simulation, engine = late(steps=100)
    simulation.step(20)
    assert engine.pieces == [1] * 20


@pytest.mark.parametrize(
    "ask",
    [
        lambda simulation: simulation.state(),
        lambda simulation: simulation.digest(),
        lambda simulation: simulation.history,
        lambda simulation: simulation.result(),
    ],
)
def test_what_is_asked_for_is_waited_for_and_timed(late, ask):
    simulation, engine = late()
    for _ in range(20):
        simulation.step()
    before = simulation.elapsed_s
    ask(simulation)
    assert not engine.asked
    assert simulation.elapsed_s - before >= 20 * 0.001
    assert simulation.elapsed_s < 20


def test_a_checkpoint_holds_what_was_waited_for(late, tmp_path):
    simulation, _ = late()
    for _ in range(9):
        simulation.step()
    simulation.save(tmp_path / "here.ckpt")
    resumed = Simulation.resume(tmp_path / "here.ckpt", engine="reference")
    whole = Simulation(3, agents=5, levels=8, engine="reference")
    assert resumed.steps_done == 9
    assert resumed.state().step == 9
    np.testing.assert_array_equal(resumed.history["last"], simulation.history["last"])
    assert whole.auction.markets == 3


def test_rows_come_in_the_order_of_the_steps(late):
    simulation, _ = late(steps=30, record_every=2)
    for count in (1, 1, 7, 1, 20):
        simulation.step(count)
    assert simulation.history["last"].shape == (15, 3)
    one, _ = late(steps=30, record_every=2)
    np.testing.assert_array_equal(simulation.history["volume"], one.step(30).history["volume"])


def test_lengths_that_were_checked_are_not_checked_again(late, monkeypatch):
    simulation, _ = late(steps=10)
    checked = []
    check = type(simulation.auction).check_horizon
    monkeypatch.setattr(
        type(simulation.auction),
        "check_horizon",
        lambda self, steps, half_ticks: checked.append(steps) or check(self, steps, half_ticks),
    )
    for _ in range(30):
        simulation.step()
    assert checked == [11, 22, 23, 46]
