"""A simulation cut into pieces, on any number of threads, side by side with others."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from bookwarp.engines.registry import available_threads
from bookwarp.simulation import Simulation
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.runs import Runs

SMALL = {"agents": 12, "levels": 16, "steps": 40}


def digest_of(engine="reference", steps=40, **parameters):
    return Simulation(5, **{**SMALL, **parameters}, engine=engine).step(steps).digest()


@pytest.mark.parametrize("cuts", [[40], [0, 40], [1] * 40, [13, 0, 26, 1], [39, 1, 0]])
@pytest.mark.parametrize("stream", ["default", "paper"])
def test_any_cut_ends_in_the_same_digest_and_history(engine, stream, cuts):
    simulation = Simulation(5, **SMALL, stream=stream, window="following", engine=engine)
    for count in cuts:
        assert simulation.step(count) is simulation
    whole = Simulation(5, **SMALL, stream=stream, window="following", engine="reference").step(40)
    assert simulation.steps_done == simulation.state().step == 40
    assert simulation.digest() == whole.digest()
    for name, series in whole.history.items():
        np.testing.assert_array_equal(simulation.history[name], series)


def test_a_step_of_none_changes_nothing(engine):
    simulation = Simulation(5, **SMALL, engine=engine).step(3)
    before = simulation.digest()
    assert simulation.step(0).digest() == before
    assert simulation.history["last"].shape == (3, 5)


def test_one_step_is_the_default(engine):
    assert Simulation(5, **SMALL, engine=engine).step().steps_done == 1


def test_a_simulation_may_go_on_beyond_the_planned_steps(engine):
    simulation = Simulation(5, **{**SMALL, "steps": 10}, engine=engine)
    assert simulation.step(25).step(15).digest() == digest_of()


def test_steps_at_once_are_the_steps_in_pieces(engine):
    in_pieces = Simulation(5, **SMALL, engine=engine).step(20)
    at_once = Simulation(5, **SMALL, engine=engine).step(20, in_pieces=False)
    assert at_once.digest() == in_pieces.digest()
    np.testing.assert_array_equal(at_once.history["last"], in_pieces.history["last"])


def test_state_of_the_markets_is_the_state_without_the_books(engine):
    simulation = Simulation(5, **SMALL, engine=engine).step(20)
    state = simulation.state().arrays()
    found = simulation.market_state()
    assert found.keys() == {name for name, array in state.items() if array.ndim == 1}
    for name, array in found.items():
        np.testing.assert_array_equal(array, state[name], err_msg=name)


def test_arrays_of_the_state_are_written_to_those_of_the_caller(engine):
    simulation = Simulation(5, **SMALL, engine=engine).step(20)
    found = {"trades": np.zeros(5, np.int64), "last": np.zeros(10, np.int64)[5:]}
    wait = simulation.send_market_state(found)
    simulation.step(5)
    wait()
    expected = Simulation(5, **SMALL, engine=engine).step(20).market_state()
    for name, array in found.items():
        np.testing.assert_array_equal(array, expected[name], err_msg=name)


@pytest.mark.parametrize("places", [Runs.one(3, 8), Runs(1, 5, 2, 4)])
def test_arrays_of_the_state_are_written_to_the_places_that_are_told(engine, places):
    simulation = Simulation(5, **SMALL, engine=engine).step(20)
    found = {name: np.full(12, 77) for name in ("trades", "last")}
    simulation.send_market_state(found, places)()
    for name, array in found.items():
        expected = np.full(12, 77)
        expected[places.array()] = simulation.market_state()[name]
        np.testing.assert_array_equal(array, expected, err_msg=name)


@pytest.mark.parametrize(
    "places, said",
    [
        (Runs.one(0, 4), "places are 4, but there are 5 markets"),
        (Runs(1, 5, 2, 4), r"for trades is int64 \(9,\); .* contiguous int64 \(10,\) or more"),
    ],
)
def test_places_that_are_not_in_the_arrays_are_refused(places, said):
    with pytest.raises(ParameterError, match=said):
        Simulation(5, **SMALL).send_market_state({"trades": np.zeros(9, np.int64)}, places)


@pytest.mark.parametrize(
    "found, said",
    [
        ({"trade": np.zeros(5, np.int64)}, "unknown array of the state 'trade'.*'trades'"),
        ({"bid": np.zeros(5, np.int64)}, "unknown array of the state 'bid'"),
        (
            {"trades": np.zeros(5)},
            r"array for trades is float64 \(5,\); .* contiguous int64",
        ),
        ({"trades": np.zeros(6, np.int64)}, r"array for trades is int64 \(6,\)"),
        ({"trades": [0] * 5}, "what is given for trades must be an array of NumPy"),
        ({"trades": np.frombuffer(bytes(40), np.int64)}, "that can be written to"),
        ({"trades": np.zeros(10, np.int64)[::2]}, r"array for trades is int64 \(5,\); .* contig"),
    ],
)
def test_arrays_that_cannot_be_written_to_are_refused(found, said):
    with pytest.raises(ParameterError, match=said):
        Simulation(5, **SMALL).send_market_state(found)


def test_state_is_a_copy(engine):
    simulation = Simulation(5, **SMALL, engine=engine).step(5)
    state = simulation.state()
    state.bid[:] = 77
    assert simulation.step(35).digest() == digest_of()


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"stream": "paper"},
        {"open_price": 7},
        {"open_depth": 9},
        {"max_qty": 5},
        {"noise_spread": 4},
        {"market_order_prob": 0.2},
        {"maker_half_spread": 2},
        {"mix": {"noise": 1}},
        {"agents": 13},
        {"levels": 17},
        {"market_ids": [0, 1, 2, 3, 5]},
    ],
)
def test_every_parameter_changes_the_result(engine, change):
    assert digest_of(engine, **change) != digest_of(engine)


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("stream", ["default", "paper"])
def test_any_number_of_threads_gives_the_same_digest(engine, stream, threads):
    found = digest_of(engine, threads=threads, stream=stream)
    assert found == digest_of("reference", stream=stream)


def test_all_available_threads_are_the_default():
    assert Simulation(1, engine="reference").threads == available_threads() >= 1


def test_simulations_run_at_the_same_time_give_the_digests_they_give_alone(engine):
    seeds = list(range(8))
    alone = [digest_of(engine, seed=seed) for seed in seeds]
    start = threading.Barrier(4)

    def run(seed):
        simulation = Simulation(5, **SMALL, seed=seed, engine=engine, threads=2)
        if seed < 4:
            start.wait(timeout=30)
        for _ in range(40):
            simulation.step(1)
        return simulation.digest()

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(run, seeds))
    assert together == alone
    assert len(set(alone)) == len(seeds)
