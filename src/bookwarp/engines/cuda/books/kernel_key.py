"""What the kernels of continuous books are specialised by: two frozen keys."""

from dataclasses import dataclass

import numpy as np

from bookwarp.spec.book_rules import BookRules, ModifyRule

LANES = 32
SLOT_LADDER = (4, 8)
"""Slots a lane of the kernels for few orders: they are tried in turn, then the one for many."""

BLOCK = 256
TILE = 8192
"""Threads a block, and messages a block of the kernels that group."""

# Blocks, each a warp, for which registers and shared memory are kept free.
_BLOCKS_PER_SM = {4: 32, 8: 28, 0: 16}


@dataclass(frozen=True)
class MatchKey:
    """One specialisation of the kernel that matches."""

    slots_per_lane: int
    """0 for the kernel that takes any number of orders."""
    modify_keeps: bool
    track_filled: bool
    stp: int
    level_capacity: bool
    events: bool
    depth: bool

    entry = "match_books"
    folder = "books"

    @property
    def files(self) -> tuple[str, ...]:
        """The sources, in the order in which they are joined."""
        book = "slots.cuh" if self.slots_per_lane else "levels.cuh"
        return ("records.cuh", "warp.cuh", "order.cuh", book, "matching.cuh", "match.cu")

    def macros(self) -> dict[str, int]:
        """Return what the sources are compiled with, by name."""
        macros = {
            "IN_SLOTS": int(self.slots_per_lane > 0),
            "MODIFY_KEEPS": int(self.modify_keeps),
            "TRACK_FILLED": int(self.track_filled),
            "STP": self.stp,
            "LEVEL_CAPACITY": int(self.level_capacity),
            "EVENTS": int(self.events),
            "DEPTH": int(self.depth),
            "BLOCK": LANES,
            "BLOCKS_PER_SM": _BLOCKS_PER_SM[self.slots_per_lane],
        }
        if self.slots_per_lane:
            macros["SLOTS_PER_LANE"] = self.slots_per_lane
        return macros


@dataclass(frozen=True)
class GroupKey:
    """The kernels around matching; there is one specialisation."""

    folder = "books"
    files = ("records.cuh", "group.cu")

    def macros(self) -> dict[str, int]:
        """Return what the sources are compiled with, by name."""
        return {"BLOCK": BLOCK, "TILE": TILE}


def match_key(rules: BookRules, slots_per_lane: int, events: bool, depth: bool) -> MatchKey:
    """Return the key of the kernel for a run's rules."""
    return MatchKey(
        slots_per_lane=slots_per_lane,
        modify_keeps=rules.modify is ModifyRule.KEEP,
        track_filled=rules.tracks_filled,
        stp=int(rules.stp),
        level_capacity=rules.level_capacity is not None,
        events=events,
        depth=depth,
    )


def slot_ladder(rules: BookRules, live: np.ndarray) -> tuple[int, ...]:
    """Return the slots a lane of the kernels to try in turn; 0, for any number of orders, is last.

    A book that needs more slots than a kernel has goes on with the next one.

    Args:
        rules: of the run.
        live: orders that rest in every book, int64 [book].
    """
    if rules.order_capacity is not None:
        enough = [slots for slots in SLOT_LADDER if rules.order_capacity <= LANES * slots]
        if enough:
            return enough[0], 0
    allowed = len(live) * _MANY_BOOKS
    fitting = [
        slots
        for slots in SLOT_LADDER
        if np.count_nonzero(live >= _COMFORT * LANES * slots) <= allowed
    ]
    return (*fitting, 0)


# Part of its slots up to which a book is likely to go on without needing more; and part of the
# books that may be beyond that where a kernel is tried.
_COMFORT = 0.8
_MANY_BOOKS = 0.1
