"""Heat maps: a quantity over two swept axes."""

from typing import TYPE_CHECKING

import numpy as np

from bookwarp.reporting.averages import Averages
from bookwarp.reporting.figure import SOFT, Figure, name_axis, start_drawing, styled
from bookwarp.reporting.quantity import Quantity
from bookwarp.reporting.swept import Swept, format_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize

SEQUENTIAL, DIVERGING = "viridis", "RdBu_r"
_FEW_CELLS = (10, 8)
"""So many rows and columns at most have their numbers written into their cells."""
_MANY_CELLS = 1200
"""More cells are drawn as an image."""
_WIDE = 40.0
"""A quantity whose largest value is so many times its smallest, or its median where it has both
signs, is shown by ratios."""
_SEEN = 0.25
"""Share of the way from 0 that colours must span for their differences to be seen."""
_CANNOT, _NOTHING = "////", ".."


def draw_heat_map(swept: Swept, quantity: Quantity, axes: tuple[str, str], note: str) -> Figure:
    """Draw the mean of a quantity over replicas; the first axis is horizontal.

    Args:
        swept: the sweep.
        quantity: what is shown.
        axes: two dimensions, each of them a swept parameter.
        note: what was done with other dimensions.
    """
    across, upward = axes
    found = Averages.of(swept, quantity, (upward, across))
    names = {axis: [format_value(v) for v in swept.values(axis).tolist()] for axis in axes}
    norm, signed, scale = _scale(found.mean, quantity.is_signed)
    with styled():
        drawing, (axis,) = start_drawing()
        cells = axis.pcolormesh(
            np.ma.masked_invalid(found.mean),
            norm=norm,
            cmap=DIVERGING if signed else SEQUENTIAL,
            edgecolors="face",
            linewidth=0.2,
            rasterized=found.mean.size > _MANY_CELLS,
        )
        for name, which in zip(axes, "xy", strict=True):
            _cell_axis(axis, which, names[name], swept.label(name))
        marks = _mark_empty(axis, found)
        if found.mean.shape <= _FEW_CELLS and found.mean.shape[1] <= _FEW_CELLS[1]:
            _write_numbers(axis, found.mean, cells)
        if np.isfinite(found.mean).any():
            bar = drawing.colorbar(cells, ax=axis)
            bar.set_label(f"{quantity.label}\n({scale})" if scale else quantity.label)
            low, high = np.nanmin(found.mean), np.nanmax(found.mean)
            if signed and low < high:
                bar.ax.set_ylim(min(low, 0.0), max(high, 0.0))
        axis.tick_params(length=0)
        axis.spines[:].set_visible(False)
    colours = (
        "Blue is below 0, red above, and equal depths of colour are equally far from it"
        if signed
        else "Brighter is larger"
    )
    return Figure(
        name=f"heat_{quantity.slug}",
        title=quantity.title,
        caption=" ".join(part for part in (f"{colours}.", *marks, note) if part),
        alt=_alt(quantity, axes, names, found),
        drawing=drawing,
    )


def _scale(mean: np.ndarray, signed: bool) -> "tuple[Normalize, bool, str]":
    """Return the scale of colours, whether it is about 0, and what to say if it is not linear.

    Args:
        mean: what is shown.
        signed: whether it is compared with 0 also where all of it has one sign, unless it is so
            far from 0 that no difference could be seen.
    """
    from matplotlib.colors import CenteredNorm, LogNorm, Normalize, SymLogNorm

    found = mean[np.isfinite(mean)]
    if not len(found):
        return Normalize(0, 1), False, ""
    low, high = float(found.min()), float(found.max())
    far, middle = max(-low, high), float(np.median(np.abs(found)))
    if low < 0 < high or (signed and high - low > _SEEN * far):
        if middle == 0 or far <= _WIDE * middle:
            return CenteredNorm(0, far), True, ""
        near = 10.0 ** np.ceil(np.log10(middle))
        said = f"linear to ±{near:g}, then by ratios"
        return SymLogNorm(near, vmin=-far, vmax=far), True, said
    if low > 0 and high > _WIDE * low:
        return LogNorm(low, high), False, "by ratios"
    # One colour for one value, and not the map's ends for the noise of a constant.
    room = 0.5 if low == high else 0.0
    return Normalize(low - room, high + room), False, ""


def _cell_axis(axis: "Axes", which: str, names: list[str], label: str) -> None:
    places = name_axis(axis, which, names)
    middles = [place + 0.5 for place in places]
    getattr(axis, f"set_{which}ticks")(middles, [names[place] for place in places])
    getattr(axis, f"set_{which}label")(label)


def _mark_empty(axis: "Axes", found: Averages) -> list[str]:
    """Hatch the cells without a value, and say what the hatching means."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    nothing = ~np.isfinite(found.mean) & ~found.cannot_run
    marks = []
    for where, hatch, meaning in (
        (found.cannot_run, _CANNOT, "Hatched: the setting cannot run."),
        (nothing, _NOTHING, "Dotted: there is no value."),
    ):
        if where.any():
            cells = [Rectangle((column, row), 1, 1) for row, column in np.argwhere(where)]
            axis.add_collection(
                PatchCollection(cells, hatch=hatch, facecolor="none", edgecolor=SOFT, linewidth=0),
                autolim=False,
            )
            marks.append(meaning)
    return marks


def _write_numbers(axis: "Axes", mean: np.ndarray, cells: object) -> None:
    rgba = cells.to_rgba(mean)  # type: ignore[attr-defined]
    light = rgba[..., :3] @ np.array([0.299, 0.587, 0.114]) > 0.55
    size = 9 if mean.shape[1] <= 6 else 7.5
    for (row, column), value in np.ndenumerate(mean):
        if np.isfinite(value):
            axis.text(
                column + 0.5,
                row + 0.5,
                f"{value:.3g}" if abs(value) >= 1 else f"{value:.2g}",
                ha="center",
                va="center",
                fontsize=size,
                color="#000000" if light[row, column] else "#ffffff",
            )


def _alt(
    quantity: Quantity, axes: tuple[str, str], names: dict[str, list[str]], found: Averages
) -> str:
    across, upward = axes
    said = f"Heat map of {quantity.label} over {across} (horizontal) and {upward} (vertical)"
    there = np.isfinite(found.mean)
    if not there.any():
        return f"{said}: no value is there."
    ends = []
    for word, place in (
        ("lowest", np.nanargmin(found.mean)),
        ("highest", np.nanargmax(found.mean)),
    ):
        row, column = np.unravel_index(int(place), found.mean.shape)
        where = f"{across} {names[across][column]}, {upward} {names[upward][row]}"
        ends.append(f"{word} {found.mean[row, column]:.4g} at {where}")
    empty = int((~there).sum())
    return f"{said}: {'; '.join(ends)}; {empty} of {there.size} cells are empty."
