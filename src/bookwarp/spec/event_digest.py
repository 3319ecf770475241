"""The digest of a stream of events: the same wherever the stream is cut, in bounded memory."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from bookwarp.spec.events import EVENT_ROW

BLOCK_EVENTS = 1 << 14
_START = hashlib.sha256(b"bookwarp events 1\n").digest()


@dataclass
class EventDigest:
    """A chain over blocks of 16 384 events, in the order of the messages that caused them.

    The chain starts as the SHA-256 of a header line. Every whole block makes it the SHA-256 of the
    chain so far followed by the SHA-256 of the block's `EVENT_ROW`s. The value is the SHA-256 of
    the chain followed by the rows of the last block, which is not whole. Unlike the inside of one
    long SHA-256, this state can be saved, and blocks can be hashed by several threads.
    """

    chain: bytes = _START
    pending: np.ndarray = field(default_factory=lambda: np.zeros(0, EVENT_ROW))
    """`EVENT_ROW` [< 16 384]: rows that do not fill a block yet."""

    def update(self, rows: np.ndarray, apply: Callable[..., Iterable[bytes]] = map) -> None:
        """Append events.

        Args:
            rows: `EVENT_ROW` [event], by message.
            apply: as `map`; that of an executor hashes blocks on its threads.
        """
        rows = np.ascontiguousarray(rows, EVENT_ROW)
        first = 0
        if len(self.pending):
            first = min(BLOCK_EVENTS - len(self.pending), len(rows))
            self.pending = np.concatenate([self.pending, rows[:first]])
            if len(self.pending) < BLOCK_EVENTS:
                return
            self._append(_hash_block(self.pending))
        last = len(rows) - (len(rows) - first) % BLOCK_EVENTS
        blocks = (rows[at : at + BLOCK_EVENTS] for at in range(first, last, BLOCK_EVENTS))
        for digest in apply(_hash_block, blocks):
            self._append(digest)
        self.pending = rows[last:].copy()

    def value(self) -> bytes:
        """Return the digest of all events so far, 32 bytes."""
        return hashlib.sha256(self.chain + self.pending.tobytes()).digest()

    def _append(self, digest: bytes) -> None:
        self.chain = hashlib.sha256(self.chain + digest).digest()


def _hash_block(block: np.ndarray) -> bytes:
    return hashlib.sha256(block.data).digest()
