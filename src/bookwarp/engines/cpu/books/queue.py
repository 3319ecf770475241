"""Let an order rest behind all others at its price, and take one out."""

import numpy as np

from bookwarp.engines.cpu.books.ids import remember_order
from bookwarp.engines.cpu.books.layout import FREE_ORDER, NOBODY, ORDERS_USED
from bookwarp.engines.cpu.books.pools import at
from bookwarp.engines.cpu.books.prices import enter_level, leave_level
from bookwarp.engines.cpu.compile import inlined


@inlined
def append_order(block, side, key, order_id, qty, tif):  # type: ignore[no-untyped-def]
    """Let an order whose id is not live rest, the last at its price; return its index."""
    room, book = block.room, side >> 1
    index = room[FREE_ORDER]
    if index == NOBODY:
        index = room[ORDERS_USED]
        room[ORDERS_USED] += 1
    else:
        room[FREE_ORDER] = at(block.orders, index).behind
    level_index = enter_level(block, side, key)
    order, level = at(block.orders, index), at(block.levels, level_index)
    order.order_id, order.qty, order.level = order_id, qty, level_index
    order.side, order.tif = side & 1, tif
    order.ahead, order.behind = level.last, NOBODY
    if level.last == NOBODY:
        level.first = index
    else:
        at(block.orders, level.last).behind = index
    level.last = index
    level.qty += qty
    at(block.books, book).orders += 1
    remember_order(block, book, order_id, index)
    return index


@inlined
def remove_order(block, side, index):  # type: ignore[no-untyped-def]
    """Take an order out of its queue; the table has forgotten it already."""
    order = at(block.orders, index)
    level = at(block.levels, order.level)
    ahead, behind = np.int64(order.ahead), np.int64(order.behind)
    if ahead == NOBODY:
        level.first = behind
    else:
        at(block.orders, ahead).behind = behind
    if behind == NOBODY:
        level.last = ahead
    else:
        at(block.orders, behind).ahead = ahead
    level.qty -= order.qty
    if level.first == NOBODY:
        leave_level(block, side, np.int64(order.level))
    order.behind = block.room[FREE_ORDER]
    block.room[FREE_ORDER] = index
    at(block.books, side >> 1).orders -= 1
