"""How the books of a replay are searched and changed: orders by id, levels by price.

Each function works on the arrays of replay_layout.py, in place. Nothing is allocated: there is room
for every order, and for every level, that a call can add.
"""

import numpy as np

from bookwarp.engines.cpu.compile import inlined
from bookwarp.engines.cpu.replay_layout import (
    FREE_LEVEL,
    FREE_ORDER,
    LADDER_USED,
    LEAST_CAPACITY,
    LEVELS_LIVE,
    LEVELS_USED,
    NONE,
    ORDERS_LIVE,
    ORDERS_USED,
)

# 2^64 over the golden ratio: multiplying by it spreads ids that follow each other.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_HALF_WORD = np.uint64(32)


@inlined
def home_of(table, book, order_id):  # type: ignore[no-untyped-def]
    """Return the place of the table at which the search for an order starts."""
    word = order_id ^ (np.uint64(book) * _SPREAD)
    word = (word ^ (word >> _HALF_WORD)) * _SPREAD
    return np.int64((word >> _HALF_WORD) & np.uint64(len(table) - 1))


@inlined
def find_order(books, book, order_id):  # type: ignore[no-untyped-def]
    """Return the place in the table at which an order stands, or that is free for it."""
    table, orders = books.table, books.orders
    place = home_of(table, book, order_id)
    while table[place] != NONE:
        order = orders[table[place]]
        if order.order_id == order_id and order.book == book:
            break
        place = (place + 1) & (len(table) - 1)
    return place


@inlined
def clear_place(books, place):  # type: ignore[no-untyped-def]
    """Empty a place of the table, and move up those that were only behind it for lack of room."""
    table, orders = books.table, books.orders
    mask = len(table) - 1
    hole = place
    place = (place + 1) & mask
    while table[place] != NONE:
        order = orders[table[place]]
        home = home_of(table, order.book, order.order_id)
        if ((place - home) & mask) >= ((place - hole) & mask):
            table[hole] = table[place]
            hole = place
        place = (place + 1) & mask
    table[hole] = NONE


@inlined
def find_key(books, side, key):  # type: ignore[no-untyped-def]
    """Return how many levels of a side have a lower key, looking near the best first."""
    node = books.sides[side]
    keys, start, count = books.keys, node.start, np.int64(node.count)
    reach = np.int64(1)
    while reach <= count and keys[start + count - reach] >= key:
        reach *= 2
    # All keys from count - reach // 2 on are at least `key`; that before count - reach is lower.
    low = count - reach + 1 if reach <= count else np.int64(0)
    high = count - (reach >> 1)
    while low < high:
        middle = (low + high) >> 1
        if keys[start + middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def widen_side(books, side):  # type: ignore[no-untyped-def]
    """Move a side that is full to the end of the ladder, to twice the room."""
    node = books.sides[side]
    start = books.counters[LADDER_USED]
    for level in range(np.int64(node.count)):
        books.keys[start + level] = books.keys[node.start + level]
        books.nodes[start + level] = books.nodes[node.start + level]
    capacity = max(2 * np.int64(node.capacity), LEAST_CAPACITY)
    node.start, node.capacity = start, capacity
    books.counters[LADDER_USED] += capacity


@inlined
def enter_level(books, side, key):  # type: ignore[no-untyped-def]
    """Return the level of a key, a new one if nothing rests there."""
    position = find_key(books, side, key)
    node = books.sides[side]
    if position < node.count and books.keys[node.start + position] == key:
        return np.int64(books.nodes[node.start + position])
    if node.count == node.capacity:
        widen_side(books, side)
    counters = books.counters
    level = counters[FREE_LEVEL]
    if level == NONE:
        level = counters[LEVELS_USED]
        counters[LEVELS_USED] += 1
    else:
        counters[FREE_LEVEL] = books.levels[level].first
    counters[LEVELS_LIVE] += 1
    fresh = books.levels[level]
    fresh.key, fresh.side = key, side
    fresh.qty = fresh.opening_qty = 0
    fresh.first = fresh.last = NONE
    for place in range(node.start + node.count, node.start + position, -1):
        books.keys[place] = books.keys[place - 1]
        books.nodes[place] = books.nodes[place - 1]
    books.keys[node.start + position] = key
    books.nodes[node.start + position] = level
    node.count += 1
    return level


@inlined
def leave_level(books, level):  # type: ignore[no-untyped-def]
    """Forget a level if nothing rests there any more."""
    gone = books.levels[level]
    if gone.qty != 0:
        return
    node = books.sides[gone.side]
    position = find_key(books, gone.side, gone.key)
    for place in range(node.start + position, node.start + node.count - 1):
        books.keys[place] = books.keys[place + 1]
        books.nodes[place] = books.nodes[place + 1]
    node.count -= 1
    gone.first = books.counters[FREE_LEVEL]
    books.counters[FREE_LEVEL] = level
    books.counters[LEVELS_LIVE] -= 1


@inlined
def remove_order(books, place):  # type: ignore[no-untyped-def]
    """Take the order that stands at a place of the table out of its book."""
    slot = books.table[place]
    clear_place(books, place)
    order = books.orders[slot]
    level = books.levels[order.level]
    if order.ahead == NONE:
        level.first = order.behind
    else:
        books.orders[order.ahead].behind = order.behind
    if order.behind == NONE:
        level.last = order.ahead
    else:
        books.orders[order.behind].ahead = order.ahead
    level.qty -= order.qty
    leave_level(books, order.level)
    order.behind = books.counters[FREE_ORDER]
    books.counters[FREE_ORDER] = slot
    books.counters[ORDERS_LIVE] -= 1


@inlined
def append_order(books, book, order_id, level, qty):  # type: ignore[no-untyped-def]
    """Let an order whose id is not live rest at the end of a level."""
    counters = books.counters
    slot = counters[FREE_ORDER]
    if slot == NONE:
        slot = counters[ORDERS_USED]
        counters[ORDERS_USED] += 1
    else:
        counters[FREE_ORDER] = books.orders[slot].behind
    counters[ORDERS_LIVE] += 1
    order, queue = books.orders[slot], books.levels[level]
    order.order_id, order.book, order.level, order.qty = order_id, book, level, qty
    order.ahead, order.behind = queue.last, NONE
    if queue.last == NONE:
        queue.first = slot
    else:
        books.orders[queue.last].behind = slot
    queue.last = slot
    queue.qty += qty
    books.table[find_order(books, book, order_id)] = slot


@inlined
def best_key(books, side):  # type: ignore[no-untyped-def]
    """Return the key of the best level of a side that is not empty."""
    node = books.sides[side]
    return books.keys[node.start + node.count - 1]
