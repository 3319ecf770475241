"""Which markets run together, and which settings they have."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from bookwarp.sweeping.plan import SweepPlan
from bookwarp.sweeping.settings import Group

Numbers = range | np.ndarray
"""Of markets or rows, increasing: a range where none is left out, else int64."""


def join_ranges(ranges: list[tuple[int, int]]) -> Numbers:
    """Return the numbers of half-open ranges, one after the other."""
    if all(stop == first for (_, stop), (first, _) in pairwise(ranges)):
        return range(ranges[0][0], ranges[-1][1])
    return np.concatenate([np.arange(*each) for each in ranges])


def cut_evenly(numbers: Numbers, parts: int) -> list[Numbers]:
    """Return the numbers in parts, as equal as can be, each as a range where it can be."""
    edges = [len(numbers) * part // parts for part in range(parts + 1)]
    return [_as_range(numbers[first:stop]) for first, stop in pairwise(edges)]


def _as_range(numbers: Numbers) -> Numbers:
    """Return increasing numbers as a range, if none is left out between them."""
    first, stop = int(numbers[0]), int(numbers[-1]) + 1
    return range(first, stop) if stop - first == len(numbers) else numbers


def as_index(rows: Numbers) -> slice | np.ndarray:
    """Return rows as what an array is indexed by: a slice of it is a view."""
    return slice(rows.start, rows.stop) if isinstance(rows, range) else rows


def pick(numbers: Numbers, rows: Numbers) -> Numbers:
    """Return some of the numbers."""
    if isinstance(rows, range):
        return numbers[rows.start : rows.stop]
    return np.asarray(numbers)[rows]


def settings_of(markets: Numbers, replicas: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the settings that some markets have, as `Simulation` wants them.

    Args:
        markets: increasing.
        replicas: of every setting.

    Returns:
        The settings, int64 [entry]; which of them each market has; and which replica it is.
    """
    if isinstance(markets, range):
        low, high = markets.start // replicas, -(-markets.stop // replicas)
        own = slice(markets.start - low * replicas, markets.stop - low * replicas)
        number = np.repeat(np.arange(high - low), replicas)[own]
        return np.arange(low, high), number, np.tile(np.arange(replicas), high - low)[own]
    setting = markets // replicas
    first = np.flatnonzero(np.diff(setting, prepend=-1))
    number = np.repeat(np.arange(len(first)), np.diff(first, append=len(setting)))
    return setting[first], number, markets - setting * replicas


def by_group(plan: SweepPlan, markets: Numbers) -> Iterator[tuple[Group, Numbers]]:
    """Yield every group that has some of the markets, and which entries of `markets` they are."""
    if len(markets) == 0:
        return
    replicas, groups = plan.design.replicas, plan.settings.groups
    if isinstance(markets, range):
        here = plan.settings.group_of[markets.start // replicas : -(-markets.stop // replicas)]
        if here[0] >= 0 and (here == here[0]).all():
            yield groups[here[0]], range(len(markets))
            return
    number = plan.settings.group_of[np.asarray(markets) // replicas]
    order = np.argsort(number, kind="stable")
    edges = np.searchsorted(number[order], np.arange(len(groups) + 1))
    for group, first, stop in zip(groups, edges[:-1], edges[1:], strict=True):
        if first < stop:
            yield group, order[first:stop]
