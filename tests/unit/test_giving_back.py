"""Memory of a GPU that is freed beside other work: who wants some waits, and others do not."""

from threading import Event, Thread

import pytest
from emulated_gpu import EmulatedGpu
from emulated_gpu import emulated_gpus as emulated_gpus
from tiny_measure import TinyMeasure

import bookwarp as bw
from bookwarp.engines import registry
from bookwarp.engines.cuda import gpu
from bookwarp.engines.cuda.gpu import giving_back
from bookwarp.engines.cuda.part import Part

DESIGN = bw.grid(momentum=[0.0, 0.2, 0.4], noise="rest", replicas=3)
GIVEN = {"agents": 12, "levels": 16, "steps": 30, "measure": TinyMeasure()}
SOON, LATE = 0.05, 30


@pytest.mark.parametrize("fails", [False, True])
def test_who_wants_memory_of_that_gpu_waits_until_it_is_free(fails):
    inside, leave, there = Event(), Event(), Event()

    def give_back():
        try:
            with giving_back(3):
                inside.set()
                assert leave.wait(LATE)
                if fails:
                    raise ZeroDivisionError
        except ZeroDivisionError:
            pass

    def want():
        gpu._await_what_leaves(3)
        there.set()

    Thread(target=give_back).start()
    assert inside.wait(LATE)
    gpu._await_what_leaves(4)
    Thread(target=want).start()
    assert not there.wait(SOON)
    leave.set()
    assert there.wait(LATE)


@pytest.mark.parametrize("ask", ["free_bytes", "claim"])
def test_a_gpu_is_asked_for_memory_only_then(ask, monkeypatch):
    """As far as it can be told without one: nothing of the driver is called before."""

    def wait(ordinal):
        raise RuntimeError(f"waits for {ordinal}")

    monkeypatch.setattr(gpu, "_await_what_leaves", wait)
    unmade = gpu.Gpu.__new__(gpu.Gpu)
    unmade.ordinal = 5
    with pytest.raises(RuntimeError, match="waits for 5"):
        getattr(unmade, ask)(*([8] if ask == "claim" else []))


@pytest.fixture
def frees_late(emulated_gpus, monkeypatch):
    """Hold everybody up who frees memory of a simulation that is done, until this event."""
    monkeypatch.setattr(registry, "unavailable_reason", lambda: None)
    late = Event()
    release = EmulatedGpu.release

    def wait(played, pointer):
        if gpu._LEAVING[played.ordinal]:
            assert late.wait(LATE)
        release(played, pointer)

    monkeypatch.setattr(EmulatedGpu, "release", wait)
    return late


@pytest.mark.parametrize("out", [None, "here.zarr"])
def test_a_sweep_is_there_before_its_memory_is_free(frees_late, emulated_gpus, out, tmp_path):
    where = out and tmp_path / out
    found = bw.sweep(DESIGN, engine="cuda", devices="all", out=where, **GIVEN).load()
    used = [played for played in emulated_gpus if played.launches]
    assert sorted(played.ordinal for played in used) == [0, 1]
    assert all(played.held_nbytes for played in used)
    assert +gpu._LEAVING == {0: 1, 1: 1}
    frees_late.set()
    for ordinal in (0, 1):
        gpu._await_what_leaves(ordinal)
    assert not any(played.held_nbytes for played in used)
    assert found.identical(bw.sweep(DESIGN, engine="reference", **GIVEN))


def test_all_simulations_of_a_sweep_are_freed_so(emulated_gpus, monkeypatch):
    """Those of chosen paths too."""
    monkeypatch.setattr(registry, "unavailable_reason", lambda: None)
    states, freed = set(), []
    make, release = Part.__init__, EmulatedGpu.release

    def note(part, *given):
        make(part, *given)
        states.add(part.scalars.pointer)

    def see(played, pointer):
        if pointer in states:
            freed.append(gpu._LEAVING[played.ordinal])
        release(played, pointer)

    monkeypatch.setattr(Part, "__init__", note)
    monkeypatch.setattr(EmulatedGpu, "release", see)
    bw.sweep(DESIGN, engine="cuda", devices="all", paths=1, **GIVEN)
    for ordinal in (0, 1):
        gpu._await_what_leaves(ordinal)
    assert freed == [1, 1, 1]


def test_the_next_launch_on_a_gpu_begins_when_its_memory_is_free(
    frees_late, emulated_gpus, monkeypatch
):
    """So that all of it may be asked for."""
    monkeypatch.setattr("bookwarp.sweeping.machine.Machine.markets_at_once", lambda *given: 4)
    seen = []
    claim = EmulatedGpu.claim

    def note(played, nbytes):
        seen.append(sum(other.held_nbytes for other in emulated_gpus if other is not played))
        return claim(played, nbytes)

    monkeypatch.setattr(EmulatedGpu, "claim", note)
    frees_late.set()
    bw.sweep(DESIGN, engine="cuda", **GIVEN)
    assert sum(len(played.launches) for played in emulated_gpus) == 3
    assert not any(seen)
