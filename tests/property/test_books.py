"""What holds for continuous books, whatever the messages and the rules, on every engine."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bookwarp.engines.registry import book_engine_class
from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.events import EventType, Reason
from bookwarp.spec.orders import ORDER, Op
from bookwarp.testing.book_audit import BookAudit
from bookwarp.testing.book_parity import find_state_difference
from bookwarp.testing.order_streams import order_streams, random_orders


def start(engine, rules, books):
    return book_engine_class(engine)(rules, books, 2)


def send(running, rules, orders, owners, **options):
    return running.match(orders, owners if rules.tracks_owner else None, **options)


@given(order_streams(), st.data())
def test_events_make_sense_and_end_where_the_books_end(book_engine, stream, data):
    """No lot is lost, no book crossed, and within a price the first in is the first out."""
    running = start(book_engine, stream.rules, stream.books)
    audit = BookAudit(stream.rules, stream.books)
    cut = data.draw(st.integers(0, len(stream.orders)), label="cut")
    for part in (slice(0, cut), slice(cut, None)):
        orders, owners = stream.orders[part], stream.owners[part]
        audit.check_batch(orders, owners, send(running, stream.rules, orders, owners))
        audit.check_state(running.read_state())


def test_events_of_a_long_stream_make_sense(book_engine):
    stream = random_orders(20_000, books=7, seed=1)
    for rules in (BookRules(), BookRules.of(modify="replace", stp="cancel_both", capacity=50)):
        running = start(book_engine, rules, stream.books)
        audit = BookAudit(rules, stream.books)
        matched = send(running, rules, stream.orders, stream.owners)
        audit.check_batch(stream.orders, stream.owners if rules.tracks_owner else None, matched)
        audit.check_state(running.read_state())


@given(order_streams(), st.data())
def test_a_stream_in_pieces_is_the_stream_in_one_go(book_engine, stream, data):
    """Also where the state moved to another engine of the kind in between."""
    whole = start(book_engine, stream.rules, stream.books)
    expected = send(whole, stream.rules, stream.orders, stream.owners, levels=2)
    count = len(stream.orders)
    cuts = data.draw(st.lists(st.integers(0, count), max_size=4).map(sorted), label="cuts")
    running = start(book_engine, stream.rules, stream.books)
    happened = [[] for _ in range(stream.books)]
    levels = []
    for first, last in zip([0, *cuts], [*cuts, count], strict=True):
        orders, owners = stream.orders[first:last], stream.owners[first:last]
        matched = send(running, stream.rules, orders, owners, levels=2)
        for book, rows in enumerate(happened):
            events = matched.events[slice(*matched.event_offsets[book : book + 2])].copy()
            events["message"] += first
            rows += events.tolist()
        levels.append(matched.levels)
        state = running.read_state()
        running = start(book_engine, stream.rules, stream.books)
        running.write_state(state)
    for book, rows in enumerate(happened):
        begin, end = expected.event_offsets[book : book + 2]
        assert rows == expected.events[begin:end].tolist()
    np.testing.assert_array_equal(np.concatenate(levels), expected.levels)
    assert find_state_difference(whole.read_state(), running.read_state()) is None


@given(order_streams())
def test_a_book_alone_ends_as_it_ends_among_others(book_engine, stream):
    whole = start(book_engine, stream.rules, stream.books)
    matched = send(whole, stream.rules, stream.orders, stream.owners)
    state = whole.read_state()
    for book in range(stream.books):
        mine = np.flatnonzero(stream.orders["book"] == book)
        orders = stream.orders[mine].copy()
        orders["book"] = 0
        alone = start(book_engine, stream.rules, 1)
        events = send(alone, stream.rules, orders, stream.owners[mine]).events
        expected = matched.events[slice(*matched.event_offsets[book : book + 2])].copy()
        events["message"] = mine[events["message"]]
        np.testing.assert_array_equal(events, expected)
        single = alone.read_state()
        np.testing.assert_array_equal(single.counters[0], state.counters[book])
        assert single.flags[0] == state.flags[book]
        rests = state.orders[slice(*state.order_offsets[book : book + 2])].copy()
        rests["book"] = 0
        np.testing.assert_array_equal(single.orders, rests)


@given(order_streams())
def test_buyers_and_sellers_exchanged_do_the_same(book_engine, stream):
    rules = stream.rules
    mirror = BookRules(
        **{**vars(rules), "price_low": ~rules.price_high, "price_high": ~rules.price_low}
    )
    orders = stream.orders.copy()
    orders["side"], orders["price"] = -orders["side"], ~orders["price"]
    straight, mirrored = (
        start(book_engine, rules, stream.books),
        start(book_engine, mirror, stream.books),
    )
    one = send(straight, rules, stream.orders, stream.owners).events
    other = send(mirrored, mirror, orders, stream.owners).events
    for name in ("order_id", "qty", "message", "type", "reason", "op"):
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)
    np.testing.assert_array_equal(one["side"], -other["side"])
    one, other = straight.read_state(), mirrored.read_state()
    np.testing.assert_array_equal(one.counters, other.counters)
    np.testing.assert_array_equal(one.flags, other.flags)
    # Bids stand before asks: each book is turned round, its sides exchanged.
    turned = np.lexsort((other.orders["side"], other.orders["book"]))
    found = other.orders[turned].copy()
    found["side"], found["price"] = -found["side"], ~found["price"]
    np.testing.assert_array_equal(one.orders, found)


@given(order_streams())
def test_a_cancel_sent_twice_does_what_it_does_once(book_engine, stream):
    is_cancel = stream.orders["op"] == Op.CANCEL
    twice = np.repeat(np.arange(len(stream.orders)), 1 + is_cancel)
    again = np.concatenate([[False], twice[1:] == twice[:-1]]) if len(twice) else np.zeros(0, bool)
    once, doubled = (start(book_engine, stream.rules, stream.books) for _ in range(2))
    expected = send(once, stream.rules, stream.orders, stream.owners).events
    events = send(doubled, stream.rules, stream.orders[twice], stream.owners[twice]).events
    second = again[events["message"]]
    assert (events["type"][second] == EventType.REJECTED).all()
    assert (events["reason"][second] == Reason.UNKNOWN_ID).all()
    assert second.sum() == is_cancel.sum()
    first = events[~second].copy()
    first["message"] = twice[first["message"]]
    np.testing.assert_array_equal(first, expected)
    np.testing.assert_array_equal(once.read_state().orders, doubled.read_state().orders)


@given(order_streams(), st.randoms(use_true_random=False))
def test_every_live_id_is_found(book_engine, stream, random):
    """Each order that rests can be cancelled, in any order, with all that was open."""
    running = start(book_engine, stream.rules, stream.books)
    send(running, stream.rules, stream.orders, stream.owners)
    rests = running.read_state().orders
    chosen = list(range(len(rests)))
    random.shuffle(chosen)
    cancels = np.zeros(len(rests), ORDER)
    cancels["op"] = Op.CANCEL
    for name in ("book", "order_id"):
        cancels[name] = rests[name][chosen]
    events = send(running, stream.rules, cancels, np.zeros(len(rests), np.uint64)).events
    assert len(events) == len(rests)
    assert (events["type"] == EventType.CANCELLED).all()
    np.testing.assert_array_equal(events["qty"], rests["qty"][chosen][events["message"]])
    assert not len(running.read_state().orders)
