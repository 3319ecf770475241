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


@dataclass(frozen=True, eq=False)
class Sent:
    """The orders of a step of every market, and what is served before them; [market, agent]."""

    rows: np.ndarray
    """`TAPE_ROW`; `filled` is 0 until `fill_orders`."""
    level: np.ndarray
    """Level of the price, int64."""
    ahead: np.ndarray
    """Lots that are filled before an order at its level; of an execution agent, own lots."""


def send_orders(auction: CallAuction, state: State) -> Sent:
    """Return the orders of the step that follows `state`.

    `state` is left with the mid and the window of that step, as `gather_orders` leaves it.
    """
    own_before = state.own_waiting
    orders = gather_orders(auction, agent_types(auction), state)
    rows = np.zeros(orders.qty.shape, TAPE_ROW)
    rows["step"] = state.step
    rows["market"] = np.arange(auction.markets)[:, None]
    rows["agent"] = np.arange(orders.qty.shape[1])
    rows["side"] = orders.side
    rows["price"] = orders.price + state.base[:, None]
    rows["qty"] = orders.qty
    ahead = np.zeros(orders.qty.shape, np.int64)
    if auction.has_execution_agents:
        ahead[:, -1] = own_before
    queued = lots_ahead(auction, state, own_before)
    agents = slice(auction.agents)
    for market in range(auction.markets):
        ahead[market, agents] = queue_orders(
            orders.side[market, agents],
            orders.price[market, agents],
            orders.qty[market, agents],
            {side: lots[market] for side, lots in queued.items()},
        )
    return Sent(rows, orders.price, ahead)


def fill_orders(auction: CallAuction, sent: Sent, fills: Fills | None) -> np.ndarray:
    """Return orders by market and agent, with what was filled of them.

    Args:
        auction, sent: the ensemble, and orders of a step.
        fills: of the auction in which they take part; None if that is yet to come.
    """
    rows = sent.rows
    if fills is not None:
        market = rows["market"]
        buys = fills.by_level[Side.BUY][market, sent.level]
        sells = fills.by_level[Side.SELL][market, sent.level]
        filled = np.where(rows["side"] == Side.BUY, buys, sells)
        if auction.has_execution_agents:
            filled[:, -1] = fills.own
        rows["filled"] = np.clip(filled - sent.ahead, 0, rows["qty"])
    return rows[(rows["agent"] < auction.agents) | (rows["qty"] > 0)]


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


def queue_orders(
    side: np.ndarray, level: np.ndarray, qty: np.ndarray, ahead: dict[Side, np.ndarray]
) -> np.ndarray:
    """Queue the orders of one market at their levels, by agent number.

    Args:
        side, level, qty: the orders, int64 [agent].
        ahead: by side, lots at each level that are served before them all, int64 [level]; grows
            by the orders.

    Returns:
        Lots that are served before each order at its level, int64 [agent].
    """
    before = np.zeros(len(qty), np.int64)
    for agent in range(len(qty)):
        queue = ahead[Side(int(side[agent]))]
        before[agent] = queue[level[agent]]
        queue[level[agent]] += qty[agent]
    return before
