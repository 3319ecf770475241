"""The parameters of a call-auction ensemble: one table of names, domains and defaults."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from bookwarp.spec.errors import ParameterError, shown

Value = int | float | np.ndarray


@dataclass(frozen=True)
class Parameter:
    """One parameter: its domain is `low` .. `high`, both included."""

    name: str
    low: int
    high: int
    default: int | float | None
    unit: str
    meaning: str
    per_market: bool = True
    real: bool = False


_INT64_MAX = 2**63 - 1
_TABLE = (
    Parameter("markets", 1, 2**31 - 1, None, "1", "independent markets", per_market=False),
    Parameter("agents", 1, 2**30, 256, "1", "agents in each market", per_market=False),
    Parameter("levels", 8, 65_536, 128, "1", "ticks on the grid", per_market=False),
    Parameter("steps", 0, 2**32 - 1, 500, "1", "auctions in a row", per_market=False),
    Parameter("seed", 0, 2**64 - 1, 0, "1", "seed of the random stream"),
    Parameter("open_price", -_INT64_MAX, _INT64_MAX, None, "tick", "centre of the opening book"),
    Parameter("open_depth", 0, _INT64_MAX, 8, "lot", "lots a tick below and above open_price"),
    Parameter(
        "max_qty", 1, 2**31 - 1, 4, "lot", "largest order; sizes are uniform on 1 .. max_qty"
    ),
    Parameter("noise_spread", 0, 2**30 - 1, 3, "tick", "farthest a noise order is from the mid"),
    Parameter(
        "market_order_prob", 0, 1, 0.10, "1", "chance that an order is marketable", real=True
    ),
    Parameter("maker_half_spread", 0, 2**31 - 1, 1, "tick", "distance of a maker from the mid"),
    Parameter("clearing_interval", 1, 2**31 - 1, 1, "1", "steps from one auction to the next"),
    Parameter("parent_qty", 0, 2**31 - 1, 0, "lot", "lots of the parent order; 0 is no such order"),
    Parameter("parent_side", -1, 1, 1, "1", "1 to buy the parent order, -1 to sell it"),
    Parameter("parent_start", 0, 2**31 - 1, 0, "1", "first step in which the parent is worked"),
    Parameter("parent_horizon", 1, 2**31 - 1, 1, "1", "steps over which the parent is worked"),
    Parameter(
        "schedule", 0, 2, 0, "1", "what a parent order follows: twap, profile, share (0, 1, 2)"
    ),
    Parameter(
        "volume_share", 0, 1, 0.1, "1", "share of the volume that schedule share takes", real=True
    ),
    Parameter("market_ids", 0, 2**31 - 1, None, "1", "number under which a market draws"),
)
PARAMETERS: dict[str, Parameter] = {parameter.name: parameter for parameter in _TABLE}

PAPER_MAX_QTY = 2**24
"""Stream "paper" multiplies in float32: a larger size or spread is not exact there."""


def check_value(parameter: Parameter, value: Any, count: int = 1, of: str = "market") -> Value:
    """Return `value` as an int, a float or a read-only array [count] inside the domain.

    It is a copy, but of a read-only array that has memory of its own.

    Args:
        parameter: its name and domain.
        value: what is checked.
        count: how many values an array must have.
        of: what each of them is of, for the message.

    Raises:
        ParameterError: wrong type or shape, or outside the domain; the message names the
            parameter, the value and the limit.
    """
    if isinstance(value, list | tuple) or np.ndim(value) > 0:
        return _check_array(parameter, value, count, of)
    if isinstance(value, np.ndarray):
        value = value[()]
    wanted: Any = Real if parameter.real else Integral
    if isinstance(value, bool | np.bool_ | np.timedelta64) or not isinstance(value, wanted):
        kind = "a number" if parameter.real else "an integer"
        raise ParameterError(f"{parameter.name} must be {kind}, not {shown(value)}")
    if not parameter.low <= value <= parameter.high:
        raise ParameterError(_outside(parameter, value))
    return float(value) if parameter.real else int(value)


def _check_array(parameter: Parameter, value: Any, count: int, of: str) -> np.ndarray:
    name = parameter.name
    array = regular_array(name, value)
    if not parameter.per_market:
        raise ParameterError(f"{name} is the same for all markets: give one number, not an array")
    if array.shape != (count,):
        raise ParameterError(
            f"{name} has shape {array.shape}; it must be one number or one per {of}, "
            f"shape ({count},)"
        )
    kinds = set(map(type, value)) if isinstance(value, list | tuple) else set()
    has_bools = not kinds.isdisjoint({bool, np.bool_})
    if kinds == {int}:
        # NumPy makes floats of integers that no one type of its own holds: 1 and 2**64 - 1.
        array = np.array(value, object)
    elif has_bools or array.dtype.kind not in ("iuf" if parameter.real else "iu"):
        kind = "numbers" if parameter.real else "integers"
        said = "bool" if has_bools else array.dtype
        raise ParameterError(f"{name} must hold {kind}, not {said}")
    # Not a number is neither.
    if not (array.min() >= parameter.low and array.max() <= parameter.high):
        bad = ~((array >= parameter.low) & (array <= parameter.high)).astype(bool)
        first = int(np.argmax(bad))
        raise ParameterError(_outside(parameter, array[first], f" in {of} {first}"), bad)
    dtype = np.float64 if parameter.real else np.uint64 if parameter.name == "seed" else np.int64
    if array.dtype == dtype and array.base is None and not array.flags.writeable:
        # Nobody changes it: no copy, which takes as long as the checks of many markets.
        return array
    kept = array.astype(dtype)
    kept.flags.writeable = False
    return kept


def regular_array(name: str, value: Any) -> np.ndarray:
    """Return `value` as an array; refuse what has no shape, such as rows of unequal length."""
    try:
        return np.asarray(value)
    except (ValueError, OverflowError) as error:
        raise ParameterError(f"{name} is not a regular array: {error}") from None


def _outside(parameter: Parameter, value: object, where: str = "") -> str:
    said = shown(value, str)
    return f"{parameter.name} = {said}{where} is outside {parameter.low} .. {parameter.high}"
