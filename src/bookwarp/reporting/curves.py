"""Curves: a quantity along one swept axis, with bands, and a line for each value of another."""

from typing import TYPE_CHECKING

import numpy as np

from bookwarp.reporting.averages import Averages, say_interval
from bookwarp.reporting.figure import (
    COLOURS,
    MARKERS,
    MOST_LINES,
    SOFT,
    Figure,
    band_opacity,
    name_axis,
    number_axis,
    place_legend,
    round_range,
    spread_out,
    start_drawing,
    styled,
)
from bookwarp.reporting.quantity import Quantity
from bookwarp.reporting.swept import Swept, format_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDE = 300.0


def draw_curves(swept: Swept, quantity: Quantity, axes: tuple[str, ...], note: str) -> Figure:
    """Draw the mean of a quantity along the first axis, with its interval.

    Args:
        swept: the sweep.
        quantity: what is shown.
        axes: one dimension, or two: there is a line for some values of the second.
        note: what was done with other dimensions.
    """
    along, *lines = axes
    found = Averages.of(swept, quantity, (*lines, along))
    count = found.mean.shape[0] if lines else 1
    shape = (count, -1)
    chosen = spread_out(count, MOST_LINES)
    labels = [format_value(v) for v in swept.values(lines[0]).tolist()] if lines else [""]
    text = swept.is_text(along)
    with styled():
        drawing, (axis,) = start_drawing()
        places = _places(axis, swept, along)
        for number, line in enumerate(chosen):
            parts = (each.reshape(shape)[line] for each in (found.mean, found.low, found.high))
            label = f"{lines[0]} {labels[line]}" if lines else ""
            opacity = 0.0 if text else band_opacity(len(chosen))
            _draw_line(axis, places, tuple(parts), number, label, opacity)
        axis.set_xlabel(swept.label(along))
        axis.set_ylabel(quantity.label)
        _scale(axis, found.mean.reshape(shape)[chosen])
        axis.grid(visible=True)
        if lines:
            place_legend(drawing, len(chosen))
    few = f"{len(chosen)} of {count} values of {lines[0]} are shown." if len(chosen) < count else ""
    gaps = "Gaps: the setting cannot run, or has no value." if np.isnan(found.mean).any() else ""
    band = say_interval(swept, "Bars" if text else "Bands")
    also = f", a line for each {lines[0]}" if lines else ""
    return Figure(
        name=f"curve_{quantity.slug}",
        title=quantity.title,
        caption=" ".join(part for part in (band, few, gaps, note) if part),
        alt=f"Curves of {quantity.label} over {along}{also}: means {round_range(found.mean)}.",
        drawing=drawing,
    )


def _places(axis: "Axes", swept: Swept, along: str) -> np.ndarray:
    """Return where the values of a parameter are on the horizontal axis, and label them."""
    values = swept.values(along)
    if not swept.is_text(along):
        number_axis(axis, "x", values)
        return values.astype(np.float64)
    names = [format_value(v) for v in values.tolist()]
    name_axis(axis, "x", names)
    axis.set_xlim(-0.5, len(names) - 0.5)
    return np.arange(len(names), dtype=np.float64)


def _draw_line(
    axis: "Axes",
    places: np.ndarray,
    parts: tuple[np.ndarray, ...],
    number: int,
    label: str,
    opacity: float,
) -> None:
    """Draw a line with a band, or dots with bars where the opacity of bands is 0."""
    mean, low, high = parts
    colour, marker = COLOURS[number], MARKERS[number]
    order = np.argsort(places)
    if opacity:
        axis.fill_between(
            places[order], low[order], high[order], color=colour, alpha=opacity, linewidth=0
        )
        size = 4 if len(places) <= 30 else 0
        axis.plot(
            places[order], mean[order], color=colour, marker=marker, markersize=size, label=label
        )
        return
    aside = places + 0.08 * number
    half = np.nan_to_num(np.stack([mean - low, high - mean]))
    axis.errorbar(aside, mean, half, color=colour, fmt=marker, capsize=3, label=label)


def _scale(axis: "Axes", mean: np.ndarray) -> None:
    """Mark 0 where values have both signs; take a scale of ratios where they span a wide range."""
    found = mean[np.isfinite(mean)]
    if not len(found):
        return
    low, high = found.min(), found.max()
    if low < 0 < high:
        axis.axhline(0, color=SOFT, linewidth=0.9)
    elif low > 0 and high > _WIDE * low:
        axis.set_yscale("log")
