"""The panels of a run's picture: prices, volume, final prices, books; each draws on one Axes."""

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from bookwarp.results.run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Colours of Okabe and Ito, which the colour-blind can tell apart.
_PRICE, _VOLUME, _BID, _ASK = "#0072b2", "#009e73", "#0072b2", "#d55e00"
_SINGLE_COLOURS = ("#000000", "#d55e00", "#cc79a7")
_PERCENTILES = (5, 25, 50, 75, 95)
_SPANS = 125
"""A longer history is shown in this many spans of steps."""
_SHOWN_DEPTH = 0.98
"""The book is shown as far from the last price as it takes to see this share of its lots."""
_LEAST_REACH = 5
_WHOLE_BINS = 60
"""Prices in a range of at most this many ticks have a bar for each tick."""
_MARGIN_TICKS, _MARGIN_SHARE = 2, 0.04
"""Least room on both sides of the final prices, in ticks and as a share of their range."""
_FAR = 2**40
"""Prices farther from 0 are drawn as differences, or floats would lose their ticks."""
_LONG_NUMBER = 1e7
"""Larger numbers are written with an exponent."""
_COUNTED_RANGE = 1 << 20
"""Values in a smaller range are counted, others are sorted."""
_BLOCK_MARKETS = 4096


def draw_prices(axis: "Axes", run: Run) -> None:
    """Draw how prices spread over the markets, and the first, middle and last market alone."""
    name, parts = ("last", 1) if "last" in run.history else ("mid2", 2)
    series = run.history[name]
    origin = _origin(series, parts)
    edges, steps = _cut_spans(run)
    singles = np.unique([0, run.markets // 2, run.markets - 1])
    if run.markets > len(singles):
        bands = _bands(series, edges, origin * parts) / parts
        _draw_bands(axis, steps, bands, _PRICE)
        axis.plot(steps, bands[2], color=_PRICE, lw=1.8, label="median")
    for market, colour in zip(singles, _SINGLE_COLOURS, strict=False):
        path = (series[:, market] - origin * parts) / parts
        means = np.add.reduceat(path, edges[:-1]) / np.diff(edges)
        axis.plot(steps, means, color=colour, lw=0.7, label=f"market {market}")
    _label_steps(axis, run, edges)
    axis.set_ylabel(_label_price("last price" if parts == 1 else "mid price", origin))
    _place_legend(axis, 3)


def draw_volume(axis: "Axes", run: Run) -> None:
    """Draw how the volume of a step spreads over the markets."""
    edges, steps = _cut_spans(run)
    bands = _bands(run.history["volume"], edges, 0) / run.plan.every
    if run.markets > 1:
        _draw_bands(axis, steps, bands, _VOLUME)
    axis.plot(steps, bands[-1], color=_VOLUME, lw=1.8, label="mean")
    _label_steps(axis, run, edges)
    axis.set_ylabel("volume [lot a step]")
    axis.set_ylim(bottom=0)
    _place_legend(axis, 3)


def draw_final_prices(axis: "Axes", run: Run) -> None:
    """Draw how many markets ended at each price."""
    origin = _origin(run.last_price, 1)
    price = run.last_price - origin
    low, high = int(price.min()), int(price.max())
    width = max(1, -(-(high - low + 1) // _WHOLE_BINS))
    edges = low - 0.5 + width * np.arange((high - low) // width + 2, dtype=np.float64)
    counts, _ = np.histogram(price, edges)
    axis.stairs(counts, edges, fill=True, color=_PRICE, alpha=0.6)
    mean = price.mean()
    label = f"mean {format_number(mean, 2)}, std {format_number(price.std(), 2)}"
    axis.axvline(mean, color="black", lw=1, ls="--", label=label)
    margin = max(_MARGIN_TICKS, _MARGIN_SHARE * (high - low))
    axis.set_xlim(low - margin, edges[-1] + margin)
    label = _label_price("last price", origin)
    axis.set_xlabel(label if width == 1 else f"{label}, {format_number(width)} a bar")
    axis.set_ylabel("markets")
    axis.legend(fontsize=8, frameon=False)


def draw_books(axis: "Axes", run: Run) -> None:
    """Draw the mean depth of both sides by its distance from each market's last price."""
    bid, ask = _mean_depth(run, run.bid), _mean_depth(run, run.ask)
    reach = min(_reach(bid + ask), run.levels)
    shown = slice(run.levels - reach, run.levels + reach + 1)
    edges = np.arange(-reach, reach + 2) - 0.5
    axis.stairs(bid[shown], edges, fill=True, color=_BID, alpha=0.7, label="bid")
    axis.stairs(-ask[shown], edges, fill=True, color=_ASK, alpha=0.7, label="ask")
    axis.axhline(0, color="black", lw=0.6)
    axis.yaxis.set_major_formatter(lambda value, _: format_number(abs(value)))
    axis.set_xlabel("distance from the market's last price [tick]")
    axis.set_ylabel("resting quantity [lot]")
    axis.legend(fontsize=8, frameon=False)


def format_number(value: float, digits: int = 0) -> str:
    """Return a number as it is written on an axis."""
    return f"{value:,.{digits}f}" if abs(value) < _LONG_NUMBER else f"{value:.3g}"


def _cut_spans(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Cut the recorded rows into at most `_SPANS` spans.

    Returns:
        The first row of every span and the end of the last, int64 [span + 1], and the steps in
        the middle of the spans, float64 [span].
    """
    count = len(run.history_steps)
    width = -(-count // _SPANS)
    edges = np.minimum(np.arange(0, count + width, width), count)
    first, last = run.history_steps[edges[:-1]], run.history_steps[edges[1:] - 1]
    return edges, (first + last) / 2


def _bands(series: np.ndarray, edges: np.ndarray, origin: int) -> np.ndarray:
    """Return percentiles over the markets and rows of every span, then the mean, less `origin`."""
    bands = np.empty((len(_PERCENTILES) + 1, len(edges) - 1))
    for span, (first, end) in enumerate(pairwise(edges)):
        values = series[first:end] - origin
        bands[:-1, span] = grouped_percentiles(values)
        bands[-1, span] = values.mean()
    return bands


def grouped_percentiles(values: np.ndarray) -> np.ndarray:
    """Return `_PERCENTILES` of whole numbers, each spread evenly over value - 0.5 .. value + 0.5.

    Few prices are seen often: plain percentiles would jump between them from span to span.
    """
    found, counts = _count(values)
    upto = np.cumsum(counts)
    share = 100 * np.stack([upto - counts, upto], axis=1).reshape(-1) / values.size
    border = np.stack([found - 0.5, found + 0.5], axis=1).reshape(-1)
    return np.interp(_PERCENTILES, share, border)


def _count(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return every value that occurs, in order, and how often."""
    low = int(values.min())
    if int(values.max()) - low >= _COUNTED_RANGE:
        found, counts = np.unique(values, return_counts=True)
        return found, counts
    counts = np.bincount((values - low).reshape(-1))
    found = np.flatnonzero(counts)
    return found + low, counts[found]


def _draw_bands(axis: "Axes", steps: np.ndarray, bands: np.ndarray, colour: str) -> None:
    axis.fill_between(steps, bands[0], bands[4], color=colour, alpha=0.18, lw=0, label="5 to 95 %")
    axis.fill_between(steps, bands[1], bands[3], color=colour, alpha=0.3, lw=0, label="25 to 75 %")


def _origin(series: np.ndarray, parts: int) -> int:
    """Return the tick from which prices are drawn: 0, or the lowest where all are far from 0."""
    low, high = int(series.min()) // parts, int(series.max()) // parts
    near = max(abs(low), abs(high)) < _FAR
    return 0 if near or high - low >= _FAR else low


def _label_price(name: str, origin: int) -> str:
    return f"{name} [tick]" if origin == 0 else f"{name}\n[tick, counted from {origin:,}]"


def _label_steps(axis: "Axes", run: Run, edges: np.ndarray) -> None:
    """Name the axis of the steps, and say what of them is taken together."""
    width = int(edges[1] - edges[0]) * run.plan.every
    axis.set_xlabel("step" if width == 1 else f"step (in spans of {width:,})")


def _place_legend(axis: "Axes", columns: int) -> None:
    """Put the legend on top, in room that is made for it."""
    low, high = axis.get_ylim()
    axis.set_ylim(low, high + 0.2 * (high - low))
    axis.legend(fontsize=8, ncols=columns, frameon=False, loc="upper left")


def _mean_depth(run: Run, book: np.ndarray) -> np.ndarray:
    """Return the mean over markets of what rests at each distance from the last price.

    Returns:
        float64, distances -levels .. levels, lot.
    """
    levels = run.levels
    total = np.zeros(2 * levels + 1)
    for first in range(0, run.markets, _BLOCK_MARKETS):
        block = slice(first, first + _BLOCK_MARKETS)
        market, level = np.nonzero(book[block])
        last = (run.last_price[block] - run.base[block])[market]
        lots = book[block][market, level]
        total += np.bincount(level - last + levels, lots, minlength=len(total))
    return total / run.markets


def _reach(depth: np.ndarray) -> int:
    """Return how far from the middle `_SHOWN_DEPTH` of all lots lie, at least `_LEAST_REACH`."""
    middle = len(depth) // 2
    within = depth[middle] + np.cumsum(depth[middle + 1 :] + depth[middle - 1 :: -1])
    return max(_LEAST_REACH, int(np.searchsorted(within, _SHOWN_DEPTH * depth.sum())) + 1)
