"""The kernel: some markets, one after the other, each through all steps of a piece.

Owns: markets `first` .. `stop` of the state, and the scratch memory it is given; a market stays
in the core's cache for the whole piece.

A step, in order: observe the mid, move the window if it follows, draw, sum the orders of each
type into the book (or where they wait for it), clear, fill, record.
"""

from typing import Any

import numpy as np

from bookwarp.engines.cpu.agents import (
    add_directed,
    add_makers,
    add_noise,
    add_noise_counts,
    count_noise,
    sum_draws,
    sum_maker_draws,
    sum_maker_words,
    sum_words,
)
from bookwarp.engines.cpu.auction import (
    batch_orders,
    clear_auction,
    fill_buys,
    fill_sells,
    find_best_ask,
    find_best_bid,
    shift_book,
    sum_levels,
    window_shift,
)
from bookwarp.engines.cpu.compile import entry_point, inlined, source_digest
from bookwarp.engines.cpu.execution import send_child, settle_child
from bookwarp.engines.cpu.layout import (
    DRAW_NARROW,
    DRAW_PACKED,
    DRAW_PAPER,
    DRAW_WIDE,
    NOT_RECORDED,
    STEPS_AHEAD,
    Draws,
    Parts,
)
from bookwarp.engines.cpu.random import (
    decode_noise,
    decode_paper,
    decode_wide,
    fill_paper_keys,
    fill_words,
)
from bookwarp.spec.codes import NO_PRICE, AgentType

_NOISE, _MOMENTUM = int(AgentType.NOISE), int(AgentType.MOMENTUM)
_MAKER, _FUNDAMENTAL = int(AgentType.MAKER), int(AgentType.FUNDAMENTAL)
_NO_PRICE = np.int64(NO_PRICE)


@inlined
def part_of(draws, start, stop):  # type: ignore[no-untyped-def]
    """Return the draws of the positions `start` .. `stop`, half-open, as views."""
    return Draws(
        draws.buy[start:stop],
        draws.marketable[start:stop],
        draws.qty[start:stop],
        draws.offset[start:stop],
    )


@inlined
def take_up_market(ensemble, m, scratch):  # type: ignore[no-untyped-def]
    """Sort the agents of market `m` by type, stably, and return their parts of the scratch."""
    market = ensemble.markets[m]
    ends = scratch.ends
    before = 0
    for code in range(len(ends)):
        ends[code] = before  # where the next agent of this type goes
        before += ensemble.type_counts[m, code]
    if scratch.in_order:
        for code in range(len(ends)):
            ends[code] += ensemble.type_counts[m, code]
    else:
        for agent in range(len(scratch.order)):
            code = ensemble.agent_types[m, agent]
            scratch.order[ends[code]] = agent
            ends[code] += 1
    if market.draw == DRAW_PAPER:
        fill_paper_keys(scratch.paper_keys, scratch.order, market)
    noise, momentum, maker = ends[_NOISE], ends[_MOMENTUM], ends[_MAKER]
    draws, agents = scratch.draws, ends[_FUNDAMENTAL]
    words = scratch.by_position
    return Parts(
        words[:noise],
        words[noise:momentum],
        words[momentum:maker],
        words[maker:],
        part_of(draws, 0, noise),
        part_of(draws, noise, momentum),
        part_of(draws, momentum, maker),
        scratch.order[momentum:maker],
        part_of(draws, maker, agents),
    )


@inlined
def draw_words(market, scratch, step):  # type: ignore[no-untyped-def]
    """Draw the words of a narrow market, and bring them into the order of positions."""
    fill_words(scratch.pairs, market.key, np.uint64(step))
    if not scratch.in_order:
        for i in range(len(scratch.order)):
            scratch.by_position[i] = scratch.words[scratch.order[i]]


@inlined
def count_orders(market, scratch, parts, step, row):  # type: ignore[no-untyped-def]
    """Count what the agents of a packed market send in `step`, as `COUNTS` lays it out."""
    counts = scratch.counts
    draw_words(market, scratch, step)
    count_noise(parts.noise_words, market, counts, row)
    momentum = sum_words(parts.momentum_words, market)
    counts[row, 16], counts[row, 17], counts[row, 18], counts[row, 19] = momentum
    makers = sum_maker_words(parts.maker_words, parts.maker_agents, market)
    counts[row, 20], counts[row, 21] = makers
    if len(parts.fundamental_words):
        fundamental = sum_words(parts.fundamental_words, market)
        counts[row, 22], counts[row, 23], counts[row, 24], counts[row, 25] = fundamental


