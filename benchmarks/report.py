"""Make the tables of the documentation from what is committed: `python benchmarks/report.py`.

A page holds a table between `<!-- table: NAME -->` and `<!-- end of table -->`; what stands between
the two is replaced. The numbers come from benchmarks/rows/*.jsonl and docs/reproduced/*.json, the
newest row of each machine, case and contender. A test checks that pages and rows agree. The figures
of the paper's evaluation are drawn too, into docs/images.
"""

import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import book_tables
import flat_tables
import ladder_tables
import lux_int_tables
import paper_figures
import paper_tables
import reproduced
import scaling_table
import sweep_tables
import u256_gpu_tables
import u256_tables
from markdown_table import markdown

REPOSITORY = Path(__file__).resolve().parents[1]
PAGES = (
    "README.md",
    "docs/benchmarks.md",
    "docs/consensus.md",
    "docs/kernel.md",
    "docs/matching.md",
    "docs/reproduce.md",
    "docs/small_books.md",
    "docs/sweeps.md",
)
_BLOCK = re.compile(
    r"(?P<begin><!-- table: (?P<name>[\w-]+) -->\n).*?(?P<end><!-- end of table -->)", re.DOTALL
)
_CASE = (
    *("kind", "case", "rung", "workload", "incoming", "books", "capacity", "form"),
    *("engine", "over", "settings", "devices"),
)
"""What tells the rows of a machine apart, where they have it."""

Row = dict[str, Any]


def read_rows(folder: Path = REPOSITORY / "benchmarks" / "rows") -> list[Row]:
    """Return the newest row of each machine, kind, case and contender, oldest first."""
    newest: dict[tuple[Any, ...], Row] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            key = (*paper_tables.machine_of(row), *(str(row.get(name)) for name in _CASE))
            newest.pop(key, None)
            newest[key] = row
    return list(newest.values())


def speed_table() -> str:
    """Return rates of all cases and contenders."""
    heads = (
        "case",
        "markets",
        "agents",
        "steps",
        "engine",
        "threads",
        "M agent events/s",
        "spread",
    )
    body = []
    for row in _of_kind("time"):
        rate = row["agent_events_per_s"]
        sizes = [str(row[name]) for name in ("markets", "agents", "steps")]
        spread = f"{_millions(rate['min'])} .. {_millions(rate['max'])}"
        cells = [row["case"], *sizes, f"`{row['engine']}`", str(row["threads"])]
        body.append([*cells, _millions(rate["median"]), spread])
    return markdown(heads, body, right=(1, 2, 3, 5, 6))


def ratio_table() -> str:
    """Return how many times faster the cpu engine is, per core, than a baseline of the same run."""
    heads = ("case", "over", "times, per core", "spread")
    body = []
    for row in _of_kind("ratio"):
        ratio = row["ratio_per_core"]
        spread = f"{ratio['min']:.1f} .. {ratio['max']:.1f}"
        body.append([row["case"], f"`{row['over']}`", f"{ratio['median']:.1f}", spread])
    return markdown(heads, body, right=(2,))


def memory_table() -> str:
    """Return the memory of the larger ensembles."""
    heads = ("case", "markets", "agents", "engine", "peak (MB)", "bytes a market")
    body = [
        [
            row["case"],
            str(row["markets"]),
            str(row["agents"]),
            f"`{row['engine']}`",
            f"{row['peak_bytes'] / 1e6:.1f}",
            f"{row['bytes_per_market']:.0f}",
        ]
        for row in _of_kind("time")
        if row["peak_bytes"] is not None and row["markets"] >= 1024
    ]
    return markdown(heads, body, right=(1, 2, 4, 5))


def summary_table() -> str:
    """Return the few rates that the README shows."""
    heads = ("markets x agents x steps", "engine", "threads", "M agent events/s")
    body = []
    for row in _of_kind("time"):
        if row["case"] in ("one thread", "all threads"):
            size = f"{row['markets']} x {row['agents']} x {row['steps']}"
            rate = _millions(row["agent_events_per_s"]["median"])
            body.append([size, f"`{row['engine']}`", str(row["threads"]), rate])
    return markdown(heads, body, right=(2, 3))


def machine_table() -> str:
    """Return where and with what the rows were measured."""
    heads = ("processor", "cores", "commit", "changed since", "Python", "NumPy", "Numba", "day")
    body: list[list[str]] = []
    for row in read_rows():
        if row.get("gpu") is not None:
            continue
        line = [
            row["cpu"],
            str(row["cores"]),
            f"`{(row['commit'] or 'unknown')[:10]}`",
            {True: "yes", False: "no", None: "unknown"}[row["dirty"]],
            *(str(row[name]) for name in ("python", "numpy", "numba")),
            row["time"][:10],
        ]
        if line not in body:
            body.append(line)
    return markdown(heads, body, right=(1,))


