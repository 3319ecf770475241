"""What the baselines take of an ensemble: one value of each parameter, fixed window, int32 books.

An agent's limit order lies a few ticks from the mid, so a side of a market has few prices that an
order can have: its slots. Slot s is the price s - reach ticks from the mid, the last slot the
marketable order. A code is side * slots + slot, buys first.
"""

from dataclasses import dataclass

import numpy as np

from bookwarp.spec.agents import exact_agent_types
from bookwarp.spec.codes import AgentType, Stream, Window
from bookwarp.spec.market import CallAuction
from bookwarp.spec.random import NARROW_CELLS, market_keys, probability_threshold


@dataclass(frozen=True, eq=False)
class FixedRules:
    """An ensemble as arrays and whole numbers; rows of arrays are markets, one if all are alike."""

    markets: int
    agents: int
    levels: int
    open_price: int
    open_depth: int
    max_qty: int
    noise_spread: int
    reach: int
    """Farthest limit order from the mid, ticks."""
    slots: int
    """Prices of a side, the marketable one included."""
    has_fundamental: bool
    key_low: np.ndarray
    """Low word of the key of stream "default", int64 [market]."""
    key_high: np.ndarray
    noise: np.ndarray
    """Whether an agent is a noise agent, bool [row, agent]."""
    momentum: np.ndarray
    """int32 [row, agent], 0 or 1."""
    fundamental: np.ndarray
    """int32 [row, agent], 0 or 1."""
    turn: np.ndarray
    """Side of makers in step 0, 1 or -1, and 0 of the others; int32 [row, agent]."""
    threshold: np.ndarray
    """A word below it makes the order marketable; 0 for makers. int64 [row, agent]."""
    slot_buying: np.ndarray
    """Slot of a limit order to buy of an agent that is no noise agent, int32 [row, agent]."""
    slot_selling: np.ndarray

    @classmethod
    def of(cls, auction: CallAuction) -> "FixedRules":
        """Lay out an ensemble.

        Raises:
            ValueError: it has what the baselines do not have.
        """
        _check_simple(auction)
        types = auction.agent_types
        if types is None:
            types = exact_agent_types(auction.type_counts())
        if np.all(types == types[:1]):
            types = types[:1]
        max_qty, spread = int(auction.max_qty), int(auction.noise_spread)
        half_spread = int(auction.maker_half_spread)
        reach = max(1, spread, half_spread)
        maker = types == AgentType.MAKER
        key = market_keys(auction.per_market("seed"), auction.market_ids)
        agent = np.arange(auction.agents)
        threshold = probability_threshold(auction.market_order_prob).astype(np.int64)
        away = np.where(maker, -half_spread, 1)
        return cls(
            markets=auction.markets,
            agents=auction.agents,
            levels=auction.levels,
            open_price=int(auction.open_price),
            open_depth=int(auction.open_depth),
            max_qty=max_qty,
            noise_spread=spread,
            reach=reach,
            slots=2 * reach + 2,
            has_fundamental=bool(np.any(types == AgentType.FUNDAMENTAL)),
            key_low=(key & np.uint64(0xFFFFFFFF)).astype(np.int64),
            key_high=(key >> np.uint64(32)).astype(np.int64),
            noise=types == AgentType.NOISE,
            momentum=(types == AgentType.MOMENTUM).astype(np.int32),
            fundamental=(types == AgentType.FUNDAMENTAL).astype(np.int32),
            turn=np.where(maker, 1 - 2 * (agent % 2), 0).astype(np.int32),
            threshold=np.where(maker, 0, threshold),
            slot_buying=(reach + away).astype(np.int32),
            slot_selling=(reach - away).astype(np.int32),
        )

    def slot_offsets(self) -> np.ndarray:
        """Return what limit orders add to the mid, by code, marketable ones 0; half ticks."""
        side = 2 * np.append(np.arange(-self.reach, self.reach + 1), 0)
        return np.concatenate([side, side])

    def slot_limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the lowest and the highest cell of each code; marketable orders have but one.

        A cell is a level of a buy, or levels + the level of a sell.
        """
        low = np.repeat([0, self.levels], self.slots)
        high = low + self.levels - 1
        low[self.slots - 1] = high[self.slots - 1]
        high[-1] = low[-1]
        return low, high


def opening_book(rules: FixedRules) -> np.ndarray:
    """Return the book before step 0, int32 [market, side, level], buys first."""
    book = np.zeros((rules.markets, 2, rules.levels), np.int32)
    book[:, 0, rules.open_price - 1] = rules.open_depth
    book[:, 1, rules.open_price + 1] = rules.open_depth
    return book


def _check_simple(auction: CallAuction) -> None:
    if auction.window is not Window.FIXED or auction.stream is not Stream.DEFAULT:
        raise ValueError("this baseline has the fixed window and the default stream only")
    if set(auction.varied) - {"seed"}:
        raise ValueError(f"this baseline has no parameters by market: {auction.varied}")
    cells = 2 * int(auction.max_qty) * (2 * int(auction.noise_spread) + 1)
    if cells > NARROW_CELLS:
        raise ValueError(f"this baseline gives an agent one word: {cells} > {NARROW_CELLS}")
    lots = int(auction.open_depth) + auction.agents * int(auction.max_qty) * 10_000
    if lots >= 2**31:
        raise ValueError("this baseline counts lots in 32 bits")
