"""The results of a sweep in memory."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bookwarp.spec.errors import ParameterError
from bookwarp.sweeping.layout import (
    MISSING,
    attributes,
    coordinates,
    path_variable,
    result_variables,
)
from bookwarp.sweeping.machine import Machine
from bookwarp.sweeping.paths import PATH_PRICE
from bookwarp.sweeping.plan import NO_VALUE, SweepPlan
from bookwarp.sweeping.room import Room
from bookwarp.sweeping.running import Block
from bookwarp.sweeping.store import sweep_digest

if TYPE_CHECKING:
    import xarray as xr


class Results:
    """The results of a sweep that is not stored; blocks are written as to a `SweepStore`."""

    def __init__(self, plan: SweepPlan, machine: Machine) -> None:
        """Make room for the results of a sweep.

        Args:
            plan: of the sweep.
            machine: what it runs on, and whose memory they take.

        Raises:
            ParameterError: they do not fit there.
        """
        nbytes = plan.design.markets * plan.market_nbytes
        if nbytes > machine.memory:
            raise ParameterError(
                f"the results of {plan.design.markets} markets take {nbytes / 1e9:.3g} GB; "
                f"{machine.memory / 1e9:.3g} GB may be used: give out=, to have them in a store, a "
                f"measure of less, or memory_limit"
            )
        self.plan = plan
        self._room = Room(plan, plan.design.markets, machine)
        self._paths = np.full((len(plan.paths.markets), plan.paths.steps), NO_VALUE, np.int64)
        self._exact: dict[int, bytes] = {}

    def prepare(self) -> None:
        """Make the dataset, whose values come later.

        It takes some milliseconds, and far more where xarray has to be imported, in which the first
        blocks may run already.
        """
        _ = self._dataset

    def missing(self) -> list[int]:
        """Return the blocks that are not there."""
        return [n for n in range(self.plan.blocks.count) if n not in self._exact]

    def room(self, numbers: list[int]) -> tuple[Room, slice]:
        """Return where the results of blocks that follow each other belong: a `TakeRoom`."""
        (first, _), (_, stop) = (
            self.plan.blocks.markets(number) for number in (numbers[0], numbers[-1])
        )
        return self._room, slice(first, stop)

    def write(self, block: Block) -> None:
        """Take a block whose results are in `room`."""
        first, stop = self.plan.blocks.markets(block.number)
        self._paths[slice(*self.plan.paths.within(first, stop))] = block.paths
        self._exact[block.number] = block.exact_sha256

    def kept(self, written: int) -> str:
        """Say what is left of an interrupted sweep."""
        return "nothing was kept: with out= the blocks that were done would be in a store"

    def finish(self) -> str:
        """Return the digest, once no block is missing."""
        return sweep_digest([self._exact[number] for number in range(self.plan.blocks.count)])

    def open(self) -> "xr.Dataset":
        """Return the dataset, as `SweepStore.open` does."""
        dataset = self._dataset
        for name, variable in list(dataset.data_vars.items()):
            if MISSING in variable.attrs:
                dataset[name] = (variable.dims, *_decoded(variable.values, variable.attrs))
        dataset.attrs = attributes(self.plan, self.finish())
        return dataset

    @cached_property
    def _dataset(self) -> "xr.Dataset":
        """The dataset as it is at first: integers are not decoded, and there is no digest."""
        import xarray as xr

        arrays = {**self._room.results, PATH_PRICE: self._paths}
        variables = result_variables(self.plan) | path_variable(self.plan)
        return xr.Dataset(
            {
                name: (each.dims, arrays[name].reshape(each.shape), each.attributes)
                for name, each in variables.items()
            },
            coords={
                name: (dims, _as_text(values), said)
                for name, (dims, values, said) in coordinates(self.plan).items()
            },
        )


def _decoded(array: np.ndarray, said: dict[str, Any]) -> tuple[np.ndarray, dict[str, Any]]:
    """Return integers, some of which have no value, as xarray shows them: floats and NaN."""
    values = array.astype(np.float64)
    values[array == NO_VALUE] = np.nan
    return values, {name: value for name, value in said.items() if name != MISSING}


def _as_text(values: np.ndarray) -> np.ndarray:
    """Return text as it comes out of a store."""
    return values.astype(np.dtypes.StringDType()) if values.dtype == object else values
