"""Books of flat rows between two blocks: checked, ordered for a root, and changed in part."""

from typing import Any

import numpy as np

from bookwarp.consensus.flat.pieces import wholes
from bookwarp.consensus.flat.rows import MAX_QUANTITY, as_orders, check_resting
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.flat import FLAT_ORDER, FlatSide, FlatState

_LOW_HALF = np.uint64(0xFFFFFFFF)
_HALF_BITS = np.uint64(32)


def check_state(state: FlatState, books: int | None = None) -> FlatState:
    """Return books that a caller gives, once they are sound.

    Args:
        state: the books.
        books: how many there must be; None: any number.

    Raises:
        ParameterError: naming the first order that is wrong, the field, its offset and its value;
            or the two orders that do not rest in order, or cross.
    """
    if not isinstance(state, FlatState):
        raise ParameterError(f"state must be a FlatState, not {type(state).__name__}")
    orders = as_orders(state.orders)
    offsets = _check_offsets(state.order_offsets, len(orders))
    check_resting(orders)
    book = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    _check_priority(orders, book)
    _check_crossing(orders, offsets)
    _check_lots(orders, book)
    if books not in (None, len(offsets) - 1):
        raise ParameterError(f"books = {books}, but state has {len(offsets) - 1}")
    return FlatState(orders, offsets)


def _check_offsets(offsets: Any, orders: int) -> np.ndarray:
    given = np.asarray(offsets)
    if given.ndim != 1 or given.dtype.kind not in "iu" or len(given) < 2:
        raise ParameterError("order_offsets must be integers [book + 1]")
    given = given.astype(np.int64)
    if given[0] != 0 or given[-1] != orders or (np.diff(given) < 0).any():
        raise ParameterError(f"order_offsets do not rise from 0 to the number of orders, {orders}")
    return given


def _check_priority(orders: np.ndarray, book: np.ndarray) -> None:
    if len(orders) < 2:
        return
    one, other = orders[:-1], orders[1:]
    side = one["side"]
    same_book = book[1:] == book[:-1]
    falls, rises = _is_below(other, one), _is_below(one, other)
    out_of_order = np.where(side == FlatSide.BID, rises, falls) & (side == other["side"])
    wrong = same_book & (out_of_order | (side > other["side"]))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ParameterError(
            f"resting orders {at} and {at + 1}, of book {book[at]}, are not in order: bids come "
            f"first, by price falling, then asks, by price rising"
        )


def _check_crossing(orders: np.ndarray, offsets: np.ndarray) -> None:
    asks = orders["side"] == FlatSide.ASK
    # The first ask of a book comes after its bids.
    asks_before = np.concatenate([[0], np.cumsum(asks)])
    stops = offsets[1:]
    first_asks = stops - (asks_before[stops] - asks_before[offsets[:-1]])
    both = np.flatnonzero((first_asks > offsets[:-1]) & (first_asks < stops))
    bids, first_asks = offsets[both], first_asks[both]
    crossed = ~_is_below(orders[bids], orders[first_asks])
    if crossed.any():
        at = int(np.argmax(crossed))
        raise ParameterError(
            f"resting orders {bids[at]} and {first_asks[at]}, of book {both[at]}, cross"
        )


def _check_lots(orders: np.ndarray, book: np.ndarray) -> None:
    if not len(orders):
        return
    starts = np.flatnonzero(opens_level(orders, book))
    remaining = orders["remaining"]
    low = np.add.reduceat(remaining & _LOW_HALF, starts)
    high = np.add.reduceat(remaining >> _HALF_BITS, starts) + (low >> _HALF_BITS)
    full = high > MAX_QUANTITY >> 32
    if full.any():
        at = int(starts[np.argmax(full)])
        raise ParameterError(
            f"resting order {at}, of book {book[at]}: more than {MAX_QUANTITY} lots rest at its "
            f"price"
        )


def _is_below(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return of each pair of rows whether the price of the first is below that of the second."""
    same = one["price_integer"] == other["price_integer"]
    below: np.ndarray = one["price_integer"] < other["price_integer"]
    below |= same & (one["price_fraction"] < other["price_fraction"])
    return below


def opens_level(orders: np.ndarray, book: np.ndarray) -> np.ndarray:
    """Return where the orders of another book, side or price begin, bool [order]."""
    opens = np.ones(len(orders), bool)
    opens[1:] = book[1:] != book[:-1]
    for name in ("side", "price_integer", "price_fraction"):
        opens[1:] |= orders[name][1:] != orders[name][:-1]
    return opens


def rows_for_root(resting: FlatState | np.ndarray) -> np.ndarray:
    """Return resting orders as a root takes them, `FLAT_ORDER` [order].

    Book by book; in a book bids by price falling, then asks by price rising; then by order id, and
    among equal ids by priority.

    Args:
        resting: of any number of books; or the orders of one book, in any order.
    """
    if isinstance(resting, FlatState):
        orders = resting.orders
        book = np.repeat(np.arange(resting.books), np.diff(resting.order_offsets))
    else:
        orders = as_orders(resting)
        book = np.zeros(len(orders), np.int64)
    # Of a bid all bits of the price are turned, so that the highest comes first.
    turn = np.where(orders["side"] == FlatSide.BID, ~np.uint64(0), np.uint64(0))
    fraction, integer = orders["price_fraction"] ^ turn, orders["price_integer"] ^ turn
    places = np.lexsort((orders["order_id"], fraction, integer, orders["side"], book))
    return wholes(orders)[places].view(FLAT_ORDER)


def replace_books(state: FlatState, books: np.ndarray, part: FlatState) -> FlatState:
    """Return the books with some of them replaced.

    Args:
        state: of all books.
        books: int64 [replaced book], ascending.
        part: of the replaced books, in that order.
    """
    counts = np.diff(state.order_offsets)
    kept = np.ones(state.books, bool)
    kept[books] = False
    kept_rows = np.repeat(kept, counts)
    counts[books] = np.diff(part.order_offsets)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    if not kept_rows.any():
        return FlatState(part.orders, offsets)
    orders = np.empty(offsets[-1], FLAT_ORDER)
    stay = np.repeat(kept, counts)
    wholes(orders)[stay] = wholes(state.orders)[kept_rows]
    wholes(orders)[~stay] = wholes(part.orders)
    return FlatState(orders, offsets)
