"""Simulations on a GPU: cut, saved, moved, recorded, interrupted; compiled once, or refused."""

import numpy as np
import pytest
from on_device import device_tests

import bookwarp as bw
from bookwarp.simulation import Simulation
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.record import RECORDABLE

pytestmark = device_tests

SMALL = {"agents": 40, "levels": 24, "steps": 60, "seed": 5}


def whole_run(**given):
    return Simulation(9, **{**SMALL, **given}, engine="reference").step(60)


def test_auto_is_the_gpu():
    assert Simulation(2).engine == "cuda"


@pytest.mark.parametrize("cuts", [[60], [0, 60], [1] * 60, [13, 0, 26, 21], [59, 1, 0]])
@pytest.mark.parametrize("stream", ["default", "paper"])
@pytest.mark.parametrize("every", [1, 7])
def test_any_cut_ends_in_the_same_digest_and_history(stream, cuts, every):
    given = {"stream": stream, "window": "following", "record_every": every}
    simulation = Simulation(9, **SMALL, **given, engine="cuda")
    for count in cuts:
        simulation.step(count)
    whole = whole_run(**given)
    assert simulation.digest() == whole.digest()
    for name, series in whole.history.items():
        np.testing.assert_array_equal(simulation.history[name], series)


@pytest.mark.parametrize("window", ["fixed", "following"])
@pytest.mark.parametrize("levels", [8, 24], ids=["brought apart", "brought to the books"])
def test_settings_and_books_of_many_markets_are_as_on_the_cpu(window, levels):
    settings = np.random.default_rng(2).integers(0, 50, 1000)
    settings[0] = 49
    given = {
        **SMALL,
        "levels": levels,
        "window": window,
        "seed": np.arange(50, dtype=np.uint64) * np.uint64(2**58),
        "open_price": 1 + np.arange(50) % 6,
        "open_depth": np.arange(50),
        "mix": {"noise": "rest", "momentum": np.linspace(0, 0.9, 50)},
        "market_ids": settings * 2**24 + np.arange(1000),
        "market_settings": settings,
        "record": ("last", "book"),
        "book_markets": [0, 7, 500, 999],
    }
    runs = [bw.simulate(1000, **given, engine=engine) for engine in ("cuda", "cpu")]
    assert runs[0].digest() == runs[1].digest()
    for name, rows in runs[1].history.items():
        np.testing.assert_array_equal(runs[0].history[name], rows, err_msg=name)


def test_a_checkpoint_moves_between_engines(tmp_path):
    given = {"window": "following", "record": ("last", "volume", "book"), "book_markets": [0, 8]}
    path = tmp_path / "here.ckpt"
    simulation = Simulation(9, **SMALL, **given, engine="cuda")
    for engine in ("cpu", "cuda", "reference", "cuda"):
        simulation.step(10)
        simulation.save(path)
        simulation = Simulation.resume(path, engine=engine)
        assert simulation.engine == engine
    run = simulation.run()
    whole = whole_run(**given)
    assert run.digest() == whole.digest()
    for name, series in whole.history.items():
        np.testing.assert_array_equal(run.history[name], series)


def test_everything_that_can_be_recorded_is_as_on_the_cpu():
    given = {"record": RECORDABLE}
    given |= {"book_markets": [1, 3], "tape_markets": [2, 4], "tape_steps": [0, 7, 59]}
    given |= {"depth_ticks": 2, "record_every": 3}
    runs = [bw.simulate(9, **SMALL, **given, engine=engine) for engine in ("cuda", "cpu")]
    assert runs[0].digest() == runs[1].digest()
    assert runs[0].history.keys() == runs[1].history.keys()
    for name, series in runs[1].history.items():
        np.testing.assert_array_equal(runs[0].history[name], series, err_msg=name)
    np.testing.assert_array_equal(runs[0].tape, runs[1].tape)


def test_rerun_of_a_run_ends_in_the_same_digest():
    run = bw.simulate(9, **SMALL, engine="cuda")
    assert run.rerun(engine="cpu").digest() == run.digest() == run.rerun().digest()


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_a_simulation_that_is_interrupted_goes_on_to_the_same_end(error):
    simulation = Simulation(9, **SMALL, engine="cuda")

    def interrupt(done, wanted):
        raise error

    while simulation.steps_done < 60:
        with pytest.raises(error):
            simulation.step(60 - simulation.steps_done, progress=interrupt)
        assert simulation.state().step == simulation.steps_done
        assert len(simulation.history["last"]) == simulation.steps_done
    assert simulation.digest() == whole_run().digest()


def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(ParameterError, match=r"devices: 99 is outside 0 \.\. \d+ \(GPUs here\)"):
        Simulation(2, engine="cuda", devices=99)


def test_the_device_that_was_current_stays_current():
    driver = pytest.importorskip("cuda.bindings.driver")
    driver.cuInit(0)
    before = int(driver.cuCtxGetCurrent()[1])
    Simulation(2, steps=3, engine="cuda").run()
    assert int(driver.cuCtxGetCurrent()[1]) == before