@inlined
def send_counted(counts, row, market, parts, step, mid2, ret, pull, bid, ask):  # type: ignore[no-untyped-def]
    """Add counted orders to the book; return lots bought and sold."""
    bought, sold = add_noise_counts(counts, row, mid2, market, bid, ask)
    momentum = counts[row, 16], counts[row, 17], counts[row, 18], counts[row, 19]
    buy, sell = add_directed(momentum, ret, mid2, bid, ask)
    bought, sold = bought + buy, sold + sell
    if len(parts.fundamental_words):
        fundamental = counts[row, 22], counts[row, 23], counts[row, 24], counts[row, 25]
        buy, sell = add_directed(fundamental, pull, mid2, bid, ask)
        bought, sold = bought + buy, sold + sell
    makers = counts[row, 20], counts[row, 21]
    buy, sell = add_makers(makers, step, mid2, market, bid, ask)
    return bought + buy, sold + sell


@inlined
def send_drawn(market, scratch, parts, step, mid2, ret, pull, bid, ask):  # type: ignore[no-untyped-def]
    """Draw for every agent and add all orders to the book; return lots bought and sold."""
    draw_step = np.uint64(step)
    if market.draw == DRAW_NARROW:
        draw_words(market, scratch, step)
        decode_noise(parts.noise_words, market, parts.noise)
        momentum = sum_words(parts.momentum_words, market)
        makers = sum_maker_words(parts.maker_words, parts.maker_agents, market)
        fundamental = sum_words(parts.fundamental_words, market)
    else:
        if market.draw == DRAW_WIDE:
            decode_wide(scratch.order, draw_step, market, scratch.draws)
        else:
            decode_paper(scratch.paper_keys, draw_step, market, scratch.draws)
        momentum = sum_draws(parts.momentum)
        makers = sum_maker_draws(parts.maker, parts.maker_agents)
        fundamental = sum_draws(parts.fundamental)
    bought, sold = add_noise(parts.noise, mid2, bid, ask)
    buy, sell = add_directed(momentum, ret, mid2, bid, ask)
    bought, sold = bought + buy, sold + sell
    buy, sell = add_makers(makers, step, mid2, market, bid, ask)
    bought, sold = bought + buy, sold + sell
    buy, sell = add_directed(fundamental, pull, mid2, bid, ask)
    return bought + buy, sold + sell


@inlined
def record_row(rows, row, state, m, book_row, best_bid, best_ask, depth_ticks):  # type: ignore[no-untyped-def]
    """Write what is recorded of market `m` after a step."""
    base = state.base[m]
    levels = state.bid.shape[1]
    if rows.last.size:
        rows.last[row, m] = state.last[m]
    if rows.volume.size:
        rows.volume[row, m] = state.volume[m]
    if rows.mid2.size:
        rows.mid2[row, m] = state.prev_mid2[m] + 2 * base
    if rows.best_bid.size:
        rows.best_bid[row, m] = base + best_bid if best_bid >= 0 else _NO_PRICE
    if rows.best_ask.size:
        rows.best_ask[row, m] = base + best_ask if best_ask < levels else _NO_PRICE
    if rows.bid_depth.size:
        rows.bid_depth[row, m] = sum_levels(state.bid[m], best_bid - depth_ticks, best_bid)
    if rows.ask_depth.size:
        rows.ask_depth[row, m] = sum_levels(state.ask[m], best_ask, best_ask + depth_ticks)
    if book_row != NOT_RECORDED:
        for level in range(levels):
            rows.book_bid[row, book_row, level] = state.bid[m, level]
            rows.book_ask[row, book_row, level] = state.ask[m, level]


