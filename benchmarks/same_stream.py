"""One stream sent to many books at once, and the comparison of all that happened in them.

Both are passes over gigabytes: each is cut into pieces for threads, and no memory is claimed for
each batch anew.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from bookwarp.spec.events import EVENT, Matched
from bookwarp.spec.orders import ORDER

_CACHED_MESSAGES = 1 << 14
"""Messages that are written twice while a core still has them: half a MiB."""

Events = dict[str, np.ndarray]
"""The events of one book by column."""


class Spreader:
    """Sends messages to many books at once, each message to all of them in turn.

    The memory of a batch is used again by the next one.
    """

    def __init__(self, books: int, most_messages: int, threads: ThreadPoolExecutor) -> None:
        self._threads = threads
        self._rows = np.empty((most_messages, books), ORDER)
        self._bytes = self._rows.view(np.dtype((np.void, ORDER.itemsize)))
        self._books = np.arange(books, dtype=np.uint32)
        self._step = max(1, _CACHED_MESSAGES // books)

    def spread(self, orders: np.ndarray) -> np.ndarray:
        """Return `ORDER` [message * book]; what an earlier call returned is overwritten."""
        one_book = orders.view(self._bytes.dtype)

        def fill(first: int) -> None:
            some = slice(first, min(first + self._step, len(orders)))
            self._bytes[some] = one_book[some, None]
            self._rows["book"][some] = self._books

        list(self._threads.map(fill, range(0, len(orders), self._step)))
        return self._rows[: len(orders)].reshape(-1)


def events_of_one(matched: Matched, books: int, threads: ThreadPoolExecutor) -> Events:
    """Return the events of one book by column, which all have; `message` counts those of one book.

    Raises:
        ValueError: a book has others than the first.
    """
    assert matched.events is not None
    assert matched.event_offsets is not None
    counts = np.diff(matched.event_offsets)
    if (counts != counts[0]).any():
        number = int(np.argmax(counts != counts[0]))
        raise ValueError(f"book {number} has {counts[number]} events, book 0 {counts[0]}")
    events = matched.events.reshape(books, -1)
    # The last word of an event has its message in the lower half.
    words = events.view(np.uint64).reshape(books, -1, EVENT.itemsize // 8)

    def different(some: range) -> int | None:
        expected = words[0].copy()
        for number in some:
            np.add(words[0, :, -1], np.uint64(number), out=expected[:, -1])
            if not np.array_equal(words[number], expected):
                return number
        return None

    step = max(1, books // 64)
    pieces = [range(first, min(first + step, books)) for first in range(0, books, step)]
    for number in threads.map(different, pieces):
        if number is not None:
            raise ValueError(f"book {number} has other events than book 0")
    one = {name: np.ascontiguousarray(events[name][0]) for name in EVENT.names}
    message, turn = np.divmod(one["message"].astype(np.int64), books)
    if turn.any():
        raise ValueError("book 0 has events of messages to other books")
    return one | {"message": message}
