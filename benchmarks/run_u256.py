"""Time 256-bit books from the host's memory to it: `python benchmarks/run_u256.py --rows FILE`.

Flows are those of u256_flows.py. Every trial begins with the same books; all results of all orders
are compared with the reference's before its time counts, and a rate is not given unless the fills
are what the flow says. One line of JSON is appended for each flow, number of threads and way of
calling. u256_on_gpu.py times a GPU whose orders lie in its memory.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from row_file import Row, append_row, describe_run, spread
from u256_flows import Flow, mixed_flow, seed_flow, sweep_flow

from bookwarp.consensus.bench import time_workload
from bookwarp.consensus.workload import Workload, settle
from bookwarp.engines.registry import available_threads

FLOWS = {"seed": seed_flow, "sweeps": sweep_flow, "mixed": mixed_flow}
SIZES = {"seed": ((65_536, 32), (262_144, 32), (16_384, 1024)), "sweeps": ((65_536, 32),)}
SIZES["mixed"] = ((65_536, 32), (16_384, 1024))
"""Books and capacities at which each flow is timed."""


def workload_of(flow: Flow) -> Workload:
    """Return a flow with the books that it opens with, and what the reference makes of it.

    Raises:
        ValueError: it does not make the fills that it is defined to make.
    """
    openings = list(flow.opening.transpose(1, 0, 2))
    made = settle(flow.name, flow.capacity, openings, flow.orders)
    fills = made.fill_count(flow.variety) / (flow.variety * made.passes)
    if flow.fills_per_order not in (None, fills):
        raise ValueError(f"{flow.name} makes {fills} fills an order, not {flow.fills_per_order}")
    return made


def measure(
    name: str, books: int, capacity: int, engine: str, threads: Sequence[int], trials: int
) -> Iterator[Row]:
    """Yield a row for each number of threads and way of calling."""
    workload = workload_of(FLOWS[name](capacity=capacity))
    for count in threads:
        for timing in time_workload(workload, books, engine, count, trials):
            if timing.on_device:
                continue
            yield {
                "kind": "u256",
                "case": f"{count} threads",
                "engine": timing.engine,
                "threads": None if timing.engine == "cuda" else count,
                "workload": name,
                "form": f"host to host, {timing.way}",
                "books": books,
                "capacity": capacity,
                "orders": timing.orders,
                "fills_per_order": timing.fills_per_order,
                "trials": trials,
                "wall_s": spread(timing.seconds),
                "orders_per_s": timing.rates(),
                "check": "every byte of every result, and of every book in the first trial",
            }


def line_of(row: Row) -> str:
    """Return what is printed of a row."""
    rate = {name: value / 1e6 for name, value in row["orders_per_s"].items()}
    return (
        f"{row['workload']}, {row['books']} books x {row['capacity']}, {row['engine']}, "
        f"{row['case']}, {row['form']}: {rate['median']:.1f} M orders/s "
        f"({rate['min']:.1f} .. {rate['max']:.1f}), {row['fills_per_order']:.3f} fills an order"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--engine", default="cpu")
    parser.add_argument("--flows", default=",".join(FLOWS), help="with commas between (all)")
    parser.add_argument("--books", type=int, help="another number of books than the flows have")
    parser.add_argument("--threads", help="with commas between (1 and all)")
    parser.add_argument("--trials", type=int, default=7)
    parser.add_argument("--rows", type=Path, help="file that lines of JSON are appended to")
    parser.add_argument("--commit", help="the commit to note where there is no Git to ask")
    options = parser.parse_args(arguments)
    given = options.threads.split(",") if options.threads else (1, available_threads())
    threads = sorted({int(each) for each in given})
    common = describe_run("u256", options.commit)
    for name in options.flows.split(","):
        for books, capacity in SIZES[name]:
            sizes = options.books or books, capacity
            for row in measure(name, *sizes, options.engine, threads, options.trials):
                print(line_of(row), flush=True)
                if options.rows is not None:
                    append_row(options.rows, common | row)


if __name__ == "__main__":
    main()
