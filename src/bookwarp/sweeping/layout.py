"""The variables of a sweep's dataset: the same in a store and in memory."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from bookwarp.spec.codes import NO_PRICE
from bookwarp.sweeping.paths import PATH, PATH_PRICE, PATH_STEP
from bookwarp.sweeping.plan import NO_VALUE, SweepPlan
from bookwarp.sweeping.varied import REPLICA, meaning_of

MISSING = "missing_value"
"""Attribute by which xarray, and others that know the CF conventions, show integers as NaN."""


@dataclass(frozen=True, eq=False)
class Variable:
    """An array of the dataset."""

    dims: tuple[str, ...]
    shape: tuple[int, ...]
    chunk: tuple[int, ...]
    dtype: str
    """As NumPy says it; "text" for strings."""
    fill: Any
    attributes: dict[str, Any]


def result_variables(plan: SweepPlan) -> dict[str, Variable]:
    """Return what blocks fill with their results, by name."""
    dims, shape = tuple(plan.design.shape), tuple(plan.design.shape.values())
    variables = {}
    for name, output in plan.outputs.items():
        attributes = {"units": output.unit, "long_name": output.meaning}
        variables[name] = Variable(
            (*dims, *output.dims),
            (*shape, *output.shape),
            (*plan.blocks.chunk, *output.shape),
            "<f8",
            float("nan"),
            attributes,
        )
    for name, (_, unit, meaning) in plan.exact.items():
        exact: dict[str, Any] = {"units": unit, "long_name": meaning}
        if len(plan.settings.refused):
            exact[MISSING] = NO_VALUE
        variables[name] = Variable(dims, shape, plan.blocks.chunk, "<i8", NO_VALUE, exact)
    return variables


def path_variable(plan: SweepPlan) -> dict[str, Variable]:
    """Return the prices of chosen markets, if there are any; a chunk is one path."""
    count, steps = len(plan.paths.markets), plan.paths.steps
    if count == 0:
        return {}
    attributes: dict[str, Any] = {"units": "tick", "long_name": "last price after each step"}
    if len({group.shared["steps"] for group in plan.settings.groups}) > 1:
        attributes[MISSING] = NO_VALUE
    shape, chunk = (count, steps), (1, max(1, steps))
    return {PATH_PRICE: Variable((PATH, PATH_STEP), shape, chunk, "<i8", NO_VALUE, attributes)}


def coordinates(plan: SweepPlan) -> dict[str, tuple[tuple[str, ...], np.ndarray, dict[str, Any]]]:
    """Return the coordinates: name -> dimensions, values, attributes; text is of type object."""
    found: dict[str, tuple[tuple[str, ...], np.ndarray, dict[str, Any]]] = {}
    for name, (dim, values) in plan.design.columns.items():
        found[name] = (dim,), values, meaning_of(name)
    replicas = np.arange(plan.design.replicas)
    meaning = {"units": "1", "long_name": "number under which the market draws"}
    found[REPLICA] = (REPLICA,), replicas, meaning
    for output in plan.outputs.values():
        for dim in output.dims:
            unit_and_meaning = output.coord_meanings.get(dim, ())
            of_dim = dict(zip(("units", "long_name"), unit_and_meaning, strict=False))
            found[dim] = (dim,), np.asarray(output.coords[dim]), of_dim
    if len(plan.settings.refused):
        runs = np.ones(plan.settings.count, bool)
        runs[plan.settings.refused] = False
        dims, shape = tuple(plan.design.dims), tuple(plan.design.dims.values())
        meaning = {"units": "1", "long_name": "whether the setting can run"}
        found["feasible"] = dims, runs.reshape(shape), meaning
    if len(plan.paths.markets):
        setting, replica = np.divmod(plan.paths.markets, plan.design.replicas)
        for name, column in plan.settings.columns.items():
            found[f"{PATH}_{name}"] = (PATH,), column[setting], meaning_of(name)
        found[f"{PATH}_{REPLICA}"] = (PATH,), replica, meaning
        steps = {"units": "1", "long_name": "step after which the price was taken, from 0"}
        found[PATH_STEP] = (PATH_STEP,), np.arange(plan.paths.steps), steps
    return found


def attributes(plan: SweepPlan, digest: str | None) -> dict[str, Any]:
    """Return what the dataset says of itself: nothing that another run would say otherwise.

    Args:
        plan: of the sweep.
        digest: of all blocks; None as long as some are missing.
    """
    description = plan.description
    constants = {n: v for n, v in plan.settings.constants.items() if n not in plan.design.columns}
    said: dict[str, Any] = {
        "title": "bookwarp sweep",
        "bookwarp_version": description["bookwarp"],
        "no_price": NO_PRICE,
        **{name: value for name, value in constants.items() if value is not None},
        "infeasible": _refusals(plan),
        "sweep": json.dumps(description, sort_keys=True),
    }
    return said if digest is None else said | {"digest": digest}


def _refusals(plan: SweepPlan) -> list[str]:
    """Return a sentence for every setting that cannot run; the first ones, if they are many."""
    listed = plan.settings.refusals
    more = len(plan.settings.refused) - len(listed)
    return [*listed, f"and {more} more"] if more else [*listed]
