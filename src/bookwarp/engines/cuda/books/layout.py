"""What the kernels of continuous books are given: structures of records.cuh, as NumPy dtypes."""

import numpy as np

from bookwarp.engines.cuda.layout import assert_layouts
from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.book_state import RESTING
from bookwarp.spec.events import EVENT
from bookwarp.spec.orders import ORDER

NO_CAPACITY = 2**32 - 1
"""What stands for a capacity that is none: no book comes near it."""

_POINTERS = (
    "messages",
    "owners",
    "grouped",
    "first_message",
    "resting",
    "first_resting",
    "resting_after",
    "events",
    "depth",
    "live",
    "event_counts",
    "counters",
    "flags",
    "done",
    "stopped",
    "stopped_room",
    "stopped_count",
    "overrun_count",
)

BATCH = np.dtype(
    [(name, np.uint64) for name in _POINTERS]
    + [(name, np.int64) for name in ("price_low", "price_high")]
    + [(name, np.uint32) for name in ("order_capacity", "level_capacity", "depth_levels", "books")],
    align=True,
)

ROOM = np.dtype([("address", np.uint64), ("orders", np.uint32), ("hash_mask", np.uint32)])

# What every order takes in the memory of a book in levels: a node, a level, a place in the ladder
# of either side (levels.cuh checks the first two); and what a bucket takes.
_NODE_BYTES, _LEVEL_BYTES, _LADDER_BYTES, _BUCKET_BYTES = 56, 32, 12, 4
_ORDER_BYTES = _NODE_BYTES + _LEVEL_BYTES + 2 * _LADDER_BYTES
_ALIGNMENT = 256


def books_assertions() -> str:
    """Return C++ that does not compile unless the structures lie in memory as the dtypes say."""
    return assert_layouts({"Batch": BATCH, "Room": ROOM}) + "".join(
        f'static_assert(sizeof({name}) == {size}, "{name} is not of {size} bytes");\n'
        for name, size in (
            ("Message", ORDER.itemsize),
            ("Event", EVENT.itemsize),
            ("Resting", RESTING.itemsize),
        )
    )


def lay_out_batch(rules: BookRules, books: int, depth_levels: int, **pointers: int) -> np.ndarray:
    """Return a batch as the kernels read it, BATCH [1]."""
    batch = np.zeros(1, BATCH)
    for name, pointer in pointers.items():
        batch[name] = pointer
    batch["price_low"], batch["price_high"] = rules.price_low, rules.price_high
    for name in ("order_capacity", "level_capacity"):
        given = getattr(rules, name)
        batch[name] = NO_CAPACITY if given is None else given
    batch["depth_levels"], batch["books"] = depth_levels, books
    return batch


def lay_out_rooms(orders: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the memory of books that come to hold `orders` orders each.

    Args:
        orders: uint32 [book], > 0.

    Returns:
        ROOM [book], whose addresses start at 0, and the bytes that all of them take.
    """
    count = orders.astype(np.int64)
    # As many buckets as orders, or more, up to twice as many.
    buckets = np.int64(1) << np.ceil(np.log2(count)).astype(np.int64)
    nbytes = count * _ORDER_BYTES + buckets * _BUCKET_BYTES
    nbytes = -(-nbytes // _ALIGNMENT) * _ALIGNMENT
    rooms = np.zeros(len(orders), ROOM)
    ends = np.cumsum(nbytes)
    rooms["address"] = ends - nbytes
    rooms["orders"] = orders
    rooms["hash_mask"] = buckets - 1
    return rooms, int(ends[-1])
