"""Who was filled: the orders of one step, and the share of its auction each of them got."""

from dataclasses import dataclass

import numpy as np

from bookwarp.reference.auction import batch_orders, clear_auction
from bookwarp.reference.engine import agent_types, gather_orders
from bookwarp.reference.execution import own_fills
from bookwarp.spec.codes import Side
from bookwarp.spec.market import CallAuction
from bookwarp.spec.state import State

TAPE_ROW = np.dtype(
    [
        ("step", "<i8"),
        ("market", "<i8"),
        ("agent", "<i8"),
        ("side", "<i8"),
        ("price", "<i8"),
        ("qty", "<i8"),
        ("filled", "<i8"),
    ]
)


@dataclass(frozen=True, eq=False)
class Fills:
    """What an auction of each market filled."""

    by_level: dict[Side, np.ndarray]
    """By side, lots, int64 [market, level]."""
    own: np.ndarray
    """Lots of the execution agent, int64 [market]; all 0 without one."""


def auction_fills(auction: CallAuction, state: State) -> Fills:
    """Return what the auctions fill that end the step after `state`, in every market."""
    state = state.copy()
    orders = gather_orders(auction, agent_types(auction), state)
    buy, sell = batch_orders(state, orders, np.ones(auction.markets, bool))
    cleared = clear_auction(buy, sell)
    own = np.zeros(auction.markets, np.int64)
    if auction.has_execution_agents:
        own = own_fills(auction, state, buy, sell, cleared)
    return Fills({Side.BUY: buy - cleared.bid, Side.SELL: sell - cleared.ask}, own)


def tape_step(auction: CallAuction, state: State, fills: Fills | None) -> np.ndarray:
    """Return the orders of the step that follows `state`, ordered by market and agent.

    `state` is left with the mid and the window of that step, as `gather_orders` leaves it.

    Args:
        auction, state: the ensemble before the step.
        fills: of the auction in which its orders take part; None if that is yet to come.
    """
    sent_before = state.own_waiting
    orders = gather_orders(auction, agent_types(auction), state)
    tape = np.zeros(orders.qty.shape, TAPE_ROW)
    tape["step"] = state.step
    tape["market"] = np.arange(auction.markets)[:, None]
    tape["agent"] = np.arange(orders.qty.shape[1])
    tape["side"] = orders.side
    tape["price"] = orders.price + state.base[:, None]
    tape["qty"] = orders.qty
    if fills is not None:
        ahead = lots_ahead(auction, state, sent_before)
        for market in range(auction.markets):
            tape["filled"][market, : auction.agents] = share_fills(
                orders.side[market, : auction.agents],
                orders.price[market, : auction.agents],
                orders.qty[market, : auction.agents],
                {side: lots[market] for side, lots in ahead.items()},
                {side: lots[market] for side, lots in fills.by_level.items()},
            )
    if auction.has_execution_agents:
        if fills is not None:
            left = np.maximum(fills.own - sent_before, 0)
            tape["filled"][:, -1] = np.minimum(left, orders.qty[:, -1])
        return tape[(tape["agent"] < auction.agents) | (tape["qty"] > 0)]
    return tape.reshape(-1)


def lots_ahead(
    auction: CallAuction, state: State, own_waiting: np.ndarray
) -> dict[Side, np.ndarray]:
    """Return the lots that are served before the orders of this step, by side [market, level].

    They rest, or were sent earlier and wait; but an execution agent is the last of its tick.

    Args:
        auction, state: the ensemble.
        own_waiting: lots of execution agents that wait since earlier steps, int64 [market].
    """
    ahead = {Side.BUY: state.bid.copy(), Side.SELL: state.ask.copy()}
    if auction.has_waiting_orders:
        ahead[Side.BUY] += state.waiting_buy
        ahead[Side.SELL] += state.waiting_sell
    if auction.has_execution_agents:
        buys = auction.per_market("parent_side") == Side.BUY
        ahead[Side.BUY][:, -1] -= np.where(buys, own_waiting, 0)
        ahead[Side.SELL][:, 0] -= np.where(buys, 0, own_waiting)
    return ahead


def share_fills(
    side: np.ndarray,
    price: np.ndarray,
    qty: np.ndarray,
    ahead: dict[Side, np.ndarray],
    filled: dict[Side, np.ndarray],
) -> np.ndarray:
    """Share what was filled at each level: what was ahead comes first, then orders by agent number.

    Args:
        side, price, qty: one market's orders, int64 [agent], price as a level.
        ahead: by side, lots at each level that are served before, int64 [level].
        filled: by side, lots filled at each level, int64 [level].

    Returns:
        Lots filled of each order, int64 [agent].
    """
    left = {each: np.maximum(filled[each] - ahead[each], 0) for each in Side}
    shares = np.zeros(len(qty), np.int64)
    for agent in range(len(qty)):
        at_level = left[Side(int(side[agent]))]
        shares[agent] = min(qty[agent], at_level[price[agent]])
        at_level[price[agent]] -= shares[agent]
    return shares
