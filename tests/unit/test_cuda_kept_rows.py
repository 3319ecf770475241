"""Recorded rows that stay on GPUs, played by the host: where they are, and who moves them when."""

import numpy as np
import pytest
from emulated_gpu import EmulatedGpu, array_at
from emulated_gpu import emulated_gpus as emulated_gpus

import bookwarp as bw
from bookwarp.engines import registry
from bookwarp.engines.cuda.part import part_nbytes
from bookwarp.simulation import Simulation
from bookwarp.spec.errors import EngineError, ParameterError
from bookwarp.spec.record import SERIES

GIVEN = {"markets": 5, "agents": 7, "levels": 16, "steps": 20, "window": "following"}
EVERYTHING = {"record": (*SERIES, "book"), "book_markets": [0, 2, 4], "depth_ticks": 3}


@pytest.fixture(autouse=True)
def played(emulated_gpus, monkeypatch):
    monkeypatch.setattr(registry, "unavailable_reason", lambda: None)
    return emulated_gpus


def keeping(**given):
    return Simulation(**{**GIVEN, **given}, engine="cuda", keep_on_device=True)


def whole(**given):
    steps = given.pop("steps", GIVEN["steps"])
    return Simulation(**{**GIVEN, **given}, engine="reference").step(steps)


def on_device(simulation, parts):
    """Return what the arrays on the devices show, the parts beside each other."""
    found = []
    for part in range(parts):
        rows = simulation.device_history(part)
        pieces = {}
        for name, array in rows.items():
            interface = array.__cuda_array_interface__
            assert interface["shape"] == array.shape
            assert (interface["typestr"], interface["strides"]) == ("<i8", None)
            pieces[name] = array_at(interface["data"][0], np.int64, *array.shape).copy()
        found.append(pieces)
    return {name: np.concatenate([own[name] for own in found], axis=1) for name in found[0]}


def assert_same_history(found, expected):
    assert found.keys() == expected.keys()
    for name, rows in expected.items():
        np.testing.assert_array_equal(found[name], rows, err_msg=name)


@pytest.mark.parametrize("devices", [[0], [0, 1]])
@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("cuts", [[20], [1] * 20, [3, 0, 17]])
def test_rows_on_the_devices_are_those_of_the_reference(devices, every, cuts):
    given = {**EVERYTHING, "record_every": every}
    simulation = keeping(**given, devices=devices)
    for steps in cuts:
        simulation.step(steps)
    expected = whole(**given).history
    assert_same_history(simulation.history, expected)
    found = on_device(simulation, len(devices))
    found["volume"] = np.diff(found.pop("total_volume"), axis=0, prepend=0)
    assert_same_history(found, expected)


@pytest.mark.parametrize("devices", [[0], [0, 1]])
def test_steps_that_are_not_cut_are_one_launch_on_each_device(played, devices):
    simulation = keeping(devices=devices).step(GIVEN["steps"], in_pieces=False)
    assert [len(gpu.launches) for gpu in played] == [1] * len(devices)
    expected = whole()
    assert simulation.digest() == expected.digest()
    found = simulation.market_state()
    assert found.keys() == {n for n, a in expected.state().arrays().items() if a.ndim == 1}
    for name, array in found.items():
        np.testing.assert_array_equal(array, getattr(expected.state(), name), err_msg=name)


def test_nothing_is_brought_before_it_is_asked_for(played, monkeypatch):
    brought = []
    read = EmulatedGpu.read
    monkeypatch.setattr(
        EmulatedGpu, "read", lambda *given: brought.append(given[2].nbytes) or read(*given)
    )
    monkeypatch.setattr(EmulatedGpu, "fetch", lambda *given: brought.append(given))
    simulation = keeping(record=("last", "volume"))
    for _ in range(5):
        simulation.step()
    simulation.step(10)
    assert simulation.device_history()["last"].shape == (15, 5)
    simulation.device_arrays()
    assert brought == []
    assert simulation.history["last"].shape == (15, 5)
    assert brought == [15 * 5 * 8, 15 * 5 * 8]


def test_a_run_has_its_history(monkeypatch):
    run = bw.simulate(**GIVEN, engine="cuda", keep_on_device=True)
    expected = bw.simulate(**GIVEN, engine="reference")
    assert run.digest() == expected.digest()
    assert_same_history(run.history, expected.history)


