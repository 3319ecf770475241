"""The arrays that hold a block of books.

All books of a block share pools of orders, price levels and nodes, so that a book takes no more
than what rests in it. Records of a pool are tied together by index; index 0 is nobody. A level is a
queue of orders, first in, first out. A side finds its levels by price in a tree (prices.py), and a
book its orders by id in its part of the table (ids.py).
"""

from collections import namedtuple

import numpy as np

from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.events import Counter

NOBODY = 0

ORDER_NODE = np.dtype(
    [
        ("order_id", np.uint64),
        ("qty", np.int64),
        ("level", np.int32),
        ("ahead", np.int32),
        ("behind", np.int32),
        ("side", np.uint8),
        ("tif", np.uint8),
        ("unused", np.uint16),
    ]
)
"""A resting order: `qty` is open, `side` 0 for a buy. Of a free node, `behind` is the next free."""

LEVEL_NODE = np.dtype(
    [
        ("key", np.uint64),
        ("qty", np.int64),
        ("first", np.int32),
        ("last", np.int32),
        ("leaf", np.int32),
        ("unused", np.int32),
    ]
)
"""A price level with something in it; `qty` is all that rests there, `leaf` where it hangs in the
tree. Of a free node, `first` is the next free."""

DIGIT_BITS = 6
"""Bits of a price that a node of the tree looks at, at most 6. Of 5 bits nodes are little more than
half as large, and a dense book some 15 % slower: benchmarks/ladder/books."""


def tree_node(digit_bits: int) -> np.dtype:
    """Return the record of a node that looks at so many bits."""
    return np.dtype(
        [
            ("prefix", np.uint64),
            ("mask", np.uint64),
            ("parent", np.int32),
            ("shift", np.int32),
            ("child", np.int32, (1 << digit_bits,)),
        ]
    )


TREE_NODE = tree_node(DIGIT_BITS)
"""A node of a tree of prices. Of a free node, `parent` is the next free."""

SIDE = np.dtype([("best_key", np.uint64), ("best", np.int32), ("root", np.int32)])
"""One side of a book; side 2b are the bids of book b, 2b + 1 its asks."""

BOOK = np.dtype(
    [
        ("table_start", np.int64),
        ("table_mask", np.uint64),
        ("table_shift", np.uint32),
        ("orders", np.int32),
        ("levels", np.int32),
        ("flags", np.uint32),
    ]
)
"""What a book keeps beside its sides; `orders` and `levels` say how many it has."""

Block = namedtuple(
    "Block",
    [
        "orders",  # ORDER_NODE [order]
        "filled",  # int64 [order], or empty if not tracked
        "owners",  # uint64 [order], or empty if not tracked
        "levels",  # LEVEL_NODE [level]
        "nodes",  # TREE_NODE [node]
        "table",  # uint64 [place]
        "sides",  # SIDE [2 * book]
        "books",  # BOOK [book]
        "counters",  # int64 [book, Counter]
        "room",  # int64 [ROOMS]
    ],
)

# Columns of `room`: the first free record of a pool, and from where on it was never used.
FREE_ORDER, ORDERS_USED, FREE_LEVEL, LEVELS_USED, FREE_NODE, NODES_USED, TABLE_USED = range(7)
EVENTS_WRITTEN = 7
"""While a block is matched: the next event."""
FREE_TABLES = 8
"""This and what follows: the first free part of the table, by the binary logarithm of its size."""
ROOMS = FREE_TABLES + 34
NO_KEY = np.uint64(2**64 - 1)
EMPTY_TABLE_SHIFT = 32

# Most records of a pool, whose indexes are int32; a level takes up to two nodes.
_MOST_ORDERS = 2**30 - 1

Rules = namedtuple(
    "Rules",
    [
        "replace",
        "total",
        "self_trade",
        "order_capacity",
        "level_capacity",
        "price_low",
        "price_high",
    ],
)


def lay_out_rules(rules: BookRules) -> Rules:
    """Return the rules as kernels read them; no capacity is one that is never reached."""
    unlimited = 2**31
    return Rules(
        np.int64(rules.modify),
        np.int64(rules.qty),
        np.int64(rules.stp),
        np.int64(rules.order_capacity or unlimited),
        np.int64(rules.level_capacity or unlimited),
        np.int64(rules.price_low),
        np.int64(rules.price_high),
    )


def allocate_block(books: int, rules: BookRules) -> Block:
    """Return the arrays of `books` empty books, with no room for anything."""
    sides = np.zeros(2 * books, SIDE)
    sides["best_key"] = NO_KEY
    headers = np.zeros(books, BOOK)
    headers["table_shift"] = EMPTY_TABLE_SHIFT
    room = np.zeros(ROOMS, np.int64)
    room[[ORDERS_USED, LEVELS_USED, NODES_USED, TABLE_USED]] = 1
    return Block(
        np.zeros(1, ORDER_NODE),
        np.zeros(int(rules.tracks_filled), np.int64),
        np.zeros(int(rules.tracks_owner), np.uint64),
        np.zeros(1, LEVEL_NODE),
        np.zeros(1, TREE_NODE),
        np.zeros(1, np.uint64),
        sides,
        headers,
        np.zeros((books, len(Counter)), np.int64),
        room,
    )


def reserve(block: Block, rules: BookRules, entering: int) -> Block:
    """Return the block with room for `entering` more orders to rest, so that kernels need not ask.

    What is not used yet is never touched, and so takes addresses, but no memory.

    Raises:
        MemoryError: there is not enough, or there would be more orders than indexes.
    """
    books = len(block.books)
    live = int(block.books["orders"].sum())
    orders = live + entering
    if rules.order_capacity is not None:
        orders = min(orders, rules.order_capacity * books)
    levels = orders
    if rules.level_capacity is not None:
        levels = min(levels, rules.level_capacity * books)
    if orders > _MOST_ORDERS:
        raise MemoryError(f"{orders} orders in a block of books, of at most {_MOST_ORDERS}")
    used = block.room
    # A part of the table is at most four times what is live, and so are all that it grew out of.
    table = int(used[TABLE_USED]) + 8 * orders
    return block._replace(
        orders=_widen(block.orders, orders + 1, used[ORDERS_USED]),
        filled=_widen(block.filled, orders + 1, used[ORDERS_USED])
        if rules.tracks_filled
        else block.filled,
        owners=_widen(block.owners, orders + 1, used[ORDERS_USED])
        if rules.tracks_owner
        else block.owners,
        levels=_widen(block.levels, levels + 1, used[LEVELS_USED]),
        nodes=_widen(block.nodes, 2 * levels + 1, used[NODES_USED]),
        table=_widen(block.table, table, used[TABLE_USED]),
    )


def _widen(array: np.ndarray, wanted: int, used: int) -> np.ndarray:
    if len(array) >= wanted:
        return array
    # Half as much again, so that many small batches do not copy each time.
    wider = np.empty(max(wanted, len(array) + len(array) // 2), array.dtype)
    wider[:used] = array[:used]
    return wider
