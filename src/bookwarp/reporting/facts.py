"""What was swept, and how much of it is there: the table at the head of a report."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bookwarp.reporting.swept import Swept, format_value
from bookwarp.sweeping.varied import REPLICA

_MOST_VALUES = 8
_OWN_ATTRIBUTES = (
    *("title", "bookwarp_version", "no_price", "infeasible", "sweep", "digest"),
    "confidence",
)


def describe_design(swept: Swept) -> list[tuple[str, str]]:
    """Return the axes, the parameters that are taken at one value, and the sizes, as text."""
    lines = [(name, _values(swept, name)) for name in swept.parameters]
    lines += [(name, f"{format_value(value)} (chosen)") for name, value in swept.at.items()]
    settings = int(np.prod([swept.dataset.sizes[dim] for dim in swept.dims], dtype=np.int64))
    return [
        *lines,
        ("settings", f"{settings:,}"),
        ("replicas of each", f"{swept.dataset.sizes[REPLICA]:,}"),
    ]


def describe_fixed(swept: Swept) -> list[tuple[str, str]]:
    """Return the parameters that are the same in all settings, as text."""
    said = swept.dataset.attrs
    names = [name for name in said if name not in _OWN_ATTRIBUTES]
    return [(str(name), format_value(said[name])) for name in names]


def describe_source(swept: Swept) -> list[tuple[str, str]]:
    """Return what made the sweep, and its digest, as text."""
    said = swept.dataset.attrs
    digest = said.get("digest", "none: the sweep is not complete")
    return [
        ("measured", ", ".join(_measure_names(swept.description.get("measure", {})))),
        ("bookwarp", str(said.get("bookwarp_version", "unknown"))),
        ("digest", str(digest)),
    ]


def infeasible_settings(swept: Swept) -> list[str]:
    """Return settings of the whole sweep that cannot run, each with its reason: the first ones."""
    found: Any = swept.dataset.attrs.get("infeasible", [])
    return [found] if isinstance(found, str) else [str(each) for each in found]


def infeasible_count(swept: Swept) -> int:
    """Return how many settings of the whole sweep cannot run, listed or not."""
    return int(swept.description.get("infeasible", len(infeasible_settings(swept))))


def _measure_names(measure: Mapping[str, Any]) -> list[str]:
    """Return the names in the description of a measure, or of several as one."""
    if "all_of" in measure:
        return [name for each in measure["all_of"] for name in _measure_names(each)]
    names = measure.get("measures", [measure.get("custom", "a measure of the user's own")])
    return [str(name) for name in names]


def _values(swept: Swept, name: str) -> str:
    values = swept.values(name).tolist()
    different = list(dict.fromkeys(values))
    if len(different) <= _MOST_VALUES:
        return ", ".join(format_value(value) for value in different)
    if swept.is_text(name):
        return f"{len(different)} names"
    low, high = format_value(min(values)), format_value(max(values))
    return f"{low} to {high}, {len(different)} values"
