"""How books of 256-bit numbers lie in the memory of a GPU, as kernels and host see it."""

import numpy as np

from bookwarp.engines.cuda.u256.kernel_key import MATCHING, U256Key
from bookwarp.spec.u256 import (
    ARENA_COLUMNS,
    NUMBER_BYTES,
    ORDER_BYTES,
    PRICE_AT,
    QTY_AT,
    RESULT_BYTES,
    SLOTS_AT,
)

SLOT_BYTES = 2 * NUMBER_BYTES
"""A slot: price as a key, quantity; books lie as [side, slot, book]."""
SIDES = 2

ENDS = np.dtype([(name, np.uint32) for name in ("bids", "first_bid", "asks", "first_ask")])
"""Of a book: how many orders a side has, and at which slot its best one is."""

READ_AHEAD = 16
"""Bytes behind calldata that a kernel may read: it reads in pieces of as many."""


def slots_bytes(books: int, capacity: int) -> int:
    """Return what the slots of some books take, in bytes."""
    return SIDES * capacity * books * SLOT_BYTES


def u256_assertions(key: U256Key) -> str:
    """Return C++ that does not compile unless the kernels mean the bytes that Python means."""
    sizes = {"sizeof(Slot)": SLOT_BYTES, "sizeof(Ends)": ENDS.itemsize}
    if key == MATCHING:
        sizes |= {
            "ORDER_BYTES": ORDER_BYTES,
            "PRICE_AT": PRICE_AT,
            "PRICE_AT + sizeof(U256)": QTY_AT,
            "RESULT_BYTES": RESULT_BYTES,
            "PIECE": READ_AHEAD,
        }
    else:
        sizes |= {"COLUMNS": len(ARENA_COLUMNS), "COUNT_BYTES": SLOTS_AT}
    return "".join(
        f'static_assert({what} == {size}, "{what} is not {size}");\n'
        for what, size in sizes.items()
    )
