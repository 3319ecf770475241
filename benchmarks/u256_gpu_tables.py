"""Tables of docs/consensus.md: 256-bit books on a GPU, and their ladder.

They are made from the rows of u256_on_gpu.py (kind "u256", on a GPU) and of ladder/u256/run.py
(kind "ladder of 256-bit books").
"""

from collections.abc import Iterable

from markdown_table import markdown
from u256_on_gpu import FORMS, Row

_FLOWS = ("seed", "sweeps", "mixed")
"""Flows that the ladder is climbed with."""


def rates(rows: Iterable[Row]) -> str:
    """Return the rates of orders that lie on the GPU, and from host to host."""
    mine = [row for row in _of_kind(rows, "u256") if "orders_per_s" in row]
    copies = sorted({f"{row['copy_bytes_per_s'] / 1e9:.0f}" for row in mine if _bytes(row)})
    heads = ["flow", "books", "capacity", "form", "fills an order", "10^9 orders/s", "spread"]
    heads += ["bytes an order, at least", f"of a copy ({', '.join(copies)} GB/s)"]
    body = []
    for row in mine:
        rate = row["orders_per_s"]
        line = [row["workload"], f"{row['books']:,}", str(row["capacity"]), row["form"]]
        line += [f"{row['fills_per_order']:.3f}", _giga(rate["median"])]
        line += [f"{_giga(rate['min'])} .. {_giga(rate['max'])}"]
        counted = _bytes(row)
        line += [f"{counted:.0f}" if counted else ""]
        line += [f"{100 * row['fraction_of_copy']:.0f} %" if counted else ""]
        body.append(line)
    return markdown(heads, body, right=(1, 2, 4, 5, 7, 8))


def single_orders(rows: Iterable[Row]) -> str:
    """Return how long one order takes from host to host."""
    heads = ["one order", "fills an order", "median, us", "99 of 100 within, us"]
    body = []
    for row in _of_kind(rows, "u256"):
        if row["workload"] == "one order at a time":
            seconds = row["wall_s"]
            line = [row["case"], f"{row['fills_per_order']:.3f}"]
            body.append([*line, *(f"{1e6 * seconds[name]:.1f}" for name in ("median", "p99"))])
    return markdown(heads, body, right=(1, 2, 3))


def ladder(rows: Iterable[Row]) -> str:
    """Return every rung: its idea, what it was expected to bring, and what it brought."""
    rows = list(rows)
    by_flow = {
        flow: {row["rung"]: row for row in _rungs(rows) if row["workload"] == flow}
        for flow in _FLOWS
    }
    heads = ["rung", "what it changes", "of"]
    for flow in _FLOWS:
        heads += [f"{flow}: expected", "brought", "10^9 orders/s", "a launch a pass"]
    body = []
    for name, row in {row["rung"]: row for row in _rungs(rows)}.items():
        line = [name, row["idea"], row["over"] or ""]
        for mine in by_flow.values():
            line += _climbed(mine, name)
        body.append(line)
    return markdown(heads, body, right=range(3, len(heads)))


def reasons(rows: Iterable[Row]) -> str:
    """Return why each rung was expected to bring what it says."""
    found = {row["rung"]: row for row in _rungs(rows) if row["over"]}
    return markdown(
        ("rung", "why"), [[name, row["because"]] for name, row in found.items()], right=()
    )


def _climbed(mine: dict[str, Row], name: str) -> list[str]:
    row = mine.get(name)
    if row is None:
        return [""] * 4
    over = mine.get(row["over"])
    brought = f"{_rate(row, 'together') / _rate(over, 'together'):.2f}x" if over else ""
    expected = "" if row["expected"] is None else f"{row['expected']:.2f}x"
    return [expected, brought, *(_giga(_rate(row, form)) for form in ("together", "apart"))]


def _of_kind(rows: Iterable[Row], kind: str) -> list[Row]:
    return [row for row in rows if row["kind"] == kind and row.get("gpu") is not None]


def _rungs(rows: Iterable[Row]) -> list[Row]:
    return _of_kind(rows, "ladder of 256-bit books")


def _rate(row: Row, form: str) -> float:
    assert form in FORMS
    return float(row[f"orders_per_s_{form}"]["median"])


def _bytes(row: Row) -> float | None:
    return row.get("bytes_per_order")


def _giga(rate: float) -> str:
    return f"{rate / 1e9:.3g}"
