"""Run the blocks of a sweep: settings to simulations, simulations to results."""

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from bookwarp.simulation import Simulation
from bookwarp.sweeping.machine import Machine
from bookwarp.sweeping.plan import NO_VALUE, SweepPlan
from bookwarp.sweeping.settings import Group

Report = Callable[[int], None]
"""Is told how many agent events were done since the last call."""

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


def run_block(plan: SweepPlan, number: int, machine: Machine) -> Block:
    """Run the markets of one block.

    A pure function of the plan and the block: the machine makes no difference to what it returns,
    only to how fast. It writes nothing, so that it can be run anywhere, and again.
    """
    (block,) = run_blocks(plan, [number], machine)
    return block


def run_blocks(
    plan: SweepPlan, numbers: Iterable[int], machine: Machine, report: Report | None = None
) -> Iterator[Block]:
    """Yield the blocks in the order of `numbers`, many in one launch where that is possible.

    While a block is stored by the caller, the next ones run.

    Args:
        plan: of the sweep.
        numbers: blocks to run.
        machine: what to run them on.
        report: is told of agent events that are done.
    """
    waiting = list(numbers)
    # A GPU runs one simulation after the other; cores run one each.
    workers = 1 if machine.on_device else machine.threads
    pool = ThreadPoolExecutor(workers)
    begun: list[_Batch] = []
    try:
        while waiting or begun:
            while waiting and len(begun) < 2:
                count = machine.blocks_at_once(plan, waiting)
                begun.append(_Batch(plan, waiting[:count], machine, pool, report))
                waiting = waiting[count:]
            yield from begun.pop(0).finish()
    finally:
        pool.shutdown(cancel_futures=True)


class _Batch:
    """Blocks that run together, as few simulations as can be."""

    def __init__(
        self,
        plan: SweepPlan,
        numbers: list[int],
        machine: Machine,
        pool: ThreadPoolExecutor,
        report: Report | None,
    ) -> None:
        self._plan, self._numbers, self._report = plan, numbers, report
        ranges = [np.arange(*plan.blocks.markets(number)) for number in numbers]
        self._edges = np.cumsum([0, *map(len, ranges)]).tolist()
        markets = np.concatenate(ranges)
        self._count, self._lock = len(markets), threading.Lock()
        self._results: dict[str, np.ndarray] = {}
        chosen = np.isin(plan.paths.markets, markets)
        self._path_markets = plan.paths.markets[chosen]
        self._paths = np.full((len(self._path_markets), plan.paths.steps), NO_VALUE, np.int64)
        self._running: list[Future[int]] = []
        for group, rows in _by_group(plan, markets):
            for part in _cut(rows, machine.markets_at_once(plan, group)):
                work = pool.submit(self._measure, group, markets[part], part, machine)
                self._running.append(work)
        for group, rows in _by_group(plan, self._path_markets):
            work = pool.submit(self._follow, group, rows, machine)
            self._running.append(work)

    def finish(self) -> Iterator[Block]:
        """Yield the blocks, when all of them are done."""
        for work in self._running:
            events = work.result()
            if self._report is not None:
                self._report(events)
        if not self._results:
            self._results = allocate(self._plan, self._count)
        for number, first, stop in zip(
            self._numbers, self._edges[:-1], self._edges[1:], strict=True
        ):
            own = slice(*np.searchsorted(self._path_markets, self._plan.blocks.markets(number)))
            results = {name: array[first:stop] for name, array in self._results.items()}
            yield Block(number, results, self._paths[own])

    def _measure(
        self, group: Group, markets: np.ndarray, rows: np.ndarray | slice, machine: Machine
    ) -> int:
        """Run some markets of a group and put what is measured into `rows` of the results."""
        plan = self._plan
        simulation = _simulation(
            plan, group, markets, machine, plan.measure.series, plan.measure.every
        )
        simulation.step(group.shared["steps"], in_pieces=False)
        found = dict(plan.measure.of_simulation(simulation))
        state = simulation.market_state()
        for name, (source, _, _) in plan.exact.items():
            # A part without any parent order has no arrays for them.
            found[name] = state.get(source, np.zeros(len(markets), np.int64))
        self._keep(rows, found)
        return int(len(markets) * group.shared["agents"] * group.shared["steps"])

    def _keep(self, rows: np.ndarray | slice, found: dict[str, np.ndarray]) -> None:
        """Take the results of some markets; those of all, in one simulation, without a copy."""
        if isinstance(rows, slice) and rows == slice(0, self._count):
            self._results = found
            return
        with self._lock:
            if not self._results:
                self._results = allocate(self._plan, self._count)
        for name, array in found.items():
            self._results[name][rows] = array

    def _follow(self, group: Group, rows: np.ndarray, machine: Machine) -> int:
        """Run chosen markets of a group for their prices, which need no measure."""
        markets, steps = self._path_markets[rows], group.shared["steps"]
        simulation = _simulation(self._plan, group, markets, machine, ("last",), 1)
        simulation.step(steps, in_pieces=False)
        self._paths[rows, :steps] = simulation.history["last"].T
        return 0


def allocate(plan: SweepPlan, markets: int) -> dict[str, np.ndarray]:
    """Return results of some markets, all without a value: NaN, and `NO_VALUE` for integers."""
    results: dict[str, np.ndarray] = {
        name: np.full((markets, *output.shape), np.nan) for name, output in plan.outputs.items()
    }
    return results | {name: np.full(markets, NO_VALUE, np.int64) for name in plan.exact}


def _simulation(
    plan: SweepPlan,
    group: Group,
    markets: np.ndarray,
    machine: Machine,
    series: tuple[str, ...],
    every: int,
) -> Simulation:
    """Return the simulation of some markets of a group; replica r draws as market r."""
    setting, replica = np.divmod(markets, plan.design.replicas)
    # On cores every simulation has one; on a GPU all of them make numbers of what it summed.
    how: dict[str, Any] = {"threads": 1}
    if machine.on_device:
        how = {"threads": machine.threads, "devices": machine.devices, "keep_on_device": True}
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


def _cut(rows: np.ndarray, most: int) -> list[np.ndarray | slice]:
    """Return the rows in parts of at most `most`, as equal as can be; slices where they can be."""
    parts = np.array_split(rows, -(-len(rows) // most))
    return [
        slice(int(part[0]), int(part[-1]) + 1) if part[-1] - part[0] + 1 == len(part) else part
        for part in parts
    ]
