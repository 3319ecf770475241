"""Progress, and a simulation interrupted by it or by a signal: nothing is lost or done twice."""

import os
import re
import signal
import threading
import time

import numpy as np
import pytest

import bookwarp as bw
from bookwarp.simulation import Simulation
from bookwarp.spec.errors import ParameterError

SMALL = {"agents": 12, "levels": 16, "steps": 40}


def test_progress_is_told_steps_done_and_steps_wanted(engine):
    simulation = Simulation(5, **SMALL, engine=engine).step(4)
    told = []
    simulation.step(36, progress=lambda done, wanted: told.append((done, wanted)))
    done = [each for each, _ in told]
    assert {wanted for _, wanted in told} == {36}
    assert done == sorted(set(done))
    assert done[0] >= 1
    assert done[-1] == 36


def test_progress_bar_leaves_stdout_alone(capsys):
    Simulation(5, **SMALL, engine="reference").step(40, progress=True)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("progress", [3, 0, "bar", [True]])
def test_what_is_no_way_to_show_progress_is_refused_before_any_step(progress):
    said = r"progress must be True, False, None or a function of \(done, wanted\), not "
    with pytest.raises(ParameterError, match=said + re.escape(repr(progress))):
        bw.simulate(5, **SMALL, engine="reference", progress=progress, agent=3)
    simulation = Simulation(5, **SMALL, engine="reference")
    with pytest.raises(ParameterError, match=said):
        simulation.run(progress)
    assert simulation.steps_done == 0


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
@pytest.mark.parametrize("every", [1, 3])
def test_simulation_interrupted_by_its_progress_goes_on_to_the_same_end(engine, error, every):
    simulation = Simulation(5, **SMALL, record_every=every, engine=engine)

    def interrupt(done, wanted):
        raise error

    for interrupted in range(1, 5):
        with pytest.raises(error):
            simulation.step(40 - simulation.steps_done, progress=interrupt)
        assert simulation.steps_done == simulation.state().step == interrupted
        assert len(simulation.history["last"]) == simulation.steps_done // every
    simulation.step(40 - simulation.steps_done)
    whole = Simulation(5, **SMALL, record_every=every, engine="reference").step(40)
    assert simulation.digest() == whole.digest()
    for name, series in whole.history.items():
        np.testing.assert_array_equal(simulation.history[name], series)


def send_soon(number, seconds):
    timer = threading.Timer(seconds, os.kill, (os.getpid(), number))
    timer.start()
    return timer


@pytest.mark.usefixtures("python_interrupts")
def test_simulation_interrupted_by_ctrl_c_goes_on_to_the_same_end(engine):
    given = {"agents": 20, "levels": 32, "steps": 10**6, "seed": 3, "record_every": 7}
    simulation = Simulation(64, **given, engine=engine)
    for count in range(1, 5):
        timer = send_soon(signal.SIGINT, 0.02 * count)
        with pytest.raises(KeyboardInterrupt):
            simulation.step(10**6 - simulation.steps_done)
        timer.join()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        done = simulation.steps_done
        assert simulation.state().step == done
        assert len(simulation.history["volume"]) == done // 7
    assert 0 < simulation.steps_done < 10**6
    simulation.step(5)
    whole = Simulation(64, **given).step(simulation.steps_done)
    assert simulation.digest() == whole.digest()
    for name, series in whole.history.items():
        np.testing.assert_array_equal(simulation.history[name], series)


def test_termination_waits_for_the_piece_that_is_running():
    class Terminated(BaseException):
        pass

    def terminate(number, frame):
        raise Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        simulation = Simulation(64, agents=20, levels=32, steps=10**6, engine="reference")
        timer = send_soon(signal.SIGTERM, 0.05)
        with pytest.raises(Terminated):
            simulation.step(10**6)
        timer.join()
        assert signal.getsignal(signal.SIGTERM) is terminate
    finally:
        signal.signal(signal.SIGTERM, before)
    assert simulation.state().step == simulation.steps_done > 0


def test_interrupts_are_heeded_soon(python_interrupts):
    simulation = Simulation(64, agents=64, levels=64, steps=10**6, record=())
    simulation.step(1)  # compiles
    timer = send_soon(signal.SIGINT, 0.6)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        simulation.step(10**6)
    timer.join()
    assert time.monotonic() - began < 0.6 + 2.0
