"""Figures 2 to 6 of the KineticSim paper's evaluation, for the machine that has run most of it.

Each is written as PNG and SVG. The paper's own engine is drawn as published, and as run again on
another GPU, where a figure has a place for it.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paper_tables import ORDER, Row, median_rate, of_sweep, paper_rows
from published import (
    PUBLISHED,
    PUBLISHED_GPU,
    PUBLISHED_MEMORY,
    RERUN,
    RERUN_GPU,
    SIZES,
    published_rate,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colour and marker of a contender: one hue a library, lighter where it is a lesser form.
_STYLES = {
    "cuda": ("#c1121f", "o"),
    "naive-cuda": ("#e58f86", "v"),
    "jax": ("#0072b2", "s"),
    "jax-counted": ("#6bb3e0", "s"),
    "torch-compile": ("#7a3e9d", "D"),
    "torch-compile-counted": ("#c39bd8", "D"),
    "torch-graph": ("#b07a00", "^"),
    "torch": ("#e0b040", "^"),
    "cpu": ("#007a55", "P"),
    "numpy": ("#555555", "X"),
    "numpy-tuned": ("#999999", "X"),
}
_DPI = 140
_PAPER = {
    f"KineticSim, {PUBLISHED_GPU.removeprefix('NVIDIA ')} (published)": (PUBLISHED, "--"),
    f"KineticSim, {RERUN_GPU.removeprefix('NVIDIA ')}": (RERUN, ":"),
}


def draw_all(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Draw every figure that there are rows for and return the files."""
    mine = paper_rows(rows)
    if not mine:
        return []
    import matplotlib as mpl
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    # Without the salt and the date, the same rows would give another file each time.
    with mpl.rc_context({"svg.hashsalt": "bookwarp", "font.size": 9.5, "axes.grid": True}):
        for name, draw in FIGURES.items():
            figure = Figure(figsize=(10, 4.4), layout="constrained")
            draw(figure, mine)
            for ending in ("png", "svg"):
                path = folder / f"bench_{name}.{ending}"
                figure.savefig(path, dpi=_DPI, metadata={"Date": None} if ending == "svg" else {})
                written.append(path)
    return written


def draw_equivalence(figure: "Figure", rows: Sequence[Row]) -> None:
    """Figure 2: mean price and volume of every contender that ran all steps, by markets."""
    left, right = figure.subplots(1, 2)
    steps = max(row["steps"] for row in rows)
    whole = [row for row in of_sweep(rows, "markets") if row["steps"] == steps]
    _draw_lines(left, whole, "markets", lambda row: row["mean_last_price"])
    _draw_lines(right, whole, "markets", lambda row: row["mean_volume"] / 1e3)
    for axis, label in ((left, "mean last price (tick)"), (right, "mean volume (thousand lots)")):
        _finish(axis, "markets of 256 agents", label, log=False)
    left.set_ylim(63, 65)
    right.set_ylim(94, 99)
    _title(figure, rows, f"The contenders simulate one model, {steps} steps")


def draw_throughput(figure: "Figure", rows: Sequence[Row]) -> None:
    """Figure 3: agent events a second, by markets and by agents."""
    left, right = figure.subplots(1, 2, sharey=True)
    _draw_lines(left, of_sweep(rows, "markets"), "markets", median_rate)
    _draw_lines(right, of_sweep(rows, "agents"), "agents", median_rate)
    _draw_published(left, "markets", lambda rate: rate)
    _draw_published(right, "agents", lambda rate: rate)
    _finish(left, "markets of 256 agents", "agent events a second")
    _finish(right, "agents in each of 8192 markets", "")
    _title(figure, rows, "Throughput")


def draw_speedup(figure: "Figure", rows: Sequence[Row]) -> None:
    """Figure 4: times faster than the slowest on one workload, and cuda over the others."""
    # The slowest is NumPy, as in the paper, where it was measured on the same machine.
    left, right = figure.subplots(1, 2)
    fixed = {row["engine"]: median_rate(row) for row in of_sweep(rows, "fixed")}
    slowest = min(fixed, key=lambda name: fixed[name], default="numpy")
    if len(fixed) > 1:
        names = [name for name in reversed(ORDER) if name in fixed and name != slowest]
        times = [fixed[name] / fixed[slowest] for name in names]
        left.barh(names, times, color=[_STYLES[name][0] for name in names])
        for place, value in enumerate(times):
            left.annotate(f" {value:,.0f}x", (value, place), va="center", fontsize=9)
        left.set_xscale("log")
        left.set_xlim(1, 8 * max(times))
        left.set_axisbelow(True)
        left.grid(axis="y", visible=False)
    left.set_xlabel(f"times faster than {slowest}, 8192 markets of 256 agents")
    by_size: dict[int, dict[str, float]] = {}
    for row in of_sweep(rows, "markets"):
        by_size.setdefault(row["markets"], {})[row["engine"]] = median_rate(row)
    for name in ORDER[1:]:
        sizes = [size for size, found in by_size.items() if {"cuda", name} <= found.keys()]
        over = [by_size[size]["cuda"] / by_size[size][name] for size in sizes]
        _draw_line(right, name, sizes, over)
    _finish(right, "markets of 256 agents", "cuda: times faster than ...")
    _title(figure, rows, "Speed-up")


