"""The picture of Figure 7: four panels, both windows, what the paper states beside them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bookwarp.analysis.stylised import mean_interval
from bookwarp.reproduce.figure7 import Figure7
from bookwarp.reproduce.figure7_sweep import LAGS, MEMORY, SHARES, STANDARD_SHARE, WINDOWS
from bookwarp.reproduce.published import (
    FIGURE7_KURTOSIS_PEAK,
    FIGURE7_KURTOSIS_SHARES,
    FIGURE7_TEXT,
    SWEEP,
    SWEEP_SHARES,
)
from bookwarp.spec.errors import StoreError

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

_COLOURS = {"fixed": "#0072b2", "following": "#d55e00"}
_LABELS = {"fixed": "fixed grid, as in the paper", "following": "window following the price"}
_MARKERS = {"fixed": "o", "following": "^"}
_MEMORY_COLOURS = {"acf_returns": "#009e73", "acf_abs_returns": "#cc79a7"}
_MEMORY_LABELS = {"acf_returns": "returns", "acf_abs_returns": "absolute returns"}
_EDGE_COLOUR = "#eeeeee"
_EDGE_VISIBLE = 0.01
"""Settings in which prices spend at least this share of the steps at an edge are shaded."""
_LEAST_KURTOSIS = -2.0
_DPI = 130


def draw(found: Figure7, path: str | Path) -> None:
    """Draw the four panels into `path`.

    Raises:
        StoreError: it cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 8.4), layout="constrained")
    figure.suptitle(
        f"Markets as momentum agents take over: {len(SHARES)} settings of {found.markets} markets, "
        f"{found.steps} steps, stream {found.stream}",
        fontsize=11.5,
    )
    axes = figure.subplots(2, 2)
    _draw_statistic(axes[0, 0], found, "price_std", "(a) Standard deviation of the price (tick)")
    axes[0, 0].set_yscale("log")
    _draw_statistic(axes[0, 1], found, "excess_kurtosis", "(b) Excess kurtosis of the returns")
    _finish_kurtosis(axes[0, 1], found)
    _draw_statistic(axes[1, 0], found, "volume_per_step", "(c) Volume a step (lot)")
    _draw_memory(axes[1, 1], found)
    for axis in axes.flat:
        axis.grid(alpha=0.25)
        axis.yaxis.set_major_formatter("{x:g}")
    figure.legend(
        handles=_legend(), loc="outside lower center", ncols=4, frameon=False, fontsize=8.5
    )
    try:
        figure.savefig(path, dpi=_DPI)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from None


def _draw_statistic(axis: "Axes", found: Figure7, name: str, title: str) -> None:
    """Draw the means of both windows with their intervals, and what is published."""
    _shade_edge(axis, found)
    least = _LEAST_KURTOSIS if name == "excess_kurtosis" else 0.0
    for window in reversed(WINDOWS):
        mean, half = mean_interval(found.statistics[window][name])
        low = np.maximum(mean - half, least)
        colour = _COLOURS[window]
        axis.fill_between(SHARES, low, mean + half, color=colour, alpha=0.2, linewidth=0)
        axis.plot(SHARES, mean, color=colour, marker=_MARKERS[window], markersize=4)
    axis.scatter(SWEEP_SHARES, SWEEP[name], marker="x", s=26, color="black", lw=1, zorder=4)
    for (statistic, share), value in FIGURE7_TEXT.items():
        if statistic == name:
            _mark_paper(axis, share, value)
    axis.set_title(title, loc="left", fontsize=10.5)
    axis.set_xlabel("share of momentum agents")
    axis.set_xlim(-0.02, 0.72)


def _finish_kurtosis(axis: "Axes", found: Figure7) -> None:
    for window in WINDOWS:
        median = np.median(found.statistics[window]["excess_kurtosis"], axis=1)
        axis.plot(SHARES, median, ":", color=_COLOURS[window])
    low, high = FIGURE7_KURTOSIS_SHARES
    axis.hlines(FIGURE7_KURTOSIS_PEAK, low, high, color="black", linewidth=1.5)
    axis.annotate(
        f"peak in the paper:\n{FIGURE7_KURTOSIS_PEAK}, share not stated",
        xy=(0.5 * (low + high), FIGURE7_KURTOSIS_PEAK),
        xytext=(0.36, 3.5),
        fontsize=9,
        arrowprops={"arrowstyle": "-", "shrinkB": 0.0},
    )
    axis.axhline(0, color="grey", linewidth=0.8, zorder=1)
    axis.set_yscale("symlog", linthresh=1, linscale=0.6)
    axis.set_ylim(bottom=_LEAST_KURTOSIS)
    axis.set_yticks([-1, 0, 1, 10, 100])


def _shade_edge(axis: "Axes", found: Figure7) -> None:
    at_edge = SHARES[found.statistics["fixed"]["edge_share"].mean(axis=1) >= _EDGE_VISIBLE]
    if len(at_edge):
        axis.axvspan(at_edge[0] - 0.025, 0.72, color=_EDGE_COLOUR, zorder=0)


def _draw_memory(axis: "Axes", found: Figure7) -> None:
    """Draw the autocorrelations of the standard setting; once, where the windows agree."""
    fixed, following = (found.memory[window] for window in WINDOWS)
    alike = all(np.array_equal(fixed[name], following[name]) for name in MEMORY)
    for name, colour in _MEMORY_COLOURS.items():
        for window, style in zip(WINDOWS[:1] if alike else WINDOWS, ("-", "--"), strict=False):
            mean, half = mean_interval(found.memory[window][name])
            where = "both windows alike" if alike else window
            axis.fill_between(LAGS, mean - half, mean + half, color=colour, alpha=0.2, linewidth=0)
            label = f"{_MEMORY_LABELS[name]} ({where})"
            axis.plot(LAGS, mean, style, color=colour, marker="o", markersize=4, label=label)
        _mark_paper(axis, 1, FIGURE7_TEXT[name, 1])
    axis.axhline(0, color="grey", linewidth=0.8, zorder=1)
    axis.set_xticks(LAGS[::2])
    title = f"(d) Autocorrelation at a momentum share of {STANDARD_SHARE}"
    axis.set_title(title, loc="left", fontsize=10.5)
    axis.set_xlabel("lag (step)")
    axis.legend(frameon=False, fontsize=9)


def _mark_paper(axis: "Axes", x: float, y: float) -> None:
    axis.plot([x], [y], "*", markersize=14, markerfacecolor="none", color="black", zorder=5)


def _legend() -> list["Artist"]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    def entry(label: str, style: Any, colour: str, **more: Any) -> Line2D:
        return Line2D([], [], linestyle=style, color=colour, label=label, **more)

    windows = [entry(_LABELS[w], "-", _COLOURS[w], marker=_MARKERS[w]) for w in WINDOWS]
    return [
        *windows,
        Patch(color="grey", alpha=0.35, label="95 % interval of the mean"),
        entry("median over markets", ":", "black"),
        entry("published sweep, 1024 markets", "", "black", marker="x"),
        entry("stated in the paper", "", "black", marker="*", ms=11, markerfacecolor="none"),
        Patch(color=_EDGE_COLOUR, label="fixed prices at the grid's ends"),
    ]
