"""What holds for every stream of messages to continuous books, told from its events alone.

An audit keeps a book of its own, without levels or queues, and changes it by events only: whatever
an engine does inside, the events must make sense one after the other, and end where it ended.
"""

from dataclasses import dataclass

import numpy as np

from bookwarp.spec.book_rules import BookRules, SelfTrade
from bookwarp.spec.book_state import BookState
from bookwarp.spec.codes import Side
from bookwarp.spec.events import Counter, EventType, Matched, Reason
from bookwarp.spec.orders import Kind, Op, TimeInForce


@dataclass
class _Order:
    side: int
    price: int | None
    qty: int
    arrived: int
    owner: int


class BookAudit:
    """Checks batch after batch of messages to some books.

    Checked are that no lot is lost or made, that every trade is with the oldest order at the best
    price and at that price, that no book is ever crossed, that orders of the same owner do not
    trade if they may not, that messages are rejected for what they are, and that the books end with
    the orders that the events leave.
    """

    def __init__(self, rules: BookRules, books: int) -> None:
        self._rules = rules
        self._live: list[dict[int, _Order]] = [{} for _ in range(books)]
        self._counted = np.zeros((books, len(Counter)), object)
        self._clock = 0

    def check_batch(self, orders: np.ndarray, owners: np.ndarray | None, matched: Matched) -> None:
        """Check the events of a batch.

        Raises:
            AssertionError: naming the book, the message and what is wrong.
        """
        assert matched.events is not None
        assert matched.event_offsets is not None
        whose = np.zeros(len(orders), np.uint64) if owners is None else owners
        for book, live in enumerate(self._live):
            first, last = matched.event_offsets[book : book + 2]
            events = matched.events[first:last]
            numbers = np.flatnonzero(orders["book"] == book)
            told = np.unique(events["message"])
            assert np.array_equal(told, numbers), f"book {book}: not every message has its events"
            assert (np.diff(events["message"].astype(np.int64)) >= 0).all(), f"book {book}: order"
            ends = np.searchsorted(events["message"], numbers, "right").tolist()
            for number, start, end in zip(numbers.tolist(), [0, *ends], ends, strict=False):
                self._clock += 1
                try:
                    self._check_message(live, orders[number], int(whose[number]), events[start:end])
                except AssertionError as error:
                    raise AssertionError(f"book {book}, message {number}: {error}") from None
                self._count(book, events[start:end])

    def check_state(self, state: BookState) -> None:
        """Check that the books hold what the events left, in order, and counted them right.

        Raises:
            AssertionError: naming the book and what is wrong.
        """
        for book, live in enumerate(self._live):
            first, last = state.order_offsets[book : book + 2]
            found = [
                (int(o["order_id"]), int(o["side"]), int(o["price"]), int(o["qty"]))
                for o in state.orders[first:last]
            ]
            ordered = sorted(
                live.items(), key=lambda item: (-item[1].side, _rank(item[1]), item[1].arrived)
            )
            expected = [(i, o.side, o.price, o.qty) for i, o in ordered]
            assert found == expected, f"book {book} holds {found}, events leave {expected}"
            counted = [int(count) for count in state.counters[book]]
            wrapped = [(int(c) + 2**63) % 2**64 - 2**63 for c in self._counted[book]]
            assert counted == wrapped, f"book {book} counted {counted}, events {wrapped}"

    def _check_message(
        self, live: dict[int, _Order], message: np.void, owner: int, events: np.ndarray
    ) -> None:
        order_id, op = int(message["order_id"]), int(message["op"])
        assert (events["op"] == op).all(), "an event has the op of another message"
        head = events[0]
        if head["type"] == EventType.REJECTED:
            assert len(events) == 1, "a rejected message did something"
            self._check_rejection(live, message, Reason(int(head["reason"])))
            return
        assert int(head["order_id"]) == order_id, "the first event is of another order"
        if op == Op.CANCEL:
            taken = live.pop(order_id)
            assert (len(events), head["type"], head["reason"]) == (
                *(1, EventType.CANCELLED),
                Reason.REQUESTED,
            ), "a cancel is one cancellation"
            assert int(head["qty"]) == taken.qty, "not all that was open was cancelled"
            return
        order = self._enter(live, message, owner, head)
        if order is not None:
            self._check_course(live, order_id, order, message, events[1:])
        else:
            assert len(events) == 1, "an order that kept its place did something"
        bids = [o.price for o in live.values() if o.side == Side.BUY and o.price is not None]
        asks = [o.price for o in live.values() if o.side == Side.SELL and o.price is not None]
        assert not bids or not asks or max(bids) < min(asks), "the book is crossed"

    def _enter(
        self, live: dict[int, _Order], message: np.void, owner: int, head: np.void
    ) -> _Order | None:
        """Return the order that comes in; None if a modified one keeps its place."""
        order_id, qty, price = (int(message[n]) for n in ("order_id", "qty", "price"))
        if message["op"] == Op.NEW:
            assert head["type"] == EventType.ACCEPTED, "a new order is neither accepted nor refused"
            assert order_id not in live, "an id was accepted twice"
            limit = None if message["kind"] == Kind.MARKET else price
            assert (int(head["price"]), int(head["qty"])) == (limit or 0, qty), "accepted otherwise"
            return _Order(int(message["side"]), limit, qty, self._clock, owner)
        assert head["type"] == EventType.MODIFIED, "a modification is neither done nor refused"
        order = live[order_id]
        qty = int(head["qty"])
        assert int(head["price"]) == price, "modified to another price"
        if not self._rules.tracks_filled:
            assert qty == int(message["qty"]), "modified to another quantity"
        if self._rules.modify == 0 and price == order.price and qty <= order.qty:
            order.qty = qty
            return None
        del live[order_id]
        return _Order(order.side, price, qty, self._clock, order.owner)

    def _check_course(
        self,
        live: dict[int, _Order],
        order_id: int,
        order: _Order,
        message: np.void,
        events: np.ndarray,
    ) -> None:
        """Check what happened to an order that came in, event by event, and let its rest rest."""
        is_new = message["op"] == Op.NEW
        tif = int(message["tif"]) if is_new else int(TimeInForce.GTC)
        for event in events:
            subject, lots = int(event["order_id"]), int(event["qty"])
            if event["type"] == EventType.TRADE:
                self._check_trade(live, order, event)
                continue
            assert event["type"] == EventType.CANCELLED, "an event that does not belong here"
            if subject == order_id:
                assert lots == order.qty, "not all of the rest was cancelled"
                order.qty = 0
            else:
                assert event["reason"] == Reason.SELF_TRADE, "another order was cancelled"
                resting = live.pop(subject)
                assert (lots, resting.owner) == (resting.qty, order.owner), "a wrong order is gone"
        assert order.qty >= 0, "more traded than there was"
        if is_new and tif == TimeInForce.FOK:
            traded = int(events["qty"][events["type"] == EventType.TRADE].sum())
            assert traded in (0, int(message["qty"])), "a FOK traded in part"
        if order.qty > 0:
            assert order.price is not None, "a market order rests"
            assert tif in (TimeInForce.GTC, TimeInForce.POST_ONLY), "an IOC or FOK rests"
            live[order_id] = order
        if is_new and tif == TimeInForce.POST_ONLY:
            assert not (events["type"] == EventType.TRADE).any(), "a post-only order traded"

    def _check_trade(self, live: dict[int, _Order], order: _Order, event: np.void) -> None:
        maker, price, lots = (int(event[name]) for name in ("order_id", "price", "qty"))
        opposite = [(i, o) for i, o in live.items() if o.side == -order.side]
        first, resting = min(opposite, key=lambda item: (_rank(item[1]), item[1].arrived))
        assert maker == first, f"traded with {maker}, but {first} comes first"
        assert event["side"] == order.side, "a trade has the side of its taker"
        assert price == resting.price, "a trade is at the maker's price"
        if order.price is not None:
            assert (order.price - price) * order.side >= 0, "a trade is past the limit"
        assert 0 < lots <= min(order.qty, resting.qty), "a trade of more than there was, or nothing"
        assert lots in (order.qty, resting.qty), "a trade that fills neither order"
        if self._rules.stp is not SelfTrade.NONE:
            assert order.owner == 0 or order.owner != resting.owner, "a self-trade"
        order.qty -= lots
        resting.qty -= lots
        if resting.qty == 0:
            del live[maker]

    def _check_rejection(self, live: dict[int, _Order], message: np.void, reason: Reason) -> None:
        is_live, op = int(message["order_id"]) in live, int(message["op"])
        price, rules = int(message["price"]), self._rules
        has_limit = op == Op.MODIFY or (op == Op.NEW and message["kind"] == Kind.LIMIT)
        possible = {
            Reason.DUPLICATE_ID: op == Op.NEW and is_live,
            Reason.UNKNOWN_ID: op != Op.NEW and not is_live,
            Reason.QTY: op != Op.CANCEL and (message["qty"] <= 0 or rules.tracks_filled),
            Reason.PRICE: has_limit and not rules.price_low <= price <= rules.price_high,
            Reason.POST_ONLY: op == Op.MODIFY or message["tif"] == TimeInForce.POST_ONLY,
            Reason.BOOK_FULL: has_limit,
        }
        assert possible.get(reason, False), f"rejected for {reason.name}, which it is not"

    def _count(self, book: int, events: np.ndarray) -> None:
        counted = self._counted[book]
        counted[Counter.MESSAGES] += 1
        counted[Counter.ACCEPTED] += int((events["type"] == EventType.ACCEPTED).sum())
        counted[Counter.MODIFIED] += int((events["type"] == EventType.MODIFIED).sum())
        counted[Counter.CANCELLED] += int((events["type"] == EventType.CANCELLED).sum())
        for event in events:
            if event["type"] == EventType.TRADE:
                counted[Counter.TRADES] += 1
                counted[Counter.LOTS] += int(event["qty"])
            if event["type"] == EventType.REJECTED:
                counted[Counter.LOTS + int(event["reason"])] += 1


def _rank(order: _Order) -> int:
    """Return a number that is lower the better the price is for the other side."""
    assert order.price is not None
    return -order.price * order.side
