"""What the engine keeps, without its rules: a tree of masks for any price, a table that grows."""

import numpy as np

from bookwarp.engines.cpu.books import ids, layout, prices, queue
from bookwarp.spec.book_rules import BookRules
from layouts.matcher import NO_SLOT, Layout, inlined


def make_book(capacity: int) -> layout.Block:
    """Return a block of one book."""
    rules = BookRules.of()
    return layout.reserve(layout.allocate_block(1, rules), rules, capacity)


@inlined
def find(book, order_id):
    """Look into the table."""
    index, _ = ids.find_order(book, np.int64(0), order_id)
    return index if index != layout.NOBODY else np.int64(NO_SLOT)


@inlined
def front(book, side):
    """Return the first order of the best level."""
    level = np.int64(book.sides[side].best)
    return np.int64(book.levels[level].first) if level != layout.NOBODY else np.int64(NO_SLOT)


@inlined
def price_of(book, slot):
    """Return the price of an order."""
    order = book.orders[slot]
    return prices.price_of_key(book.levels[order.level].key, np.int64(order.side))


@inlined
def id_of(book, slot):
    """Return the id of an order."""
    return book.orders[slot].order_id


@inlined
def append(book, side, price, order_id, qty):
    """Let an order rest, the last at its price."""
    queue.append_order(book, side, prices.key_of_price(price, side), order_id, qty, 0)


@inlined
def remove(book, slot):
    """Take an order out."""
    order = book.orders[slot]
    ids.forget_order(book, np.int64(0), order.order_id)
    queue.remove_order(book, np.int64(order.side), slot)


LAYOUT = Layout(make_book, find, front, price_of, id_of, append, remove)
