"""Time books of 256-bit numbers on a GPU: `python benchmarks/u256_on_gpu.py --rows FILE`.

Orders lie on the GPU, in memory of their own for each pass; the GPU's clock is read before the
first launch and after the last. Results are filled with another byte before every trial; those of
the first and the last are compared with the reference, every byte of every order. A rate is not
given unless its fills per order are what the workload says. A line of JSON is appended for each.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

import numpy as np
from row_file import Row, append_row, describe_run, spread
from u256_flows import PASSES, Flow, count_fills, mixed_flow, seed_flow, sweep_flow

from bookwarp.consensus import U256Books
from bookwarp.engines.cuda.books.grouping import group_by_book, take_keys
from bookwarp.engines.cuda.gpu import Memory, MemoryPart
from bookwarp.engines.cuda.u256.engine import CudaU256Engine
from bookwarp.engines.cuda.u256.layout import ENDS, READ_AHEAD, SLOT_BYTES
from bookwarp.engines.cuda.u256.passes import Passes
from bookwarp.spec.u256 import NUMBER_BYTES, ORDER_BYTES, RESULT_BYTES
from bookwarp.testing.u256_orders import pack_order

FORMS = {
    "together": "all passes in one launch",
    "apart": "one launch a pass",
    "arrival": "in any order of arrival: grouped by book, then one launch",
}
_POISON = 0xA5
_COPY_BYTES = 1 << 31
_MILLION = 1 << 20


class FlowOnGpu:
    """Orders of a flow in the memory of a GPU, and the books that they go to.

    Args:
        running: an engine whose books are as many and as large as the flow wants; another such one
            can take its place.
        flow: what comes.
        books: how many there are, a multiple of the flow's variety.
    """

    def __init__(self, running: CudaU256Engine, flow: Flow, books: int) -> None:
        if books % flow.variety:
            raise ValueError(f"{books} books are no multiple of {flow.variety}")
        self.running, self.flow, self.books = running, flow, books
        self._gpu = running._gpu
        self.orders = len(flow.orders) * books
        self._opening = self._upload(flow.opening)
        self._calldata = self._upload(flow.orders)
        self._results = Memory(
            self._gpu, RESULT_BYTES * max(self.orders, len(flow.opening) * books)
        )
        self._keys: Memory | None = None

    def run(self, form: str) -> float:
        """Let the books open, match all orders, and return the seconds of the latter."""
        self._reset(form == "arrival")
        self._gpu.fill(self._results, _POISON, RESULT_BYTES * self.orders)
        begin = self._gpu.mark_time()
        self._match(self._calldata, len(self.flow.orders), form)
        return self._gpu.seconds_between(begin, self._gpu.mark_time())

    def check(self) -> float:
        """Compare every byte of the last run with the reference; return its fills per order.

        Raises:
            ValueError: some are others, or the fills are not what the flow is to have.
        """
        fills, pass_bytes = 0, RESULT_BYTES * self.books
        for number, expected in enumerate(self.flow.expected):
            part = MemoryPart(self._results.pointer + number * pass_bytes, pass_bytes)
            found = self._gpu.fetch_table(part, np.dtype(np.uint8), pass_bytes)
            rows = found.reshape(-1, self.flow.variety, RESULT_BYTES)
            if not (rows == expected).all():
                wrong = int((rows != expected).any(axis=2).sum())
                raise ValueError(f"{wrong} results of pass {number} are not the reference's")
            fills += count_fills(rows)
        fills_per_order = fills / self.orders
        wanted = self.flow.fills_per_order
        if fills == 0 or (wanted is not None and fills_per_order != wanted):
            raise ValueError(f"{fills_per_order} fills per order and not {wanted}: no rate of that")
        return fills_per_order

    def grouping_seconds(self) -> float:
        """Return how long the grouping by book alone takes."""
        begin = self._gpu.mark_time()
        self._group(self.orders)
        return self._gpu.seconds_between(begin, self._gpu.mark_time())

    def _reset(self, arrival: bool) -> None:
        """Empty the books and let them open."""
        ends = self.running._books._ends
        self._gpu.fill(ends, 0, ENDS.itemsize * self.books)
        self._match(self._opening, len(self.flow.opening), "arrival" if arrival else "together")
        self._gpu.wait()

    def _match(self, calldata: Memory, passes: int, form: str) -> None:
        books, tile = self.running._books, self.books
        if form == "arrival":
            grouped, first = self._group(passes * self.books)
            books.match_grouped(calldata.pointer, self._results.pointer, grouped, first, tile)
            return
        launches, each = (1, passes) if form == "together" else (passes, 1)
        for number in range(launches):
            row = number * self.books
            rows_at = calldata.pointer + row * ORDER_BYTES
            results_at = self._results.pointer + row * RESULT_BYTES
            books.match_passes(rows_at, results_at, Passes(0, self.books, each), tile)

    def _group(self, orders: int) -> tuple[Memory, Memory]:
        """Group orders that come, pass by pass, to the books in a drawn sequence."""
        running, gpu, space = self.running, self._gpu, self.running._space
        if self._keys is None:
            sequence = np.random.default_rng(5).permutation(self.books).astype(np.uint32)
            passes = max(len(self.flow.orders), len(self.flow.opening))
            self._keys = Memory(gpu, 4 * passes * self.books)
            gpu.send(self._keys, np.tile(sequence, passes))
        gpu.copy(take_keys(space, orders), self._keys, 4 * orders)
        return group_by_book(gpu, running._grouping, space, orders, self.books)

    def _upload(self, orders: np.ndarray) -> Memory:
        pass_bytes = ORDER_BYTES * self.books
        memory = Memory(self._gpu, len(orders) * pass_bytes + READ_AHEAD)
        for number, rows in enumerate(self.flow.passes(orders, self.books)):
            part = MemoryPart(memory.pointer + number * pass_bytes, pass_bytes)
            self._gpu.send(part, rows)
        return memory


def seed_bytes(form: str) -> float:
    """Return the fewest bytes an order of the seed's flow moves, as the kernels go about it.

    Calldata and result; the ask that is held, read once for ten orders in one launch and with its
    quantity written back, or read and written for each; and the counts and heads of the book, which
    are written when an ask is filled.
    """
    rows = ORDER_BYTES + RESULT_BYTES
    if form == "together":
        asks = -(-PASSES // 10)
        return rows + (asks * SLOT_BYTES + NUMBER_BYTES + 2 * ENDS.itemsize) / PASSES
    filled = PASSES // 10 / PASSES
    return rows + SLOT_BYTES + NUMBER_BYTES * (1 - filled) + ENDS.itemsize * (1 + filled)


def measure_flow(
    engine: Callable[[int, int], CudaU256Engine],
    flow: Flow,
    books: int,
    forms: Sequence[str],
    trials: int,
) -> Iterator[Row]:
    """Yield a row for each form.

    Args:
        engine: makes an engine for so many books of such a capacity.
        flow: what comes.
        books: how many there are.
        forms: keys of `FORMS`.
        trials: how often each is timed.
    """
    here = FlowOnGpu(engine(books, flow.capacity), flow, books)
    for form in forms:
        here.run(form)
        here.check()
        seconds = [here.run(form) for _ in range(trials)]
        fills_per_order = here.check()
        row = {
            "kind": "u256",
            "case": f"{form}, capacity {flow.capacity}",
            "engine": "cuda",
            "workload": flow.name,
            "form": FORMS[form],
            "books": books,
            "capacity": flow.capacity,
            "orders": here.orders,
            "fills_per_order": fills_per_order,
            "trials": trials,
            "kernel_s": spread(seconds),
            "orders_per_s": spread([here.orders / each for each in seconds]),
            "check": "every byte of every result, before and after timing",
        }
        if flow.name == "seed" and form != "arrival":
            row["bytes_per_order"] = seed_bytes(form)
        if form == "arrival":
            row["grouping_s"] = spread([here.grouping_seconds() for _ in range(trials)])
        yield row


def measure_single_order(trials: int) -> Iterator[Row]:
    """Yield how long one order takes from host to host.

    Through the engine; through books; and launching and waiting alone, of the same kernel.
    """
    lots = 1 + trials
    bid = np.frombuffer(pack_order(0, 5, 1), np.uint8).reshape(1, -1)
    for name in ("engine", "U256Books.match_order", "launch and wait alone"):
        books = U256Books(1, 32, engine="cuda")
        books.match_order(pack_order(1, 5, lots))
        data = bid.tobytes()
        single = books._engine._single  # type: ignore[attr-defined]
        match = {
            "engine": lambda: books._engine.match(bid, None).tobytes(),  # noqa: B023
            "U256Books.match_order": lambda: books.match_order(data),  # noqa: B023
            "launch and wait alone": lambda: single.launch(0),  # noqa: B023
        }[name]
        books._engine.match(bid, None)
        seconds, fills = [], 0
        for _ in range(trials):
            began = time.perf_counter()
            match()
            seconds.append(time.perf_counter() - began)
            fills += count_fills(single.result)
        if fills != trials:
            raise ValueError(f"{fills} fills of {trials} orders")
        yield {
            "kind": "u256",
            "case": name,
            "engine": "cuda",
            "workload": "one order at a time",
            "form": f"host to host, {name}",
            "books": 1,
            "capacity": 32,
            "orders": trials,
            "fills_per_order": fills / trials,
            "trials": trials,
            "wall_s": spread(seconds) | {"p99": float(np.quantile(seconds, 0.99))},
        }


def measure_host_to_host(books: int, trials: int) -> Iterator[Row]:
    """Yield the rate of the seed's flow from the host's memory to the host's memory."""
    flow = seed_flow()
    running = CudaU256Engine(books, flow.capacity)
    opening = np.concatenate([each.copy() for each in flow.passes(flow.opening, books)])
    rows = np.concatenate([each.copy() for each in flow.passes(flow.orders, books)])
    book = np.tile(np.arange(books), PASSES)
    empty = running.read_arenas(0, books)
    seconds = []
    for _ in range(1 + trials):
        running.write_arenas(0, empty)
        running.match(opening, book)
        began = time.perf_counter()
        results = running.match(rows, book)
        seconds.append(time.perf_counter() - began)
        found = results.reshape(PASSES, books, RESULT_BYTES)
        if not (found == flow.expected).all() or count_fills(found) != len(rows):
            raise ValueError("results are not the reference's")
        del found, results
    yield {
        "kind": "u256",
        "case": "host to host",
        "engine": "cuda",
        "workload": flow.name,
        "form": "host to host, one batch",
        "books": books,
        "capacity": flow.capacity,
        "orders": len(rows),
        "fills_per_order": 1.0,
        "trials": trials,
        "wall_s": spread(seconds[1:]),
        "orders_per_s": spread([len(rows) / each for each in seconds[1:]]),
        "check": "every byte of every result",
    }


