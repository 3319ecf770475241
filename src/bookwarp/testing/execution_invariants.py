"""What holds for orders that wait and for parent orders, as assertions that say where not."""

import numpy as np

from bookwarp.spec.codes import Side, Window
from bookwarp.spec.market import CallAuction
from bookwarp.spec.state import EXECUTION_LAYOUT, WAITING_LAYOUT, State
from bookwarp.testing.everywhere import assert_everywhere


def assert_waiting_valid(auction: CallAuction, state: State) -> None:
    """Check what waits: no negative lots, and none right after an auction."""
    clears = state.step % auction.per_market("clearing_interval") == 0
    for name in WAITING_LAYOUT:
        lots = getattr(state, name)
        assert_everywhere(lots >= 0, f"{name}{{place}} = {{value}} is negative", value=lots)
        assert_everywhere(
            ~clears[:, None] | (lots == 0),
            f"{name}{{place}} = {{value}} after an auction, in step {{step}}",
            value=lots,
            step=state.step - 1,
        )


def assert_parents_valid(auction: CallAuction, state: State) -> None:
    """Check what became of parent orders: no more than there is, at prices that there are."""
    lots, side = auction.per_market("parent_qty"), auction.per_market("parent_side")
    begun = (lots > 0) & (auction.per_market("parent_start") < state.step)
    for name in EXECUTION_LAYOUT:
        value = getattr(state, name)
        signed = name in ("own_cost", "arrival_mid2")
        assert_everywhere(
            (value == 0) | (begun & (signed | (value > 0))),
            f"{name}{{place}} = {{value}}, begun: {{begun}}",
            value=value,
            begun=begun,
        )
    assert_everywhere(
        state.own_filled + state.own_waiting <= lots,
        "{filled} lots filled and {waiting} waiting of a parent order of {lots}{place}",
        filled=state.own_filled,
        waiting=state.own_waiting,
        lots=lots,
    )
    _assert_own_lots_wait(state, side)
    traded = np.where(begun, state.volume - state.start_volume, 0)
    assert_everywhere(
        state.own_filled <= traded,
        "{filled} own lots filled of {traded} that traded{place}",
        filled=state.own_filled,
        traded=traded,
    )
    following = auction.window is Window.FOLLOWING
    reach = (state.step + 1) * auction.levels if following else auction.levels
    assert_everywhere(
        (abs(state.own_cost) <= state.own_filled * reach) & (abs(state.arrival_mid2) <= 2 * reach),
        "own_cost{place} = {cost} of {filled} lots, arrival_mid2 = {mid2}: no price is farther "
        "than {reach} ticks",
        cost=state.own_cost,
        filled=state.own_filled,
        mid2=state.arrival_mid2,
        reach=reach,
    )


def _assert_own_lots_wait(state: State, side: np.ndarray) -> None:
    """Own lots that wait are among those that wait at the end of the window."""
    at_edge = np.zeros_like(state.own_waiting)
    if len(state.waiting_buy):
        at_edge = np.where(side == Side.BUY, state.waiting_buy[:, -1], state.waiting_sell[:, 0])
    assert_everywhere(
        state.own_waiting <= at_edge,
        "{own} own lots wait{place} among {all}",
        own=state.own_waiting,
        all=at_edge,
    )


def assert_parents_step_valid(before: State, after: State) -> None:
    """Check what one step may change of parent orders: own fills are a part of what trades."""
    filled, volume = after.own_filled - before.own_filled, after.volume - before.volume
    assert_everywhere(
        (filled >= 0) & (filled <= volume),
        "step {step}{place} filled {filled} own lots of {volume} that traded",
        step=before.step,
        filled=filled,
        volume=volume,
    )
    cost = after.own_cost - before.own_cost
    level = after.last - after.base
    in_window = (level >= 0) & (level < after.bid.shape[1])
    assert_everywhere(
        np.where(filled == 0, cost == 0, in_window),
        "step {step}{place} cost {cost} for {filled} lots",
        step=before.step,
        cost=cost,
        filled=filled,
    )
