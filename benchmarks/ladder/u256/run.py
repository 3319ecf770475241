"""Climb the ladder of 256-bit books on a GPU: `python benchmarks/ladder/u256/run.py`.

A rung is one idea; u256_rungs.py has them, with what each was expected to bring. Every result of
every rung is compared with the reference before and after it is timed, by the GPU's clock, and some
of its books, byte for byte. One line of JSON is appended for each.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from machine import REPOSITORY
from markdown_table import markdown
from row_file import Row, append_row, describe_run, spread
from u256_flows import mixed_flow, seed_flow, sweep_flow
from u256_on_gpu import FORMS, FlowOnGpu
from u256_rungs import RUNGS, TRIED, Rung, engine_of

from bookwarp.engines.cuda.u256.engine import CudaU256Engine

ROWS = REPOSITORY / "benchmarks" / "rows" / "ladder_u256.jsonl"
BOOKS = 262_144


def measure_rung(rung: Rung, here: FlowOnGpu, trials: int) -> Row:
    """Return a rung's row.

    Args:
        rung: the rung.
        here: orders, whose engine is replaced.
        trials: how often each form is timed.

    Raises:
        ValueError: it computes something else than the reference.
    """
    flow, books = here.flow, here.books
    here.running = running = engine_of(rung)(books, flow.capacity)
    row: Row = {
        "kind": "ladder of 256-bit books",
        "rung": rung.name,
        "idea": rung.idea,
        "over": rung.over,
        "expected": rung.expected.get(flow.name),
        "because": rung.because,
        "workload": flow.name,
        "books": books,
        "orders": here.orders,
        "trials": trials,
    }
    for form in ("together", "apart"):
        here.run(form)
        here.check()
        if (running.read_arenas(books - flow.variety, books) != flow.final_arenas).any():
            raise ValueError("its books are not the reference's")
        seconds = [here.run(form) for _ in range(trials)]
        row["fills_per_order"] = here.check()
        row[f"orders_per_s_{form}"] = spread([here.orders / each for each in seconds])
    return row


def table(rows: Sequence[Row], workload: str) -> str:
    """Return every rung: its idea, what it was expected to bring, and what it brought."""
    mine = {row["rung"]: row for row in rows if row["workload"] == workload}
    body = []
    for name, row in mine.items():
        over = mine.get(row["over"])
        rates = [row[f"orders_per_s_{form}"]["median"] for form in ("together", "apart")]
        brought = f"{rates[0] / over['orders_per_s_together']['median']:.2f}" if over else ""
        expected = "" if row["expected"] is None else f"{row['expected']:.1f}"
        cells = [name, row["idea"], row["over"] or "", expected, brought]
        body.append([*cells, *(f"{rate / 1e9:.3g}" for rate in rates)])
    heads = ["rung", "what it changes", "of", "expected", "brought"]
    heads += [f"10^9 orders/s, {FORMS[form]}" for form in ("together", "apart")]
    return markdown(heads, body, right=(3, 4, 5, 6))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rungs", help="which of them, with commas between; all if not given")
    parser.add_argument("--books", type=int, default=BOOKS)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--rows", type=Path, default=ROWS, help="file to append to")
    parser.add_argument("--commit", help="the commit to note where there is no Git to ask")
    options = parser.parse_args(arguments)
    known = {rung.name: rung for rung in (*RUNGS, *TRIED)}
    names = list(known) if options.rungs is None else options.rungs.split(",")
    if set(names) - set(known):
        parser.error(f"rungs are {', '.join(known)}")
    common = describe_run("ladder/u256", options.commit, on_gpu=True)
    rows, failed = [], []
    for flow in (seed_flow(), sweep_flow(), mixed_flow(passes=16)):
        here = FlowOnGpu(CudaU256Engine(options.books, flow.capacity), flow, options.books)
        for rung in [known[name] for name in names]:
            if rung.over is not None and flow.name not in rung.expected:
                continue
            try:
                row = measure_rung(rung, here, options.trials)
            except (RuntimeError, ValueError) as error:
                failed.append(rung.name)
                print(f"{flow.name}, {rung.name}: FAILED, {error}", flush=True)
                continue
            rows.append(row)
            rate = row["orders_per_s_together"]["median"] / 1e9
            print(f"{flow.name}, {rung.name}: {rate:.3f} G orders/s", flush=True)
            append_row(options.rows, common | row)
    for name in ("seed", "sweeps", "mixed"):
        print(f"\n{name}\n\n{table(rows, name)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
