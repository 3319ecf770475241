"""Run the blocks of a sweep: settings to simulations, simulations to results."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from bookwarp.measures.protocol import fill
from bookwarp.simulation import Simulation
from bookwarp.sweeping.machine import Machine
from bookwarp.sweeping.plan import NO_VALUE, SweepPlan
from bookwarp.sweeping.settings import Group

Report = Callable[[int], None]
"""Is told how many agent events were done since the last call."""
Room = Callable[[SweepPlan, list[int]], dict[str, np.ndarray]]
"""Returns memory for the results of blocks, by name, [market, ...] of one block after the other."""

_HEADER = b"bookwarp sweep block 1\n"


@dataclass(frozen=True, eq=False)
class Block:
    """The results of a block of markets."""

    number: int
    results: dict[str, np.ndarray]
    """Name -> float64 [market, ...] of the measure, int64 [market] of the exact results."""
    paths: np.ndarray
    """int64 [path, step]: last prices of those chosen markets that are in the block."""

    def exact_sha256(self, plan: SweepPlan) -> bytes:
        """Return the SHA-256 of the exact results, the same on every engine and machine."""
        hasher = hashlib.sha256(_HEADER)
        for name in sorted(plan.exact):
            array = np.ascontiguousarray(self.results[name], "<i8")
            hasher.update(f"{name} {len(array)}\n".encode())
            hasher.update(array.data)
        return hasher.digest()


def new_room(plan: SweepPlan, numbers: list[int]) -> dict[str, np.ndarray]:
    """Return memory of its own for the results of blocks, not initialised."""
    edges = [plan.blocks.markets(number) for number in numbers]
    return allocate(plan, sum(stop - first for first, stop in edges))


def run_block(plan: SweepPlan, number: int, machine: Machine) -> Block:
    """Run the markets of one block.

    A pure function of the plan and the block: the machine makes no difference to what it returns,
    only to how fast. It writes nothing, so that it can be run anywhere, and again.
    """
    (block,) = run_blocks(plan, [number], machine)
    return block


def run_blocks(
    plan: SweepPlan,
    numbers: Iterable[int],
    machine: Machine,
    report: Report | None = None,
    room: Room = new_room,
) -> Iterator[Block]:
    """Yield the blocks in the order of `numbers`, many in one launch where that is possible.

    While a block is stored by the caller, the next ones run.

    Args:
        plan: of the sweep.
        numbers: blocks to run.
        machine: what to run them on.
        report: is told of agent events that are done.
        room: gives the memory that results are written to.
    """
    waiting = list(numbers)
    lanes = _Lanes(machine)
    begun: list[_Batch] = []
    try:
        while waiting or begun:
            while waiting and len(begun) < 2:
                count = machine.blocks_at_once(plan, waiting)
                begun.append(_Batch(plan, waiting[:count], machine, lanes, report, room))
                waiting = waiting[count:]
            yield from begun.pop(0).finish()
    finally:
        lanes.shutdown()


class _Lanes:
    """What simulations run on at once: every core one, or every GPU one after the other."""

    def __init__(self, machine: Machine) -> None:
        self._devices: tuple[int | None, ...] = machine.devices or (None,)
        workers = 1 if machine.devices else machine.threads
        self._pools = [ThreadPoolExecutor(workers) for _ in self._devices]
        self._next = 0

    def cut(self, rows: np.ndarray, most: int) -> list[np.ndarray | slice]:
        """Return rows in parts of at most `most`, as equal as can be, on all GPUs as many of them.

        They are slices where they can be.
        """
        lanes = len(self._pools)
        count = -(-len(rows) // most)
        parts = np.array_split(rows, min(len(rows), -(-count // lanes) * lanes))
        return [
            slice(int(part[0]), int(part[-1]) + 1) if part[-1] - part[0] + 1 == len(part) else part
            for part in parts
        ]

    def submit(self, work: Callable[[int | None], int]) -> Future[int]:
        """Let the next GPU in turn, or a core, do some work; it is told which GPU it is for."""
        lane = self._next % len(self._pools)
        self._next += 1
        return self._pools[lane].submit(work, self._devices[lane])

    def shutdown(self) -> None:
        """Begin no more work, and wait for what runs."""
        for pool in self._pools:
            pool.shutdown(cancel_futures=True)


class _Batch:
    """Blocks that run together, as few simulations as can be."""

    def __init__(
        self,
        plan: SweepPlan,
        numbers: list[int],
        machine: Machine,
        lanes: _Lanes,
        report: Report | None,
        room: Room,
    ) -> None:
        self._plan, self._numbers, self._report = plan, numbers, report
        ranges = [np.arange(*plan.blocks.markets(number)) for number in numbers]
        self._edges = np.cumsum([0, *map(len, ranges)]).tolist()
        markets = np.concatenate(ranges)
        self._results = room(plan, numbers)
        chosen = np.isin(plan.paths.markets, markets)
        self._path_markets = plan.paths.markets[chosen]
        self._paths = np.full((len(self._path_markets), plan.paths.steps), NO_VALUE, np.int64)
        self._running: list[Future[int]] = []
        nobodys = np.ones(len(markets), bool)
        for group, rows in _by_group(plan, markets):
            nobodys[rows] = False
            for part in lanes.cut(rows, machine.markets_at_once(plan, group)):
                work = partial(self._measure, group, markets[part], part, machine)
                self._running.append(lanes.submit(work))
        for group, rows in _by_group(plan, self._path_markets):
            work = partial(self._follow, group, rows, machine)
            self._running.append(lanes.submit(work))
        for name, array in self._results.items() if nobodys.any() else ():
            array[nobodys] = np.nan if name in plan.outputs else NO_VALUE

    def finish(self) -> Iterator[Block]:
        """Yield the blocks, when all of them are done."""
        for work in self._running:
            events = work.result()
            if self._report is not None:
                self._report(events)
        for number, first, stop in zip(
            self._numbers, self._edges[:-1], self._edges[1:], strict=True
        ):
            own = slice(*np.searchsorted(self._path_markets, self._plan.blocks.markets(number)))
            results = {name: array[first:stop] for name, array in self._results.items()}
            yield Block(number, results, self._paths[own])

    def _measure(
        self,
        group: Group,
        markets: np.ndarray,
        rows: np.ndarray | slice,
        machine: Machine,
        device: int | None,
    ) -> int:
        """Run some markets of a group and put what is measured into `rows` of the results."""
        plan = self._plan
        simulation = _simulation(
            plan, group, markets, machine, device, plan.measure.series, plan.measure.every
        )
        simulation.step(group.shared["steps"], in_pieces=False)
        # A slice of the results is a view of them; of other rows this is a copy, put there after.
        own = {name: self._results[name][rows] for name in plan.outputs}
        fill(plan.measure, simulation, own)
        if not isinstance(rows, slice):
            for name, array in own.items():
                self._results[name][rows] = array
        state = simulation.market_state()
        for name, (source, _, _) in plan.exact.items():
            # A part without any parent order has no arrays for them.
            self._results[name][rows] = state.get(source, 0)
        return int(len(markets) * group.shared["agents"] * group.shared["steps"])

    def _follow(self, group: Group, rows: np.ndarray, machine: Machine, device: int | None) -> int:
        """Run chosen markets of a group for their prices, which need no measure."""
        markets, steps = self._path_markets[rows], group.shared["steps"]
        simulation = _simulation(self._plan, group, markets, machine, device, ("last",), 1)
        simulation.step(steps, in_pieces=False)
        self._paths[rows, :steps] = simulation.history["last"].T
        return 0


def allocate(plan: SweepPlan, markets: int) -> dict[str, np.ndarray]:
    """Return memory for the results of some markets, by name, not initialised."""
    results = {name: np.empty((markets, *out.shape)) for name, out in plan.outputs.items()}
    return results | {name: np.empty(markets, np.int64) for name in plan.exact}


def _simulation(
    plan: SweepPlan,
    group: Group,
    markets: np.ndarray,
    machine: Machine,
    device: int | None,
    series: tuple[str, ...],
    every: int,
) -> Simulation:
    """Return the simulation of some markets of a group; replica r draws as market r."""
    setting, replica = np.divmod(markets, plan.design.replicas)
    # On cores every simulation has one; on GPUs they take in what is measured there.
    how: dict[str, Any] = {"threads": 1}
    if device is not None:
        threads = max(1, machine.threads // len(machine.devices))
        how = {"threads": threads, "devices": device, "keep_on_device": True}
    return Simulation(
        len(markets),
        **plan.settings.keywords(group.shared, setting),
        market_ids=replica,
        record=series,
        record_every=every,
        engine=machine.engine,
        memory_limit=machine.memory,
        **how,
    )


def _by_group(plan: SweepPlan, markets: np.ndarray) -> Iterator[tuple[Group, np.ndarray]]:
    """Yield every group that has some of the markets, and which entries of `markets` they are."""
    setting = markets // plan.design.replicas
    for group in plan.settings.groups:
        place = np.searchsorted(group.settings, setting)
        place[place == len(group.settings)] = 0
        rows = np.flatnonzero(group.settings[place] == setting)
        if len(rows):
            yield group, rows
