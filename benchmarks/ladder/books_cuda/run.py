"""Climb the ladder of continuous books on a GPU: `python benchmarks/ladder/books_cuda/run.py`.

A rung is one idea; gpu_book_rungs.py has them, with what each was expected to bring. Every rung
must end with the events and books of the product before it is timed, by the GPU's clock, matching
alone. One line of JSON is appended for each.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from drawn_flow import BookFlow, draw_flow
from gpu_book_rungs import RUNGS, Rung, RungEngine
from machine import REPOSITORY
from markdown_table import markdown
from row_file import append_row, describe_run

from bookwarp.engines.cuda.books import engine
from bookwarp.engines.cuda.books.engine import CudaBookEngine
from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.events import Matched

ROWS = REPOSITORY / "benchmarks" / "rows" / "ladder_books_cuda.jsonl"
BOOKS, MESSAGES = 65_536, 128

Row = dict[str, Any]


def match_flow(
    running: CudaBookEngine, flow: BookFlow, trials: int
) -> tuple[Matched, str, list[float]]:
    """Return what a flow leads to, the digest of the books, and the seconds of matching alone."""
    running.match(flow.opening, None, events=False)
    opened = running.read_state()
    seconds: list[float] = []
    run = running._run

    def timed(piece: Any) -> None:
        begin = running._gpu.mark_time()
        run(piece)
        seconds.append(running._gpu.seconds_between(begin, running._gpu.mark_time()))

    running._run = timed  # type: ignore[method-assign]
    for _ in range(1 + trials):
        matched = None
        running.write_state(opened)
        matched = running.match(flow.orders, None)
    assert matched is not None
    return matched, running.read_state().digest(b""), seconds[1:]


def measure_rung(rung: Rung, flow: BookFlow, expected: tuple[Matched, str], trials: int) -> Row:
    """Return a rung's row.

    Raises:
        ValueError: that is not what was expected.
    """
    # Whatever the books hold, they begin with the rung's kernel.
    engine.slot_ladder = lambda rules, live: rung.slots
    made = type("RungEngine", (RungEngine,), {"rung": rung})
    matched, digest, seconds = match_flow(made(BookRules(), flow.books), flow, trials)
    if not (digest == expected[1] and np.array_equal(matched.events, expected[0].events)):
        raise ValueError("its events or books are not those of the product")
    rates = [len(flow.orders) / each for each in seconds]
    return {
        "kind": "ladder of books",
        "rung": rung.name,
        "idea": rung.idea,
        "over": rung.over,
        "expected": rung.expected,
        "books": flow.books,
        "messages": len(flow.orders),
        "trials": trials,
        "messages_per_s": {"median": median(rates), "min": min(rates), "max": max(rates)},
        "digest_of_books": digest,
    }


def table(rows: Sequence[Row]) -> str:
    """Return every rung: its idea, what it was expected to bring, and what it brought."""
    rates = {row["rung"]: row["messages_per_s"]["median"] for row in rows}
    body = []
    for row in rows:
        rate, over = rates[row["rung"]], rates.get(row["over"])
        brought = "" if over is None else f"{rate / over:.2f}"
        expected = "" if row["expected"] is None else f"{row['expected']:.2f}"
        cells = [row["rung"], row["idea"], row["over"] or "", expected, brought]
        body.append([*cells, f"{rate / 1e6:.0f}"])
    heads = ["rung", "what it changes", "of", "expected", "brought", "10^6 messages/s"]
    return markdown(heads, body, right=(3, 4, 5))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rungs", help="which of them, with commas between; all if not given")
    parser.add_argument("--books", type=int, default=BOOKS, help="a multiple of 64")
    parser.add_argument("--messages", type=int, default=MESSAGES, help="for each book")
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--rows", type=Path, default=ROWS, help="file to append to")
    parser.add_argument("--commit", help="the commit to note where there is no Git to ask")
    options = parser.parse_args(arguments)
    names = [rung.name for rung in RUNGS] if options.rungs is None else options.rungs.split(",")
    if set(names) - {rung.name for rung in RUNGS}:
        parser.error(f"rungs are {', '.join(rung.name for rung in RUNGS)}")
    common = describe_run("ladder/books_cuda", options.commit, on_gpu=True)
    flow = draw_flow(options.books, options.messages)
    matched, digest, _ = match_flow(CudaBookEngine(BookRules(), flow.books), flow, 0)
    rows, failed = [], []
    for rung in [each for each in RUNGS if each.name in names]:
        try:
            row = measure_rung(rung, flow, (matched, digest), options.trials)
        except (RuntimeError, ValueError) as error:
            failed.append(rung.name)
            print(f"{rung.name}: FAILED, {error}", flush=True)
            continue
        rows.append(row)
        print(f"{rung.name}: {row['messages_per_s']['median'] / 1e6:.0f} M messages/s", flush=True)
        append_row(options.rows, common | row)
    print(f"\n{table(rows)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
