"""What holds for every call-auction run, as assertions that say where it does not."""

import numpy as np

from bookwarp.reference.auction import Cleared, best_ask, best_bid
from bookwarp.reference.engine import agent_types, run_step
from bookwarp.spec.codes import Side, Stream, Window
from bookwarp.spec.market import CallAuction
from bookwarp.spec.state import State, array_shapes, opening_state
from bookwarp.testing.everywhere import assert_everywhere
from bookwarp.testing.execution_invariants import (
    assert_parents_step_valid,
    assert_parents_valid,
    assert_waiting_valid,
)


def assert_state_valid(auction: CallAuction, state: State) -> None:
    """Check what can be told from one state: shapes, signs, the spread, prices, totals.

    Raises:
        AssertionError: naming the array, the market, the level and the values.
    """
    for name, shape in array_shapes(auction).items():
        array = getattr(state, name)
        assert array.dtype == np.int64, f"{name} is {array.dtype}, not int64"
        assert array.shape == shape, f"{name} has shape {array.shape}, not {shape}"
    for name in ("bid", "ask", "volume", "trades", "pruned_bid", "pruned_ask"):
        array = getattr(state, name)
        assert_everywhere(array >= 0, f"{name}{{place}} = {{value}} is negative", value=array)
    _assert_not_crossed(state)
    _assert_prices_possible(auction, state)
    _assert_totals_possible(auction, state)
    if auction.has_waiting_orders:
        assert_waiting_valid(auction, state)
    if auction.has_execution_agents:
        assert_parents_valid(auction, state)


def _assert_not_crossed(state: State) -> None:
    bid, ask = best_bid(state.bid), best_ask(state.ask)
    market = np.arange(len(bid))
    assert_everywhere(
        bid < ask,
        "crossed after {step} steps{place}: {bid_lots} lots bid at level {bid}, {ask_lots} asked "
        "at level {ask}",
        step=state.step,
        bid=bid,
        ask=ask,
        bid_lots=state.bid[market, bid],
        ask_lots=state.ask[market, np.minimum(ask, state.ask.shape[1] - 1)],
    )


def _assert_prices_possible(auction: CallAuction, state: State) -> None:
    """The mid is in the window; `last` and `base` moved no farther than trades can carry them."""
    top = 2 * (auction.levels - 1)
    mid2 = state.prev_mid2
    assert_everywhere(
        (mid2 >= 0) & (mid2 <= top),
        "prev_mid2{place} = {mid2} is outside 0 .. {top}",
        mid2=mid2,
        top=top,
    )
    open_price = auction.per_market("open_price").astype(np.int64)
    assert_everywhere(
        (state.trades > 0) | ((state.last == open_price) & (state.volume == 0)),
        "no auction traded{place}, but last = {last}, open_price = {open_price}, volume = {volume}",
        last=state.last,
        open_price=open_price,
        volume=state.volume,
    )
    if auction.window is Window.FIXED:
        quiet = (state.base == 0) & (state.pruned_bid == 0) & (state.pruned_ask == 0)
        assert_everywhere(quiet, "a fixed window moved{place}, base = {base}", base=state.base)
        low, high = np.zeros_like(open_price), np.full_like(open_price, auction.levels - 1)
    else:
        reach = (state.step + 1) * auction.levels
        low, high = open_price - reach, open_price + reach
    assert_everywhere(
        (state.last >= low) & (state.last <= high),
        "last{place} = {last} is outside {low} .. {high}",
        last=state.last,
        low=low,
        high=high,
    )


def _assert_totals_possible(auction: CallAuction, state: State) -> None:
    """Both sides together took one order an agent and step; no auction trades nothing."""
    largest = auction.per_market("max_qty").astype(object) + (auction.stream is Stream.PAPER)
    orders = auction.agents * state.step
    incoming = sum_incoming(auction, state, Side.BUY) + sum_incoming(auction, state, Side.SELL)
    assert_everywhere(
        (incoming >= orders) & (incoming <= orders * largest),
        "{incoming} lots came in{place}, outside {orders} .. {most} (agents * steps, times the "
        "largest order)",
        incoming=incoming,
        orders=orders,
        most=orders * largest,
    )
    auctions = state.step // auction.per_market("clearing_interval")
    assert_everywhere(
        (state.trades <= auctions) & (state.volume >= state.trades),
        "{trades} trades of {volume} lots in {auctions} auctions of {step} steps{place}",
        trades=state.trades,
        volume=state.volume,
        auctions=auctions,
        step=state.step,
    )


