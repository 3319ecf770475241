"""How books lie in memory: arrays of 32-bit words, and the bytes that a book moves."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from lux_int.workload import SELL, TAKERS, Workload

WORD = np.dtype(np.uint32)
FARTHEST_TICK = 125
"""Ticks from the lowest resting price to the highest that the packed layout holds."""
MOST_BOOKS = 1 << 24
_MOST_LOTS = 2**16 - 1
_MOST_TAKER_LOTS = 2**15 - 1


@dataclass(frozen=True)
class Image:
    """A workload as the words of its layout.

    In planes the words of a book are a column, so that neighbouring threads read neighbouring
    words; else they are a row.
    """

    planes: bool
    resting: np.ndarray
    """uint32 [variety, word]."""
    incoming: np.ndarray
    """uint32 [variety, word]; shared orders are ORDER as it is in every layout, [1, word]."""
    own_orders: bool
    """Whether every book has incoming orders of its own."""
    remaining: np.ndarray
    """What the books look like at the end, uint32 [variety, word]."""
    bytes_per_book: int
    """What a book reads and writes: resting orders and its own incoming ones; what is left."""


Layout = Literal["structures", "planes", "packed"]


def lay_out(workload: Workload, remaining: np.ndarray, layout: Layout) -> Image:
    """Return the words of a workload.

    Args:
        workload: what is matched.
        remaining: lots that are left of every resting order, uint32 [variety, slot].
        layout: "structures" is an array of ORDER, "planes" is prices, then lots; "packed" has a
            byte for a price and 16 bits for lots, and then the lowest price, unless orders are the
            book's own: these are counted from it.

    Raises:
        ValueError: the layout does not hold these books or orders.
    """
    resting, incoming = workload.resting, workload.incoming
    if layout == "packed":
        base = resting["price"].min(axis=1, keepdims=True)
        words = _pack_resting(resting["price"] - base, resting["qty"])
        if workload.shared:
            words = np.concatenate([words, base], axis=1)
        remaining = pack_lots(remaining)
    elif layout == "planes":
        words = np.concatenate([resting["price"], resting["qty"]], axis=1)
    else:
        words = np.ascontiguousarray(resting).view(WORD)
    moved = words.shape[1] + remaining.shape[1] + 1
    if workload.shared:
        incoming_words = np.ascontiguousarray(incoming).view(WORD)
    elif layout == "packed":
        incoming_words = _pack_incoming(incoming, base)
        moved += TAKERS
    else:
        raise ValueError(f"the layout {layout!r} has no place for incoming orders of every book")
    nbytes = WORD.itemsize * moved
    planes = layout != "structures"
    return Image(planes, words, incoming_words, not workload.shared, remaining, nbytes)


def pack_lots(lots: np.ndarray) -> np.ndarray:
    """Return lots as 16 words a book: of two neighbours the first is in the low half."""
    pairs = lots.astype(WORD)
    return pairs[:, 0::2] | pairs[:, 1::2] << 16


def _pack_resting(offset: np.ndarray, lots: np.ndarray) -> np.ndarray:
    """Return 8 words of prices, as ticks from the lowest, and 16 of lots."""
    if offset.max() > FARTHEST_TICK or lots.max() > _MOST_LOTS:
        raise ValueError(
            f"resting prices {offset.max()} ticks apart and {lots.max()} lots: the packed layout "
            f"has room for {FARTHEST_TICK} ticks and {_MOST_LOTS} lots"
        )
    # Slot 24 - 8 k + j is byte k of word j: see `crossed_slots` in the kernel.
    prices = np.zeros((len(offset), 8), WORD)
    for byte in range(4):
        first = 24 - 8 * byte
        prices |= offset[:, first : first + 8].astype(WORD) << (8 * byte)
    return np.concatenate([prices, pack_lots(lots)], axis=1)


def _pack_incoming(incoming: np.ndarray, base: np.ndarray) -> np.ndarray:
    """Return a word an order: 16 bits of price from the lowest resting one, side, 15 of lots."""
    offset = incoming["price"].astype(np.int64) - base
    if np.abs(offset).max() >= 2**15 or incoming["qty"].max() > _MOST_TAKER_LOTS:
        raise ValueError(
            f"incoming orders {np.abs(offset).max()} ticks off and of {incoming['qty'].max()} "
            f"lots: the packed layout has room for {2**15 - 1} ticks and {_MOST_TAKER_LOTS} lots"
        )
    sells = (incoming["side"] == SELL).astype(WORD)
    return (offset & 0xFFFF).astype(WORD) | sells << 16 | incoming["qty"] << 17
