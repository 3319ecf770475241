"""The cuda engine: an ensemble on one GPU or several, its state in their memory."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from bookwarp.engines.cuda.arrays import DeviceArray, device_arrays, row_arrays
from bookwarp.engines.cuda.availability import unavailable_reason
from bookwarp.engines.cuda.gpu import Gpu, device_count
from bookwarp.engines.cuda.kernel_key import (
    Arrangement,
    GpuShape,
    KernelKey,
    arrangements,
    bound_orders,
    choose_key,
    largest_orders,
)
from bookwarp.engines.cuda.layout import WAITING_SIDES, read_out_state
from bookwarp.engines.cuda.part import Part, part_nbytes
from bookwarp.engines.cuda.slices import split_markets
from bookwarp.engines.cuda.tuned import recall_choice
from bookwarp.engines.cuda.variants import equivalent_keys, find_key
from bookwarp.spec.errors import EngineError, ParameterError
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.runs import Runs
from bookwarp.spec.state import State

_NARROW, _WIDE = np.dtype(np.int32), np.dtype(np.int64)
_NARROW_MOST = 2**31 - 1
ALL = "all"


class CudaEngine:
    """Runs an ensemble on GPUs; implements `bookwarp.engines.protocol.DeviceEngine`.

    Nothing waits for the device but `wait`, and what reads from it or writes to it.
    """

    def __init__(
        self,
        auction: CallAuction,
        plan: RecordPlan,
        threads: int | None = None,
        *,
        devices: int | Sequence[int] | str | None = None,
        cuda_stream: Any = None,
        kept_rows: int | None = None,
    ) -> None:
        """Allocate, compile, and stand at the opening state; `threads` makes no difference here.

        Args:
            auction, plan: the ensemble and what it records.
            threads: as for every engine.
            devices: number of a GPU, or of several, which share the markets; "all"; 0 if None.
            cuda_stream: stream of the caller's that all work is put on.
            kept_rows: how many recorded rows there are in all, for `device_rows` and `read_rows`;
                None to bring them to host memory, where `run` is told.

        Raises:
            EngineError: CUDA does not work here, or there is too little memory.
            ParameterError: there is no such device or stream.
        """
        reason = unavailable_reason()
        if reason is not None:
            raise EngineError(f"engine 'cuda' is not available: {reason}")
        numbers = check_devices(devices, cuda_stream)
        self.auction, self.plan = auction, plan
        self._keys: dict[tuple[bool, bool], KernelKey] = {}
        self._lots_per_step = auction.agents * largest_orders(auction)
        type_counts = auction.shared_type_counts()
        self._orders = bound_orders(auction, type_counts)
        slices = split_markets(auction, type_counts, plan, len(numbers))
        self.gpus = [Gpu(number, cuda_stream) for number in numbers[: len(slices)]]
        self.shape = GpuShape(
            sum(gpu.multiprocessors for gpu in self.gpus),
            min(gpu.blocks_per_multiprocessor for gpu in self.gpus),
        )
        self._most_markets = max(own.count for own in slices)
        self._step = 0
        self._narrow_until = self._steps_of_narrow_lots(auction.shared("open_depth"))
        key = self._key(wide=self._narrow_until < 1, recording=self.plan.has_rows)
        for gpu, own in zip(self.gpus, slices, strict=True):
            check_memory(gpu, part_nbytes(key, own, plan, gpu.multiprocessors, kept_rows))
        self._parts = [
            Part(gpu, own, plan, auction, key.lots, kept_rows)
            for gpu, own in zip(self.gpus, slices, strict=True)
        ]
        self._kept = [part.kept for part in self._parts if part.kept]
        self._prepare(key)

    def run(self, steps: int, rows: Mapping[str, np.ndarray]) -> None:
        """Start `steps` steps and return; `rows` are filled when `wait` or `read_state` returns.

        `rows` is empty where rows are kept on the device.

        Raises:
            EngineError: there is no room there for the rows of these steps.
        """
        if steps == 0:
            return
        count = self._count_kept(steps) if self._kept else 0
        wide = self._parts[0].lots == _WIDE
        if not wide and self._step + steps > self._narrow_until:
            self._write(self.read_state(), _WIDE)
            wide = True
        key = self._key(wide, recording=self.plan.has_rows if self._kept else bool(rows))
        self._prepare(key)
        if rows:
            self._run_recording(key, steps, rows)
        else:
            self._launch(key, steps)
            for own in self._kept:
                own.expect(count)

    def wait(self) -> None:
        """Return when all steps are done and all rows are filled.

        Raises:
            EngineError: a GPU failed.
        """
        # All copies are on their way before the first is waited for.
        for part in self._parts:
            part.send()
        self._on_all(Part.drain)

    def read_state(self) -> State:
        """Return the state in host memory, once all steps are done."""
        self.wait()
        books, scalars, waiting = zip(*(part.read() for part in self._parts), strict=True)
        waits = [sides for sides in waiting if sides is not None]
        return read_out_state(self._step, list(books), list(scalars), waits)

    def send_scalars(self, found: Mapping[str, np.ndarray], places: Runs) -> Callable[[], None]:
        """Start to write scalars of the state into arrays, as `DeviceEngine` says."""
        waits = [part.send_scalars(found, places) for part in self._parts]

        def wait() -> None:
            for each in waits:
                each()

        return wait

    def write_state(self, state: State) -> None:
        """Continue from `state`.

        Raises:
            EngineError: a level holds buys and sells, which no auction leaves behind.
        """
        both = (state.bid > 0) & (state.ask > 0)
        if both.any():
            market, level = np.argwhere(both)[0]
            raise EngineError(
                f"the cuda engine keeps one side a level, and level {level} of market {market} "
                f"holds {state.bid[market, level]} lots to buy and {state.ask[market, level]} to "
                f"sell: no auction leaves such a book"
            )
        sides = [state.bid.sum(axis=1), state.ask.sum(axis=1)]
        if self.auction.has_waiting_orders:
            waiting = (getattr(state, name).sum(axis=1) for name in WAITING_SIDES)
            sides = [rests + waits for rests, waits in zip(sides, waiting, strict=True)]
        self.wait()
        self._step = state.step
        most = np.maximum(*sides)
        self._narrow_until = state.step + self._steps_of_narrow_lots(most)
        narrow = self._narrow_until > state.step
        self._write(state, _NARROW if narrow else _WIDE)

    def device_arrays(self, part: int = 0) -> dict[str, DeviceArray]:
        """Return the state on the device by name, as `bookwarp.engines.cuda.arrays` says.

        Args:
            part: which of the devices, in the order in which they were given; they hold
                consecutive markets.
        """
        return device_arrays(self._part(part), self.auction.levels)

    def device_rows(self, part: int = 0) -> dict[str, DeviceArray]:
        """Return the recorded rows that were kept on a device, by name, int64 [row, ...].

        Args:
            part: as for `device_arrays`.
        """
        return row_arrays(self._part(part))

    def read_rows(self) -> dict[str, np.ndarray]:
        """Return the recorded rows that were kept on the devices, in host memory."""
        parts = [own.read() for own in self._kept]
        return {name: np.concatenate([own[name] for own in parts], axis=1) for name in parts[0]}

    def equivalent_keys(self, steps: int) -> list[KernelKey]:
        """Return the keys of all kernels that can run the next steps, that of choice first."""
        wide = self._step + steps > self._narrow_until
        choose = self._chooser(wide, self.plan.has_rows)
        possible = arrangements(self._orders)
        return list(dict.fromkeys((choose(None), *equivalent_keys(choose, possible))))

    def use(self, key: KernelKey) -> None:
        """Run one of `equivalent_keys` from now on."""
        self._keys[key.wide_lots, key.recording] = key
        self._prepare(key)

    def time(self, steps: int, rows: Mapping[str, np.ndarray]) -> list[float]:
        """Do what `run` does, and return the seconds that it takes on each device, by its clock."""
        begins = [gpu.mark_time() for gpu in self.gpus]
        self.run(steps, rows)
        ends = [gpu.mark_time() for gpu in self.gpus]
        marks = zip(self.gpus, begins, ends, strict=True)
        return [gpu.seconds_between(begin, end) for gpu, begin, end in marks]

    @property
    def device_nbytes(self) -> int:
        """Most bytes that were allocated at once so far, on all devices together.

        They are the bytes that were asked for: the driver hands out whole pages.
        """
        return sum(gpu.peak_nbytes for gpu in self.gpus)

    def _part(self, part: int) -> Part:
        if not 0 <= part < len(self._parts):
            raise ParameterError(f"part = {part} is outside 0 .. {len(self._parts) - 1}")
        return self._parts[part]

    def _run_recording(self, key: KernelKey, steps: int, rows: Mapping[str, np.ndarray]) -> None:
        """Run in launches whose rows fit into the memory for them."""
        own = [part.slice.of_rows(rows) for part in self._parts]
        stop, filled = self._step + steps, 0
        for part in self._parts:
            part.reserve_rows(self.plan.rows(self._step, stop))
        while self._step < stop:
            room = min(part.rows.room for part in self._parts)
            if room == 0:
                for part in self._parts:
                    part.send()
                self._on_all(Part.turn)
                continue
            # The last step before the one whose row would not fit.
            last = (self._step // self.plan.every + room + 1) * self.plan.every - 1
            here = min(stop, last) - self._step
            count = self.plan.rows(self._step, self._step + here)
            self._launch(key, here)
            for part, arrays in zip(self._parts, own, strict=True):
                wanted = {name: a[filled : filled + count] for name, a in arrays.items()}
                part.rows.expect(count, wanted)
            filled += count

    def _on_all(self, act: Callable[[Part], None]) -> None:
        """Do something with every part; in threads, where rows are then copied beside each other.

        Nothing works on a part any longer when this returns, also where it raises.
        """
        if len(self._parts) == 1 or not self.plan.has_rows:
            for part in self._parts:
                act(part)
            return
        with ThreadPoolExecutor(len(self._parts)) as threads:
            for future in [threads.submit(act, part) for part in self._parts]:
                future.result()

    def _count_kept(self, steps: int) -> int:
        """Return how many rows the next steps add to those that are kept.

        Raises:
            EngineError: there is no room for them.
        """
        count = self.plan.rows(self._step, self._step + steps) if self.plan.has_rows else 0
        room = self._kept[0].room
        if count > room:
            raise EngineError(f"there is no room for {count} more rows on the device, but {room}")
        return count

    def _launch(self, key: KernelKey, steps: int) -> None:
        for part in self._parts:
            part.launch(key, self._step, steps)
        self._step += steps

    def _key(self, wide: bool, recording: bool) -> KernelKey:
        if (wide, recording) not in self._keys:
            choose = self._chooser(wide, recording)
            key = choose(None)
            self._keys[wide, recording] = self._tuned(choose, key) or key
        return self._keys[wide, recording]

    def _chooser(self, wide: bool, recording: bool) -> Callable[[Arrangement | None], KernelKey]:
        """Return the function from an arrangement, or None for the fastest, to its key."""
        return lambda arrangement: choose_key(
            self.auction,
            self._orders,
            wide_lots=wide,
            recording=recording,
            shape=self.shape,
            arrangement=arrangement,
        )

    def _tuned(
        self, choose: Callable[[Arrangement | None], KernelKey], key: KernelKey
    ) -> KernelKey | None:
        """Return what `bookwarp tune` found to be faster than `key` on GPUs like these."""
        gpu = self.gpus[0]
        if any(other.name != gpu.name for other in self.gpus):
            return None
        choice = recall_choice(gpu.name, gpu.arch, key, self._most_markets)
        return find_key(choose, arrangements(self._orders), choice)

    def _prepare(self, key: KernelKey) -> None:
        for part in self._parts:
            part.prepare(key)

    def _write(self, state: State, lots: np.dtype) -> None:
        for part in self._parts:
            part.write(state, lots)

    def _steps_of_narrow_lots(self, lots: np.ndarray) -> int:
        """Return for how many steps no side of a book can pass 2**31 - 1 lots.

        Args:
            lots: on the larger side of every book now, with what waits, int64 [market], or [1].
        """
        most = _NARROW_MOST - self.auction.shared("parent_qty").astype(np.int64)
        return int(((most - lots) // self._lots_per_step).min())


def free_device_bytes(devices: Any) -> list[int]:
    """Return how much memory is free on each of the GPUs that `devices` asks for.

    Raises:
        ParameterError: there is no such device, or it is given twice.
    """
    return [Gpu(number).free_bytes() for number in check_devices(devices, None)]


def check_devices(devices: Any, cuda_stream: Any) -> list[int]:
    """Return the numbers of the GPUs that `devices` asks for.

    Raises:
        ParameterError: there is no such device, it is given twice, or a stream goes with several.
    """
    count = device_count()
    if isinstance(devices, str) and devices == ALL:
        numbers = list(range(count))
    else:
        given = [0] if devices is None else [devices] if np.ndim(devices) == 0 else list(devices)
        if not given or any(not isinstance(n, int | np.integer) for n in given):
            raise ParameterError(
                f"devices must be the numbers of GPUs, as [0, 1], or {ALL!r}, not {devices!r}"
            )
        numbers = [int(number) for number in given]
    for number in numbers:
        if not 0 <= number < count:
            raise ParameterError(f"devices: {number} is outside 0 .. {count - 1} (GPUs here)")
    if len(set(numbers)) < len(numbers):
        raise ParameterError(f"devices: {numbers} names a device twice")
    if cuda_stream is not None and len(numbers) > 1:
        raise ParameterError(f"cuda_stream belongs to one device, not to {len(numbers)}")
    return numbers


def check_memory(gpu: Gpu, nbytes: int) -> None:
    """Refuse what does not fit into the memory that a GPU has left."""
    free = gpu.free_bytes()
    if nbytes > free:
        raise EngineError(
            f"this run would take {nbytes / 1e9:.3g} GB on GPU {gpu.ordinal}, which has "
            f"{free / 1e9:.3g} GB left: lower markets or levels, or use more devices"
        )
