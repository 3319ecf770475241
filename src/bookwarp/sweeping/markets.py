"""Which markets run together, and which settings they have."""

from collections.abc import Iterator
from dataclasses import astuple, replace
from itertools import pairwise
from math import lcm

import numpy as np

from bookwarp.spec.runs import Runs
from bookwarp.sweeping.plan import SweepPlan
from bookwarp.sweeping.settings import Group

Numbers = Runs | np.ndarray
"""Of markets or rows, increasing: runs, or int64."""

_SHORTEST_RUN, _LONGEST_RUN = 32, 8192
"""Markets that are dealt together: a warp of them at least, and no more than are quick to copy."""
_RUNS_EACH = 16
"""Of these each part gets at least so many, that all have markets of every kind."""
_UNEVEN = 0.03
"""How much more than its share the largest part may be, to have markets of every kind."""


def join_ranges(ranges: list[tuple[int, int]]) -> Numbers:
    """Return the numbers of half-open ranges, one after the other."""
    if all(stop == first for (_, stop), (first, _) in pairwise(ranges)):
        return Runs.one(ranges[0][0], ranges[-1][1])
    return np.concatenate([np.arange(*each) for each in ranges])


def cut_evenly(numbers: Numbers, parts: int) -> list[Numbers]:
    """Return the numbers in parts of neighbours, as equal as can be."""
    edges = [len(numbers) * part // parts for part in range(parts + 1)]
    return [pick(numbers, Runs.one(first, stop)) for first, stop in pairwise(edges)]


def deal(numbers: Numbers, parts: int, most: int, replicas: int) -> list[Numbers]:
    """Return the numbers in parts that take about as long to run.

    Neighbours have settings that are alike, and in one half of a grid all markets may take longer
    than in the other. So every part gets runs from all over: the first one gets the first run, the
    second one the next.

    Args:
        numbers: of markets.
        parts: how many.
        most: how many numbers a part may have.
        replicas: markets of a setting, which stay together where there are many settings.

    Returns:
        The parts; of neighbours where the numbers are too few to be dealt.
    """
    count = len(numbers)
    longest = min(_LONGEST_RUN, count // (_RUNS_EACH * parts))
    unit = lcm(_SHORTEST_RUN, replicas)
    if unit > longest // 4:
        unit = _SHORTEST_RUN
    longest -= longest % unit
    # The longest one of those that make the parts most equal.
    run = min(
        range(longest, max(unit, longest // 4) - 1, -unit),
        key=lambda run: len(_dealt(count, parts, run, 0)),
        default=0,
    )
    if run == 0:
        return cut_evenly(numbers, parts)
    dealt = [_dealt(count, parts, run, part) for part in range(parts)]
    if len(dealt[0]) > min(most, (1 + _UNEVEN) * count / parts):
        return cut_evenly(numbers, parts)
    return [pick(numbers, places) for places in dealt]


def _dealt(count: int, parts: int, run: int, part: int) -> Runs:
    """Return which of `count` places a part gets."""
    rounds, left = divmod(count, parts * run)
    rest = min(run, max(0, left - part * run))
    return Runs(part * run, rounds * run + rest, run, parts * run)


def as_index(numbers: Numbers) -> slice | np.ndarray:
    """Return numbers as what an array is indexed by: a slice, for a view, where it can be."""
    return numbers.index if isinstance(numbers, Runs) else numbers


def pick(numbers: Numbers, places: Numbers) -> Numbers:
    """Return the numbers at some places."""
    if isinstance(numbers, Runs) and numbers.is_one and isinstance(places, Runs):
        return replace(places, first=numbers.first + places.first)
    return _as_runs(as_array(numbers)[as_index(places)])


def as_array(numbers: Numbers) -> np.ndarray:
    """Return numbers as int64."""
    return numbers.array() if isinstance(numbers, Runs) else numbers


def _as_runs(numbers: np.ndarray) -> Numbers:
    """Return increasing numbers as a run, if none is left out between them."""
    first, stop = int(numbers[0]), int(numbers[-1]) + 1
    return Runs.one(first, stop) if stop - first == len(numbers) else numbers


def settings_of(markets: Numbers, replicas: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the settings that some markets have, as `Simulation` wants them.

    Args:
        markets: increasing.
        replicas: of every setting.

    Returns:
        The settings, int64 [entry]; which of them each market has; and which replica it is.
    """
    if isinstance(markets, Runs):
        if not any(number % replicas for number in astuple(markets)):
            first, *lengths = (number // replicas for number in astuple(markets))
            return _with_replicas(Runs(first, *lengths).array(), replicas)
        if markets.is_one:
            low, high = markets.first // replicas, -(-markets.stop // replicas)
            own = slice(markets.first - low * replicas, markets.stop - low * replicas)
            settings, number, replica = _with_replicas(np.arange(low, high), replicas)
            return settings, number[own], replica[own]
    each = as_array(markets)
    setting = each // replicas
    first = np.flatnonzero(np.diff(setting, prepend=-1))
    number = np.repeat(np.arange(len(first)), np.diff(first, append=len(setting)))
    return setting[first], number, each - setting * replicas


def _with_replicas(
    settings: np.ndarray, replicas: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what `settings_of` does of all markets of some settings.

    The arrays are read-only, so that a simulation takes them as they are.
    """
    count = len(settings)
    number, replica = (np.empty(count * replicas, np.int64) for _ in range(2))
    number.reshape(count, replicas)[...] = np.arange(count)[:, None]
    replica.reshape(count, replicas)[...] = np.arange(replicas)
    for each in (number, replica):
        each.flags.writeable = False
    return settings, number, replica


def by_group(plan: SweepPlan, markets: Numbers) -> Iterator[tuple[Group, Numbers]]:
    """Yield every group that has some of the markets, and which entries of `markets` they are."""
    if len(markets) == 0:
        return
    replicas, groups = plan.design.replicas, plan.settings.groups
    if isinstance(markets, Runs):
        here = plan.settings.group_of[markets.first // replicas : -(-markets.stop // replicas)]
        if here[0] >= 0 and (here == here[0]).all():
            yield groups[here[0]], Runs.one(0, len(markets))
            return
    number = plan.settings.group_of[as_array(markets) // replicas]
    order = np.argsort(number, kind="stable")
    edges = np.searchsorted(number[order], np.arange(len(groups) + 1))
    for group, first, stop in zip(groups, edges[:-1], edges[1:], strict=True):
        if first < stop:
            yield group, _as_runs(order[first:stop])
