"""What a message does to a book: price, then time. One rule a function."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from bookwarp.reference.book import Book, Order
from bookwarp.spec.book_rules import INT64_MAX, BookRules, ModifyRule, QtyMeaning, SelfTrade
from bookwarp.spec.codes import Side
from bookwarp.spec.events import Counter, EventType, Flag, Reason
from bookwarp.spec.orders import Kind, Op, TimeInForce


class Message(NamedTuple):
    """One message to a book; see `bookwarp.spec.orders.ORDER`."""

    op: int
    order_id: int
    side: int
    kind: int
    tif: int
    price: int
    qty: int
    owner: int = 0


class Event(NamedTuple):
    """One event; see the table at `bookwarp.spec.events.EVENT`."""

    type: int
    order_id: int
    side: int
    price: int
    qty: int
    reason: int = Reason.NONE


def apply_message(book: Book, rules: BookRules, message: Message) -> list[Event]:
    """Do what a message asks for, or reject it; return the events in the order they happen."""
    events = list(_ACTS[message.op](book, rules, message))
    book.counters[Counter.MESSAGES] += 1
    for event in events:
        count_event(book, event)
    return events


def enter_new(book: Book, rules: BookRules, message: Message) -> Iterator[Event]:
    """Accept a new order, let it trade, and let its rest be what its time in force says."""
    is_market = message.kind == Kind.MARKET
    order = Order(
        order_id=message.order_id,
        side=message.side,
        price=None if is_market else message.price,
        qty=message.qty,
        tif=message.tif,
        owner=message.owner,
    )
    price = order.price or 0
    reason = reject_new(book, rules, order)
    if reason:
        yield Event(EventType.REJECTED, order.order_id, order.side, price, order.qty, reason)
        return
    yield Event(EventType.ACCEPTED, order.order_id, order.side, price, order.qty)
    if order.tif == TimeInForce.FOK and not can_fill_whole(book, rules, order):
        yield cancelled(order, Reason.FILL_OR_KILL)
        return
    yield from trade(book, rules, order)
    if order.qty > 0:
        yield from place_rest(book, order)


def cancel_order(book: Book, rules: BookRules, message: Message) -> Iterator[Event]:
    """Take a resting order out, with all that is open of it."""
    if message.order_id not in book.live:
        yield Event(EventType.REJECTED, message.order_id, 0, 0, 0, Reason.UNKNOWN_ID)
        return
    order = book.live[message.order_id]
    book.remove(order)
    yield cancelled(order, Reason.REQUESTED)


def modify_order(book: Book, rules: BookRules, message: Message) -> Iterator[Event]:
    """Give a resting order another price or quantity: where it is, or by leaving and coming in."""
    reason = reject_modify(book, rules, message)
    if reason:
        yield Event(EventType.REJECTED, message.order_id, 0, message.price, message.qty, reason)
        return
    order = book.live[message.order_id]
    qty = open_qty(rules, order, message.qty)
    yield Event(EventType.MODIFIED, order.order_id, order.side, message.price, qty)
    if keeps_place(rules, order, message.price, qty):
        order.qty = qty
        return
    book.remove(order)
    order.price, order.qty = message.price, qty
    yield from trade(book, rules, order)
    if order.qty > 0:
        yield from place_rest(book, order)


def reject_new(book: Book, rules: BookRules, order: Order) -> Reason:
    """Return why a new order is rejected, or NONE; the first reason that applies."""
    if order.order_id in book.live:
        return Reason.DUPLICATE_ID
    if order.qty <= 0:
        return Reason.QTY
    if order.price is not None and not in_range(rules, order.price):
        return Reason.PRICE
    return reject_resting(book, rules, order, None)


def reject_modify(book: Book, rules: BookRules, message: Message) -> Reason:
    """Return why a modification is rejected, or NONE; the first reason that applies."""
    if message.order_id not in book.live:
        return Reason.UNKNOWN_ID
    order = book.live[message.order_id]
    qty = open_qty(rules, order, message.qty)
    if message.qty <= 0 or qty <= 0:
        return Reason.QTY
    if not in_range(rules, message.price):
        return Reason.PRICE
    if keeps_place(rules, order, message.price, qty):
        return Reason.NONE
    changed = Order(order.order_id, order.side, message.price, qty, order.tif)
    return reject_resting(book, rules, changed, order)


def reject_resting(book: Book, rules: BookRules, order: Order, leaving: Order | None) -> Reason:
    """Return why an order may not come in because of what rests, or NONE.

    Args:
        book, rules: the book and its rules.
        order: the order that would come in.
        leaving: the resting order in whose place it comes, if there is one.
    """
    if crosses(book, order):
        return Reason.POST_ONLY if order.tif == TimeInForce.POST_ONLY else Reason.NONE
    if not may_rest(order):
        return Reason.NONE
    missing = missing_room(book, rules, order, leaving)
    if not missing:
        return Reason.NONE
    book.flags |= missing
    return Reason.BOOK_FULL


def missing_room(book: Book, rules: BookRules, order: Order, leaving: Order | None) -> Flag:
    """Return the first thing of which a book has too little for an order that trades nothing.

    An order that trades and then rests always has room: it emptied a level of the other side.
    """
    side = book.sides[order.side]
    orders, levels, lots = len(book.live), book.level_count(), side.lots(order.price or 0)
    is_new_level = order.price not in side.levels
    if leaving is not None and leaving.price is not None:
        orders -= 1
        if len(side.levels[leaving.price]) == 1:
            levels -= 1
        if leaving.price == order.price:
            lots -= leaving.qty
    if rules.order_capacity is not None and orders >= rules.order_capacity:
        return Flag.ORDERS_FULL
    if rules.level_capacity is not None and is_new_level and levels >= rules.level_capacity:
        return Flag.LEVELS_FULL
    return Flag.LOTS_FULL if lots + order.qty > INT64_MAX else Flag(0)


def in_range(rules: BookRules, price: int) -> bool:
    """Return whether a limit is one that the book takes."""
    return rules.price_low <= price <= rules.price_high


def may_rest(order: Order) -> bool:
    """Return whether what does not trade of an order stays in the book."""
    stays = order.tif in (TimeInForce.GTC, TimeInForce.POST_ONLY)
    return stays and order.price is not None


def open_qty(rules: BookRules, order: Order, qty: int) -> int:
    """Return the lots that are open after a modification to `qty`."""
    return qty - order.filled if rules.qty is QtyMeaning.TOTAL else qty


def keeps_place(rules: BookRules, order: Order, price: int, qty: int) -> bool:
    """Return whether a modified order stays where it is in the queue."""
    return rules.modify is ModifyRule.KEEP and price == order.price and qty <= order.qty


def reaches(order: Order, price: int) -> bool:
    """Return whether the limit of an order allows a trade at `price`."""
    if order.price is None:
        return True
    return order.price >= price if order.side == Side.BUY else order.price <= price


def crosses(book: Book, order: Order) -> bool:
    """Return whether there is an order that this one reaches, whoever owns it."""
    best = book.opposite(order.side).best_price()
    return best is not None and reaches(order, best)


def is_self_trade(rules: BookRules, order: Order, resting: Order) -> bool:
    """Return whether two orders may not trade because they have the same owner."""
    return rules.stp is not SelfTrade.NONE and order.owner != 0 and order.owner == resting.owner


def can_fill_whole(book: Book, rules: BookRules, order: Order) -> bool:
    """Return whether an order would trade whole, from what rests and who owns it."""
    needed = order.qty
    for resting in book.opposite(order.side).orders():
        assert resting.price is not None
        if not reaches(order, resting.price):
            return False
        if is_self_trade(rules, order, resting):
            if rules.stp is SelfTrade.CANCEL_RESTING:
                continue
            return False
        needed -= resting.qty
        if needed <= 0:
            return True
    return False


def trade(book: Book, rules: BookRules, order: Order) -> Iterator[Event]:
    """Trade with the best price first, oldest first, at the resting order's price."""
    while order.qty > 0 and crosses(book, order):
        resting = next(book.opposite(order.side).orders())
        assert resting.price is not None
        if is_self_trade(rules, order, resting):
            yield from prevent_self_trade(book, rules, order, resting)
            continue
        lots = min(order.qty, resting.qty)
        yield Event(EventType.TRADE, resting.order_id, order.side, resting.price, lots)
        for each in (order, resting):
            each.qty -= lots
            each.filled += lots
        if resting.qty == 0:
            book.remove(resting)


