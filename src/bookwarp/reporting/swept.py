"""What a report is about: the dataset of a sweep, its axes, and how much of it is there."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bookwarp.results.output import as_path
from bookwarp.spec.codes import NO_PRICE
from bookwarp.spec.errors import ParameterError, StoreError, unknown_name
from bookwarp.sweeping.store import SUFFIX, open_sweep
from bookwarp.sweeping.varied import REPLICA

if TYPE_CHECKING:
    import xarray as xr

_ALWAYS = "last_price"
"""A result that every market which was run has."""


@dataclass(frozen=True, eq=False)
class Swept:
    """The dataset of a sweep, or a part of one, and what was swept in it."""

    dataset: "xr.Dataset"
    description: Mapping[str, Any]
    """What the sweep says of itself."""
    dims: tuple[str, ...]
    """Dimensions of the design that the dataset still has."""
    parameters: dict[str, str]
    """Swept parameter -> its dimension, one of `dims`."""
    at: dict[str, Any]
    """Swept parameter -> the one value of it that was taken."""

    @classmethod
    def of(cls, source: Any) -> "Swept":
        """Return the sweep in a dataset, or in the store at a path.

        Raises:
            ParameterError: it is neither, or the dataset is not one of `bookwarp.sweep`.
            StoreError: there is no such store, or it is damaged.
        """
        dataset = source if hasattr(source, "data_vars") else open_sweep(_check_store(source))
        try:
            description = json.loads(dataset.attrs["sweep"])
            design = description["design"]
            wanted, columns = set(design["dims"]), tuple(design["columns"])
        except (KeyError, TypeError, ValueError):
            raise ParameterError("this is not a dataset that bookwarp.sweep returned") from None
        if REPLICA not in dataset.dims or _ALWAYS not in dataset:
            raise ParameterError(
                f"a report needs all replicas and the variable {_ALWAYS}: give it the dataset that "
                f"bookwarp.sweep returned, or a selection of its settings"
            )
        dims = tuple(str(dim) for dim in dataset[_ALWAYS].dims if dim in wanted)
        dataset = _in_order(dataset, [dim for dim in dims if dim in columns])
        # A grid in the order of its dimensions; JSON has sorted the names.
        names = sorted(columns, key=lambda name: dims.index(name) if name in dims else len(dims))
        here = {name: dataset.coords[name] for name in names if name in dataset.coords}
        return cls(
            dataset=dataset,
            description=description,
            dims=dims,
            parameters={name: str(c.dims[0]) for name, c in here.items() if c.ndim == 1},
            at={name: c.item() for name, c in here.items() if c.ndim == 0},
        )

    @property
    def is_grid(self) -> bool:
        """Whether every dimension is a parameter of its own."""
        return all(name == dim for name, dim in self.parameters.items())

    @property
    def feasible(self) -> "xr.DataArray":
        """Which settings can run, bool [*dims]."""
        import xarray as xr

        if "feasible" in self.dataset.coords:
            return self.dataset.coords["feasible"].astype(bool)
        shape = tuple(self.dataset.sizes[dim] for dim in self.dims)
        return xr.DataArray(np.ones(shape, bool), dims=self.dims)

    def values(self, parameter: str) -> np.ndarray:
        """Return the values of a swept parameter along its dimension; names are objects."""
        values = np.asarray(self.dataset.coords[parameter].values)
        return values if values.dtype.kind in "biuf" else values.astype(object)

    def is_text(self, parameter: str) -> bool:
        """Say whether the values of a parameter are names and not numbers."""
        return self.values(parameter).dtype.kind not in "biuf"

    def label(self, parameter: str) -> str:
        """Return the name of a parameter with its unit, for an axis."""
        return with_unit(parameter, self.dataset.coords[parameter].attrs.get("units", "1"))

    def sliced(self, at: Mapping[str, Any]) -> "Swept":
        """Return the part in which swept parameters have the values `at`.

        Raises:
            ParameterError: a parameter is not swept, or has no such value.
        """
        found = self
        for name, value in at.items():
            found = found._at(name, value)
        return found

    def count_missing(self) -> tuple[int, int]:
        """Return how many markets are not there, and how many there should be.

        Raises:
            StoreError: the store is damaged.
        """
        done = self.read(self.dataset[_ALWAYS])
        there = ~np.isnan(done.where(self.feasible.broadcast_like(done)).values)
        wanted = int(self.feasible.values.sum()) * self.dataset.sizes[REPLICA]
        return wanted - int(there.sum()), wanted

    def read(self, variable: "xr.DataArray") -> "xr.DataArray":
        """Return a variable as float64 in memory, NaN where there is nothing.

        Raises:
            StoreError: the store is damaged.
        """
        try:
            loaded = variable.load()
        except (OSError, ValueError, KeyError) as error:
            raise StoreError(f"the sweep is damaged: {variable.name} cannot be read") from error
        numbers = loaded.astype(np.float64)
        return numbers.where(loaded != NO_PRICE) if loaded.dtype.kind == "i" else numbers

    def _at(self, name: str, value: Any) -> "Swept":
        if name not in self.parameters:
            raise ParameterError(f"at: {unknown_name('swept parameter', name, self.parameters)}")
        values, dim = self.values(name), self.parameters[name]
        places = np.flatnonzero(_equal(values, value))
        if not len(places):
            known = ", ".join(str(each) for each in dict.fromkeys(values.tolist()))
            raise ParameterError(f"at: {name} = {value} was not swept: {known[:200]}")
        if name == dim:
            dataset = self.dataset.isel({dim: int(places[0])})
            dims = tuple(each for each in self.dims if each != dim)
        else:
            dataset, dims = self.dataset.isel({dim: places}), self.dims
        kept = {each: of for each, of in self.parameters.items() if each != name}
        return replace(
            self,
            dataset=dataset,
            dims=dims,
            parameters=kept,
            at={**self.at, name: values[places[0]]},
        )


def with_unit(name: str, unit: str) -> str:
    """Return a name and its unit as they stand beside an axis."""
    said = name.replace("_", " ")
    return said if unit == "1" else f"{said} [{unit.replace('tick2', 'tick²')}]"


def format_value(value: Any) -> str:
    """Return a value of a parameter as a reader writes it."""
    return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)


def store_name(source: Any) -> str:
    """Return how a report calls what it is about."""
    return "" if hasattr(source, "data_vars") else Path(source).name


def _check_store(source: Any) -> Path:
    path = as_path(source)
    if path.suffix.lower() != SUFFIX:
        raise ParameterError(f"a report is of the store of a sweep, *{SUFFIX}, not of {path}")
    return path


def _in_order(dataset: "xr.Dataset", dims: list[str]) -> "xr.Dataset":
    """Return a dataset in which numbers along dimensions increase; names stay as they are."""
    for dim in dims:
        values = dataset.coords[dim].values
        if values.dtype.kind in "iuf" and (values[1:] < values[:-1]).any():
            dataset = dataset.isel({dim: np.argsort(values, kind="stable")})
    return dataset


def _equal(values: np.ndarray, value: Any) -> np.ndarray:
    if values.dtype.kind not in "biuf":
        return np.asarray(values == value)
    try:
        number = float(value)
    except (TypeError, ValueError):
        return np.zeros(len(values), bool)
    return np.isclose(values.astype(np.float64), number, rtol=1e-9, atol=1e-12)
