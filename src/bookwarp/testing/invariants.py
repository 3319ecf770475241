"""What holds for every call-auction run, as assertions that say where it does not."""

from typing import Any

import numpy as np

from bookwarp.reference.auction import Cleared, best_ask, best_bid
from bookwarp.reference.engine import run_step
from bookwarp.spec.agents import exact_agent_types
from bookwarp.spec.codes import Side, Stream, Window
from bookwarp.spec.market import CallAuction
from bookwarp.spec.state import State, array_shapes, opening_state


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
        _everywhere(array >= 0, f"{name}{{place}} = {{value}} is negative", value=array)
    _assert_not_crossed(state)
    _assert_prices_possible(auction, state)
    _assert_totals_possible(auction, state)


def _assert_not_crossed(state: State) -> None:
    bid, ask = best_bid(state.bid), best_ask(state.ask)
    market = np.arange(len(bid))
    _everywhere(
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
    _everywhere(
        (mid2 >= 0) & (mid2 <= top),
        "prev_mid2{place} = {mid2} is outside 0 .. {top}",
        mid2=mid2,
        top=top,
    )
    open_price = auction.per_market("open_price").astype(np.int64)
    _everywhere(
        (state.trades > 0) | ((state.last == open_price) & (state.volume == 0)),
        "no auction traded{place}, but last = {last}, open_price = {open_price}, volume = {volume}",
        last=state.last,
        open_price=open_price,
        volume=state.volume,
    )
    if auction.window is Window.FIXED:
        quiet = (state.base == 0) & (state.pruned_bid == 0) & (state.pruned_ask == 0)
        _everywhere(quiet, "a fixed window moved{place}, base = {base}", base=state.base)
        low, high = np.zeros_like(open_price), np.full_like(open_price, auction.levels - 1)
    else:
        reach = (state.step + 1) * auction.levels
        low, high = open_price - reach, open_price + reach
    _everywhere(
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
    _everywhere(
        (incoming >= orders) & (incoming <= orders * largest),
        "{incoming} lots came in{place}, outside {orders} .. {most} (agents * steps, times the "
        "largest order)",
        incoming=incoming,
        orders=orders,
        most=orders * largest,
    )
    _everywhere(
        (state.trades <= state.step) & (state.volume >= state.trades),
        "{trades} trades of {volume} lots in {step} steps{place}",
        trades=state.trades,
        volume=state.volume,
        step=state.step,
    )


def assert_step_valid(auction: CallAuction, before: State, after: State) -> None:
    """Check what one step may change: counters never fall, and only a trade moves `last`."""
    assert after.step == before.step + 1, f"step {before.step} is followed by {after.step}"
    for name in ("volume", "trades", "pruned_bid", "pruned_ask"):
        old, new = getattr(before, name), getattr(after, name)
        _everywhere(new >= old, f"{name}{{place}} fell from {{old}} to {{new}}", old=old, new=new)
    volume = after.volume - before.volume
    trades = after.trades - before.trades
    _everywhere(
        trades == (volume > 0),
        "step {step}{place} traded {volume} lots in {trades} auctions",
        step=before.step,
        volume=volume,
        trades=trades,
    )
    level = after.last - after.base
    in_window = (level >= 0) & (level < auction.levels)
    _everywhere(
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
    """Check on each side: open_depth + incoming == resting + volume + pruned.

    Args:
        auction, state: the ensemble and where it stands.
        incoming: lots that agents sent in so far, by side, int64 [market]; see `count_incoming`.
    """
    for side in Side:
        found = sum_incoming(auction, state, side)
        _everywhere(
            found == incoming[side],
            f"{side.name}{{place}}: resting + volume + pruned - open_depth = {{found}} after "
            f"{{step}} steps, but {{sent}} lots came in",
            found=found,
            sent=incoming[side],
            step=state.step,
        )


def sum_incoming(auction: CallAuction, state: State, side: Side) -> np.ndarray:
    """Return resting + volume + pruned - open_depth of a side, as Python integers [market]."""
    book = state.bid if side is Side.BUY else state.ask
    pruned = state.pruned_bid if side is Side.BUY else state.pruned_ask
    resting = book.astype(object).sum(axis=1)
    opening = auction.per_market("open_depth").astype(object)
    return np.asarray(resting + state.volume + pruned - opening, object)


def count_incoming(auction: CallAuction, steps: int) -> dict[Side, np.ndarray]:
    """Return the lots that agents send in `steps` steps, by side, int64 [market].

    Cost: runs the reference.
    """
    given = auction.agent_types
    types = exact_agent_types(auction.type_counts()) if given is None else given
    state = opening_state(auction)
    incoming = {side: np.zeros(auction.markets, np.int64) for side in Side}
    for _ in range(steps):
        orders = run_step(auction, types, state)
        for side in Side:
            incoming[side] += np.where(orders.side == side, orders.qty, 0).sum(axis=1)
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
        _everywhere(
            (filled >= 0) & (filled <= given),
            f"{{filled}} of {{given}} lots filled, {name}{{place}}",
            filled=filled,
            given=given,
        )
        _everywhere(
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


def _everywhere(holds: np.ndarray, sentence: str, **values: Any) -> None:
    """Raise `sentence`, filled in for the first place in index order where `holds` is false.

    `{place}` names market and level; of an array among `values` the element there is taken.
    """
    wrong = np.argwhere(~np.asarray(holds, bool))
    if not len(wrong):
        return
    at = tuple(int(index) for index in wrong[0])
    names = zip(("market", "level"), at, strict=False)
    place = "[" + ", ".join(f"{name} {index}" for name, index in names) + "]"
    there = {n: v[at] if isinstance(v, np.ndarray) else v for n, v in values.items()}
    raise AssertionError(sentence.format(place=place, **there))
