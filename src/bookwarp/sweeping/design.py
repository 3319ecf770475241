"""Designs: which settings a sweep has, and how many replicas of each."""

import hashlib
import json
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from bookwarp.spec.errors import ParameterError
from bookwarp.spec.parameters import PARAMETERS
from bookwarp.sweeping.varied import (
    MOST_SETTINGS,
    REPLICA,
    check_constant,
    check_name,
    check_number,
    check_values,
    is_several,
)

_MOST_LISTED = 1000
_MOST_REPLICAS = 10**7
_MOST_MARKETS = PARAMETERS["markets"].high

SETTING = "setting"
"""The dimension of a design whose parameters vary together."""


@dataclass(frozen=True, eq=False)
class Design:
    """The settings of a sweep; `grid`, `zipped`, `random_design` and `latin_hypercube` make one.

    Settings are counted in the C order of `dims`.
    """

    dims: dict[str, int]
    """Dimension -> number of its values."""
    columns: dict[str, tuple[str, np.ndarray]]
    """Swept parameter -> its dimension, and one value for each point of it."""
    constants: dict[str, Any]
    """What was given as one value for all settings."""
    replicas: int
    """Markets of each setting; replica r draws as market r in every setting."""

    def __post_init__(self) -> None:
        check_settings(self.settings)
        if self.markets > _MOST_MARKETS:
            raise ParameterError(
                f"{self.settings} settings of {self.replicas} replicas are {self.markets} markets; "
                f"at most {_MOST_MARKETS}"
            )

    @property
    def settings(self) -> int:
        """How many settings there are."""
        return prod(self.dims.values())

    @property
    def markets(self) -> int:
        """How many markets there are in all."""
        return self.settings * self.replicas

    @property
    def shape(self) -> dict[str, int]:
        """Dimensions of the results of single markets: those of the design, then the replicas."""
        return {**self.dims, REPLICA: self.replicas}

    def values(self, name: str) -> np.ndarray:
        """Return the value of a swept parameter in every setting, [setting]."""
        dim, values = self.columns[name]
        before = list(self.dims).index(dim)
        lengths = list(self.dims.values())
        inner = prod(lengths[before + 1 :])
        return np.tile(np.repeat(values, inner), prod(lengths[:before]))

    def describe(self) -> dict[str, Any]:
        """Return all of the design as plain values, for JSON."""
        return {
            "dims": dict(self.dims),
            "columns": {
                n: {"dim": d, "values": describe_values(v)} for n, (d, v) in self.columns.items()
            },
            "constants": dict(self.constants),
            "replicas": self.replicas,
        }

    def __repr__(self) -> str:
        names = ", ".join(f"{n}[{len(v)}]" for n, (_, v) in self.columns.items()) or "nothing"
        return f"Design({self.settings} settings of {names}; {self.replicas} replicas)"


def describe_values(values: np.ndarray) -> list[Any] | str:
    """Return values as a list, or as their SHA-256 if a list of them would be long."""
    listed: list[Any] = values.tolist()
    if len(listed) <= _MOST_LISTED:
        return listed
    return f"{len(listed)} of SHA-256 {hashlib.sha256(json.dumps(listed).encode()).hexdigest()}"


def grid(*, replicas: int = 1, **parameters: Any) -> Design:
    """Return the design of all combinations of the values of the parameters.

    Args:
        replicas: markets of each setting.
        **parameters: shares of the mix (`noise`, `momentum`, `maker`, `fundamental`), parameters of
            `bookwarp.simulate` that are numbers, `stream`, `window` and `schedule`. A list or an
            array is a dimension of the result, in the order given; one value holds for all
            settings. One share may be "rest": what the others leave. If any share is given, those
            left out are 0.

    Raises:
        ParameterError: an unknown name, an empty list, a value outside its domain or given twice;
            more than 10^7 settings or replicas, or 2^31 - 1 markets.
    """
    columns, constants = _read(parameters)
    for name, values in columns.items():
        found, counts = np.unique(values, return_counts=True)
        if counts.max() > 1:
            twice = found[int(np.argmax(counts > 1))]
            raise ParameterError(f"{name}: {twice} is given twice; each value of a grid is once")
    return Design(
        dims={name: len(values) for name, values in columns.items()},
        columns={name: (name, values) for name, values in columns.items()},
        constants=constants,
        replicas=check_replicas(replicas),
    )


def zipped(*, replicas: int = 1, **parameters: Any) -> Design:
    """Return the design whose setting i has the i-th value of every list; they are equally long.

    The result has the dimension "setting", with the swept parameters as coordinates along it.

    Args:
        replicas: markets of each setting.
        **parameters: as for `grid`.

    Raises:
        ParameterError: as for `grid`, or the lists are not equally long, or there is none.
    """
    columns, constants = _read(parameters)
    return listed(columns, constants, replicas)


def listed(columns: dict[str, np.ndarray], constants: dict[str, Any], replicas: Any) -> Design:
    """Return the design of the settings in columns that were checked.

    Raises:
        ParameterError: the columns are not equally long, or there is none.
    """
    lengths = {name: len(values) for name, values in columns.items()}
    if not lengths:
        raise ParameterError("this design needs at least one list of values, and there is none")
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ParameterError(f"the lists of a zipped design must be equally long, but {said}")
    return Design(
        dims={SETTING: next(iter(lengths.values()))},
        columns={name: (SETTING, values) for name, values in columns.items()},
        constants=constants,
        replicas=check_replicas(replicas),
    )


def check_replicas(replicas: Any) -> int:
    """Return the number of replicas; replica r draws as market r.

    Raises:
        ParameterError: it is no such number.
    """
    return check_number("replicas", replicas, 1, _MOST_REPLICAS)


def check_settings(settings: Any) -> int:
    """Return the number of settings.

    Raises:
        ParameterError: it is no such number.
    """
    return check_number("settings", settings, 1, MOST_SETTINGS)


def _read(parameters: dict[str, Any]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return what is given as several values, checked, and what is given as one."""
    columns, constants = {}, {}
    for name, value in parameters.items():
        check_name(name)
        if is_several(value):
            columns[name] = check_values(name, value)
        else:
            constants[name] = check_constant(name, value)
    return columns, constants