def test_arrays_grow_with_the_steps_and_earlier_ones_stay():
    simulation = keeping(record="last").step(4)
    earlier = simulation.device_history()["last"]
    simulation.step(4)
    later = simulation.device_history()["last"]
    assert (earlier.shape, later.shape) == ((4, 5), (8, 5))
    places = [array.__cuda_array_interface__["data"][0] for array in (earlier, later)]
    assert places[0] == places[1]


@pytest.mark.parametrize("steps", [1, 20])
def test_arrays_begin_where_other_libraries_want_them_to(steps):
    """XLA takes no others; the memory itself begins at such a place on a GPU."""
    simulation = keeping(**EVERYTHING, steps=steps).step(steps)
    (part,) = simulation._engine._parts
    starts = [start for start, _ in part.kept.places().values()]
    assert len(set(starts)) == len(SERIES) + 2
    assert all(start % 256 == 0 for start in starts)


def test_what_was_not_recorded_is_not_there():
    simulation = keeping(record=()).step(30)
    assert simulation.device_history() == {}
    assert simulation.history == {}
    assert keeping(record="last").device_history()["last"].shape == (0, 5)


def test_steps_that_were_not_planned_are_refused_if_they_record():
    simulation = keeping(record="last", record_every=3).step(19)
    simulation.step(1).step(0)
    with pytest.raises(ParameterError) as caught:
        simulation.step(2)
    assert str(caught.value) == (
        "22 steps record 7 rows, and keep_on_device has room for the 6 of the planned 20 steps: "
        "plan more steps"
    )
    assert simulation.steps_done == 20
    assert_same_history(simulation.history, whole(record="last", record_every=3).history)


@pytest.mark.parametrize("kept_before", [False, True])
@pytest.mark.parametrize("kept_after", [False, True])
def test_a_checkpoint_is_the_same_wherever_rows_are(tmp_path, kept_before, kept_after):
    first = Simulation(**GIVEN, **EVERYTHING, engine="cuda", keep_on_device=kept_before).step(9)
    first.save(tmp_path / "here.ckpt")
    again = Simulation.resume(tmp_path / "here.ckpt", engine="cuda", keep_on_device=kept_after)
    again.step(11)
    assert again.digest() == whole(**EVERYTHING).digest()
    assert_same_history(again.history, whole(**EVERYTHING).history)
    if kept_after:
        found = on_device(again, 1)["last"]
        np.testing.assert_array_equal(found, again.history["last"][9:])


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_a_simulation_that_is_interrupted_goes_on_to_the_same_end(error):
    simulation = keeping()

    def interrupt(done, wanted):
        raise error

    for _ in range(3):
        with pytest.raises(error):
            simulation.step(20 - simulation.steps_done, progress=interrupt)
        assert len(simulation.history["last"]) == simulation.steps_done
    simulation.step(20 - simulation.steps_done)
    assert_same_history(simulation.history, whole().history)


@pytest.mark.parametrize("given", [{}, {"record": ()}, EVERYTHING])
def test_memory_is_told_to_the_byte_and_asked_for_before(played, monkeypatch, given):
    simulation = keeping(**given).step(20)
    engine = simulation._engine
    (_, key, _), (part,) = played[0].launches[-1], engine._parts
    wanted = part_nbytes(
        key, part.slice, engine.plan, played[0].multiprocessors, simulation._kept_rows
    )
    assert simulation.device_nbytes == wanted == played[0].held_nbytes
    monkeypatch.setattr(EmulatedGpu, "free", wanted - 1)
    with pytest.raises(EngineError, match="this run would take "):
        keeping(**given)


def test_host_memory_is_needed_only_for_what_is_brought():
    given = {"record": "last", "steps": 5000, "memory_limit": 100_000}
    with pytest.raises(ParameterError, match="for 5000 recorded rows"):
        Simulation(**{**GIVEN, **given}, engine="cuda")
    simulation = keeping(**given).step(10)
    assert simulation.history["last"].shape == (10, 5)
    simulation.step(2990)
    with pytest.raises(ParameterError, match="for 3000 recorded rows"):
        simulation.history  # noqa: B018


def test_who_did_not_ask_for_it_is_told():
    for engine in ("cuda", "reference"):
        with pytest.raises(EngineError, match="rows are in host memory: set keep_on_device"):
            Simulation(**GIVEN, engine=engine).device_history()
    with pytest.raises(ParameterError, match="keep_on_device needs engine 'cuda', not 'cpu'"):
        Simulation(**GIVEN, engine="cpu", keep_on_device=True)
    with pytest.raises(ParameterError, match=r"part = 1 is outside 0 \.\. 0"):
        keeping().device_history(1)