def assert_step_valid(auction: CallAuction, before: State, after: State) -> None:
    """Check what one step may change: counters never fall, and only a trade moves `last`.

    In a step without an auction nothing trades, and what rests only moves with its window.
    """
    assert after.step == before.step + 1, f"step {before.step} is followed by {after.step}"
    for name in ("volume", "trades", "pruned_bid", "pruned_ask"):
        old, new = getattr(before, name), getattr(after, name)
        assert_everywhere(
            new >= old, f"{name}{{place}} fell from {{old}} to {{new}}", old=old, new=new
        )
    volume = after.volume - before.volume
    trades = after.trades - before.trades
    assert_everywhere(
        trades == (volume > 0),
        "step {step}{place} traded {volume} lots in {trades} auctions",
        step=before.step,
        volume=volume,
        trades=trades,
    )
    clears = after.step % auction.per_market("clearing_interval") == 0
    for name, pruned in (("bid", "pruned_bid"), ("ask", "pruned_ask")):
        old, new = getattr(before, name).sum(axis=1), getattr(after, name).sum(axis=1)
        left = getattr(after, pruned) - getattr(before, pruned)
        assert_everywhere(
            clears | ((volume == 0) & (old == new + left)),
            f"step {{step}}{{place}} has no auction, and {name} went from {{old}} to {{new}} lots",
            step=before.step,
            old=old,
            new=new,
        )
    if auction.has_execution_agents:
        assert_parents_step_valid(before, after)
    level = after.last - after.base
    in_window = (level >= 0) & (level < auction.levels)
    assert_everywhere(
        np.where(volume > 0, in_window, after.last == before.last),
        "step {step}{place} traded {volume} lots, and last went from {old} to {new}, base = {base}",
        step=before.step,
        volume=volume,
        old=before.last,
        new=after.last,
        base=after.base,
    )


def assert_quantity_conserved(
    auction: CallAuction, state: State, incoming: dict[Side, np.ndarray]
) -> None:
    """Check on each side: open_depth + incoming + own == resting + waiting + volume + pruned.

    Own lots are those of an execution agent that are filled or wait; the others it sent are gone.

    Args:
        auction, state: the ensemble and where it stands.
        incoming: lots that agents sent in so far, by side, int64 [market]; see `count_incoming`.
    """
    for side in Side:
        found = sum_incoming(auction, state, side)
        assert_everywhere(
            found == incoming[side],
            f"{side.name}{{place}}: resting + waiting + volume + pruned - open_depth - own = "
            f"{{found}} after {{step}} steps, but {{sent}} lots came in",
            found=found,
            sent=incoming[side],
            step=state.step,
        )


def sum_incoming(auction: CallAuction, state: State, side: Side) -> np.ndarray:
    """Return what came in on a side but own lots, as Python integers [market].

    That is resting + waiting + volume + pruned - open_depth - own.
    """
    buys = side is Side.BUY
    left = (state.bid if buys else state.ask).astype(object).sum(axis=1)
    if auction.has_waiting_orders:
        waiting = state.waiting_buy if buys else state.waiting_sell
        left = left + waiting.astype(object).sum(axis=1)
    if auction.has_execution_agents:
        own = auction.per_market("parent_side") == side
        left = left - np.where(own, state.own_filled + state.own_waiting, 0)
    pruned = state.pruned_bid if buys else state.pruned_ask
    opening = auction.per_market("open_depth").astype(object)
    return np.asarray(left + state.volume + pruned - opening, object)


def count_incoming(auction: CallAuction, steps: int) -> dict[Side, np.ndarray]:
    """Return the lots that agents send in `steps` steps, execution agents aside, by side.

    Returns:
        int64 [market] of each side.

    Cost: runs the reference.
    """
    types = agent_types(auction)
    state = opening_state(auction)
    incoming = {side: np.zeros(auction.markets, np.int64) for side in Side}
    for _ in range(steps):
        orders = run_step(auction, types, state)
        for side in Side:
            sent = np.where(orders.side == side, orders.qty, 0)
            incoming[side] += sent[:, : auction.agents].sum(axis=1)
    return incoming


def assert_auction_valid(buy: np.ndarray, sell: np.ndarray, cleared: Cleared) -> None:
    """Check one auction: the most is traded, at the lowest such price, best prices first.

    Args:
        buy, sell: resting plus incoming quantity, int64 [market, level].
        cleared: what the auction made of it.

    Cost: O(levels**2) a market.
    """
    for name, given, rests in (("buy", buy, cleared.bid), ("sell", sell, cleared.ask)):
        filled = given - rests
        assert_everywhere(
            (filled >= 0) & (filled <= given),
            f"{{filled}} of {{given}} lots filled, {name}{{place}}",
            filled=filled,
            given=given,
        )
        assert_everywhere(
            filled.sum(axis=1) == cleared.volume,
            f"{{filled}} lots of {name}s are filled{{place}}, but volume is {{volume}}",
            filled=filled.sum(axis=1),
            volume=cleared.volume,
        )
    for market in range(len(buy)):
        bought, sold = buy[market].tolist(), sell[market].tolist()
        executable = [min(sum(bought[p:]), sum(sold[: p + 1])) for p in range(len(bought))]
        most = max(executable)
        found = int(cleared.volume[market]), int(cleared.price[market])
        assert found == (most, executable.index(most)), (
            f"market {market} trades {found[0]} lots at level {found[1]}; most is {most} lots, "
            f"and {executable.index(most)} the lowest level where it can be traded"
        )
        _assert_best_first("buy", market, buy[market, ::-1], cleared.bid[market, ::-1])
        _assert_best_first("sell", market, sell[market], cleared.ask[market])


def _assert_best_first(name: str, market: int, given: np.ndarray, rests: np.ndarray) -> None:
    """A level, best first, is filled only if every better one is filled whole."""
    rests_better = np.cumsum(rests) - rests
    wrong = (given > rests) & (rests_better > 0)
    assert not wrong.any(), (
        f"market {market}: a {name} is filled while a better price waits (lots, best price first: "
        f"given {given.tolist()}, resting after {rests.tolist()})"
    )
