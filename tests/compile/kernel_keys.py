"""Specialisations that runs ask for, by what they are; each made as a run makes it."""

from typing import NamedTuple

import numpy as np

from bookwarp.engines.cuda.kernel_key import choose_key
from bookwarp.spec.market import CallAuction

ALL_TYPES = {"noise": 0.4, "momentum": 0.2, "maker": 0.2, "fundamental": 0.2}
GIVEN = {"agent_types": np.arange(2 * 256).reshape(2, 256) % 4}

MANY, FEW = 1, 10**6
"""Warps of a device on which two markets are many, or few."""

# name -> (parameters of the ensemble, whether lots are wide, whether rows are recorded)
COUNTED = {
    "default": ({}, False, False),
    "recorded": ({}, False, True),
    "16 agents": ({"agents": 16}, False, False),
    "1024 agents": ({"agents": 1024}, False, False),
    "77 agents on 100 levels": ({"agents": 77, "levels": 100}, False, False),
    "all types": ({"mix": ALL_TYPES}, False, False),
    "given types": (GIVEN, False, False),
    "following": ({"window": "following"}, False, False),
    "large orders": ({"max_qty": 127, "noise_spread": 3}, False, False),
    "65536 levels": ({"levels": 65_536}, False, False),
    "wide lots": ({}, True, False),
    "everything": ({**GIVEN, "window": "following"}, True, True),
    "paper": ({"stream": "paper"}, False, False),
    "paper recorded": ({"stream": "paper"}, False, True),
    "paper everything": ({"stream": "paper", **GIVEN, "window": "following"}, True, True),
}
# Those that are compiled for a warp of one market too.
ALONE = ("default", "recorded", "everything", "paper")
GENERAL = {
    "wide spread": ({"noise_spread": 40, "levels": 1024}, False, False),
    "wide spread following": ({"noise_spread": 40, "window": "following"}, False, False),
    "wide spread of the paper": ({"noise_spread": 40, "stream": "paper"}, False, False),
    "histogram in memory": ({"noise_spread": 40, "levels": 65_536}, False, False),
    "huge orders": ({"max_qty": 2**31 - 1, "noise_spread": 2**30 - 1}, True, False),
    "everything": ({"noise_spread": 40, **GIVEN, "window": "following"}, True, True),
}

ARCHS = ("sm_80", "sm_90", "sm_100", "sm_120")


class Case(NamedTuple):
    """One specialisation."""

    kernel: str
    name: str
    markets_per_warp: int

    @property
    def label(self) -> str:
        """The case in words."""
        together = f", {self.markets_per_warp} a warp" if self.kernel == "counted" else ""
        return f"{self.kernel}: {self.name}{together}"


CASES = [Case("counted", name, 2) for name in COUNTED]
CASES += [Case("counted", name, 1) for name in ALONE]
CASES += [Case("general", name, 1) for name in GENERAL]


def key_of(kernel, name, markets_per_warp):
    """Return the key of a case."""
    parameters, wide, recording = (COUNTED if kernel == "counted" else GENERAL)[name]
    auction = CallAuction.of(2, **parameters)
    return choose_key(
        auction,
        auction.type_counts(),
        wide_lots=wide,
        recording=recording,
        warps=MANY if markets_per_warp == 2 else FEW,
    )
