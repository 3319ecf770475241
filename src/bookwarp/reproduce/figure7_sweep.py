"""The sweep behind Figure 7: its fifteen settings as one ensemble, and what is measured of it."""

from typing import Any

import numpy as np

from bookwarp.analysis.stylised import (
    autocorrelation,
    excess_kurtosis,
    linear_trend,
    price_moments,
    price_returns,
)
from bookwarp.reproduce.published import SWEEP_SEED
from bookwarp.simulation import Simulation
from bookwarp.spec.agents import REST, Mix, draw_agent_types
from bookwarp.spec.codes import Window

SHARES = np.round(np.arange(15) * 0.05, 2)
"""Momentum shares, float64 [share]."""
MAKER_SHARE = 0.15
STANDARD_SHARE = 0.15
"""The momentum share whose autocorrelation is shown."""
LAGS = tuple(range(1, 21))
WINDOWS = ("fixed", "following")
AGENTS = 256
LEVELS = 128
SEED = SWEEP_SEED
EDGE_TICKS = 2
"""A price is at the edge of the fixed grid on this many lowest or highest ticks."""

# statistic -> (unit, meaning), each one value per share and market
STATISTICS = {
    "price_std": ("tick", "standard deviation of the last price over the steps"),
    "excess_kurtosis": ("1", "excess kurtosis of the returns"),
    "volume_per_step": ("lot", "mean volume traded in a step"),
    "price_low": ("tick", "lowest last price"),
    "price_high": ("tick", "highest last price"),
    "price_drift": ("tick", "absolute slope of the straight line through the price, per step"),
    "price_std_about_line": ("tick", "standard deviation of the price about that line"),
    "largest_return": ("tick", "largest absolute return"),
    "edge_share": ("1", "share of the steps with a last price on the 2 lowest or highest ticks"),
}
# one value per lag and market
MEMORY = {
    "acf_returns": ("1", "autocorrelation of the returns"),
    "acf_abs_returns": ("1", "autocorrelation of the absolute returns"),
}


def sweep_simulation(
    markets: int, steps: int, stream: str, window: str, engine: str, threads: int | None
) -> Simulation:
    """Return the ensemble of all settings: share by share, `markets` markets each."""
    common: dict[str, Any] = {
        "agents": AGENTS,
        "levels": LEVELS,
        "steps": steps,
        "seed": SEED,
        "stream": stream,
        "window": window,
        "engine": engine,
        "threads": threads,
        "record": ("last",),
    }
    total = markets * len(SHARES)
    # What is wrong or does not fit in memory is refused here, before the populations are made.
    Simulation(total, **common)
    common["market_ids"] = np.tile(np.arange(markets), len(SHARES))
    if stream == "paper":
        drawn = [
            draw_agent_types(markets, AGENTS, Mix(REST, share, MAKER_SHARE), SEED)
            for share in SHARES.tolist()
        ]
        return Simulation(total, agent_types=np.concatenate(drawn), **common)
    mix = Mix(noise=REST, momentum=np.repeat(SHARES, markets), maker=MAKER_SHARE)
    return Simulation(total, mix=mix, **common)


def measure_sweep(
    simulation: Simulation, markets: int
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return the statistics [share, market] and the autocorrelations [lag, market] of a run."""
    price = simulation.history["last"]
    returns = price_returns(price)
    volume = simulation.state().volume
    slope, about_line = linear_trend(price)
    flat = {
        "price_std": price_moments(price)[1],
        "excess_kurtosis": excess_kurtosis(returns),
        "volume_per_step": volume / simulation.steps,
        "price_low": price.min(axis=0),
        "price_high": price.max(axis=0),
        "price_drift": np.abs(slope),
        "price_std_about_line": about_line,
        "largest_return": np.abs(returns).max(axis=0),
    }
    if simulation.auction.window is Window.FIXED:
        edge = (price < EDGE_TICKS) | (price >= LEVELS - EDGE_TICKS)
        flat["edge_share"] = edge.mean(axis=0)
    statistics = {name: each.reshape(len(SHARES), markets) for name, each in flat.items()}
    setting = int(np.argmax(SHARES == STANDARD_SHARE))
    standard = returns[:, setting * markets : (setting + 1) * markets]
    memory = {
        "acf_returns": autocorrelation(standard, LAGS),
        "acf_abs_returns": autocorrelation(np.abs(standard), LAGS),
    }
    return statistics, memory
