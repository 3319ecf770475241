"""What may differ from setting to setting, and the checks of its values."""

import sys
from dataclasses import replace
from enum import IntEnum
from typing import Any

import numpy as np

from bookwarp.spec.agents import REST
from bookwarp.spec.codes import Schedule, Stream, Window
from bookwarp.spec.errors import ParameterError, shown, unknown_name
from bookwarp.spec.market import SHARES
from bookwarp.spec.parameters import PARAMETERS, Parameter, check_value, regular_array

CHOICES: dict[str, type[IntEnum]] = {
    "stream": Stream,
    "window": Window,
    "schedule": Schedule,
}
"""Parameters that are given by the name of a code."""
_CHOSEN = {name: tuple(code.name.lower() for code in codes) for name, codes in CHOICES.items()}

SHARED = (*(n for n, p in PARAMETERS.items() if not p.per_market), "stream", "window")
"""What all markets of one launch have in common; settings that differ in it run apart."""

REPLICA = "replica"
_NUMBERED = ("markets", "market_ids")
# Checking and describing so many takes 15 s and 2 GB; far beyond, it would take all memory.
MOST_SETTINGS = 10**7
NUMBERS = tuple(name for name in PARAMETERS if name not in (*_NUMBERED, *CHOICES))
VARIED = tuple(dict.fromkeys((*SHARES, *NUMBERS, *CHOICES)))
"""Names of all that a design may vary: shares of the mix, parameters of the model, choices."""


def check_name(name: str) -> None:
    """Refuse what is no name of `VARIED`.

    Raises:
        ParameterError: it says which name was meant, or why it is not varied.
    """
    if name in _NUMBERED:
        raise ParameterError(
            f"{name} is not given to a sweep: replicas says how many markets each setting has, "
            f"and replica r draws as market r"
        )
    if name == "mix":
        raise ParameterError(f"a design names the shares themselves: {', '.join(SHARES)}")
    if name not in VARIED:
        raise ParameterError(unknown_name("parameter of a design", name, (*VARIED, "replicas")))


def check_values(name: str, values: Any) -> np.ndarray:
    """Return the values of a swept parameter, each inside the parameter's own domain.

    Args:
        name: in `VARIED`.
        values: at least one; numbers, or names of a choice.

    Returns:
        float64, int64 or uint64 [value], or objects that are text.

    Raises:
        ParameterError: naming the parameter, the value and the limit.
    """
    given = _listed(name, values)
    if name in CHOICES:
        return np.array([_check_choice(name, value) for value in given], object)
    domain = _domain(name)
    plain = {int, float} if domain.real else {int}
    if not (
        plain.issuperset(map(type, given))
        and all(domain.low <= value <= domain.high for value in given)
    ):
        given = [_check_one(domain, value) for value in given]
    checked = np.array(given, float if domain.real else np.uint64 if name == "seed" else np.int64)
    checked.flags.writeable = False
    return checked


def check_constant(name: str, value: Any) -> Any:
    """Return a value that is the same in all settings; a share may be "rest".

    Raises:
        ParameterError: naming the parameter, the value and the limit.
    """
    if is_several(value):
        raise ParameterError(
            f"{name} must be one value for all settings, not {shown(value)}: what varies is given "
            f"to the design"
        )
    if name in CHOICES:
        return _check_choice(name, value)
    if name in SHARES and isinstance(value, str) and value == REST:
        return REST
    if value is None and name in PARAMETERS and PARAMETERS[name].default is None:
        return None
    return check_value(_domain(name), value)


def check_number(name: str, value: Any, low: int, high: int) -> int:
    """Return one integer among `low` .. `high`, which says how a sweep is made.

    Raises:
        ParameterError: it is none, or several.
    """
    if is_several(value):
        raise ParameterError(f"{name} must be one integer, not {shown(value)}")
    return int(check_value(Parameter(name, low, high, None, "1", name), value))


def is_several(value: Any) -> bool:
    """Say whether a value is a list or an array of values rather than one."""
    return isinstance(value, list | tuple | range) or np.ndim(value) > 0


def meaning_of(name: str) -> dict[str, str]:
    """Return the unit and the meaning of a swept parameter, as attributes of a coordinate."""
    if name in SHARES:
        return {"units": "1", "long_name": f"share of {name} agents"}
    if name in PARAMETERS:
        return {"units": PARAMETERS[name].unit, "long_name": PARAMETERS[name].meaning}
    return {"units": "1", "long_name": name}


def _listed(name: str, values: Any) -> list[Any]:
    """Return several values as a list; those of an array as Python's own."""
    try:
        count = len(values)
    except OverflowError:
        count = sys.maxsize  # a range of more numbers than a machine can count
    if count > MOST_SETTINGS:
        raise ParameterError(f"{name} has {count} values; a design has at most {MOST_SETTINGS}")
    if count == 0:
        raise ParameterError(f"{name} must be a list with at least one value, not {shown(values)}")
    if isinstance(values, list | tuple | range):
        return list(values)
    found: list[Any] = regular_array(name, values).tolist()
    return found


def _check_one(domain: Parameter, value: Any) -> Any:
    if is_several(value):
        raise ParameterError(f"{domain.name} must be a list of numbers, not of {shown(value)}")
    return check_value(domain, value)


def _domain(name: str) -> Parameter:
    """Return the domain of a number as that of a parameter that may differ by setting."""
    if name in SHARES:
        return Parameter(name, 0, 1, None, "1", "share", real=True)
    return replace(PARAMETERS[name], per_market=True)


def _check_choice(name: str, value: Any) -> str:
    if not isinstance(value, str) or value not in _CHOSEN[name]:
        raise ParameterError(unknown_name(name, value, _CHOSEN[name]))
    return str(value)
