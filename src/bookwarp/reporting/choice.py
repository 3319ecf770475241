"""Which figures a report has, by what was swept."""

from collections.abc import Iterable

from bookwarp.reporting.cloud import draw_cloud
from bookwarp.reporting.curves import draw_curves
from bookwarp.reporting.figure import Figure
from bookwarp.reporting.heat_map import draw_heat_map
from bookwarp.reporting.memory import VARIABLES, draw_memory
from bookwarp.reporting.price_paths import draw_price_paths
from bookwarp.reporting.quantity import Quantity
from bookwarp.reporting.swept import Swept
from bookwarp.spec.errors import ParameterError, unknown_name

_MOST_AXES = 2
_MOST_PANELS = 8
Section = tuple[str, list[Figure]]


def choose_figures(
    swept: Swept, quantities: list[Quantity], asked: tuple[str, ...] | None
) -> list[Section]:
    """Draw all figures, in sections.

    Args:
        swept: the sweep.
        quantities: what is shown of it.
        asked: swept parameters to show, as from `check_axes`; the usual ones if None.
    """
    sections: list[Section] = []
    if swept.is_grid and swept.dims:
        shown = asked or _longest(swept)
        note = _note(swept, shown)
        if len(shown) > 1:
            pair = shown[0], shown[1]
            maps = [draw_heat_map(swept, each, pair, note) for each in quantities]
            sections.append((f"Over {shown[0]} and {shown[1]}", maps))
        curves = [draw_curves(swept, each, shown, note) for each in quantities]
        sections.append((f"Along {shown[0]}", curves))
    elif swept.dims:
        shown = asked or tuple(swept.parameters)[:_MOST_PANELS]
        left = len(swept.parameters) - len(shown)
        note = f"{left} more parameters vary too." if left else ""
        clouds = [draw_cloud(swept, each, shown, note) for each in quantities]
        sections.append(("Setting by setting", clouds))
    memory = [draw_memory(swept, name) for name in VARIABLES if name in swept.dataset]
    sections.append(("Memory", memory))
    paths = draw_price_paths(swept)
    sections.append(("Paths", [paths] if paths else []))
    return sections


def check_axes(swept: Swept, axes: str | Iterable[str]) -> tuple[str, ...]:
    """Return the swept parameters that are to be shown.

    Raises:
        ParameterError: one of them is not swept, there are too many, or none.
    """
    found = (axes,) if isinstance(axes, str) else tuple(dict.fromkeys(axes))
    for name in found:
        if name not in swept.parameters:
            raise ParameterError(f"axes: {unknown_name('swept parameter', name, swept.parameters)}")
    if not found or (swept.is_grid and len(found) > _MOST_AXES):
        raise ParameterError(
            f"axes: one or two swept parameters of a grid can be shown, not {len(found)}"
        )
    return found


def _longest(swept: Swept) -> tuple[str, ...]:
    """Return the two dimensions with most values, in the design's order; numbers before names."""
    by_length = sorted(swept.dims, key=lambda dim: (swept.is_text(dim), -swept.dataset.sizes[dim]))[
        :_MOST_AXES
    ]
    return tuple(by_length)


def _note(swept: Swept, shown: tuple[str, ...]) -> str:
    others = [
        f"{dim} ({swept.dataset.sizes[dim]} values)" for dim in swept.dims if dim not in shown
    ]
    if not others:
        return ""
    return f"Averaged over {', '.join(others)}, as far as settings have a value."
