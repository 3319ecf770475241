"""Host memory that GPUs copy to: on pages of its own, and pinned no longer than it is needed."""

import mmap

import numpy as np
import pytest
from emulated_gpu import PINNED, EmulatedGpu, wait_for_nothing_pinned
from emulated_gpu import emulated_gpus as emulated_gpus
from tiny_measure import TinyMeasure

from bookwarp.engines import pinned
from bookwarp.engines.pinned import Pinned, new_array
from bookwarp.sweeping.design import grid
from bookwarp.sweeping.machine import Machine
from bookwarp.sweeping.plan import SweepPlan
from bookwarp.sweeping.room import Room

PAGE = mmap.PAGESIZE
MACHINE = Machine("cuda", 2, (0, 1), 10**9, 10**9)
PLAN = SweepPlan.of(grid(max_qty=[1, 2], replicas=3), TinyMeasure(), {"steps": 5})


@pytest.fixture(autouse=True)
def gpu(emulated_gpus, monkeypatch):
    monkeypatch.setattr(pinned, "_LEAST_BYTES", 1)
    assert not PINNED
    yield
    assert not PINNED


@pytest.mark.parametrize("kind", [np.float64, np.int64, np.uint8])
@pytest.mark.parametrize("shape", [(), (1,), (0, 3), (PAGE,), (PAGE + 1,), (700, 5, 3)])
def test_arrays_have_pages_of_their_own(shape, kind):
    arrays = [new_array(shape, kind) for _ in range(9)]
    pages = set()
    for number, array in enumerate(arrays):
        assert (array.shape, array.dtype) == (shape, kind)
        assert array.flags.c_contiguous
        assert array.flags.writeable
        assert array.ctypes.data % PAGE == 0 or array.size == 0
        stop = -(-(array.ctypes.data + array.nbytes) // PAGE)
        own = set(range(array.ctypes.data // PAGE, stop) if array.size else ())
        assert pages.isdisjoint(own)
        pages |= own
        array[...] = number
    assert [array.size == 0 or (array == n).all() for n, array in enumerate(arrays)] == [True] * 9


def test_arrays_are_pinned_while_they_are_needed():
    arrays = [new_array((PAGE + 8 * n,), np.uint8) for n in range(4)]
    with Pinned(0, arrays, threads=3) as held:
        assert sorted(PINNED) == sorted(array.ctypes.data for array in arrays)
        held.release()
        assert not PINNED
    held = Pinned(1, arrays, threads=1)
    assert len(PINNED) == 4
    del held
    assert not PINNED
    with pytest.raises(ValueError, match="a fault"), Pinned(0, arrays, threads=1):
        raise ValueError("a fault")


def test_small_arrays_are_left_alone(monkeypatch):
    monkeypatch.setattr(pinned, "_LEAST_BYTES", 100)
    arrays = [new_array((size,), np.uint8) for size in (99, 100, 0)]
    with Pinned(0, arrays, threads=1):
        assert list(PINNED) == [arrays[1].ctypes.data]


def test_a_system_may_refuse_to_pin(monkeypatch):
    pin = EmulatedGpu.pin
    refused = new_array((5,), np.uint8)
    monkeypatch.setattr(
        EmulatedGpu, "pin", lambda gpu, array: array is not refused and pin(gpu, array)
    )
    with Pinned(0, [refused, new_array((5,), np.uint8)], threads=1):
        assert len(PINNED) == 1


def test_pages_are_there_when_memory_is_pinned(monkeypatch):
    touched = []
    monkeypatch.setattr(pinned, "_TOUCHED_BYTES", PAGE)
    monkeypatch.setattr(
        pinned, "_touch", lambda piece: touched.append((piece.ctypes.data, piece.nbytes))
    )
    array = new_array((2 * PAGE + 5,), np.uint8)
    with Pinned(0, [array], threads=2):
        first = array.ctypes.data
        assert sorted(touched) == [(first, PAGE), (first + PAGE, PAGE), (first + 2 * PAGE, 5)]


def test_room_is_pinned_once_and_until_all_markets_are_done():
    room = Room(PLAN, 6, MACHINE)
    assert not PINNED
    room.prepare()
    held = set(PINNED)
    room.prepare()
    assert set(PINNED) == held == {array.ctypes.data for array in room.results.values()}
    assert {name: array.shape[0] for name, array in room.results.items()} == dict.fromkeys(
        [*PLAN.outputs, *PLAN.exact], 6
    )
    room.done(2)
    assert set(PINNED) == held
    room.done(4)
    wait_for_nothing_pinned()


def test_room_that_is_let_go_is_not_pinned():
    room = Room(PLAN, 6, MACHINE)
    room.prepare()
    assert PINNED
    del room
    assert not PINNED


@pytest.mark.parametrize("memory, pins", [(2 * 6 * 48, True), (2 * 6 * 48 - 1, False)])
def test_room_is_pinned_only_if_it_is_a_part_of_the_memory(memory, pins):
    room = Room(PLAN, 6, Machine("cuda", 1, (0,), memory, 10**9))
    assert PLAN.market_nbytes == 48
    room.prepare()
    assert bool(PINNED) == pins
    room.done(6)
    wait_for_nothing_pinned()


def test_room_for_cores_is_not_pinned():
    room = Room(PLAN, 6, Machine("cpu", 2, (), 10**9, 0))
    room.prepare()
    room.done(6)
    assert not PINNED
