"""Table of docs/sweeps.md: a sweep beside its bare simulation.

It is made from the rows of sweep_rate.py (kind "sweep rate").
"""

from collections.abc import Iterable
from typing import Any

from markdown_table import markdown

Row = dict[str, Any]


def rates(rows: Iterable[Row]) -> str:
    """Return how long the simulation alone takes, and the sweep in memory and into a store."""
    heads = ["engine", "settings", "replicas", "agents", "steps", "simulation alone (s)"]
    heads += ["in memory (s)", "of it", "into a store (s)", "of it"]
    body = []
    for row in sorted((row for row in rows if row["kind"] == "sweep rate"), key=_size):
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
        body.append(line)
    return markdown(heads, body, right=tuple(range(1, len(heads))))


def _size(row: Row) -> tuple[Any, ...]:
    return row["engine"], row["settings"], len(row.get("devices") or [0])
