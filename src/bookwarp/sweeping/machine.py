"""What a sweep may use of a machine, and how many markets of a setting it runs at once."""

from dataclasses import dataclass
from typing import Any

from bookwarp.engines.registry import choose_engine, device_options, fall_back
from bookwarp.limits import check_threads, memory_limit_bytes
from bookwarp.spec.errors import EngineError, ParameterError
from bookwarp.sweeping.plan import SweepPlan
from bookwarp.sweeping.settings import Group

# Rows of the markets that a core runs at once: they stay near it until they are measured, and the
# hundreds of markets that they belong to are worth the milliseconds that a simulation costs.
_CORE_ROWS_BYTES = 2**24
# Where rows are few, so many agent events at once.
_CORE_EVENTS = 2**25
# Share of the free memory of a GPU; a measure works in the rest.
_DEVICE_SHARE = 0.75
# Beside books and rows, a market has parameters, scalars and types on a GPU.
_DEVICE_MARKET_BYTES = 512
# A launch ends within about half a minute on the fastest GPU known, so that blocks get stored.
_LAUNCH_EVENTS = 2**44
# Results that wait in host memory to be stored are no more than this share of it.
_RESULTS_SHARE = 0.25

CUDA = "cuda"


@dataclass(frozen=True)
class Machine:
    """An engine and its means; results do not depend on it."""

    engine: str
    threads: int
    devices: tuple[int, ...]
    """Numbers of the GPUs; none for an engine on the processor."""
    memory: int
    """Bytes of host memory that may be used."""
    device_memory: int
    """Bytes of every device that may be used; 0 without any."""

    @classmethod
    def of(
        cls,
        engine: str = "auto",
        threads: int | None = None,
        devices: Any = None,
        memory_limit: int | None = None,
    ) -> "Machine":
        """Check the means of a sweep; the arguments are those of `Simulation`.

        Raises:
            ParameterError: there is no such engine, or a number is outside its domain.
            EngineError: the engine does not work here.
        """
        name = choose_engine(engine)
        every = isinstance(devices, str) and devices == "all"
        numbers: tuple[int, ...] = ()
        device_memory = 0
        if name == CUDA:
            try:
                numbers, device_memory = _look_at_devices(devices)
            except EngineError as error:
                if engine != "auto" or not (devices is None or every):
                    raise
                name = fall_back(name, error)
        if name != CUDA and engine == "auto" and every:
            # All there are: none.
            devices = None
        device_options(name, devices=devices)
        threads = check_threads(threads)
        return cls(name, threads, numbers, memory_limit_bytes(memory_limit), device_memory)

    @property
    def on_device(self) -> bool:
        """Whether markets run on a GPU, all of a launch at once."""
        return self.engine == CUDA

    def markets_at_once(self, plan: SweepPlan, group: Group) -> int:
        """Return how many markets of a group one simulation has at most: on one device, or core.

        Raises:
            ParameterError: not even one fits into the memory.
        """
        agents, steps = group.shared["agents"], group.shared["steps"]
        rows = 8 * (steps // plan.measure.every) * len(plan.measure.series)
        events = max(1, agents * steps)
        if self.on_device:
            books = 4 * 8 * group.shared["levels"]
            fits = self.device_memory // (rows + books + _DEVICE_MARKET_BYTES)
            wanted = max(1, _LAUNCH_EVENTS // events)
        else:
            # The measure may hold the rows twice, in other types.
            each = 3 * rows + 64 * group.shared["levels"]
            fits = self.memory // self.threads // each
            wanted = max(_CORE_ROWS_BYTES // max(1, rows), _CORE_EVENTS // events, 1)
        if fits < 1:
            raise ParameterError(
                f"one market of {steps} steps and {group.shared['levels']} levels does not fit "
                f"into memory: lower steps, or raise the measure's every"
            )
        return int(min(fits, wanted))

    def blocks_at_once(self, plan: SweepPlan, blocks: list[int]) -> int:
        """Return how many of the next `blocks` are run together: on a GPU as many as fit."""
        if not self.on_device:
            return 1
        room = {
            id(group): self.markets_at_once(plan, group) * len(self.devices)
            for group in plan.settings.groups
        }
        results = self.memory * _RESULTS_SHARE / plan.market_nbytes
        # Mostly all of them fit, and what is between them too.
        first, stop = plan.blocks.markets(blocks[0])[0], plan.blocks.markets(blocks[-1])[1]
        if stop - first <= results and all(
            plan.markets_of(group, first, stop) <= room[id(group)] for group in plan.settings.groups
        ):
            return len(blocks)
        taken = dict.fromkeys(room, 0)
        for count, block in enumerate(blocks):
            first, stop = plan.blocks.markets(block)
            results -= stop - first
            for group in plan.settings.groups:
                taken[id(group)] += plan.markets_of(group, first, stop)
            if count and (results < 0 or any(taken[each] > room[each] for each in room)):
                return count
        return len(blocks)


def _look_at_devices(devices: Any) -> tuple[tuple[int, ...], int]:
    """Return the numbers of the GPUs that `devices` asks for, and what markets may take of each."""
    from bookwarp.engines.cuda.engine import check_devices, free_device_bytes

    numbers = check_devices(devices, None)
    # Markets are spread evenly, so that the fullest device says how many there may be.
    return tuple(numbers), int(min(free_device_bytes(numbers)) * _DEVICE_SHARE)