def figures() -> str:
    """Return the figures of the paper's evaluation, if there are rows to draw them from."""
    if not paper_tables.paper_rows(read_rows()):
        return "Not measured yet."
    lines = [
        f"![{draw.__doc__.partition(': ')[2]}](images/bench_{name}.png)"
        for name, draw in paper_figures.FIGURES.items()
    ]
    return "\n\n".join(lines)


TABLES: dict[str, Callable[[], str]] = {
    "speed": speed_table,
    "ratio": ratio_table,
    "memory": memory_table,
    "summary": summary_table,
    "machines": machine_table,
    "paper-throughput": lambda: paper_tables.throughput(read_rows()),
    "summary-gpu": lambda: paper_tables.throughput(read_rows(), ("cuda", "jax", "naive-cuda")),
    "paper-speedup": lambda: paper_tables.speedup(read_rows()),
    "paper-fixed": lambda: paper_tables.fixed_workload(read_rows()),
    "paper-memory": lambda: paper_tables.device_memory(read_rows()),
    "device-cases": lambda: paper_tables.device_cases(read_rows()),
    "device-machines": lambda: paper_tables.machines(read_rows()),
    "figures": figures,
    "scaling": lambda: scaling_table.scaling(read_rows()),
    "ladder": lambda: ladder_tables.ladder(read_rows()),
    "ladder-reasons": lambda: ladder_tables.reasons(read_rows()),
    "account": lambda: ladder_tables.account(read_rows()),
    "stalls": lambda: ladder_tables.stalls(read_rows()),
    "book-streams": lambda: book_tables.streams(read_rows()),
    "book-ladder": lambda: book_tables.ladder(read_rows()),
    "book-rates": lambda: book_tables.rates(read_rows()),
    "book-hashes": lambda: book_tables.hashes(read_rows()),
    "book-memory": lambda: book_tables.memory(read_rows()),
    "book-stages": lambda: book_tables.stages(read_rows()),
    "book-ladder-gpu": lambda: book_tables.gpu_ladder(read_rows()),
    "small-books": lambda: lux_int_tables.forms(read_rows()),
    "small-books-sizes": lambda: lux_int_tables.sizes(read_rows()),
    "small-books-workloads": lambda: lux_int_tables.workloads(read_rows()),
    "small-books-processor": lambda: lux_int_tables.processor(read_rows()),
    "flat-blocks": lambda: flat_tables.blocks(read_rows()),
    "sweep-rate": lambda: sweep_tables.rates(read_rows()),
    "u256-seed": lambda: u256_tables.seed(read_rows()),
    "u256-flows": lambda: u256_tables.flows(read_rows()),
    "u256-gpu": lambda: u256_gpu_tables.rates(read_rows()),
    "u256-single": lambda: u256_gpu_tables.single_orders(read_rows()),
    "u256-ladder": lambda: u256_gpu_tables.ladder(read_rows()),
    "u256-ladder-why": lambda: u256_gpu_tables.reasons(read_rows()),
    "table2": reproduced.table2,
    "figure7": reproduced.figure7,
    "figure7-paper": reproduced.figure7_paper,
    "figure7-tails": reproduced.figure7_tails,
    "figure7-memory": reproduced.figure7_memory,
}


def fill_page(text: str) -> str:
    """Return a page with its tables made anew."""
    return _BLOCK.sub(lambda m: f"{m['begin']}{TABLES[m['name']]()}\n{m['end']}", text)


def draw_figures() -> list[Path]:
    """Draw the figures into docs/images and return the files."""
    return paper_figures.draw_all(read_rows(), REPOSITORY / "docs" / "images")


def _of_kind(kind: str) -> list[Row]:
    """Return the rows of machines without a GPU."""
    return [row for row in read_rows() if row["kind"] == kind and row.get("gpu") is None]


def _millions(rate: float) -> str:
    """Return a rate in millions to three significant digits."""
    value = rate / 1e6
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def main(arguments: Sequence[str]) -> None:
    check = "--check" in arguments
    changed = []
    for name in PAGES:
        path = REPOSITORY / name
        text = path.read_text(encoding="utf-8")
        filled = fill_page(text)
        if filled != text:
            changed.append(name)
            if not check:
                path.write_text(filled, encoding="utf-8")
    changed += [] if check else [path.name for path in draw_figures()]
    print(f"{'to change' if check else 'changed'}: {', '.join(changed) or 'nothing'}")
    if check and changed:
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
