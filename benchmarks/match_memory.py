"""Measure the memory that a file of orders takes: `python benchmarks/match_memory.py`.

A drawn flow for many books is written as a Parquet file, and `bookwarp match` matches it in a
process of its own, digest included. What is kept is the peak resident size of that process. One
JSON line is appended to benchmarks/rows/books.jsonl.
"""

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from drawn_flow import draw_flow
from machine import REPOSITORY
from row_file import append_row, describe_run

ROWS = REPOSITORY / "benchmarks" / "rows" / "books.jsonl"
_LIVE = 100
_COLUMNS = ("book", "op", "order_id", "side", "tif", "price", "qty")
_UNIT = 1 if sys.platform == "darwin" else 1024


def write_orders(path: Path, books: int, messages: int) -> int:
    """Write a flow of at most `messages` messages for `books` books; return how many there are."""
    flow = draw_flow(books, max(0, messages // books - _LIVE), _LIVE)
    orders = np.concatenate([flow.opening, flow.orders])
    columns = {name: pa.array(np.ascontiguousarray(orders[name])) for name in _COLUMNS}
    pq.write_table(pa.table(columns), path)
    return len(orders)


def match_in_process(path: Path, engine: str) -> dict[str, Any]:
    """Match a file and return what the command says, and the peak of its memory so far."""
    command = [sys.executable, "-m", "bookwarp", "match", str(path), "--engine", engine, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * _UNIT
    return json.loads(done.stdout) | {"peak_bytes": peak}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--books", type=int, default=10_000)
    parser.add_argument("--messages", type=int, default=10_000_000)
    parser.add_argument("--engine", default="cpu")
    parser.add_argument("--rows", type=Path, default=ROWS, help=f"file to append to ({ROWS.name})")
    options = parser.parse_args(arguments)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "orders.parquet"
        messages = write_orders(path, options.books, options.messages)
        file_bytes = path.stat().st_size
        found = match_in_process(path, options.engine)
    row = {
        **describe_run("books"),
        "kind": "match memory",
        "case": f"a file of {messages} messages",
        "books": options.books,
        "messages": messages,
        "engine": found["engine"],
        "file_bytes": file_bytes,
        "peak_bytes": found["peak_bytes"],
        "digest": found["digest"],
    }
    print(f"{messages} messages: {row['peak_bytes'] / messages:.0f} bytes a message at the most")
    append_row(options.rows, row)


if __name__ == "__main__":
    main()
