"""The kernel of a replay: rows of market data, one after the other, applied to their books.

Owns: the arrays of all books (see replay_layout.py), which have room for every order that the rows
can add, so that nothing is allocated here. Each row is one step: find the order it names, say what
is odd, change the book, copy the best levels. The rules are those of `bookwarp.reference.replay`.
"""

from typing import Any

import numpy as np

from bookwarp.engines.cpu.compile import entry_point, inlined, source_digest
from bookwarp.engines.cpu.replay_layout import NONE
from bookwarp.engines.cpu.replay_nodes import (
    append_order,
    best_key,
    enter_level,
    find_key,
    find_order,
    leave_level,
    remove_order,
)
from bookwarp.spec.book_rules import INT64_MAX
from bookwarp.spec.codes import NO_PRICE, Side
from bookwarp.spec.market_data import NO_BOOK, MarketEvent, Oddity

_BUY, _SELL = int(Side.BUY), int(Side.SELL)
_ADD, _REDUCE, _DELETE = (int(e) for e in (MarketEvent.ADD, MarketEvent.REDUCE, MarketEvent.DELETE))
_EXECUTE, _EXECUTE_AT = int(MarketEvent.EXECUTE), int(MarketEvent.EXECUTE_AT)
_REPLACE, _CHANGE = int(MarketEvent.REPLACE), int(MarketEvent.CHANGE)
_ODDITY = {oddity.name: np.uint32(oddity) for oddity in Oddity}
_OPENING_DEPTH, _DUPLICATE_ID = _ODDITY["OPENING_DEPTH"], _ODDITY["DUPLICATE_ID"]
_BAD_QTY, _TOO_MUCH = _ODDITY["BAD_QTY"], _ODDITY["TOO_MUCH"]
_WRONG_QTY, _WRONG_PRICE = _ODDITY["WRONG_QTY"], _ODDITY["WRONG_PRICE"]
_OFF_FRONT, _OFF_FRONT_BY_ID = _ODDITY["OFF_FRONT"], _ODDITY["OFF_FRONT_BY_ID"]
_OFF_BEST, _OLD_ORDER = _ODDITY["OFF_BEST"], _ODDITY["OLD_ORDER"]
_LOCKED, _CROSSED = _ODDITY["LOCKED"], _ODDITY["CROSSED"]
# What an event is whatever the book holds, and what it is if it names an unknown id, by code.
_OF_ITSELF = np.zeros(len(MarketEvent), np.uint32)
_UNKNOWN = np.zeros(len(MarketEvent), np.uint32)
for _name in ("HIDDEN", "CROSS", "BROKEN", "HALT"):
    _OF_ITSELF[MarketEvent[_name]] = _ODDITY[_name]
for _name in ("REDUCE", "DELETE", "EXECUTE", "REPLACE", "CHANGE"):
    _UNKNOWN[MarketEvent[_name]] = _ODDITY[f"UNKNOWN_{_name}"]
_UNKNOWN[_EXECUTE_AT] = _ODDITY["UNKNOWN_EXECUTE"]
_NOTHING = np.uint32(0)
_NO_PRICE = np.int64(NO_PRICE)
_MOST = np.int64(INT64_MAX)


@inlined
def find_priority(books, order, ids_grow):  # type: ignore[no-untyped-def]
    """Say how an order that is executed stands apart from the one whose turn it was."""
    level = books.levels[order.level]
    oddity = _NOTHING
    if order.ahead != NONE:
        oddity |= _OFF_FRONT
    if ids_grow:
        other = level.first
        while other != NONE:
            if books.orders[other].order_id < order.order_id:
                oddity |= _OFF_FRONT_BY_ID
                break
            other = books.orders[other].behind
    if level.key != best_key(books, level.side):
        oddity |= _OFF_BEST
    return oddity


@inlined
def find_crossing(books, book):  # type: ignore[no-untyped-def]
    """Say whether the best prices meet."""
    if books.sides[2 * book].count == 0 or books.sides[2 * book + 1].count == 0:
        return _NOTHING
    bid, ask = best_key(books, 2 * book), ~best_key(books, 2 * book + 1)
    if bid < ask:
        return _NOTHING
    return _CROSSED if bid > ask else _LOCKED


@inlined
def would_trade(books, book, side, price):  # type: ignore[no-untyped-def]
    """Say whether a limit order would trade in a matching book."""
    opposite = 2 * book + (1 if side == _BUY else 0)
    if side == 0 or books.sides[opposite].count == 0:
        return False
    key = best_key(books, opposite)
    return price >= ~key if side == _BUY else price <= key


@inlined
def is_plain_move(books, rows, i, book, side, price):  # type: ignore[no-untyped-def]
    """Say whether what REPLACE or CHANGE leaves of an order would rest in a matching book too."""
    if rows.event[i] == _CHANGE:
        wanted = price if rows.price[i] == _NO_PRICE else rows.price[i]
        return not would_trade(books, book, side, wanted)
    other = books.table[find_order(books, book, rows.new_id[i])]
    doubled = other != NONE and rows.new_id[i] != rows.order_id[i]
    return not doubled and not would_trade(books, book, side, rows.price[i])


