"""The kernels: match the messages of some books of a block, and copy resting orders out and in.

Owns: the arrays of its block, which have room for every order that can come to rest, so that
nothing is allocated here; and the events and depth of its messages. Books come one after the other,
each with all its messages, so that what a book needs stays in the core's cache.
"""

from typing import Any

import numpy as np

from bookwarp.engines.cpu.books.instructions import prefetch
from bookwarp.engines.cpu.books.layout import EVENTS_WRITTEN, NOBODY
from bookwarp.engines.cpu.books.matching import apply_message
from bookwarp.engines.cpu.books.pools import at
from bookwarp.engines.cpu.books.prices import key_of_price, next_level, price_of_key
from bookwarp.engines.cpu.books.queue import append_order
from bookwarp.engines.cpu.books.telling import Log
from bookwarp.engines.cpu.compile import entry_point, inlined, source_digest
from bookwarp.spec.codes import NO_PRICE, Side
from bookwarp.spec.events import Counter

_BUY, _MESSAGES = int(Side.BUY), int(Counter.MESSAGES)
_NO_PRICE = np.int64(NO_PRICE)
_NO_OWNER = np.uint64(0)
# Messages of a book lie apart in their bin; one takes as long to fetch as this many to match.
_AHEAD = 16


@inlined
def copy_depth(block, book, depth):  # type: ignore[no-untyped-def]
    """Copy the best levels of both sides; `depth` is int64 [level, `LEVEL_COLUMNS`]."""
    for column in range(0, 4, 2):
        side = 2 * book + (1 if column == 0 else 0)  # asks come first
        level = np.int64(at(block.sides, side).best)
        for row in range(len(depth)):
            if level == NOBODY:
                depth[row, column], depth[row, column + 1] = _NO_PRICE, 0
                continue
            depth[row, column] = price_of_key(at(block.levels, level).key, side)
            depth[row, column + 1] = at(block.levels, level).qty
            if row + 1 < len(depth):
                level = next_level(block, level)


def _build(digest: str) -> Any:
    @entry_point
    def match_bin(  # type: ignore[no-untyped-def]
        block, rules, first_book, messages, places, starts, owners, events, step, counts, depth
    ):
        """Match the messages of some books of a block; return how many events were written.

        Args:
            block, rules: see layout.py.
            first_book: the first of these books, counted from the first of the block.
            messages: ORDER [message of the bin]; see `Dealt` for what `book` means.
            places: uint32 [message of the bin], messages by book; empty if they lie so.
            starts: int64 [book of the bin + 1], where in `places` a book starts.
            owners: uint64 [message of the batch], or empty if not tracked.
            events: EVENT [event], written from the start.
            step: 1, or 0 to write no events.
            counts: int64 [book of the bin], set to the number of events.
            depth: int64 [message of the batch, level, `LEVEL_COLUMNS`], or empty if not asked.
        """
        _ = digest  # in the closure, and so in the key of the cache
        cursor = block.room[EVENTS_WRITTEN : EVENTS_WRITTEN + 1]
        cursor[0] = 0
        for number in range(len(starts) - 1):
            before, book = cursor[0], first_book + number
            for position in range(starts[number], starts[number + 1]):
                place = row = position
                if len(places):
                    place = np.int64(at(places, position))
                    ahead = min(position + _AHEAD, len(places) - 1)
                    prefetch(messages, np.int64(at(places, ahead)))
                    row = np.int64(at(messages, place).book)
                message = at(messages, place)
                owner = owners[row] if len(owners) else _NO_OWNER
                log = Log(events, cursor, step, row, message.op)
                apply_message(block, rules, log, book, message, owner)
                if len(depth):
                    copy_depth(block, book, depth[row])
            block.counters[np.uint64(book), _MESSAGES] += starts[number + 1] - starts[number]
            counts[number] = cursor[0] - before
        return cursor[0]

    @entry_point
    def list_orders(block, first_book, found):  # type: ignore[no-untyped-def]
        """Copy all resting orders by priority; `found` is RESTING [order], of the right length."""
        _ = digest
        place = 0
        for side in range(len(block.sides)):
            level = np.int64(at(block.sides, side).best)
            while level != NOBODY:
                index = np.int64(at(block.levels, level).first)
                while index != NOBODY:
                    order, row = at(block.orders, index), found[place]
                    row.order_id, row.qty, row.tif = order.order_id, order.qty, order.tif
                    row.price = price_of_key(at(block.levels, level).key, side)
                    row.filled = at(block.filled, index) if len(block.filled) else 0
                    row.owner = at(block.owners, index) if len(block.owners) else _NO_OWNER
                    row.book, row.side = first_book + (side >> 1), 1 - 2 * (side & 1)
                    row.reserved = 0
                    place += 1
                    index = np.int64(order.behind)
                level = next_level(block, level)

    @entry_point
    def enter_orders(block, first_book, given):  # type: ignore[no-untyped-def]
        """Let orders rest in empty books, in the order given; `given` is RESTING [order]."""
        _ = digest
        for place in range(len(given)):
            row = given[place]
            side = 2 * (np.int64(row.book) - first_book) + (0 if row.side == _BUY else 1)
            key = key_of_price(row.price, side)
            index = append_order(block, side, key, row.order_id, row.qty, row.tif)
            if len(block.filled):
                block.filled[np.uint64(index)] = row.filled
            if len(block.owners):
                block.owners[np.uint64(index)] = row.owner

    return match_bin, list_orders, enter_orders


match_bin, list_orders, enter_orders = _build(source_digest())
