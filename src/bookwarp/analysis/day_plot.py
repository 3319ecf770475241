"""The picture of a replayed day: best prices, trades, and depth as a heat map."""

import math
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bookwarp.analysis.day_canvas import DayCanvas
from bookwarp.analysis.plots import check_plot
from bookwarp.results.day import Day
from bookwarp.results.output import as_path, written_whole
from bookwarp.spec.codes import Side

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colours of Okabe and Ito, which the colour-blind can tell apart.
_BID, _ASK, _BOUGHT, _SOLD, _HIDDEN = "#0072b2", "#d55e00", "#009e73", "#b03a84", "#444444"
_BID_MAP = ("#ffffff", "#cfe3f1", "#7fb5da", "#2a7db8", "#08335a")
_ASK_MAP = ("#ffffff", "#fbe0cc", "#f3ac79", "#d9691f", "#6b2a00")
_DPI = 150
_SIZE_INCHES = (13.5, 8.0)
_MOST_BINS = 260
"""Bins of price in the heat map."""
_SHOWN_SHARE = 99.8
"""The best prices of this share of the cells decide what range of prices is shown, in percent."""
_MARGIN = 0.35
"""Room above and below them, as a share of their range."""
_LEAST_SPREADS = 6
"""Or as many typical spreads, if that is more."""
_LEAST_MARGIN = 1e-9
"""Or this share of the price, or floats would not tell the ends apart."""
_DAY_NS = 86_400 * 10**9
_FULL_LOTS = 98.0
"""Percentile of depth that gets the darkest colour."""
_BAR_LEFTS, _BAR_WIDTH = (1.008, 1.021), 0.011
"""Where the scales of depth stand, as shares of the width."""
_VOLUME_BARS = 120
_TIME_MARKS = 10
"""Marks of time, at most."""
_TIME_STEPS = (
    *(1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 2, 5, 10, 30, 60, 120, 300, 600),
    *(1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400),
)
_LARGEST_DOT, _SMALLEST_DOT = 60.0, 2.0


def plot_day(
    canvas: DayCanvas, day: Day, path: str | Path | None = None, overwrite: bool = False
) -> "Figure":
    """Draw a replayed day.

    Args:
        canvas: what was gathered while it was replayed.
        day: what was counted.
        path: file to write, .png, .svg or .pdf; none if None.
        overwrite: replace what is at `path`.

    Returns:
        The matplotlib Figure.

    Raises:
        ParameterError: another suffix.
        StoreError: it exists or cannot be written.
    """
    from matplotlib.figure import Figure

    if path is not None:
        check_plot(path, overwrite)
    figure = Figure(figsize=_SIZE_INCHES, layout="constrained")
    figure.suptitle(_title(canvas, day), fontsize=13, x=0.012, ha="left")
    prices, volume = figure.subplots(2, 1, sharex=True, height_ratios=(5, 1))
    unit = float(day.price_unit)
    if canvas.depths:
        _draw_day(figure, prices, volume, canvas, unit)
    else:
        prices.text(0.5, 0.5, "no book", ha="center", transform=prices.transAxes)
    _label(prices, volume, day)
    if path is not None:
        given = as_path(path)
        with written_whole(given, overwrite) as temporary:
            figure.savefig(temporary, format=given.suffix.lower()[1:], dpi=_DPI)
    return figure


