"""The state on the device, shared with CuPy, PyTorch and JAX; work on a stream of the caller's."""

import gc
import os

import numpy as np
import pytest
from on_device import device_tests

from bookwarp.simulation import Simulation
from bookwarp.spec.errors import ParameterError

pytestmark = [*device_tests, pytest.mark.filterwarnings("ignore")]
# JAX takes most of the memory at once, and has no 64-bit integers, unless it is told.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("JAX_ENABLE_X64", "true")

SMALL = {"agents": 40, "levels": 24, "steps": 60, "seed": 5, "window": "following"}
FIELDS = {
    "last_price": "last",
    "volume": "volume",
    "trades": "trades",
    "prev_mid2": "prev_mid2",
    "base": "base",
    "pruned_bid": "pruned_bid",
    "pruned_ask": "pruned_ask",
}


def running(**given):
    return Simulation(9, **SMALL, engine="cuda", **given).step(30)


def from_cupy_by_dlpack(array):
    return pytest.importorskip("cupy").from_dlpack(array)


def from_cupy_by_interface(array):
    return pytest.importorskip("cupy").asarray(array)


def from_torch(array):
    return pytest.importorskip("torch").from_dlpack(array)


def from_jax(array):
    return pytest.importorskip("jax").dlpack.from_dlpack(array)


def to_numpy(array):
    if hasattr(array, "get"):
        return array.get()
    return array.cpu().numpy() if hasattr(array, "cpu") else np.asarray(array)


def address(array):
    if hasattr(array, "get"):
        return array.data.ptr
    return array.data_ptr() if hasattr(array, "data_ptr") else array.unsafe_buffer_pointer()


def copy_of(array):
    return array.copy() if hasattr(array, "get") else array.clone()


# What JAX has taken is constant to it: it may keep a copy that it made for the host.
WATCHERS = [from_cupy_by_dlpack, from_cupy_by_interface, from_torch]
TAKERS = [*WATCHERS, from_jax]


@pytest.mark.parametrize("take", TAKERS)
def test_arrays_are_the_state_without_a_copy(take):
    simulation = running()
    state = simulation.state()
    arrays = simulation.device_arrays()
    for name, field in FIELDS.items():
        taken = take(arrays[name])
        assert address(taken) == arrays[name].__cuda_array_interface__["data"][0]
        np.testing.assert_array_equal(to_numpy(taken), getattr(state, field), err_msg=name)
    np.testing.assert_array_equal(to_numpy(take(arrays["book"])), state.bid - state.ask)


@pytest.mark.parametrize("take", WATCHERS)
def test_arrays_show_the_steps_that_follow(take):
    simulation = running()
    volume, book = (take(simulation.device_arrays()[name]) for name in ("volume", "book"))
    before = to_numpy(volume).copy()
    for _ in range(30):
        simulation.step()
    assert (to_numpy(volume) > before).all()
    state = simulation.state()
    np.testing.assert_array_equal(to_numpy(volume), state.volume)
    np.testing.assert_array_equal(to_numpy(book), state.bid - state.ask)


@pytest.mark.parametrize("take", TAKERS)
def test_arrays_outlive_their_simulation(take):
    simulation = running()
    last, volume = simulation.state().last, take(simulation.device_arrays()["volume"])
    expected = simulation.state().volume
    del simulation
    gc.collect()
    others = [running(market_ids=range(100, 109)) for _ in range(5)]
    np.testing.assert_array_equal(to_numpy(volume), expected)
    assert len(last) == len(others) + 4


@pytest.mark.parametrize("take", TAKERS)
def test_wide_lots_are_wide_arrays(take):
    simulation = running(open_depth=2**40)
    book = take(simulation.device_arrays()["book"])
    state = simulation.state()
    assert to_numpy(book).dtype == np.int64
    np.testing.assert_array_equal(to_numpy(book), state.bid - state.ask)


