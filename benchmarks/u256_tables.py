"""Tables of docs/consensus.md: 256-bit books beside what the seed of their workload published.

They are made from the rows of run_u256.py and u256_on_gpu.py (kind "u256"). What a GPU does else is
in u256_gpu_tables.py.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from markdown_table import markdown

Row = dict[str, Any]


class Published(NamedTuple):
    """A rate of the seed's table, or of its text; None is what it does not say."""

    where: str
    books: int | None
    capacity: int | None
    form: str
    m_orders_per_s: float


_RADEON, _GB10 = "AMD Radeon 8060S", "NVIDIA GB10"
_FOUND, _LIMBS = "a byte at a time", "limbs"
PUBLISHED = (
    Published(_RADEON, 1_048_576, 32, _FOUND, 17.9),
    Published(_RADEON, 1_048_576, 32, _LIMBS, 74.3),
    Published(_RADEON, 262_144, 32, _FOUND, 12.8),
    Published(_RADEON, 262_144, 32, _LIMBS, 61.6),
    Published(_GB10, 1_048_576, 32, _FOUND, 36.0),
    Published(_GB10, 1_048_576, 32, _LIMBS, 46.3),
    Published(_GB10, 65_536, 32, _FOUND, 33.5),
    Published(_GB10, 65_536, 32, _LIMBS, 46.6),
    Published("a GPU that is not named", 4_096, 1024, _FOUND, 41.9),
    Published("a GPU that is not named", 131_072, 1024, _FOUND, 6.6),
    Published("processor beside the Radeon, 32 threads", None, None, "C++", 65.9),
)
"""The seed's rates, of 2026-09-01; its table has 1.000 fills an order in every row."""


def seed(rows: Iterable[Row]) -> str:
    """Return the seed's own rates of its workload, and ours of the same."""
    heads = ["where", "books", "capacity", "how", "M orders/s", "spread", "fills an order"]
    body = [
        [
            f"{each.where} (published)",
            "" if each.books is None else str(each.books),
            "" if each.capacity is None else str(each.capacity),
            each.form,
            f"{each.m_orders_per_s:g}",
            "",
            "1.000" if each.capacity == 32 else "",
        ]
        for each in PUBLISHED
    ]
    body += [_line(row) for row in _rated(rows) if row["workload"] == "seed"]
    return markdown(heads, body, right=(1, 2, 4, 6))


def flows(rows: Iterable[Row]) -> str:
    """Return our rates of other flows on processors."""
    heads = ["flow", "where", "books", "capacity", "how", "M orders/s", "spread", "fills an order"]
    mine = [row for row in _rated(rows) if row["workload"] != "seed" and row.get("gpu") is None]
    return markdown(heads, [[row["workload"], *_line(row)] for row in mine], right=(2, 3, 5, 7))


def _rated(rows: Iterable[Row]) -> list[Row]:
    """Return the rows that have a rate: by machine, books and capacity."""
    mine = [row for row in rows if row["kind"] == "u256" and "orders_per_s" in row]
    return sorted(mine, key=lambda row: (row.get("gpu") is None, -row["books"], row["capacity"]))


def _line(row: Row) -> list[str]:
    rate = row["orders_per_s"]
    spread = f"{_millions(rate['min'])} .. {_millions(rate['max'])}"
    cells = [_where(row), str(row["books"]), str(row["capacity"]), row["form"]]
    return [*cells, _millions(rate["median"]), spread, f"{row['fills_per_order']:.3f}"]


def _where(row: Row) -> str:
    gpu = row.get("gpu")
    if gpu is not None and not row["form"].startswith("host to host"):
        return str(gpu)
    return f"{gpu}, its host" if gpu is not None else f"{row['cpu']}, {row['threads']} threads"


def _millions(rate: float) -> str:
    value = rate / 1e6
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
