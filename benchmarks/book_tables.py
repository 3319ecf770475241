"""Tables of docs/matching.md: flows on continuous books, and the ladders of their layouts.

They are made from the rows of run_streams.py (kind "stream"), run_books.py ("books"),
flow_hash.py ("flow hash"), match_memory.py ("match memory"), ladder/books ("book rung") and
ladder/books_cuda ("ladder of books").
"""

from collections.abc import Iterable
from typing import Any

from markdown_table import markdown

Row = dict[str, Any]

_STAGES = {
    "whole call": "call_s",
    "messages to the GPU": "send_s",
    "the same, and grouping": "send_and_group_s",
    "matching": "match_kernels_s",
    "events to the host": "gather_and_fetch_events_s",
    "keeping the books": "keep_books_s",
}


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


def rates(rows: Iterable[Row]) -> str:
    """Return the rates of many books at once, from host to host and of a GPU's kernels alone."""
    heads = ["books", "messages a book", "engine", "on", "M messages/s", "spread"]
    heads += ["matching alone", "fills an order", "events a message"]
    body = []
    for row in _many_books(rows):
        rate, each = row["call_messages_per_s"], row["messages"] // row["books"]
        alone = row.get("match_kernels_messages_per_s")
        on = row.get("gpu") or f"{row['threads']} threads"
        line = [str(row["books"]), str(each), f"`{row['engine']}`", on, _millions(rate["median"])]
        line += [f"{_millions(rate['min'])} .. {_millions(rate['max'])}"]
        line += ["" if alone is None else _millions(alone["median"])]
        line += [f"{row['fills_per_order']:.3f}", f"{row['events'] / row['messages']:.2f}"]
        body.append(line)
    return markdown(heads, body, right=(0, 1, 4, 6, 7, 8))


def hashes(rows: Iterable[Row]) -> str:
    """Return the checked streams whose published hash an engine gives, on one book or on many."""
    heads = ["flow", "books", "engine", "on", "messages", "M messages/s", "hash of the report"]
    body = []
    for row in rows:
        if row["kind"] == "flow hash":
            on = row.get("gpu") or row["cpu"]
            line = [row["case"], str(row["books"]), f"`{row['engine']}`", on]
            line += [str(row["messages"]), _millions(row["messages_per_s"])]
            body.append([*line, f"`{row['sha256'][:12]}...`"])
    return markdown(heads, body, right=(1, 4, 5))


def stages(rows: Iterable[Row]) -> str:
    """Return where the time of a call goes on a GPU, in milliseconds."""
    body = []
    for row in _many_books(rows):
        if row.get("gpu"):
            line = [str(row["books"]), str(row["messages"])]
            line += [f"{row[stage]['median'] * 1e3:.1f}" for stage in _STAGES.values()]
            body.append(line)
    heads = ["books", "messages", *_STAGES]
    return markdown(heads, body, right=range(len(heads)))


def memory(rows: Iterable[Row]) -> str:
    """Return the peak memory of `bookwarp match` on a file."""
    heads = ["messages", "books", "engine", "file (MB)", "peak (MB)", "bytes a message"]
    body = []
    for row in rows:
        if row["kind"] == "match memory":
            line = [str(row["messages"]), str(row["books"]), f"`{row['engine']}`"]
            line += [f"{row[name] / 1e6:.0f}" for name in ("file_bytes", "peak_bytes")]
            body.append([*line, f"{row['peak_bytes'] / row['messages']:.0f}"])
    return markdown(heads, body, right=(0, 1, 3, 4, 5))


def ladder(rows: Iterable[Row]) -> str:
    """Return every layout: what it changes, what it was expected to bring and what it brought."""
    return _ladder(rows, "book rung")


def gpu_ladder(rows: Iterable[Row]) -> str:
    """Return the same of the layouts on a GPU."""
    return _ladder(rows, "ladder of books")


def _many_books(rows: Iterable[Row]) -> list[Row]:
    """Return the rows of many books, by their number, with what is not on a GPU first."""
    mine = [row for row in rows if row["kind"] == "books"]
    return sorted(mine, key=lambda row: (row["books"], bool(row.get("gpu")), row["threads"] or 0))


def _ladder(rows: Iterable[Row], kind: str) -> str:
    found = {row["rung"]: row for row in rows if row["kind"] == kind}
    heads = ["layout", "what it changes", "of", "expected", "brought", "M messages/s"]
    body = []
    for name, row in found.items():
        expected = "" if row["expected"] is None else f"{row['expected']:.2f}x"
        base = found.get(row["over"])
        brought = "" if base is None else f"{_rate(row) / _rate(base):.2f}x"
        label = f"**{name}**" if row.get("kept") else name
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
    value = rate / 1e6
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
