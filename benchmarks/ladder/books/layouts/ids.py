"""How an order is found by its id: by looking at all of them, or in a hash table."""

from collections import namedtuple

import numpy as np

from layouts.matcher import NO_SLOT, inlined

# (find, remember, forget), each of (book, order_id, ..).
Ids = namedtuple("Ids", ["find", "remember", "forget"])

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_EMPTY, _ONE, _HALF_WORD = np.uint64(0), np.uint64(1), np.uint64(32)
_SLOT = np.uint64(2**32 - 1)


@inlined
def scan(book, order_id):
    """Look at every slot that was ever used; 0 lots are open in a free one."""
    for slot in range(book.room[1]):
        if book.orders.order_id[slot] == order_id and book.orders.qty[slot] > 0:
            return slot
    return np.int64(NO_SLOT)


@inlined
def keep_nothing(book, order_id, slot):
    """Do nothing."""


@inlined
def hash_id(order_id):
    """Return 32 bits that depend on all of an id."""
    return ((order_id ^ (order_id >> _HALF_WORD)) * _SPREAD) >> _HALF_WORD


@inlined
def place_of(book, order_id):
    """Return the place of an id in the table, or the empty one where it would be.

    An entry is the hash above the slot + 1, or 0; the table has 2^k of them, and at most half full.
    """
    word, mask = hash_id(order_id), np.uint64(len(book.table) - 1)
    place = word & mask
    while book.table[place] != _EMPTY:
        entry = book.table[place]
        slot = np.int64(entry & _SLOT) - 1
        if entry >> _HALF_WORD == word and book.orders.order_id[slot] == order_id:
            break
        place = (place + _ONE) & mask
    return place


@inlined
def find_in_table(book, order_id):
    """Return the slot of an order."""
    return np.int64(book.table[place_of(book, order_id)] & _SLOT) - 1


@inlined
def remember(book, order_id, slot):
    """Enter an order."""
    entry = (hash_id(order_id) << _HALF_WORD) | np.uint64(slot + 1)
    book.table[place_of(book, order_id)] = entry


@inlined
def forget(book, order_id, slot):
    """Take an order out, and move up those that were only behind it for lack of room."""
    table, mask = book.table, np.uint64(len(book.table) - 1)
    hole = place_of(book, order_id)
    place = (hole + _ONE) & mask
    while table[place] != _EMPTY:
        home = (table[place] >> _HALF_WORD) & mask
        if ((place - home) & mask) >= ((place - hole) & mask):
            table[hole] = table[place]
            hole = place
        place = (place + _ONE) & mask
    table[hole] = _EMPTY


SCAN = Ids(scan, keep_nothing, keep_nothing)
HASH = Ids(find_in_table, remember, forget)
