"""A figure of a report: drawn once, and written as SVG for a page or as PNG.

What is drawn in `INK` takes the colour of the text around it on a page, so that one SVG serves
light and dark; all other colours are chosen to be seen on both.
"""

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bookwarp.reporting.swept import format_value

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

INK, SOFT = "#1a1a1b", "#808080"
# Of Okabe and Ito, which the colour-blind can tell apart, less black and yellow.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MARKERS = ("o", "s", "^", "D", "v", "P")
MOST_LINES = len(COLOURS)
_WIDTH, _HEIGHT = 4.9, 3.6
_DPI = 160
_LEGEND_COLUMNS = 3
_LETTERS, _LINES = 48, 12
"""So many letters stand beside each other below an axis, so many lines above each other."""
_LEAST_RATIOS, _MOST_RATIOS = 3, 30
"""So many values can be chosen by ratios; more are taken for drawn ones."""
_STYLE: dict[str, Any] = {
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.labelcolor": INK,
    "grid.color": SOFT,
    "grid.alpha": 0.3,
    "hatch.color": SOFT,
    "font.size": 10.5,
    "axes.formatter.useoffset": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 9,
}


@dataclass(frozen=True, eq=False)
class Figure:
    """A picture, and what is said of it in words."""

    name: str
    """Of its file, without a suffix; no two figures of a report have the same."""
    title: str
    caption: str
    """What else a reader must know to read it."""
    alt: str
    """What is to be seen, for those who do not see it."""
    drawing: "matplotlib.figure.Figure"

    def png(self) -> bytes:
        """Return the picture as PNG, on white."""
        with styled():
            return self._saved("png", dpi=_DPI, facecolor="white")

    def svg(self) -> str:
        """Return the picture as an <svg> element that names nothing outside itself."""
        with styled(**{"svg.hashsalt": self.name}):
            whole = self._saved("svg", transparent=True, metadata={"Date": None}).decode()
        text = whole[whole.index("<svg") :]
        text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
        text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text).replace("xlink:href", "href")
        # Ids of one figure must not be those of another on the same page.
        text = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{self.name}-", text)
        return text.replace(INK, "currentColor").strip()

    def _saved(self, kind: str, **how: Any) -> bytes:
        out = io.BytesIO()
        self.drawing.savefig(out, format=kind, **how)
        return out.getvalue()


@contextmanager
def styled(**more: Any) -> Iterator[None]:
    """Draw and write figures in the style of a report."""
    import matplotlib as mpl

    style: Any = {**_STYLE, **more}
    with mpl.rc_context(style):
        yield


def start_drawing(rows: int = 1, columns: int = 1) -> "tuple[matplotlib.figure.Figure, list[Axes]]":
    """Return an empty drawing and its axes, row by row; use it within `styled`."""
    from matplotlib.figure import Figure as Drawing

    width = _WIDTH if columns == 1 else 3.3 * columns
    height = _HEIGHT if rows * columns == 1 else 2.5 * rows
    drawing = Drawing(figsize=(width, height), layout="constrained")
    return drawing, list(drawing.subplots(rows, columns, squeeze=False).flat)


def place_legend(drawing: "matplotlib.figure.Figure", lines: int) -> None:
    """Put the legend over the axes, where it hides nothing, in as many columns as fit."""
    for columns in range(min(lines, _LEGEND_COLUMNS), 0, -1):
        legend = drawing.legend(loc="outside upper left", ncols=columns)
        if columns == 1 or legend.get_window_extent().width <= drawing.bbox.width:
            return
        legend.remove()


def band_opacity(lines: int) -> float:
    """Return how opaque the bands of so many lines are, so that they can be told apart."""
    return 0.22 if lines < 3 else 0.1


def spread_out(count: int, most: int) -> list[int]:
    """Return at most `most` of the places 0 .. count - 1, both ends among them, evenly."""
    if count <= most:
        return list(range(count))
    return [round(place) for place in np.linspace(0, count - 1, most).tolist()]


def number_axis(axis: "Axes", which: str, values: np.ndarray) -> None:
    """Give an axis ticks for numbers, by powers of ten where they span several and stand so."""
    if is_spread_by_ratio(values):
        getattr(axis, f"set_{which}scale")("log")
        own = getattr(axis, f"{which}axis")
        shown = np.unique(values)
        if len(shown) <= 12:
            own.set_ticks(shown, [format_value(v) for v in shown.tolist()])
            own.set_ticks([], minor=True)
    elif np.issubdtype(values.dtype, np.integer):
        axis.locator_params(axis=which, integer=True)  # type: ignore[arg-type]


def is_spread_by_ratio(values: np.ndarray) -> bool:
    """Say whether swept numbers are chosen by ratios rather than by differences: 1, 2, 5, 10."""
    found = np.unique(values)
    if not _LEAST_RATIOS <= len(found) <= _MOST_RATIOS or found[0] <= 0:
        return False
    gaps = np.diff(found.astype(np.float64))
    return bool(gaps.max() >= 4 * gaps.min() and found[-1] >= 8 * found[0])


def name_axis(axis: "Axes", which: str, names: Sequence[str]) -> list[int]:
    """Give an axis ticks for names or values at the places 0, 1, 2, ..., as many as fit.

    Returns:
        The places that have one, evenly spaced.
    """
    longest = max(map(len, names))
    fit = _LINES if which == "y" else max(2, int(_LETTERS / (1.5 * longest)))
    places = list(range(0, len(names), -(-len(names) // fit)))
    getattr(axis, f"set_{which}ticks")(places, [names[place] for place in places])
    return places


def round_range(values: np.ndarray) -> str:
    """Return the range of the numbers in words, for an alternative text."""
    found = values[np.isfinite(values)]
    if not len(found):
        return "no value is there"
    return f"from {found.min():.4g} to {found.max():.4g}"
