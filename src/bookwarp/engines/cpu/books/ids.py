"""Find an order by its id: an open hash table for every book, which grows with what rests.

An entry is 0, or 32 bits of the hash above 32 bits of the order's index. A search begins where the
highest bits of the hash say, and goes on to the next entry. Nothing is left behind where an order
leaves: those after it move up.
"""

import numpy as np

from bookwarp.engines.cpu.books.instructions import lowest_bit
from bookwarp.engines.cpu.books.layout import (
    EMPTY_TABLE_SHIFT,
    FREE_TABLES,
    NOBODY,
    TABLE_USED,
)
from bookwarp.engines.cpu.books.pools import at
from bookwarp.engines.cpu.compile import inlined

# 2^64 over the golden ratio: multiplying by it spreads ids that follow each other.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_EMPTY, _ONE, _HALF_WORD = np.uint64(0), np.uint64(1), np.uint64(32)
_INDEX = np.uint64(2**32 - 1)
_LEAST_SIZE = 4


@inlined
def hash_id(order_id):  # type: ignore[no-untyped-def]
    """Return 32 bits that depend on all of an id."""
    return ((order_id ^ (order_id >> _HALF_WORD)) * _SPREAD) >> _HALF_WORD


@inlined
def find_order(block, book, order_id):  # type: ignore[no-untyped-def]
    """Return the index of an order, and its place in the part of the table; NOBODY if not live."""
    header, table = at(block.books, book), block.table
    start, mask = np.uint64(header.table_start), header.table_mask
    word = hash_id(order_id)
    place = word >> np.uint64(header.table_shift)
    while True:
        entry = table[start + place]
        if entry == _EMPTY:
            return np.int64(NOBODY), place
        if entry >> _HALF_WORD == word:
            order = np.int64(entry & _INDEX)
            if at(block.orders, order).order_id == order_id:
                return order, place
        place = (place + _ONE) & mask


@inlined
def forget_place(block, book, place):  # type: ignore[no-untyped-def]
    """Empty a place of the table, and move up those that were only behind it for lack of room."""
    header, table = at(block.books, book), block.table
    start, mask = np.uint64(header.table_start), header.table_mask
    shift = np.uint64(header.table_shift)
    hole = place
    while True:
        place = (place + _ONE) & mask
        entry = table[start + place]
        if entry == _EMPTY:
            break
        home = (entry >> _HALF_WORD) >> shift
        if ((place - home) & mask) >= ((place - hole) & mask):
            table[start + hole] = entry
            hole = place
    table[start + hole] = _EMPTY


@inlined
def forget_order(block, book, order_id):  # type: ignore[no-untyped-def]
    """Take a live order out of the table."""
    _, place = find_order(block, book, order_id)
    forget_place(block, book, place)


@inlined
def put_entry(table, header, entry):  # type: ignore[no-untyped-def]
    """Enter what is not there yet into a part of the table that has room."""
    start, mask = np.uint64(header.table_start), header.table_mask
    place = (entry >> _HALF_WORD) >> np.uint64(header.table_shift)
    while table[start + place] != _EMPTY:
        place = (place + _ONE) & mask
    table[start + place] = entry


@inlined
def remember_order(block, book, order_id, order):  # type: ignore[no-untyped-def]
    """Enter an order that is not live yet; `orders` of the book counts it already."""
    header = at(block.books, book)
    # At most half full, so that searches end soon, and always at an empty entry.
    if 2 * np.int64(header.orders) > np.int64(header.table_mask) + 1:
        grow_table(block, header)
    put_entry(block.table, header, (hash_id(order_id) << _HALF_WORD) | np.uint64(order))


@inlined
def grow_table(block, header):  # type: ignore[no-untyped-def]
    """Give a book a part of the table of twice the size, and its old part to whom it may serve."""
    table, room = block.table, block.room
    is_empty = header.table_shift == EMPTY_TABLE_SHIFT
    old, old_size = header.table_start, np.int64(header.table_mask) + 1
    size = np.int64(_LEAST_SIZE) if is_empty else 2 * old_size
    bits = np.int64(lowest_bit(np.uint64(size)))
    start = room[FREE_TABLES + bits]
    if start == NOBODY:
        start = room[TABLE_USED]
        room[TABLE_USED] += size
    else:
        room[FREE_TABLES + bits] = np.int64(table[start])
    for place in range(start, start + size):
        table[place] = _EMPTY
    header.table_start, header.table_mask = start, np.uint64(size - 1)
    header.table_shift = EMPTY_TABLE_SHIFT - bits
    if is_empty:
        return
    for place in range(old, old + old_size):
        if table[place] != _EMPTY:
            put_entry(table, header, table[place])
    table[old] = np.uint64(room[FREE_TABLES + bits - 1])
    room[FREE_TABLES + bits - 1] = old
