"""What one worker of a cluster does of a sweep, without a cluster."""

import hashlib
import pickle
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from tiny_measure import TinyMeasure

from bookwarp.spec.errors import EngineError, StoreError
from bookwarp.sweeping import worker as workers
from bookwarp.sweeping.design import grid
from bookwarp.sweeping.machine import Machine
from bookwarp.sweeping.plan import SweepPlan
from bookwarp.sweeping.store import SweepStore
from bookwarp.sweeping.worker import Job, Room, prepare, run_task

DESIGN = grid(momentum=[0.0, 0.1, 0.2, 0.3, 0.4, 0.5], noise="rest", replicas=2)
PLAN = SweepPlan.of(DESIGN, TinyMeasure(), {"agents": 8, "levels": 16, "steps": 20}, block=2)
GIGABYTE = 10**9


@pytest.fixture
def worker(monkeypatch):
    """A worker of three threads that is this process."""
    there = SimpleNamespace(
        address="tcp://here",
        state=SimpleNamespace(nthreads=3),
        memory_manager=SimpleNamespace(memory_limit=6 * GIGABYTE),
    )
    monkeypatch.setattr(workers, "_this_worker", lambda: there)
    monkeypatch.setattr(workers, "_OPENED", {})
    return there


@pytest.fixture
def job(tmp_path):
    store, content = SweepStore(tmp_path / "sweep.zarr", PLAN), pickle.dumps(PLAN)
    store.prepare()
    with store.holding(content) as held:
        yield Job(
            store=str(store.path),
            plan=str(held),
            plan_sha256=hashlib.sha256(content).hexdigest(),
            bookwarp=PLAN.description["bookwarp"],
            engine="reference",
            threads=None,
            devices=None,
            memory_limit=None,
        )


@pytest.fixture
def written(monkeypatch):
    """The numbers of the blocks that are written, in order."""
    numbers = []
    write = SweepStore.write
    monkeypatch.setattr(
        SweepStore,
        "write",
        lambda store, block: numbers.append(block.number) or write(store, block),
    )
    return numbers


def test_a_task_runs_what_is_not_in_the_store_and_returns_the_hashes_of_all(worker, job, written):
    first = run_task(job, [1, 3])
    both = run_task(job, [0, 1, 2, 3])
    assert written == [1, 3, 0, 2]
    assert [both[1], both[3]] == first
    store = SweepStore(Path(job.store), PLAN, create=False)
    assert both == [store.exact_sha256(number) for number in range(4)]
    assert store.missing() == [4, 5]
    assert store.missing([0, 4]) == [4]


def test_a_task_ends_after_the_block_at_hand_when_its_plan_is_taken_away(worker, job, monkeypatch):
    write = SweepStore.write

    def write_and_stop(store, block):
        Path(job.plan).unlink(missing_ok=True)
        write(store, block)

    monkeypatch.setattr(SweepStore, "write", write_and_stop)
    found = run_task(job, list(range(6)))
    assert 1 <= len(found) < 6


def test_a_plan_that_is_not_what_was_written_is_refused(worker, job):
    Path(job.plan).write_bytes(b"something else")
    with pytest.raises(StoreError, match=r"worker tcp://here: .* is not what was written there"):
        prepare(job)


def test_a_worker_that_came_later_with_another_version_is_refused(worker, job):
    with pytest.raises(EngineError, match=r"worker tcp://here: bookwarp .* is installed, not 9\.9"):
        run_task(replace(job, bookwarp="9.9"), [0])


def test_a_worker_on_cores_runs_a_task_on_each_of_its_threads(worker, job):
    assert prepare(job) == Room(tasks=3, blocks=1)
    (opened,) = workers._OPENED.values()
    assert opened.machine.threads == 1
    assert opened.machine.memory <= 2 * GIGABYTE
    workers._OPENED.clear()
    prepare(replace(job, threads=2, memory_limit=3 * GIGABYTE))
    (opened,) = workers._OPENED.values()
    assert (opened.machine.threads, opened.machine.memory) == (2, GIGABYTE)


def test_a_worker_on_a_gpu_runs_one_task_of_several_launches(worker, job, monkeypatch):
    one_block_fits = Machine("cuda", 3, (0,), 6 * GIGABYTE, 4_000)
    monkeypatch.setattr(workers.Machine, "of", lambda *given: one_block_fits)
    (group,) = PLAN.settings.groups
    assert 2 <= one_block_fits.markets_at_once(PLAN, group) < 4
    assert prepare(job) == Room(tasks=1, blocks=4)