@inlined
def is_matched_alike(books, rows, i, place):  # type: ignore[no-untyped-def]
    """Say whether orders that stand for a row do in a matching book what the row says."""
    event, book = rows.event[i], np.int64(rows.book[i])
    if event == _ADD:
        known = books.table[place] != NONE
        return not known and not would_trade(books, book, rows.side[i], rows.price[i])
    if event < _REDUCE or event > _CHANGE:
        return True
    if books.table[place] == NONE:
        return False
    if event < _EXECUTE:
        return True
    order = books.orders[books.table[place]]
    level = books.levels[order.level]
    side, price = (_BUY, level.key) if level.side & 1 == 0 else (_SELL, ~level.key)
    if event > _EXECUTE_AT:
        return is_plain_move(books, rows, i, book, side, price)
    says = event == _EXECUTE_AT and rows.price[i] != _NO_PRICE
    stated = rows.price[i] if says else price
    odd = find_priority(books, order, False) != _NOTHING
    return not odd and level.opening_qty == 0 and stated == price


@inlined
def take(books, rows, i, place, ids_grow):  # type: ignore[no-untyped-def]
    """Take from an order what was cancelled or executed of it; return what is odd."""
    event, qty = rows.event[i], rows.qty[i]
    whole = event == _DELETE
    if qty < (0 if whole else 1):
        return _BAD_QTY
    if books.table[place] == NONE:
        return _UNKNOWN[event] | take_unknown(books, rows, i)
    order = books.orders[books.table[place]]
    level = books.levels[order.level]
    side, price = (_BUY, level.key) if level.side & 1 == 0 else (_SELL, ~level.key)
    oddity = _NOTHING
    wrong_price = rows.price[i] != _NO_PRICE and rows.price[i] != price and event != _EXECUTE_AT
    if wrong_price or (rows.side[i] != 0 and rows.side[i] != side):
        oddity |= _WRONG_PRICE
    if event >= _EXECUTE:
        oddity |= find_priority(books, order, ids_grow)
    if whole and qty != 0 and qty != order.qty:
        oddity |= _WRONG_QTY
    if not whole and qty > order.qty:
        oddity |= _TOO_MUCH
    taken = order.qty if whole else min(qty, order.qty)
    rows.side[i], rows.qty[i], rows.open_qty[i] = side, taken, order.qty - taken
    if event != _EXECUTE_AT or rows.price[i] == _NO_PRICE:
        rows.price[i] = price
    if taken == order.qty:
        remove_order(books, place)
    else:
        order.qty -= taken
        level.qty -= taken
    return oddity


@inlined
def take_unknown(books, rows, i):  # type: ignore[no-untyped-def]
    """Take from the opening depth what an order that was never announced is said to lose."""
    if rows.side[i] == 0 or rows.qty[i] == 0:
        return _NOTHING
    buys = rows.side[i] == _BUY
    side = 2 * np.int64(rows.book[i]) + (0 if buys else 1)
    key = rows.price[i] if buys else ~rows.price[i]
    position = find_key(books, side, key)
    node = books.sides[side]
    if position == node.count or books.keys[node.start + position] != key:
        return _NOTHING
    index = books.nodes[node.start + position]
    level = books.levels[index]
    if level.opening_qty == 0:
        return _NOTHING
    oddity = _OPENING_DEPTH
    if rows.qty[i] > level.opening_qty:
        oddity |= _TOO_MUCH
    taken = min(rows.qty[i], level.opening_qty)
    level.opening_qty -= taken
    level.qty -= taken
    leave_level(books, index)
    return oddity


@inlined
def take_place(books, rows, i, place, ids_grow):  # type: ignore[no-untyped-def]
    """Do the part of REPLACE and CHANGE that concerns the order as it was.

    Returns what is odd, and whether an order is to be added: `side`, `price` and `qty` of the row
    are then those of that order.
    """
    replaces = rows.event[i] == _REPLACE
    if not replaces and rows.qty[i] < 1:
        return _BAD_QTY, False
    if books.table[place] == NONE:
        enough = rows.side[i] != 0 and rows.price[i] != _NO_PRICE
        return _UNKNOWN[rows.event[i]], enough
    order = books.orders[books.table[place]]
    level = books.levels[order.level]
    side, price = (_BUY, level.key) if level.side & 1 == 0 else (_SELL, ~level.key)
    oddity = _NOTHING
    if rows.side[i] != 0 and rows.side[i] != side:
        oddity = _WRONG_PRICE
    rows.side[i], rows.old_price[i], rows.old_qty[i] = side, price, order.qty
    if not replaces:
        if rows.price[i] == _NO_PRICE:
            rows.price[i] = price
        if rows.price[i] == price and rows.qty[i] <= order.qty:
            level.qty -= order.qty - rows.qty[i]
            order.qty = rows.qty[i]
            rows.open_qty[i] = rows.qty[i]
            return oddity, False
    remove_order(books, place)
    return oddity, True


