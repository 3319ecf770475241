"""What a worker of a cluster does of a sweep: it runs blocks, and writes them into the store.

A worker is told of a `Job` and of numbers of blocks, and returns a hash of each: what it ran goes
from its memory to the store, and never through the scheduler.
"""

import hashlib
import pickle
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bookwarp.limits import memory_limit_bytes
from bookwarp.spec.errors import BookwarpError, EngineError, StoreError
from bookwarp.sweeping.filling import write_blocks
from bookwarp.sweeping.freed_memory import keep_freed_memory
from bookwarp.sweeping.machine import Machine
from bookwarp.sweeping.plan import SweepPlan
from bookwarp.sweeping.running import Block, running_blocks
from bookwarp.sweeping.store import SweepStore

# Launches of a task: while the blocks of one are written, the next one runs.
_LAUNCHES = 4


@dataclass(frozen=True)
class Job:
    """A sweep as its workers are told of it: where it is, and by what means to run it."""

    store: str
    """Absolute path of the store."""
    plan: str
    """Absolute path of the pickled plan, a file in the store that is there while it is wanted."""
    plan_sha256: str
    bookwarp: str
    """Version that the worker must have."""
    engine: str
    threads: int | None
    devices: Any
    memory_limit: int | None


@dataclass(frozen=True)
class Room:
    """How much work one worker takes."""

    tasks: int
    """Tasks that it runs at once."""
    blocks: int
    """Blocks of a task that keep it busy."""


@dataclass(frozen=True)
class _Opened:
    store: SweepStore
    machine: Machine
    tasks: int


# What this process has opened, for the tasks that follow.
_OPENED: dict[str, _Opened] = {}
_OPENING = threading.Lock()
# Tasks of a process take turns on its GPU, whose memory each of them may fill.
_ON_DEVICE = threading.Lock()


def prepare(job: Job, dask_worker: Any = None) -> Room:
    """Check that this worker can do its part, and return how much it takes.

    Args:
        job: the sweep.
        dask_worker: the worker, where it is not that of the running task.

    Raises:
        BookwarpError: naming the worker, and why it cannot.
    """
    worker = dask_worker or _this_worker()
    with _named(worker):
        opened = _open(job, worker)
        every_block = list(range(opened.store.plan.blocks.count))
        blocks = opened.machine.blocks_at_once(opened.store.plan, every_block)
    return Room(opened.tasks, _LAUNCHES * blocks if opened.machine.on_device else 1)


def run_task(job: Job, numbers: list[int]) -> list[bytes]:
    """Run those of the blocks that are not in the store yet, and write them.

    Returns:
        `Block.exact_sha256` of every block. None of it if the sweep is not wanted any more.

    Raises:
        BookwarpError: naming the worker, and what went wrong.
    """
    worker = _this_worker()
    with _named(worker):
        opened = _open(job, worker)
        store, machine = opened.store, opened.machine
        turn: AbstractContextManager[Any] = _ON_DEVICE if machine.on_device else nullcontext()
        # A worker that was lost after some blocks has left the others.
        left = store.missing(numbers)
        with turn, running_blocks(store.plan, left, machine) as blocks:
            write_blocks(store, _while_wanted(job, blocks))
        found = [store.exact_sha256(number) for number in numbers]
    return [each for each in found if each is not None]


def _while_wanted(job: Job, blocks: Iterator[Block]) -> Iterator[Block]:
    """Yield blocks until the plan is taken away: whoever began the sweep has stopped it."""
    for block in blocks:
        yield block
        if not Path(job.plan).exists():
            return


def _open(job: Job, worker: Any) -> _Opened:
    """Return the store and the means of a job, opened once in a process."""
    if version("bookwarp") != job.bookwarp:
        raise EngineError(f"bookwarp {version('bookwarp')} is installed, not {job.bookwarp}")
    with _OPENING:
        if repr(job) not in _OPENED:
            _OPENED.clear()
            machine, tasks = _means(job, worker)
            store = SweepStore(Path(job.store), _read_plan(job), create=False)
            _OPENED[repr(job)] = _Opened(store, machine, tasks)
        return _OPENED[repr(job)]


def _read_plan(job: Job) -> SweepPlan:
    try:
        content = Path(job.plan).read_bytes()
    except OSError as error:
        raise StoreError(
            f"the store {job.store} is not there ({error.strerror}): out must be on storage that "
            f"all workers see at the same path"
        ) from None
    if hashlib.sha256(content).hexdigest() != job.plan_sha256:
        raise StoreError(f"{job.plan} is not what was written there")
    plan: SweepPlan = pickle.loads(content)
    return plan


def _means(job: Job, worker: Any) -> tuple[Machine, int]:
    """Return what each task of a worker may use, and how many it runs at once.

    Cores: as many tasks as Dask gave it threads, each on one. A GPU: one task after the other.
    """
    threads, memory = int(worker.state.nthreads), memory_limit_bytes(job.memory_limit)
    if (limit := worker.memory_manager.memory_limit) is not None:
        memory = min(memory, int(limit))
    machine = Machine.of(job.engine, job.threads, job.devices, memory)
    if machine.on_device:
        return machine, 1
    keep_freed_memory()
    return Machine.of(job.engine, job.threads or 1, job.devices, max(1, memory // threads)), threads


def _this_worker() -> Any:
    from distributed import get_worker

    return get_worker()


@contextmanager
def _named(worker: Any) -> Iterator[None]:
    """Say in what goes wrong which worker it was."""
    try:
        yield
    except BookwarpError as error:
        raise type(error)(f"worker {worker.address}: {error}") from error
    except Exception as error:
        error.add_note(f"on worker {worker.address}")
        raise
