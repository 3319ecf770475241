"""Who was filled: the orders of one step, and the share of the auction each of them got."""

import numpy as np

from bookwarp.reference.auction import add_orders, clear_auction
from bookwarp.reference.engine import gather_orders
from bookwarp.spec.agents import exact_agent_types
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


def tape_step(auction: CallAuction, state: State) -> np.ndarray:
    """Return the orders of the step that follows `state`, ordered by market and agent.

    `state` is left with the mid and the window of that step, as `gather_orders` leaves it.
    """
    given = auction.agent_types
    types = exact_agent_types(auction.type_counts()) if given is None else given
    orders = gather_orders(auction, types, state)
    buy, sell = add_orders(state.bid, state.ask, orders)
    cleared = clear_auction(buy, sell)
    tape = np.zeros(orders.qty.shape, TAPE_ROW)
    tape["step"] = state.step
    tape["market"] = np.arange(auction.markets)[:, None]
    tape["agent"] = np.arange(auction.agents)
    tape["side"] = orders.side
    tape["price"] = orders.price + state.base[:, None]
    tape["qty"] = orders.qty
    for market in range(auction.markets):
        resting = {Side.BUY: state.bid[market], Side.SELL: state.ask[market]}
        filled = {
            Side.BUY: buy[market] - cleared.bid[market],
            Side.SELL: sell[market] - cleared.ask[market],
        }
        tape["filled"][market] = share_fills(
            orders.side[market], orders.price[market], orders.qty[market], resting, filled
        )
    return tape.reshape(-1)


def share_fills(
    side: np.ndarray,
    price: np.ndarray,
    qty: np.ndarray,
    resting: dict[Side, np.ndarray],
    filled: dict[Side, np.ndarray],
) -> np.ndarray:
    """Share what was filled at each level: first what rested there, then orders by agent number.

    Args:
        side, price, qty: one market's orders, int64 [agent], price as a level.
        resting: by side, lots at each level before the step, int64 [level].
        filled: by side, lots filled at each level, int64 [level].

    Returns:
        Lots filled of each order, int64 [agent].
    """
    left = {each: np.maximum(filled[each] - resting[each], 0) for each in Side}
    shares = np.zeros(len(qty), np.int64)
    for agent in range(len(qty)):
        at_level = left[Side(int(side[agent]))]
        shares[agent] = min(qty[agent], at_level[price[agent]])
        at_level[price[agent]] -= shares[agent]
    return shares
