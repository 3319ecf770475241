"""The execution agent: what it sends of its parent order, and what becomes of that."""

import numpy as np

from bookwarp.reference.agents import Orders
from bookwarp.reference.auction import Cleared
from bookwarp.spec.codes import Schedule, Side
from bookwarp.spec.execution import SHARE_UNITS, cumulative_profile, share_units
from bookwarp.spec.market import CallAuction
from bookwarp.spec.state import State


def note_arrivals(auction: CallAuction, state: State) -> None:
    """Note the mid and the volume that parent orders find which begin in this step."""
    begins = (auction.per_market("parent_start") == state.step) & (
        auction.per_market("parent_qty") > 0
    )
    mid2 = state.prev_mid2 + 2 * (state.base - auction.per_market("open_price"))
    state.arrival_mid2 = np.where(begins, mid2, state.arrival_mid2)
    state.start_volume = np.where(begins, state.volume, state.start_volume)


def target_lots(auction: CallAuction, state: State) -> np.ndarray:
    """Return how much of each parent is to be done after this step, int64 [market].

    Source: the schedules of docs/execution.md; all divisions round down.
    """
    lots = auction.per_market("parent_qty")
    horizon = auction.per_market("parent_horizon")
    begun = state.step - auction.per_market("parent_start")
    passed = np.clip(begun + 1, 0, horizon)
    profile = cumulative_profile(auction.volume_profile)
    weight = profile[passed * (len(profile) - 1) // horizon]
    # As Python integers: shares of a large volume take more than 64 bits.
    volume = (state.volume - state.start_volume).astype(object)
    share = share_units(auction.per_market("volume_share")).astype(object)
    taken = np.minimum(lots.astype(object), share * volume // SHARE_UNITS).astype(np.int64)
    targets = {
        Schedule.TWAP: lots * passed // horizon,
        Schedule.PROFILE: lots * weight // profile[-1],
        Schedule.SHARE: taken,
    }
    schedule = auction.per_market("schedule")
    return np.select([schedule == code for code in targets], list(targets.values()))


def decide_child(auction: CallAuction, state: State) -> Orders:
    """Return the order of every execution agent, of 0 lots where none is sent. [market, 1]."""
    begun = state.step - auction.per_market("parent_start")
    working = (begun >= 0) & (begun < auction.per_market("parent_horizon"))
    missing = target_lots(auction, state) - state.own_filled - state.own_waiting
    side = auction.per_market("parent_side").astype(np.int64)
    price = np.where(side == Side.BUY, auction.levels - 1, 0)
    qty = np.where(working, np.maximum(missing, 0), 0)
    return Orders(side[:, None], price[:, None], qty[:, None])


def append_child(auction: CallAuction, state: State, orders: Orders) -> Orders:
    """Return the orders of all agents, that of the execution agent last. [market, agent]."""
    note_arrivals(auction, state)
    child = decide_child(auction, state)
    state.own_waiting = state.own_waiting + child.qty[:, 0]
    return Orders(
        np.concatenate([orders.side, child.side], axis=1),
        np.concatenate([orders.price, child.price], axis=1),
        np.concatenate([orders.qty, child.qty], axis=1),
    )


def own_fills(
    auction: CallAuction, state: State, buy: np.ndarray, sell: np.ndarray, cleared: Cleared
) -> np.ndarray:
    """Return the lots that an auction fills of each execution agent, the last of its tick.

    Args:
        auction, state: the ensemble, with `own_waiting` lots in the auction.
        buy, sell: what the auction matched, int64 [market, level].
        cleared: what the auction made of it.

    Returns:
        int64 [market].
    """
    buys = auction.per_market("parent_side") == Side.BUY
    given = np.where(buys, buy[:, -1], sell[:, 0])
    rests = np.where(buys, cleared.bid[:, -1], cleared.ask[:, 0])
    ahead = given - state.own_waiting
    return np.asarray(np.maximum(given - rests - ahead, 0))


def settle_parents(
    auction: CallAuction, state: State, clears: np.ndarray, fills: np.ndarray, price: np.ndarray
) -> None:
    """Take in what auctions filled of the execution agents' orders, and cancel the rest of them.

    Args:
        auction, state: the ensemble; its book is what the auctions left.
        clears: which markets had an auction, bool [market].
        fills: lots filled there, int64 [market].
        price: of the auction, a level, int64 [market].
    """
    buys = auction.per_market("parent_side") == Side.BUY
    fills = np.where(clears, fills, 0)
    cancelled = np.where(clears, state.own_waiting - fills, 0)
    state.bid[:, -1] -= np.where(buys, cancelled, 0)
    state.ask[:, 0] -= np.where(buys, 0, cancelled)
    distance = state.base + price - auction.per_market("open_price")
    state.own_filled = state.own_filled + fills
    state.own_cost = state.own_cost + fills * distance
    state.own_waiting = np.where(clears, 0, state.own_waiting)
