"""Kernels that end an ensemble in the same bits: what may be chosen between by speed alone."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

from bookwarp.engines.cuda.kernel_key import KernelKey

Choice = Mapping[str, int]
"""Values of the fields of a key that never change a bit."""

# kernel -> field of the key -> values to try, besides markets_per_warp, which follows from the
# number of warps that the device is said to run. Registers for more blocks than the last spill.
_VALUES: dict[str, dict[str, tuple[int, ...]]] = {
    "counted": {"blocks_per_sm": (16, 20, 24, 28, 32), "unroll_rounds": (1, 2, 4)},
    "general": {"blocks_per_sm": (8, 16, 24, 32)},
}


def choice_of(key: KernelKey) -> dict[str, int]:
    """Return what was chosen freely in a key."""
    fields = ("markets_per_warp", *_VALUES[key.kernel])
    return {name: getattr(key, name) for name in fields}


def equivalent_keys(choose: Callable[[int], KernelKey], markets: int) -> Iterator[KernelKey]:
    """Yield the keys of all kernels that end an ensemble in the same bits.

    Args:
        choose: from the number of warps that a device runs at once to the key of choice.
        markets: of the ensemble.
    """
    # One market to a warp where there are warps enough, and two, if they fit, where there are none.
    for key in dict.fromkeys((choose(markets), choose(0))):
        values = _VALUES[key.kernel]
        for chosen in product(*values.values()):
            changes: dict[str, Any] = dict(zip(values, chosen, strict=True))
            yield replace(key, **changes)


def find_key(
    choose: Callable[[int], KernelKey], markets: int, choice: Choice | None
) -> KernelKey | None:
    """Return the one of `equivalent_keys` that a choice means; None if it means none of them."""
    keys = equivalent_keys(choose, markets) if choice is not None else ()
    return next((key for key in keys if choice_of(key) == choice), None)