@inlined
def add(books, rows, i, order_id, ids_grow):  # type: ignore[no-untyped-def]
    """Let an order rest at the end of its queue; return what is odd."""
    book, side, price, qty = np.int64(rows.book[i]), rows.side[i], rows.price[i], rows.qty[i]
    if qty < 1 or price == _NO_PRICE or (side != _BUY and side != _SELL):
        return _BAD_QTY
    oddity = _NOTHING
    place = find_order(books, book, order_id)
    if books.table[place] != NONE:
        remove_order(books, place)
        oddity |= _DUPLICATE_ID
    row = 2 * book + (0 if side == _BUY else 1)
    level = enter_level(books, row, price if side == _BUY else ~price)
    if books.levels[level].qty > _MOST - qty:
        return oddity | _BAD_QTY
    append_order(books, book, order_id, level, qty)
    rows.open_qty[i] = qty
    if ids_grow and order_id < books.highest_id[book]:
        oddity |= _OLD_ORDER
    books.highest_id[book] = max(books.highest_id[book], order_id)
    return oddity


@inlined
def copy_levels(books, book, levels, i):  # type: ignore[no-untyped-def]
    """Copy the best levels of both sides into the row `i` of `levels`."""
    for column in range(2):
        side = 2 * book + 1 - column  # asks come first
        node = books.sides[side]
        count = min(np.int64(node.count), levels.shape[1])
        place = node.start + node.count - 1
        for level in range(count):
            key = books.keys[place - level]
            levels[i, level, 2 * column] = key if column else ~key
            levels[i, level, 2 * column + 1] = books.levels[books.nodes[place - level]].qty
        for level in range(count, levels.shape[1]):
            levels[i, level, 2 * column] = _NO_PRICE
            levels[i, level, 2 * column + 1] = 0


@inlined
def apply_row(books, rows, i, place, ids_grow):  # type: ignore[no-untyped-def]
    """Change the book of a row as the row says; return what is odd about it."""
    event = rows.event[i]
    oddity, adds = _OF_ITSELF[event], event == _ADD
    order_id = rows.order_id[i]
    if _REDUCE <= event <= _EXECUTE_AT:
        oddity |= take(books, rows, i, place, ids_grow)
    elif event in (_REPLACE, _CHANGE):
        odd, adds = take_place(books, rows, i, place, ids_grow)
        oddity |= odd
        if event == _REPLACE:
            order_id = rows.new_id[i]
        elif odd & _UNKNOWN[event] == _NOTHING:
            ids_grow = False  # an order that moved is not an old one
    if adds:
        oddity |= add(books, rows, i, order_id, ids_grow)
    return oddity


def _build(digest: str) -> Any:
    @entry_point
    def apply_rows(books, rows, levels, first, stop, ids_grow, pause):  # type: ignore[no-untyped-def]
        """Apply the rows `first` .. `stop`; return the row that comes next."""
        _ = digest  # in the closure, and so in the key of the cache
        for i in range(first, stop):
            book = np.int64(rows.book[i])
            if book == NO_BOOK:
                for level in range(levels.shape[1]):
                    levels[i, level, 0] = levels[i, level, 2] = _NO_PRICE
                    levels[i, level, 1] = levels[i, level, 3] = 0
                continue
            place = find_order(books, book, rows.order_id[i])
            if pause and not is_matched_alike(books, rows, i, place):
                return i
            oddity = apply_row(books, rows, i, place, ids_grow)
            rows.oddity[i] |= oddity | find_crossing(books, book)
            copy_levels(books, book, levels, i)
        return stop

    @entry_point
    def enter_all(books):  # type: ignore[no-untyped-def]
        """Enter all live orders into a table that is empty."""
        _ = digest
        for side in range(len(books.sides)):
            node = books.sides[side]
            for place in range(node.start, node.start + node.count):
                slot = np.int64(books.levels[books.nodes[place]].first)
                while slot != NONE:
                    order = books.orders[slot]
                    books.table[find_order(books, order.book, order.order_id)] = slot
                    slot = np.int64(order.behind)

    @entry_point
    def add_depth(books, side, keys, lots):  # type: ignore[no-untyped-def]
        """Add opening depth to a side."""
        _ = digest
        for i in range(len(keys)):
            level = enter_level(books, side, keys[i])
            books.levels[level].qty += lots[i]
            books.levels[level].opening_qty += lots[i]

    @entry_point
    def list_orders(books, side, found):  # type: ignore[no-untyped-def]
        """Write the orders of a side into `found`, as many as fit; return how many there are."""
        _ = digest
        node = books.sides[side]
        count = 0
        for place in range(node.start + node.count - 1, node.start - 1, -1):
            key = books.keys[place]
            slot = np.int64(books.levels[books.nodes[place]].first)
            while slot != NONE:
                if count < len(found):
                    found[count].order_id = books.orders[slot].order_id
                    found[count].price = key if side & 1 == 0 else ~key
                    found[count].qty = books.orders[slot].qty
                count += 1
                slot = np.int64(books.orders[slot].behind)
        return count

    return apply_rows, enter_all, add_depth, list_orders


apply_rows, enter_all, add_depth, list_orders = _build(source_digest())
