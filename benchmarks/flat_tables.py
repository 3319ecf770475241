"""Table of docs/consensus.md: blocks of flat rows.

It is made from the rows of run_flat.py (kind "flat block").
"""

from collections.abc import Iterable
from typing import Any

from markdown_table import markdown

Row = dict[str, Any]


def blocks(rows: Iterable[Row]) -> str:
    """Return the rates of blocks, with their fills, and how long root and digest take."""
    heads = ["block", "engine", "M orders/s", "spread", "fills an order", "M hashes/s of the root"]
    heads += ["root (s)", "digest (s)", "compared"]
    body = []
    for row in rows:
        if row["kind"] != "flat block":
            continue
        rate = row["orders_per_s"]
        engine = f"`{row['engine']}`" + (f", {row['gpu']}" if row.get("gpu") else "")
        line = [row["case"], engine, _millions(rate["median"])]
        line += [f"{_millions(rate['min'])} .. {_millions(rate['max'])}"]
        line += [f"{row['fills_per_order']:.3f}", _millions(row["hashes_per_s"])]
        line += [f"{row['root_s']['median']:.2f}", f"{row['digest_s']['median']:.3f}", row["check"]]
        body.append(line)
    return markdown(heads, body, right=(2, 4, 5, 6, 7))


def _millions(rate: float) -> str:
    return f"{rate / 1e6:.3g}"