@pytest.mark.parametrize("take", TAKERS)
@pytest.mark.parametrize("cuts", [[60], [1] * 60])
def test_recorded_rows_that_stay_are_those_of_the_reference(take, cuts):
    given = {"record": ("last", "volume", "book"), "book_markets": [0, 8], "record_every": 2}
    simulation = Simulation(9, **SMALL, **given, engine="cuda", keep_on_device=True)
    for steps in cuts:
        simulation.step(steps)
    arrays = simulation.device_history()
    expected = Simulation(9, **SMALL, **given, engine="reference").step(60).history
    found = {name: to_numpy(take(array)) for name, array in arrays.items()}
    found["volume"] = np.diff(found.pop("total_volume"), axis=0, prepend=0)
    for name, rows in expected.items():
        np.testing.assert_array_equal(found[name], rows, err_msg=name)
        np.testing.assert_array_equal(simulation.history[name], rows, err_msg=name)


@pytest.mark.parametrize("take", WATCHERS)
def test_markets_are_set_back_by_writing_into_the_arrays(take):
    simulation = Simulation(9, **SMALL, engine="cuda", record=())
    opening = {n: copy_of(take(array)) for n, array in simulation.device_arrays().items()}
    simulation.step(30)
    for name, array in simulation.device_arrays().items():
        take(array)[1::2] = opening[name][1::2]
    whole = Simulation(9, **SMALL, engine="reference", record=())
    first = whole.state()
    state = whole.step(30).state()
    for name, array in state.arrays().items():
        array[1::2] = getattr(first, name)[1::2]
    whole._engine.write_state(state)
    assert simulation.step(30).digest() == whole.step(30).digest()


def test_a_copy_and_another_device_are_refused():
    array = running().device_arrays()["volume"]
    assert array.__dlpack_device__() == (2, 0)
    with pytest.raises(BufferError, match="shared, not copied"):
        array.__dlpack__(copy=True)
    with pytest.raises(BufferError, match=r"is on GPU 0, not on device \(1, 0\)"):
        array.__dlpack__(dl_device=(1, 0))


def cupy_stream():
    return pytest.importorskip("cupy").cuda.Stream(non_blocking=True)


def torch_stream():
    return pytest.importorskip("torch").cuda.Stream()


@pytest.mark.parametrize("make", [cupy_stream, torch_stream])
def test_work_is_put_on_the_stream_of_the_caller(make):
    stream = make()
    simulation = Simulation(9, **SMALL, engine="cuda", cuda_stream=stream)
    for _ in range(60):
        simulation.step()
    whole = Simulation(9, **SMALL, engine="reference").step(60)
    assert simulation.digest() == whole.digest()
    for name, series in whole.history.items():
        np.testing.assert_array_equal(simulation.history[name], series)


def test_steps_wait_for_work_on_the_stream_and_work_for_them():
    torch = pytest.importorskip("torch")
    stream = torch.cuda.Stream()
    simulation = Simulation(4096, 256, steps=2000, engine="cuda", cuda_stream=stream, record=())
    with torch.cuda.stream(stream):
        volume = torch.from_dlpack(simulation.device_arrays()["volume"])
        sums = []
        for _ in range(20):
            simulation.step(50)
            sums.append(volume.sum())
    stream.synchronize()
    found = [int(each) for each in sums]
    other = Simulation(4096, 256, steps=2000, engine="cpu", record=())
    assert found == [int(other.step(50).state().volume.sum()) for _ in range(20)]


def test_a_consumer_on_another_stream_waits_for_the_steps():
    torch = pytest.importorskip("torch")
    ours, theirs = torch.cuda.Stream(), torch.cuda.Stream()
    simulation = Simulation(4096, 256, steps=2000, engine="cuda", cuda_stream=ours, record=())
    simulation.step(1)
    array = simulation.device_arrays()["volume"]
    simulation._engine.run(500, {})
    with torch.cuda.stream(theirs):
        total = int(torch.from_dlpack(array).sum())
    assert total == int(simulation._engine.read_state().volume.sum())


@pytest.mark.parametrize("stream", [7, "fast", object()])
def test_what_is_no_stream_is_refused(stream):
    with pytest.raises(ParameterError, match="cuda_stream must be a stream of CUDA"):
        Simulation(2, engine="cuda", cuda_stream=stream)
