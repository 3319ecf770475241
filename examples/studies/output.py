"""What the studies have in common: their options, and the tables and pictures that they leave."""

import argparse
import json
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bookwarp as bw
from bookwarp.reporting.report import Report

Table = list[list[str]]


@dataclass
class Found:
    """What a study found."""

    facts: dict[str, Any]
    """Sizes and digests."""
    tables: dict[str, Table] = field(default_factory=dict)
    """By name: a line of heads, then lines of cells."""
    pictures: dict[str, bytes] = field(default_factory=dict)
    """PNG by name."""


def run_study(name: str, about: str, study: Callable[[bool], Found]) -> None:
    """Run a study from the command line: print its tables, and keep them if that is asked for.

    Args:
        name: of the file of numbers, and the first word of the names of pictures.
        about: what the study is, for --help.
        study: takes whether it is run at full size.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--full", action="store_true", help="the size of the documentation")
    parser.add_argument("--numbers", type=Path, metavar="FOLDER", help="write NAME.json into it")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="write PNG files into it")
    given = parser.parse_args()
    began = time.perf_counter()
    found = study(given.full)
    found.facts |= {"bookwarp": bw.__version__, "elapsed_s": time.perf_counter() - began}
    for title, table in found.tables.items():
        print(f"{title}\n{_text(table)}\n")
    if given.numbers:
        content = {**found.facts, "full": given.full, "tables": found.tables}
        path = given.numbers / f"{name}.json"
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    if given.pictures:
        for picture, data in found.pictures.items():
            (given.pictures / f"study_{name}_{picture}.png").write_bytes(data)
    print(f"{found.facts['elapsed_s']:.1f} s; digests: {found.facts['digests']}")


def picture_of(report: Report, name: str) -> bytes:
    """Return a figure of a report as PNG."""
    (figure,) = (each for each in report.figures if each.name == name)
    return figure.png()


def cells_of(means: Any, names: Iterable[str], place: Any, digits: int = 2) -> list[str]:
    """Return means with half the width of their intervals.

    Args:
        means: of `bookwarp.measures.over_replicas`.
        names: of variables.
        place: index into them.
        digits: after the point.
    """
    cells = []
    for name in names:
        mean, low = (float(means[each].values[place]) for each in (name, f"{name}_low"))
        cells.append(f"{mean:.{digits}f} ± {mean - low:.{digits}f}")
    return cells


def _text(table: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    width = shutil.get_terminal_size((140, 20)).columns
    lines = (
        "  ".join(word.rjust(w) for word, w in zip(line, widths, strict=True)) for line in table
    )
    return "\n".join(line[:width] for line in lines)
