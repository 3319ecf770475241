"""Whether a store holds the very sweep that is asked for, and what differs if not."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bookwarp.spec.errors import StoreError
from bookwarp.sweeping.plan import SweepPlan

ROOT = "zarr.json"
"""Metadata of the group, in which the sweep describes itself."""


class OtherStoreError(StoreError):
    """What is at the path is something else than the sweep that was asked for."""


def read_description(path: Path) -> dict[str, Any]:
    """Return what the sweep in a store says of itself.

    Raises:
        OtherStoreError: there is no sweep.
    """
    try:
        root = json.loads((path / ROOT).read_bytes())
        found = json.loads(root["attributes"]["sweep"])
    except FileNotFoundError:
        raise OtherStoreError(f"there is no sweep in {path}") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise OtherStoreError(
            f"{path} is damaged, or not the store of a sweep of bookwarp"
        ) from None
    if not isinstance(found, dict):
        raise OtherStoreError(f"{path} is damaged: it does not describe its sweep")
    return found


def refuse_other(path: Path, plan: SweepPlan) -> None:
    """Refuse a store that was not made for this very sweep.

    Raises:
        OtherStoreError: naming what differs.
    """
    there, here = read_description(path), json.loads(json.dumps(plan.description))
    differences = list(_differences("", there, here))
    if differences:
        raise OtherStoreError(
            f"{path} holds another sweep: {'; '.join(differences[:5])}. Choose another path, or "
            f"remove it"
        )


def _differences(name: str, there: Any, here: Any) -> Iterator[str]:
    """Yield a sentence for everything in which two descriptions differ."""
    if isinstance(there, dict) and isinstance(here, dict):
        for key in dict.fromkeys((*there, *here)):
            inner = f"{name}.{key}" if name else str(key)
            yield from _differences(inner, there.get(key), here.get(key))
    elif there != here:
        yield f"{name} is {_short(there)} there and {_short(here)} here"


def _short(value: Any) -> str:
    if value is None:
        return "not given"
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
