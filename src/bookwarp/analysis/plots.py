"""The picture of a run: what each panel shows is in `bookwarp.analysis.panels`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bookwarp.analysis.panels import (
    draw_books,
    draw_final_prices,
    draw_prices,
    draw_volume,
    format_number,
)
from bookwarp.results.output import as_path, check_absent, check_folder, written_whole
from bookwarp.results.run import Run
from bookwarp.spec.errors import ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")
_DPI = 120

Panel = tuple[str, Callable[["Axes", Run], None]]


def check_plot(path: str | Path, overwrite: bool = False) -> None:
    """Check, before a run starts, that it can be drawn to `path`.

    Raises:
        ParameterError: the suffix is not .png, .svg or .pdf.
        StoreError: it exists, or its folder cannot be written to.
    """
    given = as_path(path)
    if given.suffix.lower() not in SUFFIXES:
        raise ParameterError(
            f"{given} has the suffix {given.suffix!r}: a plot is written as {', '.join(SUFFIXES)}"
        )
    check_absent(given, overwrite)
    check_folder(given)


def plot_run(run: Run, path: str | Path | None = None, overwrite: bool = False) -> "Figure":
    """Draw what `run` has: prices and volume by step if recorded, final prices and books always.

    Args:
        run: what happened.
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
    panels = _panels(run)
    rows, columns = (2, 2) if len(panels) == 4 else (1, len(panels))
    figure = Figure(figsize=(4.6 * columns, 3.3 * rows + 0.6), layout="constrained")
    figure.suptitle(_title(run), fontsize=11)
    axes = figure.subplots(rows, columns, squeeze=False)
    for axis, (title, draw) in zip(axes.flat, panels, strict=True):
        axis.set_title(title, fontsize=11, loc="left")
        axis.locator_params(integer=True, nbins=7)
        axis.xaxis.set_major_formatter(lambda value, _: format_number(value))
        axis.yaxis.set_major_formatter(lambda value, _: format_number(value))
        axis.grid(alpha=0.25)
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
        draw(axis, run)
    if path is not None:
        given = as_path(path)
        with written_whole(given, overwrite) as temporary:
            figure.savefig(temporary, format=given.suffix.lower()[1:], dpi=_DPI)
    return figure


def _panels(run: Run) -> list[Panel]:
    """Return title and function of every panel that there is something to draw for."""
    panels: list[Panel] = []
    if len(run.history_steps):
        if "last" in run.history or "mid2" in run.history:
            panels.append(("Price of each market", draw_prices))
        if "volume" in run.history:
            panels.append(("Volume of each market", draw_volume))
    panels.append((f"Last price after {run.steps:,} steps", draw_final_prices))
    panels.append(("Mean book after the last step", draw_books))
    return panels


def _title(run: Run) -> str:
    """Return what made the run, in two lines."""
    plural = "" if run.markets == 1 else "s"
    sizes = f"{run.markets:,} market{plural} × {run.agents:,} agents, {run.levels:,} levels"
    seed = "seeds by market" if isinstance(run.seed, np.ndarray) else f"seed {run.seed}"
    stream = f"{run.stream} stream, {run.window} window"
    types = "agent types given"
    if run.auction.mix is not None:
        shares = ((name, share) for name, share in run.auction.mix.items() if np.any(share))
        types = ", ".join(f"{name} {_share(share)}" for name, share in shares)
    return f"{sizes}, {run.steps:,} steps, {seed}, {stream}\n{types}"


def _share(share: "float | np.ndarray") -> str:
    if isinstance(share, np.ndarray):
        return f"{share.min():.3g} to {share.max():.3g}"
    return f"{share:.3g}"
