"""Rows of measurements: what those of one run share, and the files that they are appended to."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from gpu import describe_gpu
from machine import describe_code, describe_machine

Row = dict[str, Any]


def describe_run(suite: str, commit: str | None = None, *, on_gpu: bool = False) -> Row:
    """Return what all rows of a run share: the suite, when it began, on what, by which code.

    `commit` is the one to note where there is no Git to ask.
    """
    return {
        "suite": suite,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        **describe_machine(),
        **(describe_gpu() if on_gpu else {}),
        **describe_code(commit),
    }


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return median, least and most."""
    return {"median": median(values), "min": min(values), "max": max(values)}


def append_row(path: Path, row: Row) -> None:
    """Append a row to a file, as a line of JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
