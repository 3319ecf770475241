"""A queue of orders for each price level, tied together by slot."""

from collections import namedtuple

import numpy as np

from layouts.ids import Ids
from layouts.levels import Levels
from layouts.matcher import NO_SLOT, Layout, inlined

ORDER = np.dtype(
    [
        ("order_id", np.uint64),
        ("price", np.int64),
        ("qty", np.int64),
        ("level", np.int32),
        ("ahead", np.int32),
        ("behind", np.int32),
        ("side", np.int32),
    ]
)
LEVEL = np.dtype([("first", np.int32), ("last", np.int32)])

# `room` is the first free slot, or -1, and how many were ever used.
Book = namedtuple("Book", ["orders", "levels", "prices", "table", "room"])
Orders = namedtuple("Orders", ORDER.names)
LevelPlanes = namedtuple("LevelPlanes", LEVEL.names)


@inlined
def price_of(book, slot):
    """Return the price of an order."""
    return book.orders.price[slot]


@inlined
def id_of(book, slot):
    """Return the id of an order."""
    return book.orders.order_id[slot]


@inlined
def front(book, side):
    """Return the first order of the best level."""
    level = book.prices.best[side]
    return np.int64(book.levels.first[level]) if level >= 0 else np.int64(NO_SLOT)


@inlined
def take_slot(book):
    """Return a free slot."""
    slot = book.room[0]
    if slot == NO_SLOT:
        slot = book.room[1]
        book.room[1] += 1
    else:
        book.room[0] = book.orders.behind[slot]
    return slot


def build_layout(levels: Levels, ids: Ids, records: bool) -> Layout:
    """Return the layout with one way to find levels and one to find ids.

    The same source works on planes (a tuple of arrays) and on records (an array of structs): either
    way a field is an array.
    """

    def make_book(capacity: int) -> Book:
        prices, level_count = levels.make(capacity)
        orders, queues = np.zeros(capacity, ORDER), np.full((level_count, 2), NO_SLOT, np.int32)
        queues = queues.view(LEVEL)[:, 0]
        if not records:
            orders = Orders(*(orders[name].copy() for name in ORDER.names))
            queues = LevelPlanes(*(queues[name].copy() for name in LEVEL.names))
        table = np.zeros(2 << (capacity - 1).bit_length(), np.uint64)
        return Book(orders, queues, prices, table, np.array([NO_SLOT, 0]))

    enter, leave = levels.enter, levels.leave
    remember, forget = ids.remember, ids.forget

    @inlined
    def append(book, side, price, order_id, qty):
        """Let an order rest, the last at its price."""
        slot, level = take_slot(book), enter(book, side, price)
        orders, last = book.orders, np.int64(book.levels.last[level])
        orders.order_id[slot], orders.price[slot], orders.qty[slot] = order_id, price, qty
        orders.level[slot], orders.side[slot] = level, side
        orders.ahead[slot], orders.behind[slot] = last, NO_SLOT
        if last == NO_SLOT:
            book.levels.first[level] = slot
        else:
            orders.behind[last] = slot
        book.levels.last[level] = slot
        remember(book, order_id, slot)

    @inlined
    def remove(book, slot):
        """Take an order out, and its level if it was the last there."""
        orders = book.orders
        forget(book, orders.order_id[slot], slot)
        level = np.int64(orders.level[slot])
        ahead, behind = np.int64(orders.ahead[slot]), np.int64(orders.behind[slot])
        if ahead == NO_SLOT:
            book.levels.first[level] = behind
        else:
            orders.behind[ahead] = behind
        if behind == NO_SLOT:
            book.levels.last[level] = ahead
        else:
            orders.ahead[behind] = ahead
        if ahead == NO_SLOT and behind == NO_SLOT:
            leave(book, np.int64(orders.side[slot]), orders.price[slot], level)
        orders.qty[slot] = 0
        orders.behind[slot] = book.room[0]
        book.room[0] = slot

    return Layout(make_book, ids.find, front, price_of, id_of, append, remove)
