"""Cases in which engines are held against the reference: every engine has them all.

A case is run on an engine, which is named or a class, and fails where a bit differs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from bookwarp.engines.registry import engine_class
from bookwarp.spec.codes import MIXED_TYPES
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import SERIES, RecordPlan
from bookwarp.spec.state import opening_state
from bookwarp.testing.parity import EngineLike, assert_engines_agree, find_difference

INT64_MAX = 2**63 - 1
STREAMS_AND_WINDOWS = list(product(["default", "paper"], ["fixed", "following"]))

MIXES = {
    "noise": {"noise": 1},
    "momentum": {"momentum": 1},
    "maker": {"maker": 1},
    "fundamental": {"fundamental": 1},
    "default": {"noise": 0.7, "momentum": 0.15, "maker": 0.15},
    "all": {"noise": 0.25, "momentum": 0.25, "maker": 0.25, "fundamental": 0.25},
    "runaway": {"noise": 0.1, "momentum": 0.9},
    "per market": {"noise": [1, 0, 0.5, 0.1], "maker": [0, 1, 0.3, 0.1], "fundamental": "rest"},
    "given": None,
}

# name -> what it adds to 4 markets of 37 agents on 24 levels, 40 steps
CORNERS = {
    "levels 8": {"levels": 8},
    "levels 9": {"levels": 9},
    "levels 15": {"levels": 15},
    "levels 1000": {"levels": 1000, "noise_spread": 400, "maker_half_spread": 300},
    "levels 65536": {"levels": 65_536, "steps": 3, "noise_spread": 30_000},
    "one market": {"markets": 1},
    "one agent": {"agents": 1},
    "two agents": {"agents": 2},
    "31 agents": {"agents": 31},
    "257 agents": {"agents": 257, "steps": 10},
    "1000 agents": {"agents": 1000, "steps": 5},
    "no steps": {"steps": 0},
    "200 steps": {"steps": 200},
    "open price low": {"open_price": 1},
    "open price high": {"open_price": 22},
    "no depth": {"open_depth": 0},
    "depth at the bound": {"open_depth": INT64_MAX - 37 * 5 * 40},
    "unit orders": {"max_qty": 1},
    "odd orders": {"max_qty": 7},
    "large orders": {"max_qty": 2**24},
    "no spread": {"noise_spread": 0},
    "spread wider than the grid": {"noise_spread": 100},
    "spread of millions": {"noise_spread": 2**23 - 1},
    "narrowest wide cells": {"max_qty": 683, "noise_spread": 1},
    "widest narrow cells": {"max_qty": 2048, "noise_spread": 0},
    "cells one apart": {"max_qty": [682, 683, 682, 683], "noise_spread": 1},
    "offsets seven and nine": {"noise_spread": [3, 4, 3, 4]},
    "many lots at few prices": {
        "agents": 1000,
        "max_qty": [2048, 682, 292, 4],
        "noise_spread": [0, 1, 3, 3],
        "market_order_prob": [1, 0.9, 1, 0],
        "steps": 4,
    },
    "more agents than 16 bits count": {
        "markets": 1,
        "agents": 400_000,
        "max_qty": 1,
        "noise_spread": 0,
        "market_order_prob": 1,
        "steps": 2,
    },
    "a side runs out near an edge": {
        "levels": 100,
        "agents": 5,
        "open_depth": 0,
        "noise_spread": 8,
        "market_order_prob": 0.5,
        "steps": 100,
    },
    "never marketable": {"market_order_prob": 0},
    "always marketable": {"market_order_prob": 1},
    "rarely marketable": {"market_order_prob": 2.0**-32},
    "makers at the mid": {"maker_half_spread": 0},
    "makers beyond the grid": {"maker_half_spread": 2**31 - 1},
    "largest seed": {"seed": 2**64 - 1},
    "an auction every other step": {"clearing_interval": 2},
    "an auction every seventh step, and longer runs": {"clearing_interval": 7, "steps": 200},
    "no auction in the run": {"clearing_interval": 41},
    "intervals of markets differ": {"clearing_interval": [1, 3, 2**31 - 1, 5]},
    "orders wait at the ends of the grid": {
        "levels": 8,
        "clearing_interval": 4,
        "noise_spread": 30,
        "market_order_prob": 0.5,
        "steps": 100,
    },
    "a parent order": {"parent_qty": 50, "parent_start": 3, "parent_horizon": 20},
    "a parent order that is too much": {
        "parent_qty": 2**31 - 1,
        "parent_side": -1,
        "parent_horizon": 2**31 - 1,
        "schedule": "share",
        "volume_share": 1,
    },
    "parent orders of every kind, and none": {
        "parent_qty": [600, 0, 5, 2**31 - 1],
        "parent_side": [1, 1, -1, -1],
        "parent_start": [0, 0, 38, 2],
        "parent_horizon": [30, 1, 10, 7],
        "schedule": ["profile", "twap", "share", "twap"],
        "volume_profile": [5, 0, 0, 1, 2, 2**31 - 9],
        "volume_share": [0.1, 0.5, 1, 0.3],
    },
    "parent orders that wait": {
        "clearing_interval": [1, 2, 5, 3],
        "parent_qty": [100, 400, 30, 7],
        "parent_side": [1, -1, 1, -1],
        "parent_start": [4, 0, 7, 9],
        "parent_horizon": [25, 40, 12, 100],
        "schedule": ["share", "profile", "profile", "twap"],
        "volume_profile": list(range(50)),
        "volume_share": 0.37,
    },
    "everything per market": {
        "seed": [0, 1, 2**63, 2**64 - 1],
        "open_price": [1, 5, 12, 22],
        "open_depth": [0, 1, 8, 1000],
        "max_qty": [1, 4, 1000, 2**20],
        "noise_spread": [0, 3, 40, 5000],
        "market_order_prob": [0, 0.1, 0.5, 1],
        "maker_half_spread": [0, 1, 3, 30],
        "market_ids": [2**31 - 1, 0, 4711, 4711],
    },
}


def build(window, stream, mix, **changes):
    """Return an ensemble and its number of steps, from a row of the tables above."""
    given = {"markets": 4, "agents": 37, "levels": 24, "steps": 40, **changes}
    markets, steps = given.pop("markets"), given.pop("steps")
    if mix == "given":
        shape = (markets, given["agents"])
        given["agent_types"] = np.random.default_rng(1).integers(0, len(MIXED_TYPES), shape)
    elif mix != "per market" or markets == 4:
        given["mix"] = MIXES[mix]
    return CallAuction.of(markets, stream=stream, window=window, **given), steps


def everything(auction, every=1):
    """Return a plan that records all series and the whole book of every other market."""
    books = range(0, auction.markets, 2)
    return RecordPlan.of(
        auction, (*SERIES, "book"), every=every, depth_ticks=3, book_markets=list(books)
    )


@dataclass(frozen=True)
class Case:
    """Something that an engine does as the reference does it."""

    name: str
    check: Callable[[EngineLike], None]
    thin: bool = True
    """Whether it is among the cases for engines that take long to make."""

    def __str__(self) -> str:
        return self.name


def agree_on_mix(engine, stream, window, mix):
    auction, steps = build(window, stream, mix)
    assert_engines_agree(auction, steps, everything(auction), ("reference", engine))


def agree_at_corner(engine, stream, window, mix, corner):
    auction, steps = build(window, stream, mix, **CORNERS[corner])
    auction.check_horizon(steps)
    plan = everything(auction, every=3)
    assert_engines_agree(auction, steps, plan, ("reference", engine), threads=2)


def agree_at_the_end_of_the_line_of_ticks(engine, mix, sign):
    steps, levels = 40, 24
    farthest = INT64_MAX - (steps + 1) * levels
    auction, _ = build("following", "default", mix, open_price=sign * farthest)
    auction.check_horizon(steps)
    plan = RecordPlan.of(auction, [name for name in SERIES if name != "mid2"])
    assert_engines_agree(auction, steps, plan, ("reference", engine))


def agree_far_into_a_run(engine, stream, step):
    auction, _ = build("following", stream, "all")
    states = []
    for each in ("reference", engine):
        running = make(each, auction)
        state = opening_state(auction)
        state.step = step
        running.write_state(state)
        running.run(5, {})
        states.append(running.read_state())
    assert states[0].step == step + 5
    assert find_difference(states[0], {}, states[1], {}) is None


def agree_on_states_of_each_other(engine, stream):
    auction, _ = build("following", stream, "runaway")
    whole = make("reference", auction)
    whole.run(60, {})
    state = opening_state(auction)
    for each, steps in (("reference", 13), (engine, 7), ("reference", 1), (engine, 39)):
        running = make(each, auction)
        running.write_state(state)
        running.run(steps, {})
        state = running.read_state()
    assert find_difference(whole.read_state(), {}, state, {}) is None


def make(engine, auction):
    """Return an engine that records nothing."""
    made = engine_class(engine) if isinstance(engine, str) else engine
    return made(auction, RecordPlan())


def all_cases():
    """Yield every case."""

    def case(check, *given, thin=True):
        words = [check.__name__.removeprefix("agree_"), *map(str, given)]
        return Case("-".join(words), lambda engine: check(engine, *given), thin)

    for (stream, window), mix in product(STREAMS_AND_WINDOWS, MIXES):
        yield case(agree_on_mix, stream, window, mix)
    for (number, corner), (stream, window) in product(enumerate(CORNERS), STREAMS_AND_WINDOWS):
        thinned = "given" if (number + (window == "following")) % 2 else "default"
        for mix in ("default", "given"):
            yield case(agree_at_corner, stream, window, mix, corner, thin=mix == thinned)
    for mix, sign in product(("default", "runaway", "fundamental"), (-1, 1)):
        yield case(agree_at_the_end_of_the_line_of_ticks, mix, sign)
    for stream in ("default", "paper"):
        for step in (1, 2**31 - 3, 2**32 - 6):
            yield case(agree_far_into_a_run, stream, step)
        yield case(agree_on_states_of_each_other, stream)


CASES = list(all_cases())
THIN_CASES = [each for each in CASES if each.thin]
