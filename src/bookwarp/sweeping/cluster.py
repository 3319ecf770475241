"""Run a sweep on the workers of a Dask cluster, which write into the store themselves.

The scheduler and the client see tasks and hashes of blocks, and no results. A few tasks for each
worker are under way at any time, however many there will be. What a worker that dies was told to do
goes to another one, by Dask; blocks are written whole and the same by whoever runs them.
"""

import hashlib
import logging
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bookwarp.limits import check_threads, memory_limit_bytes
from bookwarp.spec.errors import BookwarpError, EngineError, ParameterError, StoreError
from bookwarp.sweeping.filling import Run, Written
from bookwarp.sweeping.plan import SweepPlan
from bookwarp.sweeping.running import Report
from bookwarp.sweeping.store import SweepStore
from bookwarp.sweeping.worker import Job, Room, prepare, run_task

_LOG = logging.getLogger("bookwarp")

# A task is so many agent events, seconds of a core, unless there is less left to share.
_TASK_EVENTS = 2**31
# Tasks under way for each that a worker can run at once: one runs while the next one waits.
_AHEAD = 2
# Seconds between two looks at who is there.
_LOOK_SECONDS = 5.0
# Seconds without a worker until this is said; a worker that was restarted is back by then.
_PATIENCE_SECONDS = 5.0
# Seconds until files of workers must be seen here: network file systems tell of them late.
_SEEN_SECONDS = 90.0
# Status of a client that has a scheduler.
_CONNECTED = "running"
_GIVEN_UP = (
    "the cluster has given up blocks: was its scheduler stopped, or the sweep begun a second time? "
    "What is done is in the store, and the same sweep goes on from there"
)


@dataclass(frozen=True)
class Cluster:
    """The workers of a Dask cluster, and what each of them may use."""

    client: Any
    engine: str
    threads: int | None
    devices: Any
    memory_limit: int | None

    @classmethod
    def of(
        cls,
        client: Any,
        engine: str = "auto",
        threads: int | None = None,
        devices: Any = None,
        memory_limit: int | None = None,
    ) -> "Cluster":
        """Check a client, and that all workers have this version of bookwarp.

        Args:
            client: a `dask.distributed.Client`.
            engine, devices, memory_limit: of every worker, as for `Simulation`.
            threads: of every task.

        Raises:
            ParameterError: it is none, or a number is outside its domain.
            EngineError: a worker has not this version.
        """
        _check_client(client)
        if threads is not None:
            check_threads(threads)
        if memory_limit is not None:
            memory_limit_bytes(memory_limit)
        _check_versions(client)
        return cls(client, engine, threads, devices, memory_limit)

    def run_for(self, store: SweepStore) -> Run:
        """Return what runs blocks on the workers.

        What it raises: EngineError or StoreError, naming the worker that cannot go on.
        """

        def run(missing: list[int], report: Report, written: Written) -> None:
            store.prepare()
            if not missing:
                return
            import cloudpickle

            # By value, what workers cannot import: a measure of the user's own.
            content = cloudpickle.dumps(store.plan)
            with store.holding(content) as held:
                job = self._job(store, held, content)
                with _saying_that_nobody_works(self.client):
                    found = _Tasks(self.client, job, store.plan, missing).run(report, written)
            _await_blocks(store, found)

        return run

    def _job(self, store: SweepStore, held: Path, content: bytes) -> Job:
        return Job(
            store=str(store.path.absolute()),
            plan=str(held),
            plan_sha256=hashlib.sha256(content).hexdigest(),
            bookwarp=version("bookwarp"),
            engine=self.engine,
            threads=self.threads,
            devices=self.devices,
            memory_limit=self.memory_limit,
        )


