"""Messages to many books at once: quotes, cancels and marketable orders, drawn book by book.

Every book opens with `live` resting orders around a price of its own. Then each message is a new
order that rests (45 %), a cancel (40 %) of one that its sender believes to be live, or an order
that crosses the spread (15 %), half of them IOC. What is filled is not told to the senders, so that
some cancels come too late, as they do on a venue.
"""

from dataclasses import dataclass

import numpy as np

from bookwarp.spec.codes import Side
from bookwarp.spec.orders import ORDER, Op, TimeInForce

NEW_SHARE, CANCEL_SHARE = 0.45, 0.40
_TICKS_AWAY = 0.15
"""Of the geometric distance of resting orders from the middle."""
_TICKS_THROUGH = 4
_RESTING_LOTS, _TAKING_LOTS = 100, 80


@dataclass(frozen=True, eq=False)
class BookFlow:
    """A stream for many books."""

    opening: np.ndarray
    """`ORDER` [message]: what the books open with; none of it trades."""
    orders: np.ndarray
    """`ORDER` [message]: as many for every book; of each round of one a book, in a new order."""
    books: int


def draw_flow(books: int, messages: int, live: int = 100, seed: int = 1) -> BookFlow:
    """Return a flow of `messages` messages for each of `books` books.

    Cost: about 15 s for 33 million messages.
    """
    draw = np.random.default_rng(seed)
    middle = draw.integers(5_000, 500_000, books)
    opening = _draw_opening(draw, middle, live)
    orders = np.zeros((messages, books), ORDER)
    believed = np.zeros((books, live + messages), np.uint32)
    believed[:, :live] = np.arange(live)
    counts = np.full(books, live)
    next_id = np.full(books, live)
    book = np.arange(books)
    for row in orders:
        order = draw.permutation(books)
        share = draw.random(books)
        cancels = (share >= NEW_SHARE) & (share < NEW_SHARE + CANCEL_SHARE) & (counts > 0)
        takes = share >= NEW_SHARE + CANCEL_SHARE
        rests = ~cancels & ~takes

        place = (draw.random(books) * counts).astype(np.int64)
        chosen = believed[book, np.minimum(place, counts - 1)]
        side = draw.choice(np.array([Side.SELL, Side.BUY], np.int8), books)
        away = draw.geometric(_TICKS_AWAY, books)
        price = middle + np.where(
            takes, side * draw.integers(0, _TICKS_THROUGH, books), -side * away
        )
        taking = draw.integers(1, _TAKING_LOTS + 1, books)
        lots = np.where(takes, taking, draw.integers(1, _RESTING_LOTS + 1, books))
        made = {
            "order_id": np.where(cancels, chosen, next_id),
            "price": np.where(cancels, 0, price),
            "qty": np.where(cancels, 0, lots),
            "book": book,
            "op": np.where(cancels, Op.CANCEL, Op.NEW),
            "side": np.where(cancels, 0, side),
            "tif": np.where(takes & (draw.random(books) < 0.5), TimeInForce.IOC, TimeInForce.GTC),
        }
        for name, values in made.items():
            row[name] = values[order]

        gone = book[cancels]
        believed[gone, place[cancels]] = believed[gone, counts[cancels] - 1]
        counts[cancels] -= 1
        come = book[rests]
        believed[come, counts[rests]] = next_id[rests]
        counts[rests] += 1
        next_id[~cancels] += 1
    return BookFlow(opening, orders.reshape(-1), books)


def _draw_opening(draw: np.random.Generator, middle: np.ndarray, live: int) -> np.ndarray:
    books = len(middle)
    opening = np.zeros((books, live), ORDER)
    opening["book"] = np.arange(books)[:, None]
    opening["order_id"] = np.arange(live)
    opening["op"] = Op.NEW
    opening["side"] = np.where(np.arange(live) % 2, Side.BUY, Side.SELL)
    away = draw.geometric(_TICKS_AWAY, (books, live))
    opening["price"] = middle[:, None] - opening["side"] * away
    opening["qty"] = draw.integers(1, _RESTING_LOTS + 1, (books, live))
    return opening.reshape(-1)
