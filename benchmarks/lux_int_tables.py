"""Tables of docs/small_books.md: the integer benchmark of small books.

They are made from the rows of lux_int/run.py (kind "lux-int"); what ran on a GPU is that of the
machine that was measured last.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from markdown_table import markdown
from paper_tables import machine_of

Row = dict[str, Any]

_SEED = ("seed", "shared by all books")
"""The workload that the benchmark is defined by."""
_BOOKS = 4_000_000
"""Books at which forms and workloads are compared."""


def forms(rows: Iterable[Row]) -> str:
    """Return every layout and variant on the seed's workload, with its best block of threads."""
    kernels = [row for row in _on_gpu(rows) if "layout" in row]
    kernels = [row for row in kernels if _case(row) == _SEED and row["books"] == _BOOKS]
    by_variant: dict[tuple[str, str], list[Row]] = {}
    for row in kernels:
        by_variant.setdefault((row["layout"], row["variant"]), []).append(row)
    heads = ["layout", "variant", "threads a block", "10^9 orders/s", "over all blocks"]
    heads += ["fills an order", *_byte_heads(kernels), "bytes a book"]
    heads += ["all that its bytes allow, 10^9 orders/s"]
    body = []
    for (layout, variant), mine in by_variant.items():
        best = max(mine, key=_rate)
        rates = sorted(map(_rate, mine))
        line = [layout, variant, str(best["threads_per_block"]), _giga(_rate(best))]
        line += [f"{_giga(rates[0])} .. {_giga(rates[-1])}", _fills(best), *_bytes(best)]
        line += [str(best["bytes_per_book"]), _giga(best["ceiling_orders_per_s"])]
        body.append(line)
    return markdown(heads, body, right=(2, 3, 5, 6, 7, 8, 9))


def sizes(rows: Iterable[Row]) -> str:
    """Return the form that the tuner names for the seed's workload, by the number of books."""
    best = [row for row in _tuned(_on_gpu(rows)) if _case(row) == _SEED]
    heads = ["books", "best form", "10^9 orders/s", "spread", "fills an order"]
    body = [
        [f"{row['books'] / 1e6:g} M", row["engine"], *_rates(row), _fills(row), *_bytes(row)]
        for row in sorted(best, key=lambda row: row["books"])
    ]
    return markdown([*heads, *_byte_heads(best)], body, right=(0, 2, 4, 5, 6))


def workloads(rows: Iterable[Row]) -> str:
    """Return the best form for each other workload, and the best of those that scan all slots."""
    mine = [row for row in _on_gpu(rows) if row["books"] == _BOOKS and _case(row) != _SEED]
    best = _tuned(mine)
    heads = ["workload", "incoming orders", "best form", "10^9 orders/s", "spread"]
    heads += ["fills an order", "orders without a fill", *_byte_heads(best)]
    heads += ["best scan, 10^9 orders/s"]
    body = []
    for row in best:
        scans = [
            _rate(each)
            for each in mine
            if _case(each) == _case(row) and each.get("variant", "mask") != "mask"
        ]
        line = [row["workload"], row["incoming"], row["engine"], *_rates(row), _fills(row)]
        line += [f"{100 * row['orders_without_a_fill']:.1f} %", *_bytes(row)]
        body.append([*line, _giga(max(scans)) if scans else ""])
    return markdown(heads, body, right=(3, 5, 6, 7, 8, 9))


def processor(rows: Iterable[Row]) -> str:
    """Return the rates on all cores of a machine."""
    heads = ("workload", "incoming orders", "books", "processor", "threads", "10^9 orders/s")
    heads += ("spread", "fills an order")
    body = []
    for row in rows:
        if row["kind"] == "lux-int" and row.get("threads"):
            line = [row["workload"], row["incoming"], f"{row['books'] / 1e6:g} M", row["cpu"]]
            body.append([*line, str(row["threads"]), *_rates(row), _fills(row)])
    return markdown(heads, body, right=(2, 4, 5, 7))


def _on_gpu(rows: Iterable[Row]) -> list[Row]:
    """Return the rows of kernels and tuner on the machine that was measured last."""
    mine = [row for row in rows if row["kind"] == "lux-int" and not row.get("threads")]
    return [row for row in mine if machine_of(row) == machine_of(mine[-1])]


def _tuned(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the forms that the tuner names."""
    by_form = {(*_case(row), row["books"], row["engine"]): row for row in rows}
    return [by_form[(*_case(row), row["books"], row["best"])] for row in rows if row.get("best")]


def _case(row: Row) -> tuple[str, str]:
    return row["workload"], row["incoming"]


def _rate(row: Row) -> float:
    return float(row["orders_per_s"]["median"])


def _rates(row: Row) -> list[str]:
    rate = row["orders_per_s"]
    return [_giga(rate["median"]), f"{_giga(rate['min'])} .. {_giga(rate['max'])}"]


def _fills(row: Row) -> str:
    return f"{row['fills_per_order']:.4f}"


def _byte_heads(rows: Sequence[Row]) -> list[str]:
    """Return the heads of `_bytes`; a copy was timed once a run."""
    rates = sorted({f"{row['copy_bytes_per_s'] / 1e9:.0f}" for row in rows})
    return ["GB/s", f"of a copy ({', '.join(rates)} GB/s)"]


def _bytes(row: Row) -> list[str]:
    return [f"{row['bytes_per_s'] / 1e9:.0f}", f"{100 * row['fraction_of_copy']:.0f} %"]


def _giga(rate: float) -> str:
    value = rate / 1e9
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
