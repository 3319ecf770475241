"""The execution agent of one market: what it sends of its parent order, and what is filled of it.

Owns: the market's entries of `own_waiting`, `own_filled`, `own_cost`, `arrival_mid2` and
`start_volume`.
"""

import numpy as np

from bookwarp.engines.cpu.compile import inlined
from bookwarp.spec.codes import Schedule, Side
from bookwarp.spec.execution import SHARE_UNITS

_BUY = int(Side.BUY)
_TWAP, _PROFILE = int(Schedule.TWAP), int(Schedule.PROFILE)
_32 = np.uint64(SHARE_UNITS.bit_length() - 1)
_LOW32 = np.uint64(SHARE_UNITS - 1)


@inlined
def share_of(volume, share):  # type: ignore[no-untyped-def]
    """Return volume * share / 2**32, rounded down, of a share of at most 2**32, in 64 bits."""
    lots = np.uint64(volume)
    return np.int64((lots >> _32) * share + (((lots & _LOW32) * share) >> _32))


@inlined
def target_lots(market, profile, step, volume):  # type: ignore[no-untyped-def]
    """Return how much of the parent is to be done after `step`, one of its horizon.

    Args:
        market: parameters.
        profile: cumulative weights, int64 [point + 1].
        step: counted from 0.
        volume: lots traded in the market since the parent began.
    """
    passed = step - market.parent_start + 1
    if market.schedule == _TWAP:
        return market.parent_qty * passed // market.parent_horizon
    if market.schedule == _PROFILE:
        points = len(profile) - 1
        weight = profile[passed * points // market.parent_horizon]
        return market.parent_qty * weight // profile[points]
    return min(market.parent_qty, share_of(volume, market.share))


@inlined
def send_child(market, profile, state, m, step, bid, ask):  # type: ignore[no-untyped-def]
    """Add what the execution agent of market `m` sends in `step`; return lots bought and sold.

    `bid` and `ask` are where the orders of this step go. The mid of the step is in the state.
    """
    if step == market.parent_start:
        state.arrival_mid2[m] = state.prev_mid2[m] + 2 * (state.base[m] - market.open_price)
        state.start_volume[m] = state.volume[m]
    if step < market.parent_start or step - market.parent_start >= market.parent_horizon:
        return 0, 0
    target = target_lots(market, profile, step, state.volume[m] - state.start_volume[m])
    qty = max(target - state.own_filled[m] - state.own_waiting[m], 0)
    state.own_waiting[m] += qty
    if market.parent_side == _BUY:
        bid[len(bid) - 1] += qty
        return qty, 0
    ask[0] += qty
    return 0, qty


@inlined
def settle_child(market, state, m, price, volume, bid, ask):  # type: ignore[no-untyped-def]
    """Take in what an auction fills of the execution agent's lots, before others are filled.

    They are the last of their tick, which is the first to be filled. What is not filled is
    cancelled: it leaves `bid` or `ask`.

    Returns:
        The lots that leave the bids, and the asks.
    """
    own = state.own_waiting[m]
    buys = market.parent_side == _BUY
    given = bid[len(bid) - 1] if buys else ask[0]
    filled = max(min(volume, given) - (given - own), 0)
    state.own_filled[m] += filled
    state.own_cost[m] += filled * (state.base[m] + price - market.open_price)
    state.own_waiting[m] = 0
    cancelled = own - filled
    if buys:
        bid[len(bid) - 1] -= cancelled
        return cancelled, 0
    ask[0] -= cancelled
    return 0, cancelled
