"""Flows that continuous books are timed on: a checked stream, and pieces of it on many books."""

import numpy as np

_HASHES = {
    "normal": "e9b2e3926854410b01a035aeb25dd05f1e597c233be8263de9eb49b6713d367e",
    "swing-25": "61a84be9469661bd039e00dbc9a7c011e70b6ace37aadfe60045ea083b05f4df",
}
MESSAGES_A_BOOK = 400


def stream_hash(name: str) -> str | None:
    """Return the published SHA-256 of the report of a stream, or None if it is another."""
    return _HASHES.get(name)


def many_books(orders: np.ndarray, books: int, each: int = MESSAGES_A_BOOK) -> np.ndarray:
    """Return a flow of the same kind on many books, `ORDER` [books * each].

    Every book gets `each` messages of the stream that follow each other, from a place of its own;
    the books send in random turn. The same for the same arguments.
    """
    each = min(each, len(orders))
    rng = np.random.default_rng(23)
    starts = rng.integers(0, len(orders) - each, books, endpoint=True)
    book = np.repeat(np.arange(books, dtype=np.uint32), each)
    rng.shuffle(book)
    by_book = np.argsort(book, kind="stable")
    turn = np.empty(len(book), np.int64)
    turn[by_book] = np.tile(np.arange(each), books)
    flow = orders[starts[book] + turn]
    flow["book"] = book
    return flow
