"""The arrays that hold the books of a replay.

Orders and levels are nodes of two pools, tied into lists by index: a level is a queue of orders,
first in, first out. An order is found by a hash of its book and id. The levels of a side lie in its
part of the ladder, sorted by key, the best last: a key is the price of a bid, and the complement of
the price of an ask, which turns the order round for any 64-bit price.
"""

from collections import namedtuple

import numpy as np

NONE = -1
ORDER_NODE = np.dtype(
    [
        ("order_id", np.uint64),
        ("qty", np.int64),
        ("book", np.int32),
        ("level", np.int32),
        ("ahead", np.int32),
        ("behind", np.int32),
    ]
)
"""A live order; of a free node, `behind` is the next free one."""
LEVEL_NODE = np.dtype(
    [
        ("key", np.int64),
        ("qty", np.int64),
        ("opening_qty", np.int64),
        ("side", np.int32),
        ("first", np.int32),
        ("last", np.int32),
        ("unused", np.int32),
    ]
)
"""A level with something in it; `side` is a row of the sides. Of a free node, `first` is the next
free one. `qty` is all that rests, with what is left of the opening depth."""
SIDE_NODE = np.dtype([("start", np.int64), ("count", np.int32), ("capacity", np.int32)])
"""The part of the ladder that a side has; side 2b holds the bids of book b, 2b + 1 its asks."""

BooksArrays = namedtuple(
    "BooksArrays",
    ["orders", "table", "levels", "sides", "keys", "nodes", "highest_id", "counters"],
)
# Columns of `counters`.
FREE_ORDER, ORDERS_USED, ORDERS_LIVE, FREE_LEVEL, LEVELS_USED, LEVELS_LIVE, LADDER_USED = range(7)
COUNTERS = 7

LEAST_CAPACITY = 4
"""Levels for which a side gets room at first; then it doubles."""


def allocate_books() -> BooksArrays:
    """Return the arrays of no books."""
    counters = np.zeros(COUNTERS, np.int64)
    counters[[FREE_ORDER, FREE_LEVEL]] = NONE
    return BooksArrays(
        np.zeros(0, ORDER_NODE),
        np.full(2, NONE, np.int32),
        np.zeros(0, LEVEL_NODE),
        np.zeros(0, SIDE_NODE),
        np.zeros(0, np.int64),
        np.zeros(0, np.int32),
        np.zeros(0, np.uint64),
        counters,
    )
