"""The file of `bookwarp sweep`, in TOML: a design, what its settings share, what is measured."""

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bookwarp.cli.toml_file import read_toml
from bookwarp.measures.named import named
from bookwarp.measures.protocol import Measure
from bookwarp.spec.errors import ParameterError, shown, unknown_name
from bookwarp.sweeping.design import Design, grid, zipped
from bookwarp.sweeping.sampling import latin_hypercube, random_design
from bookwarp.sweeping.settings import FIXED
from bookwarp.sweeping.varied import REPLICA, VARIED

_TABLES = ("design", "vary", "parameters", "measure", "paths")
_KEYS = {
    "design": ("kind", "replicas", "settings", "draw_seed"),
    "sweep": ("infeasible", "block_markets"),
    "measure": ("names", "every"),
}
_LISTED: dict[str, Callable[..., Design]] = {"grid": grid, "zipped": zipped}
_DRAWN: dict[str, Callable[..., Design]] = {
    "random": random_design,
    "latin_hypercube": latin_hypercube,
}
_RANGE, _STEP = ("from", "to"), "step"
# So that 0.1 + 2 * 0.1 is 0.3.
_DECIMALS = 12
_MOST_VALUES = 10**6


@dataclass(frozen=True)
class Study:
    """What a file asks for: arguments of `bookwarp.sweep`."""

    design: Design
    measure: Measure
    arguments: dict[str, Any]
    """Everything else: what all settings share, `paths`, `infeasible`, `block_markets`."""


def read_study(path: Path) -> Study:
    """Return what is in a file.

    Raises:
        ParameterError: it cannot be read, is not TOML, or something in it is wrong: the message
            names the file, the table and the key.
    """
    document = read_toml(path, "study")
    try:
        return _study(document)
    except ParameterError as error:
        raise ParameterError(f"study {path}: {error}") from None


def _study(document: dict[str, Any]) -> Study:
    tables = _tables(document)
    top = {key: value for key, value in document.items() if key not in _TABLES}
    design = _design(tables["design"], tables["vary"])
    arguments = _check_keys("parameters", tables["parameters"], FIXED)
    if "paths" in document:
        arguments["paths"] = _check_keys("paths", tables["paths"], (*VARIED, REPLICA))
        if not arguments["paths"]:
            raise ParameterError("[paths] is empty: name values of parameters, or of replica")
    return Study(design, _measure(tables["measure"]), arguments | top)


def _tables(document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the tables of a document, empty where there is none, and refuse all else."""
    for key, value in document.items():
        if key in _KEYS["sweep"]:
            continue
        if key not in _TABLES:
            known = (*(f"[{table}]" for table in _TABLES), *_KEYS["sweep"])
            kind, name = ("table", f"[{key}]") if isinstance(value, dict) else ("key", key)
            raise ParameterError(unknown_name(kind, name, known))
        if not isinstance(value, dict):
            raise ParameterError(f"{key} must be a table, [{key}], not {shown(value)}")
    return {table: dict(document.get(table, {})) for table in _TABLES}


def _design(table: dict[str, Any], vary: dict[str, Any]) -> Design:
    kind = table.pop("kind", "grid")
    kinds = _LISTED | _DRAWN
    if not isinstance(kind, str) or kind not in kinds:
        raise ParameterError(f"[design] {unknown_name('kind', kind, kinds)}")
    drawn = kind in _DRAWN
    allowed = _KEYS["design"] if drawn else ("kind", "replicas")
    for key in table:
        if key in _KEYS["design"] and key not in allowed:
            raise ParameterError(f"[design] {key} is for {' and '.join(_DRAWN)}, not for {kind}")
    _check_keys("design", table, allowed)
    if drawn and "settings" not in table:
        raise ParameterError(f"[design] settings is missing: how many does {kind} draw?")
    values = {}
    for name, value in _check_keys("vary", vary, VARIED).items():
        values[name] = _values(f"[vary] {name}", value, drawn)
    with _Naming("[design] or [vary]"):
        return kinds[kind](**table, **values)


def _values(name: str, value: Any, drawn: bool) -> Any:
    """Return a list of values, or the ends of a range that is drawn from, as a tuple."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        what = "" if drawn else ", step = ..."
        raise ParameterError(
            f"{name} must be a list of values or a range {{from = ..., to = ...{what}}}, not "
            f"{shown(value)}; what does not vary stands in [parameters]"
        )
    wanted = _RANGE if drawn else (*_RANGE, _STEP)
    _check_keys(name, value, wanted)
    for key in wanted:
        number: Any = value.get(key)
        if type(number) not in (int, float) or not abs(number) <= sys.float_info.max:
            said = f"must be a finite number, not {shown(number)}"
            raise ParameterError(f"{name}: {key} {'is missing' if number is None else said}")
    low, high = value["from"], value["to"]
    return (low, high) if drawn else _spaced(name, low, high, value[_STEP])


def _spaced(name: str, low: float, high: float, step: float) -> list[Any]:
    """Return the values from `low` to `high`, both included, `step` apart."""
    ends = f"from = {shown(low)}, to = {shown(high)}, step = {shown(step)}"
    if not step > 0 or not high >= low:
        raise ParameterError(
            f"{name}: to must not be below from, and step must be above 0, not {ends}"
        )
    if not high / step - low / step < _MOST_VALUES:
        raise ParameterError(f"{name}: {ends} has too many values; at most {_MOST_VALUES}")
    count = math.floor((high - low) / step + 1e-9) + 1
    values = [low + number * step for number in range(count)]
    whole = all(isinstance(each, int) for each in (low, step))
    return values if whole else [round(value, _DECIMALS) for value in values]


def _measure(table: dict[str, Any]) -> Measure:
    given = _check_keys("measure", table, _KEYS["measure"])
    names = given.get("names", "stylised_facts")
    listed = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not isinstance(names, str) and not listed:
        raise ParameterError(
            f"[measure] names must be a name or a list of names, not {shown(names)}"
        )
    if listed and len(set(names)) < len(names):
        raise ParameterError(f"[measure] names: one of {shown(names)} is there twice")
    with _Naming("[measure]"):
        return named(names, given.get("every", 1))


def _check_keys(table: str, given: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any]:
    """Return what a table holds; refuse a key that it does not know."""
    where = table if table.startswith("[") else f"[{table}]"
    for key in given:
        if key not in known:
            raise ParameterError(f"{where} {unknown_name('key', key, known)}")
    return dict(given)


class _Naming:
    """Says of an error in which table its cause stands."""

    def __init__(self, table: str) -> None:
        self._table = table

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type | None, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, ParameterError):
            raise ParameterError(f"{self._table}: {error}") from None
