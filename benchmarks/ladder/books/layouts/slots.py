"""Slots sorted by priority, the best last: to take one in or out moves all that are better."""

from collections import namedtuple

import numpy as np

from layouts.matcher import NO_SLOT, Layout, inlined

Orders = namedtuple("Orders", ["order_id", "price", "qty", "side"])
Book = namedtuple("Book", ["orders", "counts"])


def make_book(capacity: int) -> Book:
    """Return an empty book; the slots of the asks follow those of the bids."""
    kinds = (np.uint64, np.int64, np.int64, np.int8)
    return Book(Orders(*(np.zeros(2 * capacity, kind) for kind in kinds)), np.zeros(2, np.int64))


@inlined
def start_of(book, side):
    """Return the first slot of a side."""
    return side * (len(book.orders.qty) >> 1)


@inlined
def find(book, order_id):
    """Look at every order."""
    for side in range(2):
        start = start_of(book, side)
        for slot in range(start, start + book.counts[side]):
            if book.orders.order_id[slot] == order_id:
                return slot
    return np.int64(NO_SLOT)


@inlined
def front(book, side):
    """Return the last slot."""
    count = book.counts[side]
    return start_of(book, side) + count - 1 if count else np.int64(NO_SLOT)


@inlined
def price_of(book, slot):
    """Return the price of an order."""
    return book.orders.price[slot]


@inlined
def id_of(book, slot):
    """Return the id of an order."""
    return book.orders.order_id[slot]


@inlined
def copy_slot(orders, target, source):
    """Copy an order."""
    orders.order_id[target], orders.price[target] = orders.order_id[source], orders.price[source]
    orders.qty[target], orders.side[target] = orders.qty[source], orders.side[source]


@inlined
def append(book, side, price, order_id, qty):
    """Move up what is better or as good and older, and put the order below."""
    orders, start = book.orders, start_of(book, side)
    slot = start + book.counts[side]
    while slot > start:
        before = orders.price[slot - 1]
        if before < price if side == 0 else before > price:
            break
        copy_slot(orders, slot, slot - 1)
        slot -= 1
    orders.order_id[slot], orders.price[slot] = order_id, price
    orders.qty[slot], orders.side[slot] = qty, side
    book.counts[side] += 1


@inlined
def remove(book, slot):
    """Move down what is above."""
    side = np.int64(book.orders.side[slot])
    for target in range(slot, start_of(book, side) + book.counts[side] - 1):
        copy_slot(book.orders, target, target + 1)
    book.counts[side] -= 1


LAYOUT = Layout(make_book, find, front, price_of, id_of, append, remove)
