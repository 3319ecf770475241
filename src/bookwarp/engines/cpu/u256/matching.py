"""Match one order: twin of `bookwarp.reference.u256`."""

import numpy as np

from bookwarp.engines.cpu.books.pools import at
from bookwarp.engines.cpu.compile import inlined
from bookwarp.engines.cpu.u256.division import add_product, clear, divide
from bookwarp.engines.cpu.u256.layout import (
    SLOT_WORDS,
    set_slot,
    set_slot_qty,
    slot_at,
    slot_price,
    slot_qty,
)
from bookwarp.engines.cpu.u256.numbers import equal, is_zero, less, load_number, subtract
from bookwarp.spec.u256 import BID, PRICE_AT, QTY_AT, SIDE_AT

_ZERO = (np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0))


@inlined
def match_order(pools, capacity, book, calldata, start, scratch):  # type: ignore[no-untyped-def]
    """Match the order that begins at `start`; return filled quantity, average price and fills.

    Args:
        pools: see layout.py.
        capacity: slots a side.
        book: its book.
        calldata: uint8 [byte].
        start: where the order begins.
        scratch: the sum and the scratch of the division, two arrays.
    """
    is_bid = at(calldata, start + SIDE_AT) == BID
    price, qty = load_number(calldata, start + PRICE_AT), load_number(calldata, start + QTY_AT)
    own = 2 * book + (0 if is_bid else 1)
    left, vwap, fill_count = take_fills(pools, capacity, own ^ 1, is_bid, price, qty, scratch)
    if not is_zero(left):
        rest_order(pools, capacity, own, is_bid, price, left)
    return subtract(qty, left), vwap, fill_count


@inlined
def crosses(is_bid, limit, resting):  # type: ignore[no-untyped-def]
    """Return whether an order trades at a resting price."""
    return not less(limit, resting) if is_bid else not less(resting, limit)


@inlined
def take_fills(pools, capacity, side, is_bid, limit, qty, scratch):  # type: ignore[no-untyped-def]
    """Fill from the best slot on; return what is left, the average price and the fills.

    Fills at one price are taken together: most orders meet one price only, which is the average.
    """
    total, workspace = scratch
    slots = pools.slots
    head, count = np.int64(at(pools.sides, side).head), np.int64(at(pools.sides, side).count)
    fill_count, prices = np.int64(0), 0
    left, run_left, run_price = qty, qty, _ZERO  # a run: fills at one price
    while count > fill_count and not is_zero(left):
        place = slot_at(side, 0, head, capacity)
        price = slot_price(slots, place)
        if not crosses(is_bid, limit, price):
            break
        if prices == 0:
            prices, run_price = 1, price
        elif not equal(price, run_price):
            if prices == 1:
                clear(total)
            add_product(total, subtract(run_left, left), run_price)
            prices, run_price, run_left = 2, price, left
        resting = slot_qty(slots, place)
        fill_count += 1
        if less(left, resting):
            set_slot_qty(slots, place, subtract(resting, left))
            left = _ZERO
            count += 1  # this one stays
            break
        left = subtract(left, resting)
        head = head + 1 if head + 1 < capacity else 0
    pools.sides[np.uint64(side)].head = head
    pools.sides[np.uint64(side)].count = count - fill_count
    vwap = run_price
    if prices == 2:
        add_product(total, subtract(run_left, left), run_price)
        vwap = divide(total, subtract(qty, left), workspace)
    return left, vwap, fill_count


@inlined
def rest_order(pools, capacity, side, is_bid, price, qty):  # type: ignore[no-untyped-def]
    """Let a remainder rest behind equal prices; it is dropped if its side is full."""
    head, count = np.int64(at(pools.sides, side).head), np.int64(at(pools.sides, side).count)
    if count == capacity:
        return
    slots = pools.slots
    index = find_place(slots, capacity, side, head, count, is_bid, price)
    if index < count - index:
        head = head - 1 if head > 0 else capacity - 1
        for each in range(index):
            copy_slot(slots, capacity, side, head, each + 1, each)
    else:
        for each in range(count, index, -1):
            copy_slot(slots, capacity, side, head, each - 1, each)
    set_slot(slots, slot_at(side, index, head, capacity), price, qty)
    pools.sides[np.uint64(side)].head = head
    pools.sides[np.uint64(side)].count = count + 1


@inlined
def find_place(slots, capacity, side, head, count, is_bid, price):  # type: ignore[no-untyped-def]
    """Return how many slots of a side are as good as a price, or better, by bisection."""
    low, high = np.int64(0), count
    while low < high:
        middle = (low + high) >> 1
        found = slot_price(slots, slot_at(side, middle, head, capacity))
        behind = less(found, price) if is_bid else less(price, found)
        if behind:
            high = middle
        else:
            low = middle + 1
    return low


@inlined
def copy_slot(slots, capacity, side, head, index, to):  # type: ignore[no-untyped-def]
    """Copy a slot of a side to another index of it."""
    given = slot_at(side, index, head, capacity)
    found = slot_at(side, to, head, capacity)
    for word in range(SLOT_WORDS):
        slots[np.uint64(found + word)] = at(slots, given + word)
