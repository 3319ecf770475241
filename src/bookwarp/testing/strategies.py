"""Hypothesis strategies for ensembles: small ones, at every corner of every parameter's domain.

Every ensemble that `runs` draws can be run on an engine: overflow bounds are reached, not passed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bookwarp.spec.codes import MIXED_TYPES, Schedule, Stream, Window
from bookwarp.spec.market import CallAuction
from bookwarp.spec.parameters import PAPER_MAX_QTY, PARAMETERS
from bookwarp.spec.record import BOOK, SERIES, RecordPlan

try:
    from hypothesis import strategies as st
except ImportError as error:
    raise ImportError(
        "bookwarp.testing.strategies needs hypothesis: pip install hypothesis"
    ) from error

_INT64_MAX = 2**63 - 1


@dataclass(frozen=True, eq=False)
class RunCase:
    """An ensemble, how long it runs, what it records."""

    auction: CallAuction
    steps: int
    plan: RecordPlan


@st.composite
def runs(
    draw: st.DrawFn,
    max_markets: int = 5,
    max_agents: int = 70,
    max_levels: int = 100,
    max_steps: int = 12,
) -> RunCase:
    """Draw an ensemble with a number of steps that it may run, and something to record."""
    steps = draw(st.integers(0, max_steps))
    auction = draw(call_auctions(steps, max_markets, max_agents, max_levels))
    return RunCase(auction, steps, draw(record_plans(auction, steps)))


@st.composite
def call_auctions(
    draw: st.DrawFn,
    steps: int,
    max_markets: int = 5,
    max_agents: int = 70,
    max_levels: int = 100,
) -> CallAuction:
    """Draw an ensemble that may run `steps` steps."""
    markets = draw(st.integers(1, max_markets))
    agents = draw(_agent_counts(max_agents))
    levels = draw(st.integers(PARAMETERS["levels"].low, max_levels))
    stream = draw(st.sampled_from(Stream))
    window = draw(st.sampled_from(Window))
    largest = PAPER_MAX_QTY if stream is Stream.PAPER else PARAMETERS["max_qty"].high
    widest = PAPER_MAX_QTY // 2 - 1 if stream is Stream.PAPER else PARAMETERS["noise_spread"].high
    max_qty = draw(_one_or_each(_near(1, largest, (1, 2, 3, 4, 1000)), markets))
    parent = draw(parent_orders(steps, markets))
    sent = agents * (int(np.max(max_qty)) + (stream is Stream.PAPER)) * steps
    sent += int(np.max(parent["parent_qty"]))
    parameters: dict[str, Any] = {
        **parent,
        "clearing_interval": draw(_one_or_each(_clearing_intervals(), markets)),
        "seed": draw(_one_or_each(_near(0, 2**64 - 1, (0, 1, 2**32)), markets)),
        "open_price": draw(_one_or_each(_open_prices(window, levels, steps), markets)),
        "open_depth": draw(_one_or_each(_near(0, _INT64_MAX - sent, (0, 1, 8, 1000)), markets)),
        "max_qty": max_qty,
        "noise_spread": draw(
            _one_or_each(_near(0, widest, (0, 1, 3, levels - 1, 2 * levels)), markets)
        ),
        "market_order_prob": draw(
            _one_or_each(
                st.one_of(st.sampled_from((0.0, 0.1, 1.0)), st.floats(0, 1, width=64)), markets
            )
        ),
        "maker_half_spread": draw(
            _one_or_each(_near(0, 2**31 - 1, (0, 1, 2, levels // 2, levels)), markets)
        ),
    }
    who = draw(st.sampled_from(("mix", "agent_types")))
    if who == "mix":
        parameters["mix"] = draw(mixes(markets))
    else:
        parameters["agent_types"] = draw(agent_types(markets, agents))
    ids = st.lists(_near(0, 2**31 - 1, (0, 1, 4711)), min_size=markets, max_size=markets)
    return CallAuction.of(
        markets,
        agents=agents,
        levels=levels,
        stream=stream,
        window=window,
        market_ids=draw(st.one_of(st.none(), ids)),
        **parameters,
    )


@st.composite
def parent_orders(draw: st.DrawFn, steps: int, markets: int) -> dict[str, Any]:
    """Draw what execution agents have to do, if there are any, in a run of `steps` steps."""
    lots = st.one_of(st.just(0), _near(0, 2**31 - 1, (1, 10, 1000)))
    most = 2**31 - 1
    shares = st.one_of(st.sampled_from((0.0, 0.1, 1.0)), st.floats(0, 1, width=64))
    weights = st.lists(_near(0, 2**26, (0, 1, 5)), min_size=1, max_size=9).filter(any)
    values = {
        "parent_qty": draw(_one_or_each(lots, markets)),
        "parent_side": draw(_one_or_each(st.sampled_from((-1, 1)), markets)),
        "parent_start": draw(_one_or_each(_near(0, most, (0, 1, steps // 2)), markets)),
        "parent_horizon": draw(_one_or_each(_near(1, most, (1, 2, 7, max(steps, 1))), markets)),
        "volume_share": draw(_one_or_each(shares, markets)),
        "volume_profile": draw(st.one_of(st.none(), weights)),
    }
    known = [code for code in Schedule if code is not Schedule.PROFILE or values["volume_profile"]]
    values["schedule"] = draw(_one_or_each(st.sampled_from(known).map(int), markets))
    return values


@st.composite
def mixes(draw: st.DrawFn, markets: int) -> dict[str, Any]:
    """Draw shares of the types, pure mixes included; the same for all markets, or one each."""
    names = [code.name.lower() for code in MIXED_TYPES]
    weights = st.lists(st.integers(0, 7), min_size=4, max_size=4).filter(any)
    if draw(st.booleans()):
        drawn = draw(weights)
        return {name: weight / sum(drawn) for name, weight in zip(names, drawn, strict=True)}
    rows = np.array(draw(st.lists(weights, min_size=markets, max_size=markets)), np.float64)
    shares = rows / rows.sum(axis=1, keepdims=True)
    return {name: shares[:, code] for code, name in enumerate(names)}


@st.composite
def agent_types(draw: st.DrawFn, markets: int, agents: int) -> np.ndarray:
    """Draw a type for every agent, in any order. int8 [market, agent]."""
    kinds = draw(st.lists(st.sampled_from(MIXED_TYPES), min_size=1, max_size=4, unique=True))
    seed = draw(st.integers(0, 2**16))
    return np.random.default_rng(seed).choice(kinds, size=(markets, agents)).astype(np.int8)


@st.composite
def record_plans(draw: st.DrawFn, auction: CallAuction, steps: int) -> RecordPlan:
    """Draw what to record: any series that fits, with any stride, and books of some markets."""
    farthest = int(np.max(abs(auction.per_market("open_price")))) + (steps + 1) * auction.levels
    series = [name for name in SERIES if name != "mid2" or 2 * farthest <= _INT64_MAX]
    names: list[str] = draw(st.lists(st.sampled_from(series), unique=True))
    books = draw(st.lists(st.integers(0, auction.markets - 1), unique=True))
    return RecordPlan.of(
        auction,
        [*names, BOOK] if books else names,
        every=draw(st.integers(1, 5)),
        depth_ticks=draw(st.sampled_from((0, 1, 5, auction.levels, 2**32 - 1))),
        book_markets=books or None,
    )


def _clearing_intervals() -> st.SearchStrategy[int]:
    return st.one_of(st.just(1), st.integers(1, 6), _near(1, 2**31 - 1, (1, 2, 3)))


def _agent_counts(most: int) -> st.SearchStrategy[int]:
    corners = [count for count in (1, 2, 3, 31, 32, 33, 64, 65) if count <= most]
    return st.one_of(st.sampled_from(corners), st.integers(1, most))


def _open_prices(window: Window, levels: int, steps: int) -> st.SearchStrategy[int]:
    if window is Window.FIXED:
        return _near(1, levels - 2, (levels // 2,))
    farthest = _INT64_MAX - (steps + 1) * levels
    return _near(-farthest, farthest, (0, 1, -1, levels // 2, -1000))


def _near(low: int, high: int, usual: tuple[int, ...]) -> st.SearchStrategy[int]:
    """Draw a usual value, a small one, one of the ends, or anything between them."""
    small = [value for value in usual if low <= value <= high]
    return st.one_of(
        st.sampled_from(small or (low, high)),
        st.integers(max(low, -9), min(high, 9)),
        st.sampled_from((low, high)),
        st.integers(low, high),
    )


def _one_or_each(values: st.SearchStrategy[Any], markets: int) -> st.SearchStrategy[Any]:
    """Draw one value for all markets, or an array of one for each."""
    each = st.lists(values, min_size=markets, max_size=markets)
    return st.one_of(values, each.map(_as_array))


def _as_array(values: list[Any]) -> np.ndarray:
    if isinstance(values[0], float):
        return np.array(values, np.float64)
    return np.array(values, np.uint64 if max(values) > _INT64_MAX else np.int64)
