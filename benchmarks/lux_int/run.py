"""Check, time and tune the integer benchmark: `python benchmarks/lux_int/run.py --rows FILE`.

Every kernel is compared with the plain rule before it is timed: the fills and all 32 remaining
quantities of every book. A line of JSON is appended for each case as soon as it is measured.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from gpu import call_driver, gpu_present
from row_file import Row, append_row, describe_run, spread

from bookwarp.engines.registry import available_threads
from lux_int import on_cpu
from lux_int.kernel_forms import OWN_FORMS, SHARED_FORMS, Form
from lux_int.layout import lay_out
from lux_int.on_gpu import ManyBooks, measure_copy
from lux_int.reference import Result, match_books
from lux_int.workload import TAKERS, Workload, filling_workload, random_workload, seed_workload

MILLION = 1_000_000
SIZES = (1, 2, 4, 8, 16)
"""Books of the seed's workload, in millions; the others run at the middle one."""
_COMPARED_ON_HOST = MILLION
_CPU_BOOKS = MILLION


def common_figures(workload: Workload, result: Result, books: int) -> Row:
    """Return what stands beside every rate of a workload."""
    return {
        "kind": "lux-int",
        "workload": workload.name,
        "incoming": "shared by all books" if workload.shared else "of every book its own",
        "books": books,
        "orders": books * TAKERS,
        "fills_per_book": float(result.fills.mean()),
        "lots_per_book": float(result.lots.mean()),
        "fills_per_order": float(result.fills.mean()) / TAKERS,
        "orders_without_a_fill": float((result.filled == 0).mean()),
    }


def measure_on_cpu(workload: Workload, books: int, trials: int) -> Iterator[Row]:
    """Yield the row of the rule on all cores of this machine."""
    result = match_books(workload)
    threads = available_threads()
    matched = on_cpu.match_books(workload, books, threads, trials)
    rows = np.arange(books) % workload.variety
    for each in matched:
        assert (each.fills == result.fills[rows]).all()
        assert (each.remaining == result.remaining[rows]).all()
    orders = books * TAKERS
    yield common_figures(workload, result, books) | {
        "engine": "cpu structures",
        "threads": threads,
        "trials": trials,
        "orders_per_s": spread([orders / each.seconds for each in matched]),
        "check": f"fills and every remaining quantity of all {books} books",
    }


def measure_on_gpu(
    workload: Workload,
    books: int,
    forms: Sequence[Form],
    trials: int,
    stream: Any,
    copy_rate: float,
) -> Iterator[Row]:
    """Yield a row per form, then one that names the best."""
    result = match_books(workload)
    rates: dict[Form, float] = {}
    for layout in dict.fromkeys(form.layout for form in forms):
        image = lay_out(workload, result.remaining, layout)
        here = ManyBooks(image, result.fills, books, stream)
        for form in [each for each in forms if each.layout == layout]:
            check = here.check(form, on_host=books <= _COMPARED_ON_HOST)
            seconds = here.time(form, trials)
            rates[form] = books * TAKERS / median(seconds)
            moved = image.bytes_per_book * books / median(seconds)
            yield common_figures(workload, result, books) | {
                "engine": form.label,
                "layout": form.layout,
                "variant": form.variant,
                "threads_per_block": form.threads,
                "trials": trials,
                "kernel_s": spread(seconds),
                "orders_per_s": spread([books * TAKERS / each for each in seconds]),
                "bytes_per_book": image.bytes_per_book,
                "bytes_per_s": moved,
                "copy_bytes_per_s": copy_rate,
                "fraction_of_copy": moved / copy_rate,
                "ceiling_orders_per_s": copy_rate / image.bytes_per_book * TAKERS,
                "check": check,
            }
        del here
    best = max(rates, key=lambda form: rates[form])
    yield common_figures(workload, result, books) | {
        "engine": "tuner",
        "best": best.label,
        "orders_per_s": {"median": rates[best]},
    }


def line_of(row: Row) -> str:
    """Return what is printed of a row."""
    name = f"best: {row['best']}" if "best" in row else row["engine"]
    own = "" if row["incoming"].startswith("shared") else ", own orders"
    text = (
        f"{row['workload'] + own:<30} {row['books'] / MILLION:>5.1f} M books "
        f"{row['orders_per_s']['median'] / 1e9:>8.2f} G orders/s "
        f"{row['fills_per_order']:.4f} fills/order  {name}"
    )
    if "fraction_of_copy" in row:
        text += (
            f"; {row['bytes_per_s'] / 1e9:.0f} GB/s, {row['fraction_of_copy']:.0%} of a copy, "
            f"{row['bytes_per_book']} bytes a book"
        )
    return text


def rows_of_gpu(sizes: Sequence[float], trials: int, deadline: float) -> Iterator[Row]:
    """Yield the rows of every workload and size, most wanted first, until the time is over."""
    from cuda.core import Device

    device = Device()
    device.set_current()
    stream = device.create_stream()
    copy_rate = measure_copy(stream)
    print(f"a copy on the device moves {copy_rate / 1e9:.0f} GB/s, read and written", flush=True)
    middle = sorted(sizes)[len(sizes) // 2]
    seed, filling = seed_workload(), filling_workload()
    cases: list[tuple[Workload, float]] = []
    for workload in (seed, filling, random_workload(shared=True)):
        cases += [(workload, middle)]
    for workload in (seed.with_own_orders(), filling.with_own_orders()):
        cases += [(workload, middle)]
    cases += [(random_workload(shared=False), middle)]
    cases += [(seed, size) for size in sizes if size != middle]
    for workload, size in cases:
        if time.monotonic() > deadline:
            print(f"the budget is spent: without {workload.name} at {size} M books")
            continue
        forms = SHARED_FORMS if workload.shared else OWN_FORMS
        books = int(size * MILLION)
        yield from measure_on_gpu(workload, books, forms, trials, stream, copy_rate)
        call_driver("cuCtxSynchronize")


def main(arguments: Sequence[str] | None = None) -> None:
    began = time.monotonic()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=Path, help="file that lines of JSON are appended to")
    parser.add_argument("--commit", help="the commit to note where there is no Git to ask")
    parser.add_argument("--budget-s", type=float, default=600, help="seconds in all")
    parser.add_argument("--trials", type=int, default=7)
    parser.add_argument(
        "--sizes", type=float, nargs="+", default=SIZES, help="millions of books on the GPU"
    )
    parser.add_argument("--cpu-books", type=int, default=_CPU_BOOKS, help="books on the CPU")
    options = parser.parse_args(arguments)
    on_gpu = gpu_present()
    common = describe_run("lux-int", options.commit, on_gpu=on_gpu)

    def keep(rows: Iterator[Row]) -> None:
        for row in rows:
            print(line_of(row), flush=True)
            if options.rows is not None:
                append_row(options.rows, common | row)

    for workload in (seed_workload(), filling_workload(), random_workload(shared=False)):
        keep(measure_on_cpu(workload, options.cpu_books, options.trials))
    if on_gpu:
        keep(rows_of_gpu(options.sizes, options.trials, began + options.budget_s))
    else:
        print("no GPU here: the kernels are not run")


if __name__ == "__main__":
    main()
