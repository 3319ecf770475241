"""Kernels that end an ensemble in the same bits: what may be chosen between by speed alone."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

from bookwarp.engines.cuda.kernel_key import Arrangement, KernelKey

Choice = Mapping[str, int]
"""Values of the fields of a key that never change a bit."""

# Field of the key -> values to try. Registers for more blocks than the last would spill.
_GENERAL: Mapping[str, tuple[int, ...]] = {"blocks_per_sm": (8, 16, 24, 32)}
_COUNTED: Mapping[str, tuple[int, ...]] = {
    "blocks_per_sm": (16, 20, 24, 28, 32),
    "unroll_rounds": (1, 2, 4),
}
_AHEAD: Mapping[str, tuple[int, ...]] = {"blocks_per_sm": (4, 8, 16), "unroll_rounds": (1, 2, 4)}


def _values_of(key: KernelKey) -> Mapping[str, tuple[int, ...]]:
    if key.kernel == "general":
        return _GENERAL
    return _AHEAD if key.draws_ahead else _COUNTED


def choice_of(key: KernelKey) -> dict[str, int]:
    """Return what was chosen freely in a key."""
    return {name: int(getattr(key, name)) for name in (*Arrangement._fields, *_values_of(key))}


def equivalent_keys(
    choose: Callable[[Arrangement], KernelKey], possible: Iterable[Arrangement]
) -> Iterator[KernelKey]:
    """Yield the keys of all kernels that end an ensemble in the same bits.

    Args:
        choose: from an arrangement to a key.
        possible: the arrangements of the ensemble.
    """
    for key in map(choose, possible):
        values = _values_of(key)
        for chosen in product(*values.values()):
            changes: dict[str, Any] = dict(zip(values, chosen, strict=True))
            yield replace(key, **changes)


def find_key(
    choose: Callable[[Arrangement], KernelKey],
    possible: Iterable[Arrangement],
    choice: Choice | None,
) -> KernelKey | None:
    """Return the one of `equivalent_keys` that a choice means; None if it means none of them."""
    keys = equivalent_keys(choose, possible) if choice is not None else ()
    return next((key for key in keys if choice_of(key) == choice), None)
