"""Memory that batches of messages work in: handed out again only where nobody has it."""

import gc

import numpy as np

import bookwarp as bw
from bookwarp.engines.cpu.books.room import Room
from bookwarp.spec.events import EVENT
from bookwarp.testing.order_streams import random_orders


def address(array):
    return array.__array_interface__["data"][0]


def test_memory_that_was_lent_comes_back_when_the_last_view_of_it_is_gone():
    room = Room()
    first = room.lend("events", 1000, EVENT)
    place, part = address(first), first[10:20]["price"]
    part[:] = 7
    del first
    gc.collect()
    other = room.lend("events", 1000, EVENT)
    assert address(other) != place
    other["price"] = 8
    assert (part == 7).all()
    del part
    gc.collect()
    assert address(room.lend("events", 900, EVENT)) == place


def test_memory_far_larger_than_what_is_wanted_is_not_kept():
    room = Room()
    for take in (room.lend, room.array):
        take("events", 10_000, EVENT)
        gc.collect()
        small = take("events", 100, EVENT)
        assert small.shape == (100,)
        base = small
        while isinstance(base.base, np.ndarray):
            base = base.base
        assert base.nbytes < 10_000 * EVENT.itemsize
        assert take("events", 0, EVENT).shape == (0,)


def test_results_of_a_batch_stay_as_they_are_while_later_batches_are_matched():
    stream = random_orders(60_000, 50, seed=3).orders
    books = bw.Books(50, engine="cpu", threads=2)
    kept = [books.match(piece).matched.events for piece in np.array_split(stream, 4)]
    copies = [events.copy() for events in kept]
    parts = [events[5:9] for events in kept]
    del kept
    for piece in np.array_split(random_orders(60_000, 50, seed=4).orders, 4):
        books.match(piece)
    for part, copy in zip(parts, copies, strict=True):
        np.testing.assert_array_equal(part, copy[5:9])
