"""Tables of docs/kernel.md: the ladder of the call-auction kernel, and an account of the kernel.

Both are made from rows: those of ladder/auction/run.py (kind "rung"), and those of
ladder/auction/account.py (kind "account").
"""

import re
from collections.abc import Iterable
from typing import Any

from markdown_table import markdown

Row = dict[str, Any]

_SIZES = (256, 1024)
"""Agents of a market in the ladder's columns."""
_BUSY = {
    "issue slots": ("smsp__issue_active",),
    "ALU pipe": ("sm__pipe_alu_cycles_active", "sm__inst_executed_pipe_alu"),
    "multiply pipe": ("sm__pipe_fmaheavy_cycles_active", "sm__inst_executed_pipe_fmaheavy"),
}
"""Names of the metric, the first that a GPU has."""
_STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+)_per_issue_active\.ratio")
_SHOWN_STALLS = 5


def ladder(rows: Iterable[Row]) -> str:
    """Return every rung: its idea, what it was expected to bring, and what it brought."""
    by_size: dict[int, dict[str, Row]] = {}
    for row in rows:
        if row["kind"] == "rung":
            by_size.setdefault(row["agents"], {})[row["rung"]] = row
    heads = ["rung", "what it changes", "of", "expected", "brought", "10^9 agent events/s"]
    heads += ["1024 agents", "brought there"]
    main, more = (by_size.get(agents, {}) for agents in _SIZES)
    body = []
    for name, row in main.items():
        label = f"**{name}**" if row["kept"] else name
        line = [label, row["idea"], row["over"] or "", _times(row["expected"])]
        line += [_brought(main, name), _giga(row), _giga(more.get(name)), _brought(more, name)]
        body.append(line)
    return markdown(heads, body, right=(3, 4, 5, 6, 7))


def reasons(rows: Iterable[Row]) -> str:
    """Return why each rung was expected to bring what it says."""
    found = {row["rung"]: row for row in rows if row["kind"] == "rung" and row["over"]}
    body = [[name, _times(row["expected"]), row["because"]] for name, row in found.items()]
    return markdown(("rung", "expected", "why"), body, right=(1,))


def account(rows: Iterable[Row]) -> str:
    """Return what Nsight Compute counted of each rung, and the rates that the counts allow."""
    heads = ["rung", "agents", "instructions an event", *(f"{name} busy" for name in _BUSY)]
    heads += ["warps a multiprocessor", "registers", "device memory, MB"]
    heads += ["limit of issue, 10^9 events/s", "limit of ALU", "was"]
    body = []
    for row in _accounts(rows):
        found, derived = row["metrics"], row["derived"]
        memory = [found.get(f"dram__bytes_{way}.sum") for way in ("read", "write")]
        line = [row["rung"], str(row["agents"]), f"{derived['instructions_per_event']:.1f}"]
        line += [_percent(found, names) for names in _BUSY.values()]
        line += [_number(found, "sm__warps_active.avg.per_cycle_active", ".1f")]
        line += [_number(found, "launch__registers_per_thread", ".0f")]
        line += ["" if None in memory else f"{sum(map(float, memory)) / 1e6:.1f}"]
        rates = (derived.get(f"events_per_s_{name}") for name in ("by_issue", "by_alu", "profiled"))
        line += ["" if rate is None else f"{rate / 1e9:.3g}" for rate in rates]
        body.append(line)
    return markdown(heads, body, right=range(1, len(heads)))


def stalls(rows: Iterable[Row]) -> str:
    """Return what warps wait for when an instruction is issued: how many of a scheduler's warps."""
    body = []
    for row in _accounts(rows):
        found = {
            match[1]: value
            for name, value in row["metrics"].items()
            if (match := _STALL.fullmatch(name)) and not match[1].endswith("not_issued")
        }
        most = sorted(found.items(), key=lambda item: -item[1])[:_SHOWN_STALLS]
        words = ", ".join(f"{name.replace('_', ' ')} {value:.2f}" for name, value in most)
        body.append([row["rung"], str(row["agents"]), words])
    return markdown(("rung", "agents", "warps, by what they wait for"), body, right=(1,))


def _accounts(rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if row["kind"] == "account"]


def _percent(found: dict[str, float], names: Iterable[str]) -> str:
    values = (found.get(f"{name}.avg.pct_of_peak_sustained_active") for name in names)
    value = next((value for value in values if value is not None), None)
    return "" if value is None else f"{value:.0f} %"


def _number(found: dict[str, float], name: str, form: str) -> str:
    return format(found[name], form) if name in found else ""


def _brought(rows: dict[str, Row], name: str) -> str:
    row = rows.get(name)
    base = rows.get(row["over"]) if row and row["over"] else None
    return _times(_rate(row) / _rate(base)) if row and base else ""


def _rate(row: Row) -> float:
    return float(row["agent_events_per_s"]["median"])


def _times(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}x"


def _giga(row: Row | None) -> str:
    return "" if row is None else f"{_rate(row) / 1e9:.3g}"
