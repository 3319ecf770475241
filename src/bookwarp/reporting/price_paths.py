"""The price paths that a sweep kept: a panel for each setting."""

import numpy as np

from bookwarp.reporting.figure import COLOURS, Figure, spread_out, start_drawing, styled
from bookwarp.reporting.swept import Swept, format_value
from bookwarp.sweeping.paths import PATH, PATH_PRICE, PATH_STEP

_MOST_PANELS = 6
_MOST_PATHS = 4
_POINTS = 1000
"""A longer path is drawn through so many of its steps."""


def draw_price_paths(swept: Swept) -> Figure | None:
    """Draw the paths of some settings, or return None where there are none."""
    if PATH_PRICE not in swept.dataset:
        return None
    paths = _paths_by_setting(swept)
    if not paths:
        return None
    shown = [list(paths)[place] for place in spread_out(len(paths), _MOST_PANELS)]
    columns = min(2, len(shown))
    steps = swept.dataset.coords[PATH_STEP].values
    kept = np.unique(np.linspace(0, len(steps) - 1, _POINTS).round().astype(np.int64))
    with styled(**{"font.size": 9.5}):
        drawing, axes = start_drawing(-(-len(shown) // columns), columns)
        for number, (axis, setting) in enumerate(zip(axes, shown, strict=False)):
            for colour, path in zip(COLOURS, paths[setting][:_MOST_PATHS], strict=False):
                price = swept.read(swept.dataset[PATH_PRICE].isel({PATH: path})).values
                replica = int(swept.dataset.coords[f"{PATH}_replica"].values[path])
                axis.plot(steps[kept], price[kept], color=colour, lw=0.9, label=f"{replica}")
            axis.set_title(setting, loc="left", fontsize=9.5)
            axis.set_xlabel("step" if number >= len(shown) - columns else "")
            axis.set_ylabel("last price [tick]" if number % columns == 0 else "")
            axis.locator_params(axis="both", integer=True, nbins=6)
            axis.grid(visible=True)
        for axis in axes[len(shown) :]:
            axis.remove()
    return Figure(
        name="price_paths",
        title="Price paths",
        caption=_caption(paths, shown, len(kept), len(steps)),
        alt=f"Last price after each of {len(steps)} steps in {len(shown)} settings: "
        + "; ".join(shown)
        + ".",
        drawing=drawing,
    )


def _paths_by_setting(swept: Swept) -> dict[str, list[int]]:
    """Return the paths of every setting that the part still has, by what it is called."""
    coords = swept.dataset.coords
    keep = np.ones(swept.dataset.sizes[PATH], bool)
    for name, value in swept.at.items():
        keep &= np.asarray(coords[f"{PATH}_{name}"].values.astype(object) == value)
    found: dict[str, list[int]] = {}
    for path in np.flatnonzero(keep).tolist():
        words = (
            f"{name} {format_value(coords[f'{PATH}_{name}'].values[path])}"
            for name in swept.parameters
        )
        found.setdefault(", ".join(words) or "the setting", []).append(path)
    return found


def _caption(paths: dict[str, list[int]], shown: list[str], points: int, steps: int) -> str:
    words = ["Each colour is a replica, whose random numbers are the same in all settings."]
    if len(shown) < len(paths):
        words.append(f"{len(shown)} of {len(paths)} settings with paths are shown.")
    if any(len(paths[setting]) > _MOST_PATHS for setting in shown):
        words.append(f"Of each, the first {_MOST_PATHS} paths are.")
    if points < steps:
        words.append(f"Paths are drawn through {points} of {steps} steps.")
    return " ".join(words)
