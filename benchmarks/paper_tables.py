"""The tables of the KineticSim paper's evaluation, for the machine that has run most of it.

Its Table III (throughput in both sweeps), IV (one workload) and V (memory of the GPU), each with
what the paper publishes beside it. A row is one line of benchmarks/rows.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from markdown_table import markdown
from published import (
    PUBLISHED,
    PUBLISHED_GPU,
    PUBLISHED_MEMORY,
    RERUN,
    RERUN_GPU,
    SIZES,
    published_rate,
)

Row = dict[str, Any]

ORDER = (
    "cuda",
    "naive-cuda",
    "jax",
    "jax-counted",
    "torch-compile",
    "torch-compile-counted",
    "torch-graph",
    "torch",
    "cpu",
    "numpy",
    "numpy-tuned",
)
"""Contenders in the order in which they are shown; others are not shown."""


def machine_of(row: Row) -> tuple[Any, ...]:
    """Return what tells the machine of a row from others."""
    return tuple(row.get(name) for name in ("cpu", "cores", "gpu"))


def paper_rows(rows: Iterable[Row]) -> list[Row]:
    """Return the rows of the machine that ran most of the evaluation, of those with a GPU first."""
    timed = [row for row in rows if row["kind"] == "time" and row.get("sweeps")]
    if not timed:
        return []
    # A machine where a case or two were looked at again is not where the evaluation was run.
    sizes = Counter(machine_of(row) for row in timed)
    chosen = max(
        timed, key=lambda row: (row.get("gpu") is not None, sizes[machine_of(row)], row["time"])
    )
    return [row for row in timed if machine_of(row) == machine_of(chosen)]


def of_sweep(rows: Iterable[Row], sweep: str) -> list[Row]:
    """Return the rows of one sweep, by size, in the order of `ORDER`."""
    mine = [row for row in rows if sweep in row["sweeps"] and row["engine"] in ORDER]
    return sorted(mine, key=lambda r: (r["markets"], r["agents"], ORDER.index(r["engine"])))


def median_rate(row: Row) -> float:
    """Return the agent events a second of a row."""
    return float(row["agent_events_per_s"]["median"])


def throughput(rows: Iterable[Row], shown: Sequence[str] = ORDER) -> str:
    """Return the rates of Table III: 10^9 agent events a second in both sweeps.

    Args:
        rows: of benchmarks/rows.
        shown: contenders that get a column, if there are rows of them.
    """
    found = _rates_by_size(rows)
    engines = [name for name in shown if any(name in rates for rates in found.values())]
    heads = ["markets", "agents", *(f"`{name}`" for name in engines)]
    heads += [f"KineticSim, {PUBLISHED_GPU}, published", f"KineticSim, {RERUN_GPU}"]
    body = []
    for size, rates in found.items():
        ours = [_giga(rates.get(name)) for name in engines]
        theirs = [_giga(published_rate(t, "kineticsim", *size)) for t in (PUBLISHED, RERUN)]
        body.append([*map(str, size), *ours, *theirs])
    return markdown(heads, body, right=range(len(heads)))


def speedup(rows: Iterable[Row]) -> str:
    """Return the ratios of Table III: how many times faster the cuda engine is."""
    found = _rates_by_size(rows)
    others = [name for name in ORDER[1:] if any(name in rates for rates in found.values())]
    heads = ["markets", "agents", *(f"over `{name}`" for name in others)]
    heads.append(f"over KineticSim, {RERUN_GPU}")
    body = []
    for size, rates in found.items():
        if "cuda" in rates:
            times = [_times(rates["cuda"], rates.get(name)) for name in others]
            theirs = _times(rates["cuda"], published_rate(RERUN, "kineticsim", *size))
            body.append([*map(str, size), *times, theirs])
    return markdown(heads, body, right=range(len(heads)))


def fixed_workload(rows: Iterable[Row]) -> str:
    """Return Table IV: 8192 markets of 256 agents, 500 steps, and the published engines beside."""
    heads = ["engine", "10^9 agent events/s", "spread", "500 steps (ms)", "ns an event", "clock"]
    heads += [f"published engine, {PUBLISHED_GPU}", f"published engine, {RERUN_GPU}"]
    body = []
    for row in of_sweep(paper_rows(rows), "fixed"):
        rate, size = row["agent_events_per_s"], (row["markets"], row["agents"])
        line = [f"`{row['engine']}`", _giga(rate["median"])]
        line += [f"{_giga(rate['min'])} .. {_giga(rate['max'])}"]
        line += [_short(row["us_per_step"]["median"] * 0.5), _short(1e9 / rate["median"])]
        line += [row["clock"]]
        line += [_giga(published_rate(t, row["engine"], *size)) for t in (PUBLISHED, RERUN)]
        body.append(line)
    if body:
        theirs = [_giga(published_rate(t, "kineticsim", 8192, 256)) for t in (PUBLISHED, RERUN)]
        body.append(["KineticSim", *[""] * 5, *theirs])
    return markdown(heads, body, right=(1, 3, 4, 6, 7))


def device_memory(rows: Iterable[Row]) -> str:
    """Return Table V: peak memory of the GPU, MB, with that of the published engines."""
    mine = [row for row in of_sweep(paper_rows(rows), "markets") if row["threads"] is None]
    engines = [name for name in ORDER if any(row["engine"] == name for row in mine)]
    heads = ["markets", *(f"`{name}`" for name in engines)]
    heads += [f"{name}, published" for name in ("KineticSim", "naive CUDA", "PyTorch")]
    body = []
    for place, (markets, _) in enumerate(SIZES[:5]):
        held = {row["engine"]: row["peak_bytes"] for row in mine if row["markets"] == markets}
        if not held:
            continue
        ours = [_megabytes(held.get(name)) for name in engines]
        theirs = (PUBLISHED_MEMORY[name][place] for name in ("kineticsim", "naive-cuda", "torch"))
        body.append([str(markets), *ours, *(f"{value:.2f}" for value in theirs)])
    return markdown(heads, body, right=range(len(heads)))


def device_cases(rows: Iterable[Row]) -> str:
    """Return what else the engine can do on a GPU, and at what rate."""
    heads = ("case", "markets", "agents", "engine", "10^9 agent events/s", "spread", "µs a step")
    body = []
    for row in rows:
        if row["kind"] == "time" and row.get("group") == "device":
            rate = row["agent_events_per_s"]
            sizes = [str(row[name]) for name in ("markets", "agents")]
            line = [row["case"].removeprefix("device: "), *sizes, f"`{row['engine']}`"]
            line += [_giga(rate["median"]), f"{_giga(rate['min'])} .. {_giga(rate['max'])}"]
            body.append([*line, _short(row["us_per_step"]["median"])])
    return markdown(heads, body, right=(1, 2, 4, 6))


def machines(rows: Iterable[Row]) -> str:
    """Return on which GPUs and with what the rows were measured."""
    heads = ("GPU", "driver", "SM clock (MHz)", "processor", "cores", "commit", "Python")
    heads += ("cuda-core", "PyTorch", "JAX", "day")
    body: list[list[str]] = []
    for row in rows:
        if row.get("gpu") is None:
            continue
        line = [row["gpu"], row["driver"], f"up to {row['sm_clock_max_mhz']}"]
        line += [row["cpu"], str(row["cores"]), f"`{(row['commit'] or 'unknown')[:10]}`"]
        line += [str(row.get(n, "")) for n in ("python", "cuda-core", "torch", "jax")]
        line.append(row["time"][:10])
        if line not in body:
            body.append(line)
    return markdown(heads, body, right=())


def _rates_by_size(rows: Iterable[Row]) -> dict[tuple[int, int], dict[str, float]]:
    """Return the median rates by (markets, agents), first of the one sweep, and contender."""
    mine = paper_rows(rows)
    found: dict[tuple[int, int], dict[str, float]] = {}
    for sweep in ("markets", "agents"):
        for row in of_sweep(mine, sweep):
            size = row["markets"], row["agents"]
            found.setdefault(size, {})[row["engine"]] = median_rate(row)
    return found


def _giga(rate: float | None) -> str:
    return "" if rate is None else _short(rate / 1e9)


def _times(fast: float | None, slow: float | None) -> str:
    return "" if fast is None or slow is None else f"{_short(fast / slow)}x"


def _megabytes(count: int | None) -> str:
    return "" if count is None else f"{count / 1e6:.2f}"


def _short(value: float) -> str:
    """Return a number to three significant digits."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
