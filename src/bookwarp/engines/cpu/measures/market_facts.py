"""Formulas of the facts of prices, returns, tails, volume and spreads, market by market.

Each is that of `bookwarp.measures`, where it is explained, with the same operations in the same
order.
"""

import numpy as np

from bookwarp.engines.cpu.compile import inlined
from bookwarp.engines.cpu.measures.moments import (
    center,
    central_moments,
    correlate,
    leave_undefined,
    ratio,
    variance,
)
from bookwarp.spec.measure_sums import HORIZONS, LOG_UNIT, TAIL_SHARE

_HORIZONS = tuple(np.int64(horizon) for horizon in HORIZONS)


@inlined
def make_price_facts(sums, rows, facts):  # type: ignore[no-untyped-def]
    """Make moments and range of the price, and its largest fall and rise."""
    count = np.float64(rows)
    for m in range(len(sums.price_first)):
        spread_out = variance(rows, sums.price_moved[m], sums.price_moved_square[m])
        fall, rise = np.float64(sums.drawdown[m]), np.float64(sums.drawup[m])
        moved = np.float64(sums.price_moved[m]) / count
        facts.mean_price[m] = np.float64(sums.price_first[m]) + moved
        facts.price_std[m] = np.sqrt(spread_out)
        facts.price_low[m] = np.float64(sums.price_low[m])
        facts.price_high[m] = np.float64(sums.price_high[m])
        facts.max_drawdown[m] = fall
        facts.max_drawup[m] = rise
        facts.gain_loss_asymmetry[m] = ratio(rise - fall, rise + fall, 0.0)


@inlined
def make_return_facts(sums, rows, facts):  # type: ignore[no-untyped-def]
    """Make mean, variance, skewness and excess kurtosis of the returns over every horizon."""
    for h in range(len(_HORIZONS)):
        if _HORIZONS[h] >= rows:
            leave_undefined(facts.return_mean, h)
            leave_undefined(facts.return_variance, h)
            leave_undefined(facts.return_skewness, h)
            leave_undefined(facts.excess_kurtosis, h)
            continue
        for m in range(len(sums.return_abs)):
            mean, second, third, fourth = central_moments(
                rows - _HORIZONS[h],
                sums.return_sum[h, m],
                sums.return_square[h, m],
                sums.return_cube[h, m],
                sums.return_fourth[h, m],
            )
            facts.return_mean[m, h] = mean
            facts.return_variance[m, h] = second
            facts.return_skewness[m, h] = ratio(third, second * np.sqrt(second), 0.0)
            facts.excess_kurtosis[m, h] = ratio(fourth, second * second, 3.0) - 3.0


@inlined
def make_tail_facts(sums, rows, facts):  # type: ignore[no-untyped-def]
    """Make Hill's estimate and the tail index; both NaN if there is no tail, or it starts at 0."""
    count = (rows - 1) // TAIL_SHARE
    for m in range(len(sums.tail_start)):
        facts.hill[m], facts.tail_index[m] = np.nan, np.nan
        if count > 0 and sums.tail_start[m] > 0:
            estimate = np.float64(sums.tail_log[m]) * (LOG_UNIT / np.float64(count))
            facts.hill[m], facts.tail_index[m] = estimate, ratio(1.0, estimate, np.nan)


@inlined
def make_volume_facts(sums, rows, every, facts):  # type: ignore[no-untyped-def]
    """Make mean and spread of the volume, how often there is any, and what it says of returns."""
    pairs = rows - 1
    for m in range(len(sums.lots)):
        spread_out = variance(rows, sums.lots[m], sums.lots_square[m])
        facts.volume_per_step[m] = np.float64(sums.lots[m]) / np.float64(rows * every)
        facts.volume_std[m] = np.sqrt(spread_out)
        facts.traded_share[m] = np.float64(sums.traded[m]) / np.float64(rows)
        facts.volume_volatility[m] = np.nan
        if pairs > 1:
            first, size = sums.lots_first[m], sums.return_abs[m]
            later = sums.lots[m] - first
            lots = center(pairs, later, sums.lots_square[m] - first * first)
            sizes = center(pairs, size, sums.return_square[0, m])
            facts.volume_volatility[m] = correlate(
                pairs, later, lots, size, sizes, sums.lots_by_return[m]
            )


@inlined
def make_book_facts(sums, rows, facts):  # type: ignore[no-untyped-def]
    """Make spread, depth and how often a side is empty; spreads NaN if no row has both sides."""
    count = np.float64(rows)
    for m in range(len(sums.two_sided)):
        both = sums.two_sided[m]
        spread, square = sums.spread[m], sums.spread_square[m]
        spread_out = np.sqrt(variance(both if both > 0 else np.int64(1), spread, square))
        facts.mean_spread[m] = ratio(np.float64(spread), np.float64(both), np.nan)
        facts.spread_std[m] = spread_out if both > 0 else np.nan
        facts.bid_depth[m] = np.float64(sums.bid_lots[m]) / count
        facts.ask_depth[m] = np.float64(sums.ask_lots[m]) / count
        facts.no_bid_share[m] = np.float64(sums.no_bid[m]) / count
        facts.no_ask_share[m] = np.float64(sums.no_ask[m]) / count
        facts.empty_side_share[m] = (count - np.float64(both)) / count
