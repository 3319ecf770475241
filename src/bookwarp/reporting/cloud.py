"""Scatter plots: a quantity of settings that are no grid, against each swept parameter."""

import numpy as np

from bookwarp.reporting.averages import Averages, say_interval
from bookwarp.reporting.figure import (
    COLOURS,
    SOFT,
    Figure,
    name_axis,
    number_axis,
    round_range,
    start_drawing,
    styled,
)
from bookwarp.reporting.quantity import Quantity
from bookwarp.reporting.swept import Swept

_COLUMNS = 2
_MANY = 400
"""More settings are drawn as an image, without their intervals."""


def draw_cloud(swept: Swept, quantity: Quantity, parameters: tuple[str, ...], note: str) -> Figure:
    """Draw the mean of a quantity in every setting, once against each parameter.

    Args:
        swept: a sweep with one dimension, along which its parameters vary.
        quantity: what is shown.
        parameters: some that are swept.
        note: what else is to be said.
    """
    found = Averages.of(swept, quantity, swept.dims)
    columns = min(_COLUMNS, len(parameters))
    rows = -(-len(parameters) // columns)
    half = np.nan_to_num(np.stack([found.mean - found.low, found.high - found.mean]))
    many = len(found.mean) > _MANY
    with styled():
        drawing, axes = start_drawing(rows, columns)
        for number, (axis, parameter) in enumerate(zip(axes, parameters, strict=False)):
            values = swept.values(parameter)
            places = values.astype(np.float64) if not swept.is_text(parameter) else None
            if places is None:
                names, which = np.unique(values.tolist(), return_inverse=True)
                name_axis(axis, "x", names.tolist())
                axis.set_xlim(-0.6, len(names) - 0.4)
                # Beside each other, as far as they are: many settings have the same name.
                places = which + np.linspace(-0.25, 0.25, len(which))
            else:
                number_axis(axis, "x", values)
            if not many:
                axis.errorbar(
                    places, found.mean, half, fmt="none", ecolor=SOFT, elinewidth=0.8, alpha=0.7
                )
            axis.scatter(
                places, found.mean, s=14 if not many else 5, color=COLOURS[0], rasterized=many
            )
            axis.set_xlabel(swept.label(parameter))
            if number % columns == 0:
                axis.set_ylabel(quantity.label)
            axis.grid(visible=True)
            if np.nanmin(found.mean, initial=0) < 0 < np.nanmax(found.mean, initial=0):
                axis.axhline(0, color=SOFT, linewidth=0.9)
        for axis in axes[len(parameters) :]:
            axis.remove()
    empty = int(np.isnan(found.mean).sum())
    missing = f"{empty} of {found.mean.size} settings have no value, and no dot." if empty else ""
    bars = "" if many else say_interval(swept, "Bars")
    said = f"Each dot is a setting; all of them are in every panel. {bars}"
    return Figure(
        name=f"scatter_{quantity.slug}",
        title=quantity.title,
        caption=" ".join(part for part in (said.strip(), missing, note) if part),
        alt=f"Scatter plots of {quantity.label} against {', '.join(parameters)}: means "
        f"{round_range(found.mean)}.",
        drawing=drawing,
    )