def measure_copy(running: CudaU256Engine) -> float:
    """Return how many bytes a second a copy on the GPU moves, read and written."""
    gpu = running._gpu
    source, target = Memory(gpu, _COPY_BYTES), Memory(gpu, _COPY_BYTES)
    gpu.send(source, np.frombuffer(np.random.default_rng(0).bytes(_COPY_BYTES), np.uint8))
    seconds = []
    for _ in range(8):
        begin = gpu.mark_time()
        gpu.copy(target, source, _COPY_BYTES)
        seconds.append(gpu.seconds_between(begin, gpu.mark_time()))
    return 2 * _COPY_BYTES / median(seconds[1:])


def all_rows(trials: int, scale: int = 1) -> Iterator[Row]:
    """Yield every row; `scale` divides the books, for a look."""
    forms = tuple(FORMS)
    yield from measure_flow(CudaU256Engine, seed_flow(), _MILLION // scale, forms, trials)
    deep = seed_flow(capacity=1024)
    yield from measure_flow(CudaU256Engine, deep, 131_072 // scale, forms[:2], trials)
    yield from measure_flow(CudaU256Engine, seed_flow(), 65_536 // scale, forms[:2], trials)
    mixed = mixed_flow()
    many = max(mixed.variety, 262_144 // scale)
    yield from measure_flow(CudaU256Engine, mixed, many, forms, trials)
    yield from measure_flow(CudaU256Engine, sweep_flow(), 262_144 // scale, forms[:2], trials)
    yield from measure_single_order(2_000)
    yield from measure_host_to_host(65_536 // scale, trials)


def line_of(row: Row) -> str:
    """Return what is printed of a row."""
    text = (
        f"{row['workload']:<20} {row['books']:>9} books x {row['capacity']:<5} {row['form']:<44} "
        f"{row['fills_per_order']:.3f} fills/order "
    )
    if "orders_per_s" in row:
        text += f"{row['orders_per_s']['median'] / 1e9:>7.3f} G orders/s"
    else:
        text += f"{row['wall_s']['median'] * 1e6:>7.1f} us, p99 {row['wall_s']['p99'] * 1e6:.1f} us"
    if "fraction_of_copy" in row:
        text += (
            f", {row['bytes_per_order']:.0f} B an order: {row['fraction_of_copy']:.0%} of a copy"
        )
    if "grouping_s" in row:
        text += f", {row['grouping_s']['median'] / row['kernel_s']['median']:.0%} of it grouping"
    return text


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=Path, help="file that lines of JSON are appended to")
    parser.add_argument("--commit", help="the commit to note where there is no Git to ask")
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--scale", type=int, default=1, help="divides the books, for a look")
    options = parser.parse_args(arguments)
    common = describe_run("u256", options.commit, on_gpu=True)
    copy_rate = measure_copy(CudaU256Engine(1, 1))
    print(f"a copy on the device moves {copy_rate / 1e9:.0f} GB/s, read and written", flush=True)
    for row in all_rows(options.trials, options.scale):
        if "bytes_per_order" in row:
            moved = row["bytes_per_order"] * row["orders_per_s"]["median"]
            row |= {"bytes_per_s": moved, "copy_bytes_per_s": copy_rate}
            row |= {"fraction_of_copy": moved / copy_rate}
        print(line_of(row), flush=True)
        if options.rows is not None:
            append_row(options.rows, common | row)


if __name__ == "__main__":
    sys.exit(main())
