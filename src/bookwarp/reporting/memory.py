"""Autocorrelations by lag, for some settings."""

import numpy as np

from bookwarp.reporting.averages import interval, say_interval
from bookwarp.reporting.figure import (
    COLOURS,
    MOST_LINES,
    SOFT,
    Figure,
    band_opacity,
    place_legend,
    round_range,
    spread_out,
    start_drawing,
    styled,
)
from bookwarp.reporting.swept import Swept, format_value
from bookwarp.sweeping.varied import REPLICA

VARIABLES = {
    "acf_returns": "Autocorrelation of returns",
    "acf_abs_returns": "Autocorrelation of absolute returns",
    "leverage": "Correlation of returns and later squared returns",
}
_LAG = "lag"


def draw_memory(swept: Swept, name: str) -> Figure:
    """Draw a variable of `VARIABLES` against the lag, for settings along the first dimension."""
    chosen, said = choose_settings(swept)
    lags = swept.dataset.coords[_LAG].values
    opacity = band_opacity(len(chosen))
    means = []
    with styled():
        drawing, (axis,) = start_drawing()
        for colour, place in zip(COLOURS, chosen, strict=False):
            values = swept.read(swept.dataset[name].isel(place))
            mean, low, high = interval(values.transpose(_LAG, REPLICA))
            axis.fill_between(lags, low, high, color=colour, alpha=opacity, linewidth=0)
            label = name_setting(swept, place)
            axis.plot(lags, mean, color=colour, marker="o", markersize=2.5, lw=1.2, label=label)
            means.append(mean)
        axis.axhline(0, color=SOFT, linewidth=0.9)
        axis.set_xlabel("lag [row]")
        axis.set_ylabel("correlation")
        axis.grid(visible=True)
        if any(name_setting(swept, place) for place in chosen):
            place_legend(drawing, len(chosen))
    return Figure(
        name=f"memory_{name}",
        title=VARIABLES[name],
        caption=f"{say_interval(swept, 'Bands')}{said}",
        alt=f"{VARIABLES[name]} at lags {lags[0]} to {lags[-1]}, a curve for each of "
        f"{len(chosen)} settings: {round_range(np.array(means))}.",
        drawing=drawing,
    )


def choose_settings(swept: Swept) -> tuple[list[dict[str, int]], str]:
    """Return the places of some settings along the first dimension, and a sentence about it.

    All other dimensions are at the value in their middle, or the nearest with settings that run.
    """
    if not swept.dims:
        return [{}], ""
    first, *others = swept.dims
    feasible = swept.feasible
    fixed: dict[str, int] = {}
    for dim in others:
        length = swept.dataset.sizes[dim]
        by_middle = sorted(range(length), key=lambda place: abs(place - (length - 1) / 2))
        runs = feasible.isel(fixed)
        fixed[dim] = next(p for p in by_middle if runs.isel({dim: p}).any())
    able = np.flatnonzero(feasible.isel(fixed).values)
    chosen = [int(able[place]) for place in spread_out(len(able), MOST_LINES)]
    words = []
    if len(chosen) < swept.dataset.sizes[first]:
        words.append(f" {len(chosen)} of {swept.dataset.sizes[first]} along {first} are shown.")
    if fixed:
        words.append(f" Other parameters are at {name_setting(swept, fixed)}.")
    own = [name for name, dim in swept.parameters.items() if dim == first]
    if len(own) > 1:
        named = (f"{place} has {_values_at(swept, own, {first: place})}" for place in chosen)
        words.append(f" By number: {'; '.join(named)}.")
    return [{first: place, **fixed} for place in chosen], "".join(words)


def name_setting(swept: Swept, place: dict[str, int]) -> str:
    """Return what a curve is called: the value along the first dimension, or a setting's number."""
    first = swept.dims[0] if swept.dims else ""
    if first in place:
        own = [name for name, dim in swept.parameters.items() if dim == first]
        return _values_at(swept, own, place) if len(own) == 1 else f"{first} {place[first]}"
    return _values_at(swept, [n for n, dim in swept.parameters.items() if dim in place], place)


def _values_at(swept: Swept, names: list[str], place: dict[str, int]) -> str:
    values = ((name, swept.values(name)[place[swept.parameters[name]]]) for name in names)
    return ", ".join(f"{name} {format_value(value)}" for name, value in values)
