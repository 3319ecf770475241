"""Run the blocks of a sweep: settings to simulations, simulations to results."""

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from bookwarp.engines.cuda.gpu import giving_back
from bookwarp.measures.protocol import fill
from bookwarp.simulation import Simulation
from bookwarp.spec.runs import Runs
from bookwarp.sweeping.machine import Machine
from bookwarp.sweeping.markets import (
    Numbers,
    as_array,
    as_index,
    by_group,
    cut_evenly,
    deal,
    join_ranges,
    pick,
    settings_of,
)
from bookwarp.sweeping.plan import NO_VALUE, SweepPlan
from bookwarp.sweeping.room import Room
from bookwarp.sweeping.settings import Group

Report = Callable[[int], None]
"""Is told how many agent events were done since the last call."""
TakeRoom = Callable[[list[int]], tuple[Room, slice]]
"""Returns memory for the results of blocks, one after the other, and which part of it is theirs."""

Wait = Callable[[], None]
"""Returns when something is there."""

Work = Callable[[int | None, Future[int]], None]
"""Does something on a GPU, or a core, and tells of how many agent events it was, which may be some
time before it has also tidied up."""

_HEADER = b"bookwarp sweep block 1\n"
_BATCHES = 2
"""What runs in one launch, and what comes next."""


@dataclass(frozen=True, eq=False)
class Block:
    """The results of a block of markets."""

    number: int
    whole: Mapping[str, np.ndarray]
    """Results of what was run together, by name: float64 [market, ...] of the measure, int64
    [market] of the exact results."""
    rows: slice
    """Which of these markets are the block's."""
    paths: np.ndarray
    """int64 [path, step]: last prices of those chosen markets that are in the block."""
    exact_sha256: bytes
    """SHA-256 of the exact results, the same on every engine and machine."""

    @property
    def results(self) -> dict[str, np.ndarray]:
        """The results of the block, by name, [market, ...]."""
        return {name: array[self.rows] for name, array in self.whole.items()}


def run_block(plan: SweepPlan, number: int, machine: Machine) -> Block:
    """Run the markets of one block.

    A pure function of the plan and the block: the machine makes no difference to what it returns,
    only to how fast. It writes nothing, so that it can be run anywhere, and again.
    """
    with running_blocks(plan, [number], machine) as blocks:
        (block,) = blocks
    return block


@contextmanager
def running_blocks(
    plan: SweepPlan,
    numbers: Iterable[int],
    machine: Machine,
    report: Report | None = None,
    room: TakeRoom | None = None,
) -> Iterator[Iterator[Block]]:
    """Begin to run blocks, and hand out an iterator over them in the order of `numbers`.

    Many run in one launch where that is possible. While a block is stored by the caller, the next
    ones run.

    Args:
        plan: of the sweep.
        numbers: blocks to run.
        machine: what to run them on.
        report: is told of agent events that are done.
        room: gives the memory that results are written to; new memory for each launch if None.
    """
    take_room = partial(_new_room, plan, machine) if room is None else room
    waiting = list(numbers)
    lanes = _Lanes(machine)
    begun: deque[_Batch] = deque()

    def begin() -> None:
        while waiting and len(begun) < _BATCHES:
            count = machine.blocks_at_once(plan, waiting)
            begun.append(_Batch(plan, waiting[:count], machine, lanes, report, take_room))
            del waiting[:count]

    def blocks() -> Iterator[Block]:
        while begun:
            yield from begun[0].finish()
            begun.popleft()
            begin()

    try:
        begin()
        yield blocks()
    finally:
        # When all is done, it is only that memory is freed.
        lanes.shutdown(wait=bool(begun))
        for batch in begun:
            batch.let_go()


def _new_room(plan: SweepPlan, machine: Machine, numbers: list[int]) -> tuple[Room, slice]:
    edges = [plan.blocks.markets(number) for number in numbers]
    count = sum(stop - first for first, stop in edges)
    return Room(plan, count, machine), slice(0, count)


