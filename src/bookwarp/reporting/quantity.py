"""A number that a report shows: one variable of a sweep, at one place of its own dimensions."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from bookwarp.reporting.swept import Swept, format_value, with_unit
from bookwarp.spec.errors import ParameterError, unknown_name
from bookwarp.sweeping.varied import REPLICA

if TYPE_CHECKING:
    import xarray as xr

_USUAL = (
    "price_std",
    "excess_kurtosis",
    "volume_per_step",
    "mean_spread",
    "acf_returns",
    "acf_abs_returns",
)
_MOST_CHOSEN = 6
_SIGNED = {
    *("return_mean", "return_skewness", "excess_kurtosis", "conditional_kurtosis"),
    *("acf_returns", "acf_abs_returns", "leverage", "volume_volatility"),
    *("gain_loss_asymmetry", "coarse_to_fine", "fine_to_coarse", "scale_asymmetry"),
}
_EXACT = ("last_price", "total_volume", "trades")


@dataclass(frozen=True)
class Quantity:
    """A variable, and the place in what dimensions it has after `replica`."""

    name: str
    place: dict[str, int]
    """Dimension -> index."""
    where: str
    """That place as text, such as "horizon 1"; empty if there is none."""
    unit: str
    meaning: str

    @classmethod
    def of(cls, swept: Swept, text: str) -> "Quantity":
        """Read NAME, or NAME:VALUE with a value of its own dimension, as acf_returns:5.

        Raises:
            ParameterError: there is no such variable or value.
        """
        if not isinstance(text, str):
            raise ParameterError(f"measures must be names of variables of the sweep, not {text!r}")
        name, _, rest = text.partition(":")
        known = measured(swept)
        if name not in known:
            raise ParameterError(unknown_name("measure", name, known))
        variable = swept.dataset[name]
        own = [str(dim) for dim in variable.dims if dim not in (*swept.dims, REPLICA)]
        given = [word for word in rest.split(",") if word]
        if len(given) > len(own):
            has = f"only {', '.join(own)}" if own else "no dimension of its own"
            raise ParameterError(f"measure {text!r}: {name} has {has}")
        place = dict.fromkeys(own, 0)
        for dim, word in zip(own, given, strict=False):
            place[dim] = _find(text, dim, np.asarray(variable.coords[dim].values), word)
        said = [f"{d} {format_value(variable.coords[d].values[at])}" for d, at in place.items()]
        attributes = variable.attrs
        return cls(
            name=name,
            place=place,
            where=", ".join(said),
            unit=str(attributes.get("units", "1")),
            meaning=str(attributes.get("long_name", name.replace("_", " "))),
        )

    @property
    def slug(self) -> str:
        """The name in a form that fits into a file's name."""
        return "_".join((self.name, *self.where.replace(", ", "_").split())).replace(".", "p")

    @property
    def is_signed(self) -> bool:
        """Whether 0 is a value that others are compared with, as for a correlation."""
        return self.name in _SIGNED

    @property
    def label(self) -> str:
        """Name, place and unit, for an axis."""
        return with_unit(f"{self.name}, {self.where}" if self.where else self.name, self.unit)

    @property
    def title(self) -> str:
        """What it is, in words."""
        said = f"{self.meaning}, {self.where}" if self.where else self.meaning
        return said[0].upper() + said[1:]

    def read(self, swept: Swept) -> "xr.DataArray":
        """Return its value in every market, float64 [*dims, replica]."""
        return swept.read(swept.dataset[self.name].isel(self.place, drop=True))


def measured(swept: Swept) -> list[str]:
    """Return the names of the variables that have one value, or several, for every market."""
    wanted = {*swept.dims, REPLICA}
    return [str(n) for n, v in swept.dataset.data_vars.items() if wanted <= set(v.dims)]


def choose(swept: Swept, asked: Iterable[str] | None) -> list[Quantity]:
    """Return what is asked for, or a few that are usually looked at.

    Raises:
        ParameterError: there is no measure of a name, or nothing is asked for.
    """
    if isinstance(asked, str):
        asked = (asked,)
    if asked is not None:
        if not isinstance(asked, Iterable):
            raise ParameterError(f"measures must be a list of names, not {asked!r}")
        names = list(dict.fromkeys(asked))
        if not names:
            raise ParameterError(f"no measure is named: choose of {', '.join(measured(swept))}")
        return [Quantity.of(swept, text) for text in names]
    known = measured(swept)
    usual = [name for name in _USUAL if name in known]
    # The smallest variables first: what has many lags has a figure of its own.
    others = [name for name in known if name not in (*usual, *_EXACT)]
    others.sort(key=lambda name: prod(swept.dataset[name].shape))
    chosen = (usual or others)[:_MOST_CHOSEN] or [n for n in _EXACT if n in known]
    return [Quantity.of(swept, name) for name in chosen]


def _find(text: str, dim: str, values: np.ndarray, word: str) -> int:
    known: list[Any] = values.tolist()
    for place, value in enumerate(known):
        if format_value(value) == word or str(value) == word:
            return place
    listed = ", ".join(format_value(value) for value in known)
    raise ParameterError(f"measure {text!r}: {dim} = {word} is none of {listed}")
