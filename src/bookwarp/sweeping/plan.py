"""The plan of a sweep: settings, blocks and results, all that a worker needs to run a block."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from math import prod
from typing import Any

import numpy as np

from bookwarp.measures.protocol import Measure, Output
from bookwarp.spec.errors import ParameterError, shown
from bookwarp.spec.record import SERIES
from bookwarp.sweeping.blocks import Blocks, block_markets, check_block_markets
from bookwarp.sweeping.design import Design, describe_values
from bookwarp.sweeping.paths import PATH_SERIES, Paths
from bookwarp.sweeping.settings import Group, Settings
from bookwarp.sweeping.varied import REPLICA

FORMAT = 2
"""Format of the description, and of the store."""

NO_VALUE = -(2**63)
"""Stands in the integers of a setting that cannot run, where numbers have NaN (int64 minimum)."""

# name -> (array of the state, unit, meaning): exact integers, int64 [market], in every sweep.
EXACT = {
    "last_price": ("last", "tick", "price of the last auction that traded"),
    "total_volume": ("volume", "lot", "lots traded in all steps"),
    "trades": ("trades", "1", "auctions that traded"),
}
# And these, if some setting has a parent order.
EXECUTION = {
    "execution_filled": ("own_filled", "lot", "lots of the parent order that were filled"),
    "execution_cost": (
        "own_cost",
        "lot tick",
        "lots filled times their price less open_price, summed",
    ),
    "arrival_mid2": (
        "arrival_mid2",
        "half tick",
        "twice the mid when the parent order arrived, less twice open_price",
    ),
}


@dataclass(frozen=True, eq=False)
class SweepPlan:
    """A sweep, checked and cut into blocks; `SweepPlan.of` makes one.

    It can be pickled, and says the same on every machine: `run_block` of it is a pure function.
    """

    design: Design
    settings: Settings
    measure: Measure
    outputs: dict[str, Output]
    """What the measure gives, by name."""
    exact: dict[str, tuple[str, str, str]]
    """Name of an integer result -> array of the state, unit, meaning."""
    paths: Paths
    blocks: Blocks

    @classmethod
    def of(
        cls,
        design: Design,
        measure: Measure,
        fixed: Mapping[str, Any] | None = None,
        infeasible: str = "error",
        paths: Any = None,
        block: int | None = None,
    ) -> "SweepPlan":
        """Check a sweep.

        Args:
            design: what is swept.
            measure: what is computed of every market.
            fixed: parameters that are the same in all settings.
            infeasible: "error" to refuse settings that cannot run, "nan" to leave them out.
            paths: as for `Paths.of`.
            block: markets of a block; chosen by the work that they are if None.

        Raises:
            ParameterError: naming the parameter, the value and the limit.
        """
        if not isinstance(design, Design):
            raise ParameterError(
                f"design must be made by grid, zipped, random_design or latin_hypercube, "
                f"not {shown(design)}"
            )
        settings = Settings.of(design, fixed or {}, infeasible)
        outputs = _outputs(measure, settings.groups)
        exact = EXACT | (EXECUTION if _has_parents(settings) else {})
        _check_names(outputs, exact, design)
        size = None if block is None else check_block_markets(block)
        if size is None:
            work = max(g.shared["agents"] * g.shared["steps"] for g in settings.groups)
            size = block_markets(design.markets, work, _market_nbytes(outputs, exact))
        return cls(
            design=design,
            settings=settings,
            measure=measure,
            outputs=outputs,
            exact=exact,
            paths=Paths.of(paths, design, settings),
            blocks=Blocks.of(tuple(design.shape.values()), size),
        )

    @cached_property
    def description(self) -> dict[str, Any]:
        """What tells this sweep from others, as plain values, for JSON."""
        return {
            "format": FORMAT,
            "bookwarp": version("bookwarp"),
            "design": self.design.describe(),
            "parameters": dict(self.settings.constants),
            "infeasible": len(self.settings.refused),
            "measure": self.measure.describe(),
            "paths": describe_values(self.paths.markets),
            "chunk": list(self.blocks.chunk),
        }

    @property
    def market_nbytes(self) -> int:
        """Bytes of the results of one market."""
        return _market_nbytes(self.outputs, self.exact)

    def markets_of(self, group: Group, first: int, stop: int) -> int:
        """Return how many of the markets `first` .. `stop`, half-open, belong to a group."""
        return self._before(group, stop) - self._before(group, first)

    @property
    def all_events(self) -> int:
        """Agent events of all blocks."""
        return sum(
            len(group.settings)
            * self.design.replicas
            * int(group.shared["agents"] * group.shared["steps"])
            for group in self.settings.groups
        )

    def events(self, block: int) -> int:
        """Return the agent events of a block."""
        first, stop = self.blocks.markets(block)
        return sum(
            self.markets_of(group, first, stop) * group.shared["agents"] * group.shared["steps"]
            for group in self.settings.groups
        )

    def _before(self, group: Group, market: int) -> int:
        """Return how many markets of a group have a smaller number than `market`."""
        setting, replica = divmod(market, self.design.replicas)
        whole = int(np.searchsorted(group.settings, setting))
        inside = whole < len(group.settings) and int(group.settings[whole]) == setting
        return whole * self.design.replicas + (replica if inside else 0)


def _market_nbytes(outputs: Mapping[str, Output], exact: Mapping[str, Any]) -> int:
    return 8 * (len(exact) + sum(prod(output.shape) for output in outputs.values()))


def _outputs(measure: Measure, groups: tuple[Group, ...]) -> dict[str, Output]:
    """Return what the measure gives, which must not depend on the steps of a group."""
    for part in ("series", "every", "outputs", "of_simulation", "describe"):
        if not hasattr(measure, part):
            raise ParameterError(
                f"measure must be one of bookwarp.measures, such as measures.prices or "
                f"measures.named(['prices', 'volume']), not {shown(measure)}: it has no {part}"
            )
    for name in measure.series:
        if name not in SERIES:
            raise ParameterError(f"the measure wants {name!r}, which is no recorded series")
    by_steps = {steps: measure.outputs(steps) for steps in _steps(groups)}
    (first, outputs), *others = by_steps.items()
    for steps, found in others:
        same = found.keys() == outputs.keys() and all(
            _same_shape(found[name], outputs[name]) for name in outputs
        )
        if not same:
            raise ParameterError(
                f"the measure gives other variables after {steps} steps than after {first}: sweep "
                f"them apart, or choose lags and horizons that both have"
            )
    return outputs


def _steps(groups: tuple[Group, ...]) -> list[int]:
    return sorted({group.shared["steps"] for group in groups})


def _same_shape(one: Output, other: Output) -> bool:
    return one.dims == other.dims and all(
        np.array_equal(one.coords[name], other.coords[name]) for name in one.dims
    )


def _has_parents(settings: Settings) -> bool:
    name = "parent_qty"
    swept = settings.columns.get(name)
    return bool((settings.constants.get(name) or 0) if swept is None else swept.max())


def _check_names(outputs: Mapping[str, Output], exact: Mapping[str, Any], design: Design) -> None:
    """Refuse results that have a name which is taken."""
    taken = {*exact, *design.dims, *design.columns, REPLICA, *PATH_SERIES}
    for name, output in outputs.items():
        for each in (name, *output.dims):
            if each in taken:
                raise ParameterError(
                    f"the measure gives {each!r}, which is the name of something else in a sweep"
                )
