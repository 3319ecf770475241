"""Specialisations that runs ask for, by what they are; each made as a run makes it."""

from typing import NamedTuple

import numpy as np

from bookwarp.engines.cuda.kernel_key import (
    Arrangement,
    GpuShape,
    arrangements,
    bound_orders,
    choose_key,
)
from bookwarp.spec.market import CallAuction

ALL_TYPES = {"noise": 0.4, "momentum": 0.2, "maker": 0.2, "fundamental": 0.2}
WORKED = {"clearing_interval": [1, 5], "parent_qty": [1000, 0], "schedule": "share"}
GIVEN = {"agent_types": np.arange(2 * 256).reshape(2, 256) % 4}

MOST_BLOCKS = {"sm_80": 32, "sm_90": 32, "sm_100": 32, "sm_120": 24}
"""Blocks that a multiprocessor runs at once, by architecture."""
ARCHS = tuple(MOST_BLOCKS)

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
    "makers far away": ({"maker_half_spread": 7}, False, False),
    "makers farther away": ({"maker_half_spread": 15}, False, False),
    "wide lots": ({}, True, False),
    "everything": ({**GIVEN, "window": "following"}, True, True),
    "waiting": ({"clearing_interval": 5}, False, False),
    "executing": ({"parent_qty": 1000}, False, False),
    "waiting and executing": (WORKED, False, True),
    "everything worked": ({**GIVEN, **WORKED, "window": "following"}, True, True),
    "paper worked": ({"stream": "paper", **WORKED}, False, False),
    "paper": ({"stream": "paper"}, False, False),
    "paper recorded": ({"stream": "paper"}, False, True),
    "paper everything": ({"stream": "paper", **GIVEN, "window": "following"}, True, True),
}
# What is compiled for each way to put markets on warps.
FOUR_A_WARP = (
    "default",
    "recorded",
    "16 agents",
    "1024 agents",
    "all types",
    "given types",
    "following",
    "large orders",
    "65536 levels",
    "wide lots",
    "everything",
    "waiting",
    "executing",
    "waiting and executing",
)
TWO_A_WARP = (
    "default",
    "recorded",
    "77 agents on 100 levels",
    "makers far away",
    "everything",
    "waiting",
    "everything worked",
)
ONE_A_WARP = (
    "default",
    "makers farther away",
    "everything",
    "waiting and executing",
    "paper worked",
    "paper",
    "paper recorded",
    "paper everything",
)
AHEAD = (
    "default",
    "recorded",
    "all types",
    "following",
    "everything",
    "waiting and executing",
    "paper",
)
GENERAL = {
    "wide spread": ({"noise_spread": 40, "levels": 1024}, False, False),
    "wide spread following": ({"noise_spread": 40, "window": "following"}, False, False),
    "wide spread of the paper": ({"noise_spread": 40, "stream": "paper"}, False, False),
    "histogram in memory": ({"noise_spread": 40, "levels": 65_536}, False, False),
    "huge orders": ({"max_qty": 2**31 - 1, "noise_spread": 2**30 - 1}, True, False),
    "everything": ({"noise_spread": 40, **GIVEN, "window": "following"}, True, True),
    "worked": ({"noise_spread": 40, **WORKED}, False, True),
}


class Case(NamedTuple):
    """One specialisation."""

    kernel: str
    name: str
    arrangement: Arrangement

    @property
    def label(self) -> str:
        """The case in words."""
        if self.kernel == "general":
            return f"general: {self.name}"
        ahead = ", draws ahead" if self.arrangement.draws_ahead else ""
        return f"counted: {self.name}, {self.arrangement.markets_per_warp} a warp{ahead}"


CASES = [Case("counted", name, Arrangement(4, False)) for name in FOUR_A_WARP]
CASES += [Case("counted", name, Arrangement(2, False)) for name in TWO_A_WARP]
CASES += [Case("counted", name, Arrangement(1, False)) for name in ONE_A_WARP]
CASES += [Case("counted", name, Arrangement(1, True)) for name in AHEAD]
CASES += [Case("general", name, Arrangement(1, False)) for name in GENERAL]


def key_of(case, arch, markets_a_multiprocessor=100):
    """Return the key of a case on a GPU; of few markets, blocks have more registers."""
    parameters, wide, recording = (COUNTED if case.kernel == "counted" else GENERAL)[case.name]
    auction = CallAuction.of(2, **parameters)
    orders = bound_orders(auction, auction.type_counts())
    assert case.arrangement in arrangements(orders), case
    return choose_key(
        auction,
        orders,
        wide_lots=wide,
        recording=recording,
        shape=GpuShape(2 / markets_a_multiprocessor, MOST_BLOCKS[arch]),
        arrangement=case.arrangement,
    )
