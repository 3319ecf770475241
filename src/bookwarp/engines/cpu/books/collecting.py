"""Put the events of blocks, which end in any order, into one array in the order of the blocks.

How many events a block has is known when it has been matched. Until all blocks before it have been,
its events wait in the buffer into which they were written. Buffers are used again, so that they
stay close to the core. Where one thread works alone, nothing has to wait.
"""

from itertools import count
from queue import SimpleQueue
from threading import Lock

import numpy as np

from bookwarp.engines.cpu.books.room import Room
from bookwarp.spec.events import EVENT


class EventCollector:
    """One array of events, and the buffers of the threads that fill it."""

    def __init__(self, bounds: np.ndarray, threads: int, room: Room) -> None:
        """Allocate for blocks of up to `bounds` events each; what is not used is not touched."""
        self._events = room.lend("events", int(bounds.sum()), EVENT)
        self._place = 0
        self._blocks = len(bounds)
        self._in_order = threads == 1 or len(bounds) == 1
        self._free: SimpleQueue[np.ndarray] = SimpleQueue()
        buffers = 0 if self._in_order else 2 * threads
        largest = int(bounds.max(initial=0))
        waiting = room.array("waiting events", buffers * largest, EVENT)
        for number in range(buffers):
            self._free.put(waiting[number * largest : (number + 1) * largest])
        self._next_started = count()
        self._next_placed = 0
        self._waiting: dict[int, tuple[np.ndarray, int]] = {}
        self._lock = Lock()

    def take_block(self) -> tuple[int, np.ndarray] | None:
        """Return a block that nobody has, and a buffer for its events; None if there is none.

        A buffer is waited for before a block is taken, so that the first block that is missing
        always has one.
        """
        buffer = self._events[self._place :] if self._in_order else self._free.get()
        block = next(self._next_started)
        if block < self._blocks:
            return block, buffer
        self._free.put(buffer)
        return None

    def put_events(self, block: int, buffer: np.ndarray, events: int) -> None:
        """Take back a buffer, in which a block has so many events."""
        if self._in_order:
            self._place += events
            return
        ready = []
        with self._lock:
            self._waiting[block] = buffer, events
            while self._next_placed in self._waiting:
                buffer, events = self._waiting.pop(self._next_placed)
                ready.append((self._place, buffer, events))
                self._place += events
                self._next_placed += 1
        for place, buffer, events in ready:
            # As words, which are copied faster than records.
            words = buffer[:events].view(np.uint64)
            self._events[place : place + events].view(np.uint64)[:] = words
            self._free.put(buffer)

    def close(self) -> np.ndarray:
        """Return all events, once there is no block left."""
        return self._events[: self._place]
