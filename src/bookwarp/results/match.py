"""`Match`: what one batch of messages did to continuous books."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from bookwarp.results.event_table import event_columns, event_table
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.events import Matched

if TYPE_CHECKING:
    import pyarrow as pa

    from bookwarp.matching import Books


@final
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Match:
    """What a batch of messages did. Prices are ticks, quantities are lots."""

    books: "Books"
    """The books that took the messages; they may have taken more since."""
    first_message: int
    """Number of the first message, counted from the first that the books ever took."""
    message_count: int
    """How many messages there were."""
    elapsed_s: float
    """Seconds spent in the engine, grouping by book included."""
    matched: Matched
    """What the engine returned."""
    order_ids: np.ndarray
    """uint64 [message], the id that each message named."""
    times: np.ndarray | None
    """int64 [message], ns, if the messages have times."""

    def __repr__(self) -> str:
        return f"<Match of {self.message_count:,} messages by {self.books!r}>"

    @cached_property
    def event_columns(self) -> dict[str, np.ndarray]:
        """The events by column, with integer codes; see `bookwarp.spec.events.EVENT_ROW`.

        Raises:
            ParameterError: the books were made with events=False.
        """
        if self.matched.events is None:
            raise ParameterError("these books were made with events=False, so there are no events")
        return event_columns(self.matched, self.order_ids, self.first_message)

    @property
    def events(self) -> "pa.Table":
        """The events in the order they happen, as a table of Arrow.

        Columns: message (counted from the first that the books ever took), order_id (of a trade
        the taker), maker_id (of a trade, else 0), price, qty, book, type, side, reason, op, and ts
        if the messages have it. What they hold for each type is in docs/matching.md.

        Raises:
            ParameterError: the books were made with events=False.
        """
        columns = self.event_columns
        times = self.times
        if times is not None:
            times = times[columns["message"] - self.first_message]
        return event_table(columns, times)

    @property
    def levels(self) -> "np.ndarray | None":
        """The book of each message after it, int64 [message, level, column]; None if not asked.

        Columns: ask_price, ask_qty, bid_price, bid_qty; a level that is empty has quantity 0 and
        price `NO_PRICE`.
        """
        return self.matched.levels

    def digest(self) -> str:
        """Return the digest of the books after this batch; see `Books.digest`.

        Raises:
            ParameterError: the books have taken more messages since.
        """
        self._check_current()
        return self.books.digest()

    def summary(self) -> dict[str, Any]:
        """Return what the books counted up to this batch; see `Books.summary`.

        Raises:
            ParameterError: the books have taken more messages since.
        """
        self._check_current()
        return self.books.summary()

    def _check_current(self) -> None:
        since = self.books.messages - self.first_message - self.message_count
        if since:
            raise ParameterError(
                f"the books have taken {since} messages since this batch: ask books, or the last "
                f"batch"
            )
