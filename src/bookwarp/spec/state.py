"""The state of an ensemble between two steps: its layout, its opening, its digest."""

import hashlib
import struct
from dataclasses import dataclass, field

import numpy as np

from bookwarp.spec.codes import Window
from bookwarp.spec.market import CallAuction

Layout = dict[str, tuple[tuple[str, ...], str, str]]

# name -> (dimensions, unit, meaning); every array is int64 and C-contiguous. The order is the
# order of the digest.
STATE_LAYOUT: Layout = {
    "bid": (("market", "level"), "lot", "resting buy quantity"),
    "ask": (("market", "level"), "lot", "resting sell quantity"),
    "last": (("market",), "tick", "price of the last auction that traded"),
    "prev_mid2": (("market",), "half tick", "twice the last mid, counted from base"),
    "base": (("market",), "tick", "price of level 0"),
    "volume": (("market",), "lot", "lots traded so far"),
    "trades": (("market",), "1", "auctions so far that traded"),
    "pruned_bid": (("market",), "lot", "buy lots cancelled because the window moved"),
    "pruned_ask": (("market",), "lot", "sell lots cancelled because the window moved"),
}

# What a state has beyond that, after it and in this order: of an ensemble in which orders wait,
WAITING_LAYOUT: Layout = {
    "waiting_buy": (("market", "level"), "lot", "buy quantity that waits for the next auction"),
    "waiting_sell": (("market", "level"), "lot", "sell quantity that waits for the next auction"),
}
# and of one with execution agents. All are 0 in a market that has none.
EXECUTION_LAYOUT: Layout = {
    "own_waiting": (("market",), "lot", "of the parent order, waits for the next auction"),
    "own_filled": (("market",), "lot", "of the parent order, filled so far"),
    "own_cost": (("market",), "lot tick", "lots filled times their price less open_price, summed"),
    "arrival_mid2": (
        ("market",),
        "half tick",
        "twice the mid at the beginning of the parent's first step, counted from open_price",
    ),
    "start_volume": (("market",), "lot", "lots traded before the parent's first step"),
}
ALL_LAYOUT: Layout = {**STATE_LAYOUT, **WAITING_LAYOUT, **EXECUTION_LAYOUT}

_DIGEST_HEADER = b"bookwarp call-auction state 1\n"


@dataclass(eq=False)
class State:
    """All that changes while an ensemble runs; `state_layout` says what each array is."""

    step: int
    """Steps done so far."""
    bid: np.ndarray
    ask: np.ndarray
    last: np.ndarray
    prev_mid2: np.ndarray
    base: np.ndarray
    volume: np.ndarray
    trades: np.ndarray
    pruned_bid: np.ndarray
    pruned_ask: np.ndarray
    # Without an entry where an ensemble does not have them.
    waiting_buy: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    waiting_sell: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    own_waiting: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    own_filled: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    own_cost: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    arrival_mid2: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    start_volume: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that the state has, by name, in the order of `state_layout`."""
        found = {name: getattr(self, name) for name in ALL_LAYOUT}
        return {n: array for n, array in found.items() if n in STATE_LAYOUT or len(array)}

    def copy(self) -> "State":
        """Return an independent copy."""
        return State(self.step, **{name: array.copy() for name, array in self.arrays().items()})

    def digest(self) -> str:
        """Return the SHA-256 of the state as 64 hexadecimal digits, the same on every engine.

        Hashed are a header line, then markets, levels and step, then every array in the order of
        `state_layout`, all as little-endian int64 in C order.
        """
        markets, levels = self.bid.shape
        hasher = hashlib.sha256(_DIGEST_HEADER)
        hasher.update(struct.pack("<3q", markets, levels, self.step))
        for array in self.arrays().values():
            hasher.update(np.ascontiguousarray(array, "<i8").data)
        return hasher.hexdigest()


def state_layout(auction: CallAuction) -> Layout:
    """Return which arrays a state of `auction` has: (dimensions, unit, meaning) by name."""
    layout = dict(STATE_LAYOUT)
    if auction.has_waiting_orders:
        layout |= WAITING_LAYOUT
    if auction.has_execution_agents:
        layout |= EXECUTION_LAYOUT
    return layout


def array_shapes(auction: CallAuction) -> dict[str, tuple[int, ...]]:
    """Return the shape of every state array of `auction`."""
    sizes = {"market": auction.markets, "level": auction.levels}
    return {n: tuple(sizes[d] for d in dims) for n, (dims, _, _) in state_layout(auction).items()}


def opening_prices(auction: CallAuction) -> tuple[np.ndarray, np.ndarray]:
    """Return the price at which every market opens, and that of its level 0, int64 [market]."""
    open_price = auction.per_market("open_price").astype(np.int64)
    if auction.window is Window.FOLLOWING:
        return open_price, open_price - auction.levels // 2
    return open_price, np.zeros(auction.markets, np.int64)


def opening_state(auction: CallAuction) -> State:
    """Return the state before step 0: open_depth lots a tick below and above open_price."""
    arrays = {name: np.zeros(shape, np.int64) for name, shape in array_shapes(auction).items()}
    markets = np.arange(auction.markets)
    open_price, arrays["base"][:] = opening_prices(auction)
    centre = open_price - arrays["base"]
    arrays["bid"][markets, centre - 1] = auction.per_market("open_depth")
    arrays["ask"][markets, centre + 1] = auction.per_market("open_depth")
    arrays["last"][:] = open_price
    arrays["prev_mid2"][:] = 2 * centre
    return State(0, **arrays)
