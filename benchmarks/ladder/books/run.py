"""Climb the ladder of continuous books: `python benchmarks/ladder/books/run.py NORMAL.parquet`.

A rung is one idea that made books faster on the processor, or did not: book_rungs.py has them, with
what each was expected to bring, and the folder layouts their books. A rung must give the published
report of the stream, or the same events as the others on many books. It is timed on one thread, by
the time that the thread was running: others may use the machine. One row for each rung is appended
to benchmarks/rows/ladder_books.jsonl.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2]))
sys.path.append(str(Path(__file__).resolve().parents[1] / "auction"))

from alone import CallError, call_alone
from book_rungs import RUNGS, find_rung
from machine import REPOSITORY
from markdown_table import markdown
from measuring import measure_rung
from row_file import append_row, describe_run

Row = dict[str, Any]
ROWS = REPOSITORY / "benchmarks" / "rows" / "ladder_books.jsonl"
_TIMEOUT_S = 300.0


def table(rows: Sequence[Row]) -> str:
    """Return every rung: its idea, what it was expected to bring, and what it brought."""
    found = {row["rung"]: row for row in rows}
    body = []
    for name, row in found.items():
        over = found.get(row["over"])
        brought = f"{row['messages_per_s'] / over['messages_per_s']:.2f}" if over else ""
        expected = "" if row["expected"] is None else f"{row['expected']:.2f}"
        label = f"**{name}**" if row["kept"] else name
        rate = f"{row['messages_per_s'] / 1e6:.1f}"
        body.append([label, row["idea"], row["over"] or "", expected, brought, rate])
        body[-1].append(f"{row['ns_per_message']:.0f}")
    heads = ["rung", "what it changes", "of", "expected", "brought", "10^6 messages/s", "ns each"]
    return markdown(heads, body, right=(3, 4, 5, 6))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path, metavar="NORMAL.parquet")
    parser.add_argument("--rungs", help="which of them, with commas between; all if not given")
    parser.add_argument("--trials", type=int, default=7)
    parser.add_argument("--rows", type=Path, default=ROWS, help="file to append to")
    options = parser.parse_args(arguments)
    names = [rung.name for rung in RUNGS] if options.rungs is None else options.rungs.split(",")
    if set(names) - {rung.name for rung in RUNGS}:
        parser.error(f"rungs are {', '.join(rung.name for rung in RUNGS)}")
    common = describe_run("ladder/books")
    found: list[Row] = []
    failed = []
    for rung in map(find_rung, names):
        try:
            row = call_alone(measure_rung, rung, options.file, options.trials, timeout_s=_TIMEOUT_S)
        except CallError as error:
            failed.append(rung.name)
            print(f"{rung.name}: FAILED\n{error}", flush=True)
            continue
        same = [each for each in found if each["books"] == row["books"]]
        if same and same[0]["digest"] != row["digest"]:
            failed.append(rung.name)
            print(f"{rung.name}: FAILED, its events are not those of {same[0]['rung']}")
            continue
        found.append(common | row)
        append_row(options.rows, found[-1])
        print(f"{rung.name:<16} {row['messages_per_s'] / 1e6:>7.2f} M messages/s", flush=True)
    print(f"\n{table(found)}\n")
    if failed:
        print(f"failed: {'; '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
