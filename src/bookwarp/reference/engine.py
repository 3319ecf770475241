"""The reference engine: all markets of one step at once, in NumPy, as the model is written."""

from collections.abc import Mapping

import numpy as np

from bookwarp.reference.agents import Orders, decide_orders
from bookwarp.reference.auction import (
    batch_orders,
    best_ask,
    best_bid,
    clear_auction,
    mid_price,
    shift_book,
    window_shift,
)
from bookwarp.reference.execution import append_child, own_fills, settle_parents
from bookwarp.reference.random import draw
from bookwarp.spec.agents import exact_agent_types
from bookwarp.spec.codes import NO_PRICE, Window
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import BOOK, RecordPlan
from bookwarp.spec.state import State, opening_state


class ReferenceEngine:
    """The specification, executable; implements `bookwarp.engines.protocol.Engine`."""

    def __init__(self, auction: CallAuction, plan: RecordPlan, threads: int | None = None) -> None:
        """Allocate, and stand at the opening state; `threads` makes no difference here."""
        self._auction = auction
        self._plan = plan
        self._types = agent_types(auction)
        self._state = opening_state(auction)

    def run(self, steps: int, rows: Mapping[str, np.ndarray]) -> None:
        """Run `steps` steps and fill `rows`."""
        row = 0
        for _ in range(steps):
            run_step(self._auction, self._types, self._state)
            if self._state.step % self._plan.every == 0:
                record_row(self._plan, self._state, rows, row)
                row += 1

    def wait(self) -> None:
        """Return at once: `run` has done all it was asked for."""

    def read_state(self) -> State:
        """Return a copy of the state."""
        return self._state.copy()

    def write_state(self, state: State) -> None:
        """Continue from a copy of `state`."""
        self._state = state.copy()


def agent_types(auction: CallAuction) -> np.ndarray:
    """Return the types of all agents but an execution agent, int8 [market, agent]."""
    given = auction.agent_types
    return exact_agent_types(auction.type_counts()) if given is None else given


def run_step(auction: CallAuction, types: np.ndarray, state: State) -> Orders:
    """Advance `state` by one step, in place, and return the orders that were sent."""
    orders = gather_orders(auction, types, state)
    clears = (state.step + 1) % auction.per_market("clearing_interval") == 0
    buy, sell = batch_orders(state, orders, clears)
    cleared = clear_auction(buy, sell)
    state.bid, state.ask = cleared.bid, cleared.ask
    if auction.has_execution_agents:
        fills = own_fills(auction, state, buy, sell, cleared)
        settle_parents(auction, state, clears, fills, cleared.price)
    traded = cleared.volume > 0
    state.last = np.where(traded, state.base + cleared.price, state.last)
    state.trades = state.trades + traded
    state.volume = state.volume + cleared.volume
    state.step += 1
    return orders


def gather_orders(auction: CallAuction, types: np.ndarray, state: State) -> Orders:
    """Observe the mid, move the window if it follows, and ask every agent for its order.

    `state` is left with the mid of this step and, where it moved, the window of this step. An
    execution agent's order is the last, of 0 lots where it sends none, and is in `own_waiting`.
    """
    mid2 = mid_price(state.bid, state.ask, state.last - state.base)
    if auction.window is Window.FOLLOWING:
        shift = window_shift(mid2, auction.levels)
        if auction.has_waiting_orders:
            # While orders wait the mid stays where it was, and once moved a window is centred.
            assert not (state.waiting_buy + state.waiting_sell)[shift != 0].any()
        state.bid, fallen_bid = shift_book(state.bid, shift)
        state.ask, fallen_ask = shift_book(state.ask, shift)
        state.pruned_bid = state.pruned_bid + fallen_bid
        state.pruned_ask = state.pruned_ask + fallen_ask
        state.base = state.base + shift
        state.prev_mid2 = state.prev_mid2 - 2 * shift
        mid2 = mid2 - 2 * shift
    ret = np.sign(mid2 - state.prev_mid2)
    state.prev_mid2 = mid2
    draws = draw(auction, types, state.step)
    orders = decide_orders(auction, types, draws, mid2, ret, state.base, state.step)
    return append_child(auction, state, orders) if auction.has_execution_agents else orders


def record_row(plan: RecordPlan, state: State, rows: Mapping[str, np.ndarray], row: int) -> None:
    """Write one row of everything that `plan` records from the state after a step."""
    levels = state.bid.shape[1]
    bid_level, ask_level = best_bid(state.bid), best_ask(state.ask)
    level = np.arange(levels)
    near_bid = level >= (bid_level - plan.depth_ticks)[:, None]
    near_ask = level <= (ask_level + plan.depth_ticks)[:, None]
    values = {
        "last": state.last,
        "volume": state.volume,
        "mid2": state.prev_mid2 + 2 * state.base,
        "best_bid": np.where(bid_level < 0, NO_PRICE, state.base + bid_level),
        "best_ask": np.where(ask_level == levels, NO_PRICE, state.base + ask_level),
        "bid_depth": np.where(near_bid, state.bid, 0).sum(axis=1),
        "ask_depth": np.where(near_ask, state.ask, 0).sum(axis=1),
    }
    for name in plan.series:
        rows[name][row] = values[name]
    if BOOK in plan.names:
        rows["book_bid"][row] = state.bid[plan.book_markets]
        rows["book_ask"][row] = state.ask[plan.book_markets]