class _Lanes:
    """What simulations run on at once: every core one, or every GPU one after the other."""

    def __init__(self, machine: Machine) -> None:
        self._devices: tuple[int | None, ...] = machine.devices or (None,)
        workers = 1 if machine.devices else machine.threads
        self._pools = [ThreadPoolExecutor(workers) for _ in self._devices]
        self._next = 0

    def cut(self, rows: Numbers, most: int, replicas: int) -> list[Numbers]:
        """Return rows in parts of at most `most`, on all GPUs as many of them."""
        lanes = len(self._pools)
        count = -(-len(rows) // most)
        parts = min(len(rows), -(-count // lanes) * lanes)
        return cut_evenly(rows, parts) if lanes == 1 else deal(rows, parts, most, replicas)

    def submit(self, work: Work) -> Future[int]:
        """Let the next GPU in turn, or a core, do some work.

        Returns:
            What gets the agent events that it was, or the error that there is.
        """
        lane = self._next % len(self._pools)
        self._next += 1
        done: Future[int] = Future()
        self._pools[lane].submit(_do, work, self._devices[lane], done)
        return done

    def shutdown(self, wait: bool) -> None:
        """Begin no more work, and, if need be, wait for what runs."""
        for pool in self._pools:
            pool.shutdown(wait, cancel_futures=True)


def _do(work: Work, device: int | None, done: Future[int]) -> None:
    try:
        work(device, done)
    except BaseException as error:  # noqa: BLE001
        done.set_exception(error)


@contextmanager
def _handing_on(events: int, done: Future[int], device: int | None) -> Iterator[None]:
    """Tell that work is done, before what it needed is dropped within.

    Nobody waits while gigabytes are freed, but who wants memory of this GPU next.
    """
    with nullcontext() if device is None else giving_back(device):
        done.set_result(events)
        yield


class _Batch:
    """Blocks that run together, as few simulations as can be."""

    def __init__(
        self,
        plan: SweepPlan,
        numbers: list[int],
        machine: Machine,
        lanes: _Lanes,
        report: Report | None,
        room: TakeRoom,
    ) -> None:
        self._plan, self._numbers, self._report = plan, numbers, report
        ranges = [plan.blocks.markets(number) for number in numbers]
        self._edges = [0, *accumulate(stop - first for first, stop in ranges)]
        markets = join_ranges(ranges)
        self._room, place = room(numbers)
        self._results = {name: array[place] for name, array in self._room.results.items()}
        within = [slice(*plan.paths.within(*each)) for each in ranges]
        self._path_markets = np.concatenate([plan.paths.markets[each] for each in within])
        self._paths = np.full((len(self._path_markets), plan.paths.steps), NO_VALUE, np.int64)
        self._running: list[Future[int]] = []
        self._known: list[Future[Wait]] = []
        left = len(markets)
        for group, rows in by_group(plan, markets):
            left -= len(rows)
            most = machine.markets_at_once(plan, group)
            for part in lanes.cut(rows, most, plan.design.replicas):
                known: Future[Wait] = Future()
                own = pick(markets, part)
                work = partial(self._measure, group, own, part, machine, known)
                self._running.append(lanes.submit(work))
                self._known.append(known)
        for group, rows in by_group(plan, self._path_markets):
            work = partial(self._follow, group, rows, machine)
            self._running.append(lanes.submit(work))
        if left:
            nobodys = plan.settings.group_of[as_array(markets) // plan.design.replicas] < 0
            self._room.prepare()
            for name, array in self._results.items():
                array[nobodys] = np.nan if name in plan.outputs else NO_VALUE
            self._room.done(left)

    def finish(self) -> Iterator[Block]:
        """Yield the blocks, when all of them are done."""
        edges = list(zip(self._edges[:-1], self._edges[1:], strict=True))
        # Exact results are hashed while the rest is made of the rows.
        for known in self._known:
            known.result()()
        hashes = [self._hash_exact(first, stop) for first, stop in edges]
        for work in self._running:
            events = work.result()
            if self._report is not None:
                self._report(events)
        for number, (first, stop), exact in zip(self._numbers, edges, hashes, strict=True):
            own = slice(*np.searchsorted(self._path_markets, self._plan.blocks.markets(number)))
            yield Block(number, self._results, slice(first, stop), self._paths[own], exact)

    def let_go(self) -> None:
        """Give up what is not done, once nobody works on it any longer."""
        self._room.let_go()

    def _hash_exact(self, first: int, stop: int) -> bytes:
        hasher = hashlib.sha256(_HEADER)
        for name in sorted(self._plan.exact):
            array = np.ascontiguousarray(self._results[name][first:stop], "<i8")
            hasher.update(f"{name} {len(array)}\n".encode())
            hasher.update(array.data)
        return hasher.digest()

    def _measure(
        self,
        group: Group,
        markets: Numbers,
        rows: Numbers,
        machine: Machine,
        known: Future[Wait],
        device: int | None,
        done: Future[int],
    ) -> None:
        """Run some markets of a group and put what is measured into `rows` of the results.

        `known` gets what waits for their exact results, or the error that there is.
        """
        plan = self._plan
        try:
            simulation = _simulation(
                plan, group, markets, machine, device, plan.measure.series, plan.measure.every
            )
            simulation.step(group.shared["steps"], in_pieces=False)
            self._room.prepare()
            exact = self._send_exact(simulation, rows)
        except BaseException as error:
            known.set_exception(error)
            raise
        known.set_result(exact)
        try:
            fill(plan.measure, simulation, self._results, rows)
        finally:
            # Nothing is copied any longer to memory that is let go next, whatever the measure did.
            exact()
        self._room.done(len(markets))
        events = int(len(markets) * group.shared["agents"] * group.shared["steps"])
        with _handing_on(events, done, device):
            del simulation

    def _send_exact(self, simulation: Simulation, rows: Numbers) -> Wait:
        """Start to put the exact results of a simulation into `rows` of the results.

        Returns:
            What waits until they are there.
        """
        sources = {name: source for name, (source, _, _) in self._plan.exact.items()}
        there = [name for name in sources if sources[name] in simulation.market_state_names]
        # Straight into the results, unless these are here and there.
        places = rows if isinstance(rows, Runs) else Runs.one(0, len(rows))
        found = {
            name: self._results[name] if places is rows else np.empty(len(rows), np.int64)
            for name in there
        }
        wait = simulation.send_market_state(
            {sources[name]: array for name, array in found.items()}, places
        )

        def finish() -> None:
            wait()
            for name in sources:
                if name not in there:
                    # A part without any parent order has no arrays for them.
                    self._results[name][as_index(rows)] = 0
                elif places is not rows:
                    self._results[name][as_index(rows)] = found[name]

        return finish

    def _follow(
        self,
        group: Group,
        rows: Numbers,
        machine: Machine,
        device: int | None,
        done: Future[int],
    ) -> None:
        """Run chosen markets of a group for their prices, which need no measure."""
        markets, steps = self._path_markets[as_index(rows)], group.shared["steps"]
        simulation = _simulation(self._plan, group, markets, machine, device, ("last",), 1)
        simulation.step(steps, in_pieces=False)
        self._paths[as_index(rows), :steps] = simulation.history["last"].T
        with _handing_on(0, done, device):
            del simulation


def _simulation(
    plan: SweepPlan,
    group: Group,
    markets: Numbers,
    machine: Machine,
    device: int | None,
    series: tuple[str, ...],
    every: int,
) -> Simulation:
    """Return the simulation of some markets of a group; replica r draws as market r."""
    setting, number, replica = settings_of(markets, plan.design.replicas)
    # On cores every simulation has one; on GPUs they take in what is measured there.
    how: dict[str, Any] = {"threads": 1}
    if device is not None:
        threads = max(1, machine.threads // len(machine.devices))
        how = {"threads": threads, "devices": device, "keep_on_device": True}
    return Simulation(
        len(markets),
        **plan.settings.keywords(group.shared, setting),
        market_ids=replica,
        market_settings=number,
        record=series,
        record_every=every,
        engine=machine.engine,
        memory_limit=machine.memory,
        **how,
    )