def prevent_self_trade(
    book: Book, rules: BookRules, order: Order, resting: Order
) -> Iterator[Event]:
    """Cancel the resting order, or all that is left of the one that came in, or both."""
    if rules.stp in (SelfTrade.CANCEL_RESTING, SelfTrade.CANCEL_BOTH):
        book.remove(resting)
        yield cancelled(resting, Reason.SELF_TRADE)
    if rules.stp in (SelfTrade.CANCEL_INCOMING, SelfTrade.CANCEL_BOTH):
        yield cancelled(order, Reason.SELF_TRADE)
        order.qty = 0


def place_rest(book: Book, order: Order) -> Iterator[Event]:
    """Let what is left of an order rest, or cancel it."""
    if may_rest(order):
        book.add(order)
    else:
        yield cancelled(order, Reason.REST)


def cancelled(order: Order, reason: Reason) -> Event:
    """Return the event that all that is open of an order is cancelled."""
    return Event(
        EventType.CANCELLED, order.order_id, order.side, order.price or 0, order.qty, reason
    )


def count_event(book: Book, event: Event) -> None:
    """Count an event in the counters of its book."""
    if event.type == EventType.REJECTED:
        book.counters[Counter.LOTS + event.reason] += 1
        return
    book.counters[_COUNTED_AS[event.type]] += 1
    if event.type == EventType.TRADE:
        book.counters[Counter.LOTS] += event.qty
        if book.counters[Counter.LOTS] > INT64_MAX:
            book.counters[Counter.LOTS] -= 2**64
            book.flags |= Flag.LOTS_WRAPPED


_ACTS: dict[int, Callable[[Book, BookRules, Message], Iterator[Event]]] = {
    Op.NEW: enter_new,
    Op.CANCEL: cancel_order,
    Op.MODIFY: modify_order,
}
_COUNTED_AS: dict[int, Counter] = {
    EventType.ACCEPTED: Counter.ACCEPTED,
    EventType.MODIFIED: Counter.MODIFIED,
    EventType.CANCELLED: Counter.CANCELLED,
    EventType.TRADE: Counter.TRADES,
}