@inlined
def run_market(ensemble, state, rows, m, scratch, first_step, steps, every, depth_ticks):  # type: ignore[no-untyped-def]
    """Run market `m` for `steps` steps from `first_step`, counted from 0."""
    market = ensemble.markets[m]
    parts = take_up_market(ensemble, m, scratch)
    bid, ask = state.bid[m], state.ask[m]
    levels = len(bid)
    best_bid, best_ask = find_best_bid(bid), find_best_ask(ask)
    buy_total, sell_total = bid.sum(), ask.sum()
    # No limit order is farther from the mid: a paper offset can be noise_spread + 1.
    reach = market.noise_spread + 1
    if len(parts.maker_agents):
        reach = max(reach, market.maker_half_spread)
    # Where the orders of a step go: to the book, unless they wait for a later auction.
    waits, executes = market.clearing_interval > 1, market.parent_qty > 0
    new_bid, new_ask = bid, ask
    if waits:
        new_bid, new_ask = state.waiting_buy[m], state.waiting_sell[m]
    until_auction = market.clearing_interval - first_step % market.clearing_interval
    row = 0
    until_row = every - first_step % every
    for step in range(first_step, first_step + steps):
        mid2 = 2 * (state.last[m] - state.base[m])
        if best_bid >= 0 and best_ask < levels:
            mid2 = best_bid + best_ask
        # While orders wait the mid stays where it is, and a window that has moved is centred.
        shift = window_shift(mid2, levels) if ensemble.following else 0
        if shift != 0:
            fallen_bid, fallen_ask = shift_book(bid, shift), shift_book(ask, shift)
            state.pruned_bid[m] += fallen_bid
            state.pruned_ask[m] += fallen_ask
            buy_total, sell_total = buy_total - fallen_bid, sell_total - fallen_ask
            best_bid, best_ask = find_best_bid(bid), find_best_ask(ask)
            state.base[m] += shift
            state.prev_mid2[m] -= 2 * shift
            mid2 -= 2 * shift
        ret = np.sign(mid2 - state.prev_mid2[m])
        state.prev_mid2[m] = mid2
        pull = np.sign(2 * (market.open_price - state.base[m]) - mid2)

        if market.draw == DRAW_PACKED:
            ahead = np.uint64(step - first_step) % np.uint64(STEPS_AHEAD)
            if ahead == 0:
                for later in range(np.uint64(min(STEPS_AHEAD, first_step + steps - step))):
                    count_orders(market, scratch, parts, step + np.int64(later), later)
            bought, sold = send_counted(
                scratch.counts, ahead, market, parts, step, mid2, ret, pull, new_bid, new_ask
            )
        else:
            bought, sold = send_drawn(
                market, scratch, parts, step, mid2, ret, pull, new_bid, new_ask
            )
        if executes:
            buy, sell = send_child(market, ensemble.profile, state, m, step, new_bid, new_ask)
            bought, sold = bought + buy, sold + sell

        until_auction -= 1
        if until_auction == 0:
            until_auction = market.clearing_interval
            nearest = mid2 >> 1
            low = min(max(nearest - reach, 0), levels - 1, best_ask)
            high = max(min(nearest + 1 + reach, levels - 1), 0, best_bid)
            if waits:
                bought = batch_orders(new_bid, bid, low, high, levels - 1)
                sold = batch_orders(new_ask, ask, low, high, 0)
            buy_total, sell_total = buy_total + bought, sell_total + sold
            price, volume = clear_auction(bid, ask, low, high, buy_total, sell_total)
            if executes:
                buy, sell = settle_child(market, state, m, price, volume, bid, ask)
                buy_total, sell_total = buy_total - buy, sell_total - sell
            best_bid = fill_buys(bid, high, volume, buy_total)
            best_ask = fill_sells(ask, low, volume, sell_total)
            buy_total, sell_total = buy_total - volume, sell_total - volume
            if volume > 0:
                state.last[m] = state.base[m] + price
                state.trades[m] += 1
                state.volume[m] += volume

        until_row -= 1
        if until_row == 0:
            until_row = every
            record_row(rows, row, state, m, market.book_row, best_bid, best_ask, depth_ticks)
            row += 1


def _build(digest: str) -> Any:
    @entry_point
    def run_markets(  # type: ignore[no-untyped-def]
        ensemble, state, rows, scratch, first, stop, first_step, steps, every, depth_ticks
    ):
        """Run markets `first` .. `stop` for `steps` steps from `first_step`, counted from 0."""
        _ = digest  # in the closure, and so in the key of the cache
        for m in range(first, stop):
            run_market(ensemble, state, rows, m, scratch, first_step, steps, every, depth_ticks)

    return run_markets


run_markets = _build(source_digest())
