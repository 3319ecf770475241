"""Bytes of 256-bit books, written as the format says, and the vectors of the package."""

import json
from importlib.resources import files

VECTORS = json.loads(files("bookwarp.consensus").joinpath("vectors/u256.json").read_text())[
    "vectors"
]


def result_of(filled, vwap, fills):
    """Return a result of 68 bytes."""
    return filled.to_bytes(32, "big") + vwap.to_bytes(32, "big") + fills.to_bytes(4, "big")


def arena_of(capacity, bids=(), asks=()):
    """Return an arena made of (price, quantity) pairs."""
    data = len(bids).to_bytes(4, "little") + len(asks).to_bytes(4, "little")
    for side in (bids, asks):
        for column in (0, 1):
            numbers = b"".join(slot[column].to_bytes(32, "big") for slot in side)
            data += numbers.ljust(32 * capacity, b"\0")
    return data
