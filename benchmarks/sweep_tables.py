"""Table of docs/sweeps.md: a sweep beside its bare simulation.

It is made from the rows of sweep_rate.py (kind "sweep rate").
"""

from collections.abc import Iterable
from typing import Any

from markdown_table import markdown

Row = dict[str, Any]


def rates(rows: Iterable[Row]) -> str:
    """Return how long the simulation alone takes, and the sweep in memory and into a store.

    Of several rows of one sweep on as many GPUs, or threads, of a kind the newest is shown.
    """
    heads = ["engine", "settings", "replicas", "agents", "steps", "simulation alone (s)"]
    heads += ["in memory (s)", "of it", "into a store (s)", "of it", "commit"]
    newest: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        if row["kind"] == "sweep rate":
            newest[_size(row)] = max(newest.get(_size(row), row), row, key=_time)
    body = []
    for row in sorted(newest.values(), key=_size):
        where = f"{row['cpu']}, {row['threads'] or row['cores']} threads"
        if "gpu" in row:
            count = len(row["devices"] or [0])
            where = row["gpu"] if count == 1 else f"{count} {row['gpu']}"
        line = [f"`{row['engine']}`, {where}"]
        line += [str(row[name]) for name in ("settings", "replicas", "agents", "steps")]
        line += [f"{row['bare_s']['median']:.2f}"]
        for kept in ("memory", "stored"):
            line += [
                f"{row[f'{kept}_s']['median']:.2f}",
                f"{row[f'{kept}_over_bare']['median']:.2f}",
            ]
        body.append([*line, f"`{row['commit'][:10]}`"])
    return markdown(heads, body, right=tuple(range(1, len(heads))))


def _size(row: Row) -> tuple[Any, ...]:
    sizes = row["replicas"], row["agents"], row["steps"]
    if "gpu" in row:
        return row["engine"], row["settings"], len(row["devices"] or [0]), *sizes, row["gpu"]
    threads = row["threads"] or row["cores"]
    return row["engine"], row["settings"], threads, *sizes, row["cpu"]


def _time(row: Row) -> str:
    return str(row["time"])
