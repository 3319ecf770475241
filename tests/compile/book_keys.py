"""Specialisations of the kernels of continuous books that runs ask for, by what they are."""

from bookwarp.engines.cuda.books.kernel_key import SLOT_LADDER, GroupKey, match_key
from bookwarp.spec.book_rules import BookRules

# name -> (rules, whether events are written, whether levels are)
RUNS = {
    "default": ({}, True, False),
    "no events": ({}, False, False),
    "levels after every message": ({}, True, True),
    "total": ({"qty": "total"}, True, False),
    "capacity": ({"capacity": (100, 20)}, True, False),
    "cancel resting": ({"stp": "cancel_resting"}, True, False),
    "everything": (
        {"qty": "total", "stp": "cancel_both", "capacity": (100, 20), "price_range": (0, 9)},
        True,
        True,
    ),
}
KERNELS = {f"{32 * slots} slots": slots for slots in SLOT_LADDER} | {"levels": 0}
GROUPING = "grouping"
CASES = [f"{kernel}: {run}" for kernel in KERNELS for run in RUNS] + [GROUPING]


def key_of(case: str):
    """Return the key of a case."""
    if case == GROUPING:
        return GroupKey()
    kernel, run = case.split(": ")
    rules, events, levels = RUNS[run]
    return match_key(BookRules.of(**rules), KERNELS[kernel], events, levels)
