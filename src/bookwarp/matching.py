"""Match orders on continuous books: `match` in one call, `Books` batch by batch."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from inspect import signature
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bookwarp.engines.book_protocol import BookEngine
from bookwarp.engines.registry import book_engine_class, choose_book_engine, fall_back
from bookwarp.io.order_tables import DEFAULT_SIDES, OrderTable, read_orders
from bookwarp.limits import check_threads
from bookwarp.results.event_table import event_rows
from bookwarp.results.match import Match
from bookwarp.signals import SignalsDeferred
from bookwarp.spec.book_rules import BookRules, check_book_count
from bookwarp.spec.book_state import BookState
from bookwarp.spec.errors import EngineError, ParameterError
from bookwarp.spec.event_digest import EventDigest

if TYPE_CHECKING:
    import pyarrow as pa

_MAX_MESSAGES = 2**32 - 1
_MAX_LEVELS = 2**16
# Stands for the events in a digest of books that write none.
_NO_EVENTS = bytes(32)


class Books:
    """Continuous order books that take messages batch by batch; any cut gives the same result.

    Args:
        books: how many books there are, 1 .. 2**32 - 1.
        capacity: orders that can rest in a book at once, or (orders, price levels), both sides
            together; an order that finds no room is rejected. None, there too, is no limit.
        modify: "keep": a modified order keeps its place in the queue if its price is the same and
            its quantity not larger; "replace": it always leaves and comes in again.
        qty: whether the quantity of a modification means what is "open" from then on, or the
            "total" with all that the order has traded.
        stp: what happens when an order meets one of the same owner: "none" (they trade),
            "cancel_resting", "cancel_incoming" or "cancel_both".
        price_range: (lowest, highest) limit accepted, both included [tick]; None is no limit.
        engine: "cuda", "cpu" or "reference", which give the same bits; "auto" is "cuda" for 256
            books or more where there is a GPU, else the best one on the processor.
        threads: threads of the cpu engine; all available processors if None.
        events: whether events are written.

    Raises:
        ParameterError: a rule is none, naming the rule, the value and the limit.
        EngineError: the engine does not work here.
    """

    def __init__(
        self,
        books: int,
        *,
        capacity: Any = None,
        modify: str = "keep",
        qty: str = "open",
        stp: str = "none",
        price_range: tuple[int, int] | None = None,
        engine: str = "auto",
        threads: int | None = None,
        events: bool = True,
    ) -> None:
        rules = BookRules.of(
            modify=modify, qty=qty, stp=stp, capacity=capacity, price_range=price_range
        )
        self._begin(rules, check_book_count(books), engine, threads, events)

    def _begin(
        self, rules: BookRules, books: int, engine: str, threads: int | None, events: bool
    ) -> None:
        self.rules = rules
        """What holds for every book."""
        self.books = books
        """How many books there are."""
        self.messages = 0
        """Messages taken so far."""
        self.elapsed_s = 0.0
        """Seconds spent in the engine so far, grouping by book included."""
        self.has_events = bool(events)
        """Whether events are written."""
        self._threads = check_threads(threads)
        self.engine = choose_book_engine(engine, books)
        """Name of the engine."""
        self._engine = self._make_engine(may_fall_back=engine == "auto")
        self._warm: set[int] = set()
        self._event_digest = EventDigest()
        # The last batch, until its events are hashed: when they are asked for, or more come.
        self._unhashed: Match | None = None
        self._state: BookState | None = None

    def _make_engine(self, may_fall_back: bool) -> BookEngine:
        try:
            return book_engine_class(self.engine)(self.rules, self.books, self._threads)
        except EngineError as error:
            if not may_fall_back:
                raise
            self.engine = fall_back(self.engine, error)
        return book_engine_class(self.engine)(self.rules, self.books, self._threads)

    def __repr__(self) -> str:
        return f"<Books: {self.books:,} on engine {self.engine}, {self.messages:,} messages>"

    def match(
        self, orders: Any, *, levels: int = 0, side_values: tuple[Any, Any] = DEFAULT_SIDES
    ) -> Match:
        """Take a batch of messages.

        Args:
            orders: NumPy structured array (of `ORDER`: without a copy), mapping of columns, table
                of Arrow, pandas or polars, or path of a Parquet or CSV file; the columns are those
                in docs/matching.md.
            levels: price levels a side to keep of the book of every message, after it.
            side_values: what stands for (buy, sell) in the column side, if not (1, -1).

        Raises:
            ParameterError: the table is wrong, naming column, row, value and limit; nothing
                was taken.
            StoreError: the file cannot be read.
            EngineError: there is not enough memory; nothing was taken.
        """
        return self._match(read_orders(orders, side_values), levels)

    def _match(self, table: OrderTable, levels: int) -> Match:
        count = _check_levels(levels)
        orders = table.orders
        self._check_batch(table)
        owners = None
        if self.rules.tracks_owner:
            given = table.owners
            owners = np.zeros(len(orders), np.uint64) if given is None else given
        self._hash_events()
        if count not in self._warm:
            # Compiles what is not compiled yet, which is not matching.
            self._run(orders[:0], None if owners is None else owners[:0], count)
            self._warm.add(count)
        with SignalsDeferred():
            self._state = None
            began = time.perf_counter()
            matched = self._run(orders, owners, count)
            elapsed = time.perf_counter() - began
            match = Match(
                books=self,
                first_message=self.messages,
                message_count=len(orders),
                elapsed_s=elapsed,
                matched=matched,
                # A copy where the caller may fill the same array with the next batch.
                order_ids=orders["order_id"].copy() if table.is_shared else orders["order_id"],
                times=table.times,
            )
            self.messages += len(orders)
            self.elapsed_s += elapsed
            self._unhashed = match if self.has_events else None
        return match

    def _run(self, orders: np.ndarray, owners: np.ndarray | None, levels: int) -> Any:
        return self._engine.match(orders, owners, events=self.has_events, levels=levels)

    def _check_batch(self, table: OrderTable) -> None:
        orders = table.orders
        if len(orders) > _MAX_MESSAGES:
            raise ParameterError(
                f"orders have {len(orders)} rows; a batch has at most {_MAX_MESSAGES}"
            )
        if table.book_count > self.books:
            row = int(np.argmax(orders["book"] >= self.books))
            raise ParameterError(
                f"orders: book in row {row} (counted from 0) is {orders['book'][row]}; there are "
                f"{self.books} books, 0 .. {self.books - 1}"
            )

    def state(self) -> BookState:
        """Return the state of all books; see `bookwarp.spec.book_state.BookState`."""
        if self._state is None:
            self._state = self._engine.read_state()
        return self._state

    def level1(self) -> "pa.Table":
        """Return the best prices of every book, empty where a side is.

        Columns: book, bid_price, bid_qty, ask_price, ask_qty.
        """
        from bookwarp.results.book_tables import level1_table

        return level1_table(self.state())

    def level2(self, depth: int | None = None) -> "pa.Table":
        """Return the price levels: by book; bids, then asks; best price first.

        Columns: book, side, level (from 0), price, qty, orders.

        Args:
            depth: levels a side at most; all if None.
        """
        from bookwarp.results.book_tables import level2_table

        return level2_table(self.state(), None if depth is None else _check_levels(depth))

    def level3(self) -> "pa.Table":
        """Return the resting orders: by book; bids, then asks; the first to trade first.

        Columns: book, side, price, qty (open), order_id, owner (0 unless stp), filled (0 unless
        qty="total"), tif.
        """
        from bookwarp.results.book_tables import level3_table

        return level3_table(self.state())

    def counters(self) -> "pa.Table":
        """Return what every book counted since it was made.

        Columns: book; messages, accepted, modified, cancelled, trades, lots; rejected, and of these
        rejected_duplicate_id, rejected_unknown_id, rejected_qty, rejected_price,
        rejected_post_only, rejected_book_full; fills_per_order (trades for each order accepted);
        flags, bits of `bookwarp.spec.events.Flag`.
        """
        from bookwarp.results.book_tables import counters_table

        return counters_table(self.state())

    def summary(self) -> dict[str, Any]:
        """Return what all books counted together since they were made, and how fast.

        Of `flags` it holds the number of books that have each. `messages_per_s` is by the time
        spent in the engine, grouping by book included, reading tables and compiling not.
        """
        from bookwarp.results.book_summary import summarise_books

        return summarise_books(self.state(), self.engine, self.elapsed_s)

    def digest(self) -> str:
        """Return the SHA-256 of all events so far and of the books, as 64 hexadecimal digits.

        It is the same on every engine, with any number of threads, and wherever the stream of
        messages was cut. Without events it is that of the books alone. What is hashed is in
        docs/matching.md.

        Cost: about as long as matching took, for the events of the last batch.
        """
        self._hash_events()
        value = self._event_digest.value() if self.has_events else _NO_EVENTS
        return self.state().digest(value)

    def _hash_events(self) -> None:
        if self._unhashed is None:
            return
        # A copy is updated, so that an interrupt leaves nothing hashed in part.
        digest = replace(self._event_digest)
        with ThreadPoolExecutor(self._threads) as pool:
            for rows in event_rows(self._unhashed.event_columns):
                digest.update(rows, pool.map)
        self._event_digest, self._unhashed = digest, None

    def save(self, path: str | Path) -> None:
        """Write the books to a file, replacing those saved there; it appears whole or not at all.

        Raises:
            ParameterError: it is not a path.
            StoreError: it cannot be written, or would replace something else.
        """
        from bookwarp.results.book_store import SavedBooks, write_books

        self._hash_events()
        write_books(
            path,
            SavedBooks(
                rules=self.rules,
                state=self.state(),
                event_digest=self._event_digest,
                has_events=self.has_events,
                messages=self.messages,
                elapsed_s=self.elapsed_s,
            ),
        )

    @classmethod
    def load(cls, path: str | Path, *, engine: str = "auto", threads: int | None = None) -> "Books":
        """Return the books that `save` wrote, on any engine, to go on as if nothing had happened.

        Raises:
            ParameterError: it is not a path, or the engine does not exist.
            StoreError: there is no such file, or it is damaged, or holds no books of bookwarp.
            EngineError: the engine does not work here.
        """
        from bookwarp.results.book_store import read_books

        saved = read_books(path)
        books = cls.__new__(cls)
        books._begin(saved.rules, saved.state.books, engine, threads, saved.has_events)
        books._engine.write_state(saved.state)
        books.messages, books.elapsed_s = saved.messages, saved.elapsed_s
        books._event_digest = saved.event_digest
        return books


def match(
    orders: Any,
    books: "int | Books | None" = None,
    *,
    capacity: Any = None,
    modify: str = "keep",
    qty: str = "open",
    stp: str = "none",
    price_range: tuple[int, int] | None = None,
    engine: str = "auto",
    threads: int | None = None,
    events: bool = True,
    levels: int = 0,
    side_values: tuple[Any, Any] = DEFAULT_SIDES,
) -> Match:
    """Match one table of messages for any number of books.

    Args:
        orders: NumPy structured array (of `ORDER`: without a copy), mapping of columns, table of
            Arrow, pandas or polars, or path of a Parquet or CSV file; the columns are those in
            docs/matching.md.
        books: how many there are, if not one more than the largest number in the column book; or
            `Books` that go on, with the rules and the engine that they have.
        capacity, modify, qty, stp, price_range, engine, threads, events: see `Books`.
        levels: price levels a side to keep of the book of every message, after it.
        side_values: what stands for (buy, sell) in the column side, if not (1, -1).

    Returns:
        `Match`: events, levels, and the books.

    Raises:
        ParameterError: a rule or the table is wrong, naming column, row, value and limit.
        StoreError: the file cannot be read.
        EngineError: the engine does not work here, or there is not enough memory.

    Example:
        >>> import bookwarp as bw
        >>> done = bw.match(
        ...     {
        ...         "op": ["new", "new", "cancel"],
        ...         "order_id": [1, 2, 1],
        ...         "side": ["S", "B", None],
        ...         "price": [100, 101, None],
        ...         "qty": [5, 3, None],
        ...     }
        ... )
        >>> done.events.to_pandas()
        >>> done.books.level2()
    """
    given = {
        "capacity": capacity,
        "modify": modify,
        "qty": qty,
        "stp": stp,
        "price_range": price_range,
        "engine": engine,
        "threads": threads,
        "events": events,
    }
    if isinstance(books, Books):
        defaults = signature(Books).parameters
        for name, value in given.items():
            if value != defaults[name].default:
                raise ParameterError(f"{name} = {value!r} is given, but books have theirs already")
        return books.match(orders, levels=levels, side_values=side_values)
    BookRules.of(modify=modify, qty=qty, stp=stp, capacity=capacity, price_range=price_range)
    choose_book_engine(engine)
    table = read_orders(orders, side_values)
    if books is None:
        books = max(1, table.book_count)
    return Books(books, **given)._match(table, levels)


def _check_levels(levels: Any) -> int:
    if isinstance(levels, bool) or not isinstance(levels, Integral):
        raise ParameterError(f"levels must be an integer, not {levels!r}")
    if not 0 <= int(levels) <= _MAX_LEVELS:
        raise ParameterError(f"levels = {levels} is outside 0 .. {_MAX_LEVELS}")
    return int(levels)
