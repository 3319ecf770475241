"""Replay a file over and over, and print how fast: `python benchmarks/replay_rate.py FILE`.

Level 1 (or --levels K) is made after every row. Prints one JSON object: rows, sha256 of the levels
after every row, and rates, the best and the median of the trials, in rows a second: rows_per_s of
reading the file and applying it, apply_rows_per_s of applying alone. Compiling is no part of it.
"""

import argparse
import hashlib
import json
import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

import bookwarp as bw
from bookwarp.engines.replay_protocol import replay_books
from bookwarp.replaying import open_reader
from bookwarp.spec.events import LEVEL_COLUMNS
from bookwarp.spec.market_data import MarketRows

MOST_ROWS = 2_000_000
"""Rows that are held to time how they are applied; of a longer file, those at its start."""


def time_replay(run: bw.Replay) -> float:
    """Return the seconds in which a file is read and applied."""
    for _ in run:
        pass
    return run.elapsed_s


def hash_levels(run: bw.Replay) -> str:
    """Return the SHA-256 of the levels after every row, as little-endian int64."""
    hasher = hashlib.sha256()
    for block in run:
        hasher.update(np.ascontiguousarray(block.levels, "<i8").tobytes())
    return hasher.hexdigest()


def read_blocks(path: str, form: str) -> list[MarketRows]:
    """Return the rows of a file, in the blocks in which they are read."""
    blocks: list[MarketRows] = []
    for rows in open_reader(path, form, None, {}).blocks():
        blocks.append(rows)
        if sum(each.row_count for each in blocks) >= MOST_ROWS:
            break
    return blocks


def time_applying(blocks: list[MarketRows], levels: int) -> float:
    """Return the seconds in which rows that were read are applied."""
    copies = [MarketRows(*(column.copy() for column in rows)) for rows in blocks]
    books = replay_books("cpu", True)
    found = np.zeros((max(rows.row_count for rows in blocks), levels, len(LEVEL_COLUMNS)), np.int64)
    began = time.perf_counter()
    for rows in copies:
        books.apply(rows, found, 0, rows.row_count)
    return time.perf_counter() - began


def describe(name: str, rows: int, seconds: Sequence[float]) -> dict[str, float]:
    """Return the best and the median rate."""
    return {name: rows / min(seconds), f"{name}_median": rows / statistics.median(seconds)}


def main() -> None:
    """Run the trials that the command line asks for, and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file")
    parser.add_argument("--format", choices=("lobster", "itch"), default="lobster")
    parser.add_argument("--levels", type=int, default=1)
    parser.add_argument("--trials", type=int, default=15)
    words = parser.parse_args()
    run = bw.Replay(words.file, words.format, levels=words.levels)
    found: dict[str, Any] = {"sha256": hash_levels(run), "rows": run.counts.rows}
    seconds = [time_replay(run) for _ in range(words.trials)]
    found |= describe("rows_per_s", run.counts.rows, seconds)
    blocks = read_blocks(words.file, words.format)
    seconds = [time_applying(blocks, words.levels) for _ in range(words.trials)]
    held = sum(rows.row_count for rows in blocks)
    print(json.dumps(found | describe("apply_rows_per_s", held, seconds)))


if __name__ == "__main__":
    main()