def _draw_day(
    figure: "Figure", prices: "Axes", volume: "Axes", canvas: DayCanvas, unit: float
) -> None:
    cells = np.array(sorted(canvas.depths), np.int64)
    bests = _best_prices(canvas, cells)
    low, high = _shown_range(bests, canvas)
    tick = _tick(canvas)
    width = tick * max(1, -(-(high - low) // (tick * _MOST_BINS)))
    # Python's integers, since any 64-bit prices may be far apart.
    edges = np.array(
        [float(low - width // 2 + width * n) for n in range((high - low) // width + 3)]
    )
    seconds = _edges(cells) * (canvas.cell_ns / 1e9)
    _draw_depth(figure, prices, canvas, cells, seconds, edges, unit)
    _draw_bests(prices, seconds, bests, unit)
    _draw_trades(prices, canvas, unit)
    _draw_volume(volume, canvas, seconds)
    prices.set_ylim(edges[0] * unit, edges[-1] * unit)
    prices.set_xlim(seconds[0], seconds[-1])


def _edges(cells: np.ndarray) -> np.ndarray:
    """Return where the cells start, and where the last one ends: each lasts until the next."""
    return np.append(cells, cells[-1] + 1)


def _best_prices(canvas: DayCanvas, cells: np.ndarray) -> np.ndarray:
    """Return the best bid and ask at the end of each cell, float [cell, 2]; NaN if none."""
    found = np.full((len(cells), 2), np.nan)
    for row, cell in enumerate(cells.tolist()):
        for column, depth in enumerate(canvas.depths[cell]):
            if len(depth):
                found[row, column] = depth[0, 0]
    return found


def _shown_range(bests: np.ndarray, canvas: DayCanvas) -> tuple[int, int]:
    """Return the lowest and highest price shown [tick]."""
    spread = bests[:, 1] - bests[:, 0]
    known = bests[np.isfinite(bests).all(axis=1)]
    if not len(known):
        known = bests[np.isfinite(bests)]
    if not len(known):
        known = np.array([price for _, price, _ in canvas.trades] or [0], float)
    rest = (100 - _SHOWN_SHARE) / 2
    low, high = np.percentile(known, [rest, 100 - rest])
    typical = np.nanmedian(np.abs(spread)) if np.isfinite(spread).any() else 0.0
    farthest = max(abs(low), abs(high))
    margin = max(_MARGIN * (high - low), _LEAST_SPREADS * typical, _LEAST_MARGIN * farthest, 1.0)
    return math.floor(low - margin), math.ceil(high + margin)


def _tick(canvas: DayCanvas) -> int:
    """Return the largest step that all prices in the books are multiples of, from one of them."""
    prices = [depth[:, 0] for pair in canvas.depths.values() for depth in pair if len(depth)]
    seen = np.unique(np.concatenate(prices)) if prices else np.zeros(1, np.int64)
    step = int(np.gcd.reduce(np.diff(seen))) if len(seen) > 1 else 1
    return max(step, 1)


def _draw_depth(
    figure: "Figure",
    axis: "Axes",
    canvas: DayCanvas,
    cells: np.ndarray,
    seconds: np.ndarray,
    edges: np.ndarray,
    unit: float,
) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, LogNorm

    images = [_bin_depth(canvas, cells, edges, side) for side in (0, 1)]
    filled = np.concatenate([image[image > 0] for image in images])
    most = float(np.percentile(filled, _FULL_LOTS)) if len(filled) else 1.0
    least = float(filled.min()) if len(filled) else 1.0
    norm = LogNorm(max(least, most / 300), max(most, least * 1.01))
    maps = []
    for image, colours, name in zip(images, (_BID_MAP, _ASK_MAP), ("bid", "ask"), strict=True):
        colour_map = LinearSegmentedColormap.from_list(name, colours).with_extremes(under="#ffffff")
        shown = np.where(image > 0, image, np.nan)
        axis.pcolormesh(
            seconds, edges * unit, shown.T, cmap=colour_map, norm=norm, rasterized=True, zorder=1
        )
        maps.append(ScalarMappable(norm, colour_map))
    places = [axis.inset_axes((left, 0.0, _BAR_WIDTH, 1.0)) for left in _BAR_LEFTS]
    for mappable, place in zip(maps, places, strict=True):
        figure.colorbar(mappable, cax=place).outline.set_linewidth(0.5)
        place.tick_params(labelsize=8, labelright=place is places[-1])
        place.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        place.yaxis.set_minor_formatter("")
    places[-1].set_ylabel("depth at a price [lot], bid and ask", fontsize=9)


def _bin_depth(canvas: DayCanvas, cells: np.ndarray, edges: np.ndarray, side: int) -> np.ndarray:
    """Return the lots of a side, float [cell, bin of price]."""
    image = np.zeros((len(cells), len(edges) - 1))
    for row, cell in enumerate(cells.tolist()):
        depth = canvas.depths[cell][side]
        image[row], _ = np.histogram(depth[:, 0], edges, weights=depth[:, 1].astype(float))
    return image


def _draw_bests(axis: "Axes", seconds: np.ndarray, bests: np.ndarray, unit: float) -> None:
    for column, colour, label in ((1, _ASK, "best ask"), (0, _BID, "best bid")):
        axis.stairs(
            bests[:, column] * unit, seconds, baseline=None, color="white", lw=2.4, zorder=2
        )
        axis.stairs(
            bests[:, column] * unit,
            seconds,
            baseline=None,
            color=colour,
            lw=1.2,
            label=label,
            zorder=3,
        )


def _draw_trades(axis: "Axes", canvas: DayCanvas, unit: float) -> None:
    if not canvas.trades:
        return
    keys = np.array(list(canvas.trades), np.int64)
    lots = np.array(list(canvas.trades.values()), float)
    size = np.clip(_LARGEST_DOT * lots / np.percentile(lots, 99), _SMALLEST_DOT, _LARGEST_DOT)
    at = (keys[:, 0] + 0.5) * (canvas.cell_ns / 1e9)
    for side, marker, colour, label in (
        (0, "D", _HIDDEN, "trade with a hidden order"),
        (int(Side.BUY), "^", _BOUGHT, "trade, a buyer came in"),
        (int(Side.SELL), "v", _SOLD, "trade, a seller came in"),
    ):
        chosen = keys[:, 2] == side
        if chosen.any():
            axis.scatter(
                at[chosen],
                keys[chosen, 1] * unit,
                s=size[chosen] * (0.6 if side == 0 else 1.0),
                marker=marker,
                facecolors="white" if side == 0 else colour,
                edgecolors=colour if side == 0 else "white",
                linewidths=0.5 if side == 0 else 0.3,
                label=label,
                zorder=4 if side == 0 else 5,
            )


def _draw_volume(axis: "Axes", canvas: DayCanvas, seconds: np.ndarray) -> None:
    """Draw lots traded over time, up if a buyer came in, down if a seller did."""
    edges = np.linspace(seconds[0], seconds[-1], _VOLUME_BARS + 1)
    keys = np.array(list(canvas.trades) or [(0, 0, 9)], np.int64)
    lots = np.array(list(canvas.trades.values()) or [0], float)
    at = (keys[:, 0] + 0.5) * (canvas.cell_ns / 1e9)
    for side, colour in ((int(Side.BUY), _BOUGHT), (int(Side.SELL), _SOLD)):
        chosen = keys[:, 2] == side
        bars, _ = np.histogram(at[chosen], edges, weights=lots[chosen])
        axis.stairs(bars * side, edges, fill=True, color=colour, alpha=0.85)
    axis.axhline(0, color="black", lw=0.6)


def _label(prices: "Axes", volume: "Axes", day: Day) -> None:
    from matplotlib.ticker import MultipleLocator

    prices.set_ylabel("price" if day.price_unit == "1" else f"price [{day.price_unit} a tick]")
    if day.format in ("lobster", "itch"):
        prices.set_ylabel("price [$]")
    volume.set_ylabel("lots traded")
    volume.yaxis.set_major_formatter(lambda value, _: f"{abs(value):,.0f}")
    volume.xaxis.set_major_locator(MultipleLocator(_time_step(volume.get_xlim())))
    volume.xaxis.set_major_formatter(_clock)
    volume.set_xlabel("time")
    for axis in (prices, volume):
        axis.grid(alpha=0.25, lw=0.5)
        axis.set_axisbelow(axis is volume)
        axis.spines[["top", "right"]].set_visible(False)
    handles, labels = prices.get_legend_handles_labels()
    if handles:
        legend = prices.legend(
            handles, labels, loc="upper left", fontsize=9, ncols=5, framealpha=0.92, markerscale=1.4
        )
        legend.set_zorder(6)


def _time_step(limits: tuple[float, float]) -> float:
    """Return a step between marks of time that is round on a clock [s]."""
    wanted = (limits[1] - limits[0]) / _TIME_MARKS
    return next((step for step in _TIME_STEPS if step >= wanted), wanted)


def _clock(seconds: float, _: Any = None) -> str:
    """Return a time of day, or a date and time if it counts from 1970."""
    if 0 <= seconds * 1e9 < _DAY_NS:
        whole, part = divmod(round(seconds * 1e6), 10**6)
        clock = f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"
        return f"{clock}.{part:06}".rstrip("0") if part else clock
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d\n%H:%M:%S")


def _title(canvas: DayCanvas, day: Day) -> str:
    symbol = "" if canvas.book is None else day.symbols.get(canvas.book, "")
    counts = day.counts
    words = f"{counts.rows:,} rows, {counts.trades:,} trades, {counts.lots:,} lots"
    unknown = f", {day.unknown_ids:,} unknown ids" if day.unknown_ids else ""
    return f"{symbol}  —  {words}{unknown}" if symbol else words + unknown