def draw_resources(figure: "Figure", rows: Sequence[Row]) -> None:
    """Figure 5: peak memory of the GPU, and the cost of an agent event, by markets."""
    left, right = figure.subplots(1, 2)
    sweep = of_sweep(rows, "markets")
    held = [row for row in sweep if row["threads"] is None and row["peak_bytes"]]
    _draw_lines(left, held, "markets", lambda row: row["peak_bytes"] / 1e6)
    _draw_lines(right, sweep, "markets", lambda row: 1e9 / median_rate(row))
    sizes = [markets for markets, _ in SIZES[:5]]
    label, (_, style) = next(iter(_PAPER.items()))
    left.plot(sizes, PUBLISHED_MEMORY["kineticsim"], style, color="black", lw=1.2, label=label)
    _draw_published(right, "markets", lambda rate: 1e9 / rate)
    _finish(left, "markets of 256 agents", "peak memory of the GPU (MB)")
    _finish(right, "markets of 256 agents", "time an agent event (ns)")
    _title(figure, rows, "Memory and cost")


def draw_latency(figure: "Figure", rows: Sequence[Row]) -> None:
    """Figure 6: time of a step, median and range."""
    axis = figure.subplots()
    found = of_sweep(rows, "latency")
    found.sort(key=lambda row: ORDER.index(row["engine"]), reverse=True)
    for place, row in enumerate(found):
        step = row["us_per_step"]
        colour = _STYLES[row["engine"]][0]
        axis.barh(place, step["median"], color=colour)
        axis.hlines(place, step["min"], step["max"], color="black", linewidth=1.5)
        label = f"  {_short(step['median'])} µs"
        axis.annotate(label, (step["max"], place), va="center", fontsize=9)
    axis.set_yticks(range(len(found)), [row["engine"] for row in found])
    axis.set_xscale("log")
    axis.set_axisbelow(True)
    axis.grid(axis="y", visible=False)
    if found:
        low = min(row["us_per_step"]["min"] for row in found)
        high = max(row["us_per_step"]["max"] for row in found)
        axis.set_xlim(low / 2, 4 * high)
    for label, (table, style) in _PAPER.items():
        rate: Any = published_rate(table, "kineticsim", 4096, 256)
        step_us = 1e6 * 4096 * 256 / rate
        axis.axvline(step_us, linestyle=style, color="black", linewidth=1.2, label=label)
    trials = sorted({row["trials"] for row in found})
    count = " or ".join(map(str, trials))
    axis.set_xlabel(f"time of a step (µs), 4096 markets of 256 agents; range of {count} trials")
    _title(figure, rows, "Latency")


FIGURES: dict[str, Callable[["Figure", Sequence[Row]], None]] = {
    "equivalence": draw_equivalence,
    "throughput": draw_throughput,
    "speedup": draw_speedup,
    "resources": draw_resources,
    "latency": draw_latency,
}


def _draw_lines(axis: "Axes", rows: Sequence[Row], by: str, value: Callable[[Row], float]) -> None:
    for name in ORDER:
        mine = [row for row in rows if row["engine"] == name]
        _draw_line(axis, name, [row[by] for row in mine], [value(row) for row in mine])


def _draw_line(axis: "Axes", name: str, x: Sequence[float], y: Sequence[float]) -> None:
    if x:
        colour, marker = _STYLES[name]
        wide = 2.4 if name == "cuda" else 1.3
        axis.plot(x, y, color=colour, marker=marker, markersize=5, linewidth=wide, label=name)


def _draw_published(axis: "Axes", sweep: str, value: Callable[[float], float]) -> None:
    sizes = SIZES[:5] if sweep == "markets" else SIZES[5:]
    x = [size[sweep == "agents"] for size in sizes]
    for label, (table, style) in _PAPER.items():
        rates: list[Any] = [published_rate(table, "kineticsim", *size) for size in sizes]
        axis.plot(x, [value(r) for r in rates], style, color="black", linewidth=1.2, label=label)


def _finish(axis: "Axes", x_label: str, y_label: str, log: bool = True) -> None:
    axis.set_xscale("log", base=2)
    ticks = sorted({x for line in axis.lines for x in line.get_xdata()})
    axis.set_xticks(ticks, [f"{x:g}" for x in ticks])
    if log:
        axis.set_yscale("log")
    axis.set_xlabel(x_label)
    axis.set_ylabel(y_label)
    axis.grid(alpha=0.25)


def _title(figure: "Figure", rows: Sequence[Row], what: str) -> None:
    """Head the figure with what it shows and the machine, and name the lines below."""
    last = rows[-1]
    where = last.get("gpu") or last["cpu"]
    figure.suptitle(f"{what} ({where}, {last['time'][:10]})", fontsize=11.5)
    handles = {}
    for axis in figure.axes:
        handles |= dict(zip(*reversed(axis.get_legend_handles_labels()), strict=True))
    if handles:
        names = sorted(handles, key=lambda name: name not in ORDER)
        figure.legend(
            [handles[name] for name in names],
            names,
            loc="outside lower center",
            ncols=min(5, len(handles)),
            frameon=False,
            fontsize=8.5,
        )


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
