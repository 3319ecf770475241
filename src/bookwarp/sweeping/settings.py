"""The settings of a sweep: every parameter of every setting, and which of them can run."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bookwarp.spec.agents import Mix
from bookwarp.spec.errors import ParameterError, shown, unknown_name
from bookwarp.spec.execution import check_volume_profile
from bookwarp.spec.market import SHARES, CallAuction
from bookwarp.spec.parameters import PARAMETERS
from bookwarp.sweeping.design import Design
from bookwarp.sweeping.varied import SHARED, VARIED, check_constant

_MIX, _PROFILE = "mix", "volume_profile"
FIXED = (*VARIED, _MIX, _PROFILE)
"""Names of what `bookwarp.sweep` takes as the same in all settings."""

# Each takes a check of its own, a tenth of a millisecond.
_MOST_REASONS = 1000


@dataclass(frozen=True, eq=False)
class Group:
    """Settings that agree in all of `SHARED`, and so may run in one launch."""

    shared: dict[str, Any]
    """Value of every name of `SHARED`."""
    settings: np.ndarray
    """int64 [setting], increasing; those that cannot run are not among them."""


@dataclass(frozen=True, eq=False)
class Settings:
    """Every parameter of the settings of a design."""

    constants: dict[str, Any]
    """What is the same in all settings, defaults filled in."""
    columns: dict[str, np.ndarray]
    """What is swept, one value per setting, [setting]."""
    groups: tuple[Group, ...]
    refused: np.ndarray
    """int64 [setting], increasing: those that cannot run."""
    count: int

    @classmethod
    def of(cls, design: Design, fixed: Mapping[str, Any], infeasible: Any) -> "Settings":
        """Check every setting.

        Args:
            design: what is swept.
            fixed: names of `FIXED`, the same in all settings.
            infeasible: "error", or "nan" to note which settings cannot run.

        Raises:
            ParameterError: an unknown name, a value outside its domain, a setting that cannot
                run, or none that can.
        """
        if not isinstance(infeasible, str) or infeasible not in ("error", "nan"):
            raise ParameterError(f"infeasible must be 'error' or 'nan', not {shown(infeasible)}")
        columns = {name: design.values(name) for name in design.columns}
        whole = cls(_constants(design, fixed), columns, (), np.zeros(0, np.int64), design.settings)
        can_run = np.zeros(design.settings, bool)
        groups = []
        for shared, settings in whole._split():
            feasible = whole._feasible(shared, settings)
            can_run[feasible] = True
            if len(feasible):
                groups.append(Group(shared, feasible))
        checked = replace(whole, groups=tuple(groups), refused=np.flatnonzero(~can_run))
        if len(checked.refused) and (infeasible == "error" or not groups):
            raise ParameterError(_refusal(checked))
        return checked

    @cached_property
    def group_of(self) -> np.ndarray:
        """Which of the groups has a setting, int32 [setting]; -1 for one that cannot run."""
        found = np.full(self.count, -1, np.int32)
        for number, group in enumerate(self.groups):
            found[group.settings] = number
        return found

    @cached_property
    def refusals(self) -> tuple[str, ...]:
        """A sentence for each of the first settings that cannot run: what it is, and why not."""
        return tuple(
            f"{self.name_of(each)}: {self._reason_against(each)}"
            for each in self.refused[:_MOST_REASONS].tolist()
        )

    def keywords(self, shared: Mapping[str, Any], settings: np.ndarray) -> dict[str, Any]:
        """Return the parameters of some settings that share `shared`, a value for each setting.

        Args:
            shared: as of a `Group`.
            settings: int64 [entry], the setting that each value is of.

        Returns:
            Keywords for `CallAuction.of` and `Simulation`, and "steps".
        """
        values = {n: v for n, v in self.constants.items() if n not in self.columns}
        values |= {name: column[settings] for name, column in self.columns.items()}
        values |= shared
        shares = {name: values.pop(name) for name in SHARES if name in values}
        if shares:
            values[_MIX] = Mix(**dict.fromkeys(SHARES, 0.0) | shares)
        return {n: v.tolist() if _is_text(v) else v for n, v in values.items()}

    def name_of(self, setting: int) -> str:
        """Return the swept values of a setting, as text."""
        words = [f"{name}={column[setting]}" for name, column in self.columns.items()]
        return ", ".join(words) or "the setting"

    def _split(self) -> list[tuple[dict[str, Any], np.ndarray]]:
        """Return the values of `SHARED` that occur, each with its settings."""
        swept = [name for name in self.columns if name in SHARED]
        constant = {n: self.constants[n] for n in SHARED if n in self.constants and n not in swept}
        if not swept:
            return [(constant, np.arange(self.count))]
        found: dict[tuple[Any, ...], list[int]] = {}
        rows = zip(*(self.columns[name].tolist() for name in swept), strict=True)
        for setting, row in enumerate(rows):
            found.setdefault(row, []).append(setting)
        return [
            (constant | dict(zip(swept, row, strict=True)), np.array(settings))
            for row, settings in found.items()
        ]

    def _feasible(self, shared: dict[str, Any], settings: np.ndarray) -> np.ndarray:
        """Return which settings of one launch can run, int64 [setting], increasing."""
        left = settings
        while len(left) and (error := self._error_against(shared, left)) is not None:
            # Rules are few, and this one holds for all that are left.
            wrong = error.wrong_markets
            left = left[:0] if wrong is None else left[~wrong]
        return left

    def _error_against(self, shared: dict[str, Any], settings: np.ndarray) -> ParameterError | None:
        """Return the first rule that a launch with one market for each setting breaks."""
        keywords = self.keywords(shared, settings)
        steps = keywords.pop("steps")
        try:
            CallAuction.of(len(settings), **keywords).check_horizon(steps)
        except ParameterError as error:
            return error
        return None

    def _reason_against(self, setting: int) -> str:
        """Say why a setting cannot run."""
        shared = {n: v for n, v in self.constants.items() if n in SHARED}
        shared |= {n: v[[setting]].tolist()[0] for n, v in self.columns.items() if n in SHARED}
        error = self._error_against(shared, np.array([setting]))
        return str(error).replace(" in market 0", "")


def _constants(design: Design, fixed: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is the same in all settings, checked, with the defaults of the rest."""
    for name in fixed:
        if name not in FIXED:
            raise ParameterError(unknown_name("parameter", name, FIXED))
        if name in design.columns or name in design.constants:
            raise ParameterError(f"{name} is given by the design, and again beside it")
    given = {n: check_constant(n, v) for n, v in fixed.items() if n not in (_MIX, _PROFILE)}
    known = {n: PARAMETERS[n].default for n in PARAMETERS if n in VARIED}
    constants = {**known, "stream": "default", "window": "fixed", "schedule": "twap"}
    constants |= _shares(design, fixed.get(_MIX), given) | given | design.constants
    if fixed.get(_PROFILE) is not None:
        weights = check_volume_profile(fixed[_PROFILE])
        assert weights is not None
        constants[_PROFILE] = weights.tolist()
    return constants


def _shares(design: Design, mix: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the shares before those that the design gives: of `mix`, 0 or the default mix."""
    if mix is not None:
        base = Mix.of(mix)
        return {name: check_constant(name, getattr(base, name)) for name in SHARES}
    named = (*design.columns, *design.constants, *given)
    if any(name in SHARES for name in named):
        return dict.fromkeys(SHARES, 0.0)
    return {name: getattr(Mix(), name) for name in SHARES}


def _is_text(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == object


def _refusal(settings: Settings) -> str:
    """Return the sentence that lists settings which cannot run, the first ones whole."""
    shown, count = settings.refusals[:5], len(settings.refused)
    more = count - len(shown)
    also = f"; and {more} more" if more else ""
    some = "no setting can run" if count == settings.count else "some settings cannot run"
    way = "" if count == settings.count else "; infeasible='nan' leaves them NaN"
    return f"{some} ({count} of {settings.count}): {'; '.join(shown)}{also}{way}"
