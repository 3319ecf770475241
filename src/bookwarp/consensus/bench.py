"""Time 256-bit books on a workload, and give a rate only if all that was matched is right."""

import gc
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import numpy as np

from bookwarp.consensus.workload import Workload, count_fills
from bookwarp.engines.registry import choose_book_engine, u256_engine_class
from bookwarp.engines.u256_protocol import U256DeviceEngine, U256Engine
from bookwarp.limits import check_threads
from bookwarp.spec.errors import BookwarpError
from bookwarp.spec.u256 import DEFAULT_TILE, arena_bytes
from bookwarp.spec.u256_orders import check_integer, check_sizes

_PIECE_BYTES = 1 << 26

CALL_A_PASS = "a call a pass"
ONE_CALL = "all passes in one call"
LAUNCH_A_PASS = "a launch a pass"
ONE_LAUNCH = "all passes in one launch"


_Run = Callable[[], tuple[np.ndarray, float]]


class NoRateError(BookwarpError):
    """What was matched is not what the workload says: a rate would mean nothing."""


@dataclass(frozen=True)
class Timing:
    """One way to match a workload, and how long it took."""

    flow: str
    way: str
    on_device: bool
    """Whether the time is that of the device alone; else from host to host, grouping included."""
    engine: str
    threads: int
    books: int
    capacity: int
    passes: int
    fills: int
    seconds: tuple[float, ...]
    """Of each trial, for all passes together."""

    @property
    def orders(self) -> int:
        """Orders of all passes."""
        return self.books * self.passes

    @property
    def fills_per_order(self) -> float:
        """Fills an order makes."""
        return self.fills / self.orders

    def rates(self) -> dict[str, float]:
        """Return orders a second: median, least and most of the trials."""
        rates = [self.orders / each for each in self.seconds]
        return {"median": median(rates), "min": min(rates), "max": max(rates)}

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        made = {"orders": self.orders, "fills_per_order": self.fills_per_order}
        return asdict(self) | made | {"orders_per_s": self.rates()}


def check_fills(workload: Workload, books: int, fills: int) -> None:
    """Refuse what does not make the fills of the workload: matching nothing is fast.

    Raises:
        NoRateError: naming both numbers.
    """
    orders, expected = books * workload.passes, workload.fill_count(books)
    if fills != expected or fills == 0:
        raise NoRateError(
            f"there is no rate: {fills:,} fills of {orders:,} orders are {fills / orders:.3f} an "
            f"order, and the workload {workload.name!r} makes {expected / orders:.3f}"
        )


def time_workload(
    workload: Workload,
    books: int,
    engine: str = "auto",
    threads: int | None = None,
    trials: int = 3,
) -> Iterator[Timing]:
    """Match a workload in every way that an engine has, and yield what each took.

    Every trial begins with the same books. Its fills and results are compared with the reference's
    before its time counts, and in the first trial all books.

    Args:
        workload: what is matched.
        books: on how many books.
        engine, threads: as of `U256Books`.
        trials: how often each way is timed.

    Raises:
        NoRateError: something is not what the workload says.
        ParameterError: there are too many books, or there is no engine of that name.
        EngineError: the engine does not work here, or there is not enough memory.
    """
    check_sizes(books, workload.capacity)
    check_integer("trials", trials, 1, 1000)
    name, threads = choose_book_engine(engine), check_threads(threads)
    made = u256_engine_class(name)(books, workload.capacity, threads)
    bench = _Bench(workload, books, made)
    ways: list[tuple[str, bool, _Run]] = [
        (CALL_A_PASS, False, bench.call_each_pass),
        (ONE_CALL, False, bench.call_once),
    ]
    if isinstance(made, U256DeviceEngine):
        device: U256DeviceEngine = made
        ways += [
            (LAUNCH_A_PASS, True, lambda: device.time_passes(bench.calldata, None, False)),
            (ONE_LAUNCH, True, lambda: device.time_passes(bench.calldata, None, True)),
        ]
    for way, on_device, run in ways:
        seconds = tuple(bench.time(run, with_arenas=trial == 0) for trial in range(trials))
        yield Timing(
            *(workload.name, way, on_device, name, threads),
            *(books, workload.capacity, workload.passes),
            fills=workload.fill_count(books),
            seconds=seconds,
        )


class _Bench:
    """An engine, and the orders of a workload for all of its books."""

    def __init__(self, workload: Workload, books: int, engine: U256Engine) -> None:
        self._workload, self._books, self._engine = workload, books, engine
        self._pattern = workload.pattern_of(books)
        self._book = np.arange(books)
        self.calldata = workload.calldata[:, self._pattern]
        """uint8 [pass, book, 117]."""
        self._all_books = np.tile(self._book, workload.passes)

    def time(self, run: _Run, with_arenas: bool) -> float:
        """Open the books, match all passes, compare what came out, and return the seconds.

        All books are many bytes: they need not be compared in every trial.
        """
        for first, patterns in self._pieces():
            self._engine.write_arenas(first, self._workload.arenas[patterns])
        gc.collect()
        results, seconds = run()
        check_fills(self._workload, self._books, int(count_fills(results).sum()))
        for number, (found, expected) in enumerate(
            zip(results, self._workload.results, strict=True)
        ):
            self._compare(f"results of pass {number}", found, expected, 0, self._pattern)
        for first, patterns in self._pieces() if with_arenas else ():
            arenas = self._engine.read_arenas(first, first + len(patterns))
            self._compare("arenas", arenas, self._workload.final_arenas, first, patterns)
        return seconds

    def call_each_pass(self) -> tuple[np.ndarray, float]:
        """Match pass after pass: one call for each, from host to host."""
        began = time.perf_counter()
        results = [self._engine.match(each, self._book, DEFAULT_TILE) for each in self.calldata]
        seconds = time.perf_counter() - began
        return np.stack(results), seconds

    def call_once(self) -> tuple[np.ndarray, float]:
        """Match all passes in one call, from host to host."""
        flat = self.calldata.reshape(-1, self.calldata.shape[-1])
        began = time.perf_counter()
        results = self._engine.match(flat, self._all_books, DEFAULT_TILE)
        seconds = time.perf_counter() - began
        return results.reshape(self._workload.results.shape[0], self._books, -1), seconds

    def _pieces(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the first book of some, and their patterns."""
        step = max(1, _PIECE_BYTES // arena_bytes(self._workload.capacity))
        for first in range(0, self._books, step):
            yield first, self._pattern[first : first + step]

    def _compare(
        self,
        what: str,
        found: np.ndarray,
        expected: np.ndarray,
        first: int,
        patterns: np.ndarray,
    ) -> None:
        wrong = (found != expected[patterns]).any(axis=-1)
        if wrong.any():
            raise NoRateError(
                f"there is no rate: {what} of book {first + int(np.argmax(wrong))} differ from the "
                f"reference's"
            )
