"""Tables of docs/matching.md: recorded flow on continuous books, and the ladder of their layouts.

They are made from the rows of run_streams.py (kind "stream") and of ladder/books (kind
"book rung").
"""

from collections.abc import Iterable
from typing import Any

from markdown_table import markdown

Row = dict[str, Any]


def streams(rows: Iterable[Row]) -> str:
    """Return the rates on recorded flow, and what was compared before they were taken."""
    heads = ["flow", "engine", "threads", "M messages/s", "spread", "fills an order", "compared"]
    body = []
    for row in rows:
        if row["kind"] == "stream":
            rate = row["messages_per_s"]
            spread = f"{_millions(rate['min'])} .. {_millions(rate['max'])}"
            line = [row["case"], f"`{row['engine']}`", str(row["threads"])]
            line += [_millions(rate["median"]), spread, f"{row['fills_per_order']:.3f}"]
            body.append([*line, _shortened(row["check"])])
    return markdown(heads, body, right=(2, 3, 5))


def ladder(rows: Iterable[Row]) -> str:
    """Return every layout: what it changes, what it was expected to bring and what it brought."""
    found = {row["rung"]: row for row in rows if row["kind"] == "book rung"}
    heads = ["layout", "what it changes", "of", "expected", "brought", "M messages/s"]
    body = []
    for name, row in found.items():
        expected = "" if row["expected"] is None else f"{row['expected']:.2f}x"
        base = found.get(row["over"])
        brought = "" if base is None else f"{_rate(row) / _rate(base):.2f}x"
        label = f"**{name}**" if row["kept"] else name
        body.append(
            [label, row["idea"], row["over"] or "", expected, brought, _millions(_rate(row))]
        )
    return markdown(heads, body, right=(3, 4, 5))


def _shortened(check: str) -> str:
    """Return what was compared, with the beginning of a hash."""
    what, _, hashed = check.partition(": ")
    return f"hash of the {what}, `{hashed[:12]}...`" if hashed else check


def _rate(row: Row) -> float:
    rate = row["messages_per_s"]
    return float(rate["median"] if isinstance(rate, dict) else rate)


def _millions(rate: float) -> str:
    return f"{rate / 1e6:.3g}"