class _Tasks:
    """The tasks of a sweep, of which some are under way."""

    def __init__(self, client: Any, job: Job, plan: SweepPlan, missing: list[int]) -> None:
        self._client, self._job, self._plan = client, job, plan
        self._missing, self._waiting = missing, deque(missing)
        self._under_way: dict[Any, list[int]] = {}
        self._looked = time.monotonic()
        self._room = self._prepare()
        self._slots = self._count_slots()

    def run(self, report: Report, written: Written) -> dict[int, bytes]:
        """Run all of them, and return `Block.exact_sha256` of every block."""
        from distributed import KilledWorker, as_completed

        done = as_completed(loop=self._client.loop, with_results=True)
        found: dict[int, bytes] = {}
        try:
            while self._waiting or self._under_way:
                self._submit(done)
                task, hashes = next(done)
                numbers = self._under_way.pop(task)
                if not isinstance(hashes, list) or len(hashes) != len(numbers):
                    raise EngineError(_GIVEN_UP)
                found.update(zip(numbers, hashes, strict=True))
                report(sum(map(self._plan.events, numbers)))
                for number in numbers:
                    written(number)
        except KilledWorker as error:
            raise EngineError(
                f"{error.allowed_failures + 1} workers died one after the other while they had the "
                f"same blocks to run, the last one {error.last_worker.address}: is their memory "
                f"too small? memory_limit lowers what they take; what is done is in the store"
            ) from error
        except Exception as error:
            if self._client.status != _CONNECTED and not isinstance(error, BookwarpError):
                raise EngineError(_GIVEN_UP) from error
            raise
        finally:
            if self._client.status == _CONNECTED:
                self._client.cancel(list(self._under_way))
        return found

    def _submit(self, done: Any) -> None:
        """Submit tasks, until enough are under way."""
        self._look()
        while self._waiting and len(self._under_way) < _AHEAD * self._slots:
            numbers = self._next_blocks()
            task = self._client.submit(run_task, self._job, numbers, pure=False)
            self._under_way[task] = numbers
            done.add(task)

    def _next_blocks(self) -> list[int]:
        """Return the blocks of the next task: enough to be worth it, and less towards the end.

        A worker that takes many at once gets them, up to its share of all.
        """
        share = -(-len(self._missing) // self._slots)
        fraction = -(-len(self._waiting) // (_AHEAD * self._slots))
        most = min(share, max(fraction, self._room.blocks))
        numbers: list[int] = []
        events = 0
        while self._waiting and len(numbers) < most:
            if len(numbers) >= self._room.blocks and events >= _TASK_EVENTS:
                break
            numbers.append(self._waiting.popleft())
            events += self._plan.events(numbers[-1])
        return numbers

    def _prepare(self) -> Room:
        """Ask all workers whether they can do their part; the first one to come if there is none.

        Raises:
            BookwarpError: of the first worker that cannot.
        """
        rooms = self._client.run(prepare, self._job, on_error="return")
        if not rooms:
            rooms = {"": self._client.submit(prepare, self._job, pure=False).result()}
        for found in rooms.values():
            if isinstance(found, BookwarpError):
                raise found
        able = [found for found in rooms.values() if isinstance(found, Room)]
        if not able:
            worker, error = next(iter(rooms.items()))
            raise EngineError(f"worker {worker}: {type(error).__name__}: {error}")
        return min(able, key=lambda room: room.blocks)

    def _look(self) -> None:
        """Count the workers again, from time to time."""
        if time.monotonic() - self._looked > _LOOK_SECONDS:
            self._looked, self._slots = time.monotonic(), self._count_slots()

    def _count_slots(self) -> int:
        """Return how many tasks all workers together run at once."""
        threads = self._client.nthreads().values()
        return max(1, sum(min(self._room.tasks, int(each)) for each in threads))


@contextmanager
def _saying_that_nobody_works(client: Any) -> Iterator[None]:
    """Warn, as often as a cluster comes to have no worker, that its sweep waits for one.

    It waits inside calls of Dask, so that a thread beside it looks.
    """
    over = threading.Event()

    def look() -> None:
        since, said = time.monotonic(), False
        while not over.wait(_PATIENCE_SECONDS / 4):
            if client.status != _CONNECTED or _has_workers(client):
                since, said = time.monotonic(), False
            elif not said and time.monotonic() - since > _PATIENCE_SECONDS:
                said = True
                _LOG.warning(
                    "the Dask cluster of %s has no worker: the sweep waits for one to come",
                    client.scheduler.address,
                )

    # A scheduler that was stopped may let it wait long for an answer, which nobody needs then.
    threading.Thread(target=look, daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _has_workers(client: Any) -> bool:
    """Say whether a cluster has workers; if it does not answer, the tasks will tell why."""
    try:
        return bool(client.nthreads())
    except Exception:  # noqa: BLE001
        return True


def _check_client(client: Any) -> None:
    try:
        from distributed import Client
    except ImportError:
        raise ParameterError('client needs Dask: pip install "bookwarp[cluster]"') from None
    if not isinstance(client, Client):
        raise ParameterError(f"client must be a dask.distributed.Client, not {client!r}")
    if client.asynchronous:
        raise ParameterError("client must not be asynchronous: sweep waits for its tasks")
    if client.status != _CONNECTED:
        raise ParameterError(f"client is {client.status}, and not connected to a scheduler")


def _check_versions(client: Any) -> None:
    """Refuse workers that have another bookwarp than this process, or none.

    A function of the standard library is asked for, because every worker has it.
    """
    here = version("bookwarp")
    for worker, there in client.run(version, "bookwarp", on_error="return").items():
        if isinstance(there, PackageNotFoundError):
            raise EngineError(f"worker {worker} has no bookwarp: install {here} there")
        if isinstance(there, str) and there != here:
            raise EngineError(
                f"worker {worker} has bookwarp {there}, and this process {here}: a sweep needs the "
                f"same version everywhere"
            )


def _await_blocks(store: SweepStore, found: dict[int, bytes]) -> None:
    """Wait until blocks that workers have written are seen here too.

    Raises:
        StoreError: they are not.
    """
    latest = time.monotonic() + _SEEN_SECONDS
    for number, exact in found.items():
        while store.exact_sha256(number) != exact:
            if time.monotonic() > latest:
                raise StoreError(
                    f"a worker has written block {number}, but it is not in {store.path}: out must "
                    f"be on storage that this process and all workers share"
                )
            time.sleep(0.1)
