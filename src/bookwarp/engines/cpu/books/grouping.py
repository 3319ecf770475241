"""Bring a flat batch of messages into the order of their books, stably, on several threads.

Twice a counting sort: first every thread deals its part of the batch to bins of neighbouring books,
as copies; then whoever matches a bin finds the order of its books among what lies in it, which is
little enough to stay close to the core. (To fetch each message from where it lies in the batch
takes longer than to match it.)
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from bookwarp.engines.cpu.books.pools import at
from bookwarp.engines.cpu.books.room import Room
from bookwarp.engines.cpu.compile import entry_point, source_digest
from bookwarp.spec.orders import ORDER, Kind, Op, TimeInForce

_NEW, _MARKET = int(Op.NEW), int(Kind.MARKET)
_GTC, _POST_ONLY = int(TimeInForce.GTC), int(TimeInForce.POST_ONLY)

# Columns of what is counted of a bin: messages, and those of orders that may come to rest.
_MESSAGES, _ENTERING = 0, 1

# Messages of a bin: 1 MiB, half of what a core keeps close.
_BIN_MESSAGES = 1 << 15
# More bins than this cannot be written to side by side without going to memory for each message.
_MOST_BINS = 1 << 12


def _build(digest: str) -> Any:
    @entry_point
    def count_bins(orders, first, stop, shift, counts):  # type: ignore[no-untyped-def]
        """Count the messages `first` .. `stop` by bin; `counts` is int64 [bin, 2], of zeros."""
        _ = digest  # in the closure, and so in the key of the cache
        for row in range(first, stop):
            message = at(orders, row)
            number = np.int64(message.book) >> shift
            # By arithmetic: to guess each of these takes longer.
            rests = np.int64(message.tif == _GTC) | np.int64(message.tif == _POST_ONLY)
            is_new = np.int64(message.op == _NEW) & np.int64(message.kind != _MARKET)
            counts[number, _MESSAGES] += 1
            counts[number, _ENTERING] += is_new & rests

    @entry_point
    def deal_messages(orders, first, stop, shift, places, messages, books):  # type: ignore[no-untyped-def]
        """Copy the messages `first` .. `stop` into their bins.

        Args:
            orders: ORDER [message].
            first, stop: which of them.
            shift: a bin has 2**shift books.
            places: int64 [bin], where the next message of each bin goes; moved on.
            messages: ORDER [message], set to the message, but `book` to where it came from.
            books: uint32 [message], set to its book.
        """
        _ = digest
        for row in range(first, stop):
            message = at(orders, row)
            book = message.book
            number = np.int64(book) >> shift
            place = places[number]
            dealt = np.uint64(place)
            messages[dealt] = message
            messages[dealt].book = row
            books[dealt] = book
            places[number] = place + 1

    @entry_point
    def sort_bin(books, first_book, starts, places):  # type: ignore[no-untyped-def]
        """Find the order of the books among the messages of a bin.

        Args:
            books: uint32 [message of the bin].
            first_book: the first book of the bin.
            starts: int64 [book of the bin + 1], set to where in `places` a book starts.
            places: uint32 [message of the bin], set to where the messages are, by book.
        """
        _ = digest
        starts[:] = 0
        for place in range(len(books)):
            starts[np.int64(books[place]) - first_book + 1] += 1
        before = np.int64(0)
        for book in range(1, len(starts)):
            count = starts[book]
            starts[book] = before  # where the next message of the book before goes
            before += count
        for place in range(len(books)):
            book = np.int64(books[place]) - first_book + 1
            places[starts[book]] = place
            starts[book] += 1

    return count_bins, deal_messages, sort_bin


count_bins, deal_messages, sort_bin = _build(source_digest())


class Dealt(NamedTuple):
    """The messages of a batch by bin, in a bin in the order in which they came."""

    messages: np.ndarray
    """`ORDER` [message]: those of a bin are `messages[starts[bin] : starts[bin + 1]]`. Their `book`
    is where in the batch they were, unless there is one book only: then they still are there."""
    books: np.ndarray
    """uint32 [message], the book of each; empty if there is one only."""
    starts: np.ndarray
    """int64 [bin + 1]."""
    entering: np.ndarray
    """int64 [bin], no fewer than the messages of orders that may come to rest."""
    shift: int
    """A bin has 2**shift books."""


def deal(orders: np.ndarray, books: int, largest_shift: int, threads: int, room: Room) -> Dealt:
    """Deal messages to bins of 2**shift books, on several threads.

    Args:
        orders: `ORDER` [message]; if there is one book only they are used as they are.
        books: how many books there are.
        largest_shift: bins are at most of 2**largest_shift books.
        threads: how many parts of the batch are dealt at once.
        room: where the messages are dealt to.
    """
    if books == 1:
        count = np.array([len(orders)])
        return Dealt(orders, np.empty(0, np.uint32), np.array([0, len(orders)]), count, 0)
    wanted = min(max(len(orders) // _BIN_MESSAGES, 1), _MOST_BINS)
    shift = min(((books - 1) // wanted).bit_length(), largest_shift)
    bins = ((books - 1) >> shift) + 1
    edges = np.linspace(0, len(orders), threads + 1).astype(np.int64)
    counts = np.zeros((threads, bins, 2), np.int64)

    def count_part(part: int) -> None:
        count_bins(orders, edges[part], edges[part + 1], shift, counts[part])

    def deal_part(part: int) -> None:
        first, stop = edges[part], edges[part + 1]
        deal_messages(orders, first, stop, shift, places[part], messages, book_of)

    on_threads(threads, count_part, range(threads))
    # A bin gets what the first part has for it, then what the second has.
    before = np.concatenate([[0], np.cumsum(counts[:, :, _MESSAGES].T.ravel())])
    places = before[:-1].reshape(bins, threads).T.copy()
    messages = room.array("messages", len(orders), ORDER)
    book_of = room.array("books", len(orders), np.dtype(np.uint32))
    on_threads(threads, deal_part, range(threads))
    entering = counts[:, :, _ENTERING].sum(axis=0)
    return Dealt(messages, book_of, before[::threads].copy(), entering, shift)


def on_threads(threads: int, function: Callable[[int], None], parts: Iterable[int]) -> None:
    """Call a function for every part, on several threads; raises what it raises."""
    if threads == 1:
        for part in parts:
            function(part)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(function, parts):
            pass
