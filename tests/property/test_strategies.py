"""The strategies reach the corners that they promise, and say what they need."""

import importlib
import sys
from random import Random

import numpy as np
import pytest
from hypothesis import Phase, find, settings

from bookwarp.spec.codes import Stream, Window
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.random import NARROW_CELLS
from bookwarp.testing import strategies
from bookwarp.testing.strategies import runs


def cells(auction):
    qty, spread = auction.per_market("max_qty"), auction.per_market("noise_spread")
    return 2 * qty.astype(object) * (2 * spread.astype(object) + 1)


def at_bound(case):
    try:
        case.auction.check_horizon(case.steps + 1)
    except ParameterError:
        return True
    return False


def works(case, how):
    """Return in which markets a parent order is worked, and how, bool [market]."""
    lots, start = case.auction.per_market("parent_qty"), case.auction.per_market("parent_start")
    stop = start + case.auction.per_market("parent_horizon")
    begins = (lots > 0) & (start < case.steps)
    ends = stop <= case.steps
    return {"begins": begins, "ends": begins & ends, "late": begins & (start > 0) & ~ends}[how]


CORNERS = {
    "eight levels": lambda case: case.auction.levels == 8,
    "levels that are no power of two": lambda case: case.auction.levels.bit_count() > 1,
    "one market": lambda case: case.auction.markets == 1,
    "one agent": lambda case: case.auction.agents == 1,
    "odd agents": lambda case: case.auction.agents % 2 == 1 and case.auction.agents > 1,
    "agents and a multiple of 32": lambda case: case.auction.agents % 32 == 0,
    "no steps": lambda case: case.steps == 0,
    "price at the lowest tick": lambda case: (
        case.auction.window is Window.FIXED and (case.auction.per_market("open_price") == 1).any()
    ),
    "price at the highest tick": lambda case: (
        case.auction.window is Window.FIXED
        and (case.auction.per_market("open_price") == case.auction.levels - 2).any()
    ),
    "negative price": lambda case: (case.auction.per_market("open_price") < 0).any(),
    "price beyond 2**62": lambda case: (case.auction.per_market("open_price") > 2**62).any(),
    "no depth": lambda case: (case.auction.per_market("open_depth") == 0).any(),
    "depth at the bound": lambda case: (
        case.auction.window is Window.FIXED and case.steps > 0 and at_bound(case)
    ),
    "unit orders": lambda case: (case.auction.per_market("max_qty") == 1).all(),
    "narrow and wide draws": lambda case: (
        case.auction.stream is Stream.DEFAULT
        and len(set((cells(case.auction) <= NARROW_CELLS).tolist())) == 2
    ),
    "no spread": lambda case: (case.auction.per_market("noise_spread") == 0).any(),
    "spread wider than the grid": lambda case: (
        case.auction.per_market("noise_spread") > case.auction.levels
    ).any(),
    "never marketable": lambda case: (case.auction.per_market("market_order_prob") == 0).any(),
    "always marketable": lambda case: (case.auction.per_market("market_order_prob") == 1).any(),
    "makers beyond the grid": lambda case: (
        case.auction.per_market("maker_half_spread") > case.auction.levels
    ).any(),
    "largest seed": lambda case: (case.auction.per_market("seed") == np.uint64(2**64 - 1)).any(),
    "seed per market": lambda case: "seed" in case.auction.varied,
    "mix per market": lambda case: "mix_noise" in case.auction.varied,
    "one type only": lambda case: (case.auction.type_counts() == case.auction.agents).any(),
    "all types": lambda case: (case.auction.type_counts() > 0).all(),
    "given types": lambda case: case.auction.agent_types is not None,
    "other market numbers": lambda case: (case.auction.market_ids >= case.auction.markets).any(),
    "paper": lambda case: case.auction.stream is Stream.PAPER,
    "orders that wait, and others that do not": lambda case: (
        set((case.auction.per_market("clearing_interval") > 1).tolist()) == {False, True}
    ),
    "an auction every third step": lambda case: (
        (case.auction.per_market("clearing_interval") == 3).any() and case.steps > 6
    ),
    "no auction": lambda case: (case.auction.per_market("clearing_interval") > case.steps).all(),
    "a parent order that ends": lambda case: works(case, "ends").any(),
    "a parent order that begins late and does not end": lambda case: works(case, "late").any(),
    "a parent order that waits": lambda case: (
        works(case, "begins") & (case.auction.per_market("clearing_interval") == 2)
    ).any(),
    "a large parent order": lambda case: (case.auction.per_market("parent_qty") > 2**30).any(),
    "markets with and without a parent order": lambda case: (
        set((case.auction.per_market("parent_qty") > 0).tolist()) == {False, True}
    ),
    "every schedule": lambda case: (
        set(case.auction.per_market("schedule")[works(case, "begins")].tolist()) == {0, 1, 2}
    ),
    "a stride and a book": lambda case: case.plan.every > 1 and len(case.plan.book_markets) > 0,
}


@pytest.mark.parametrize("corner", CORNERS)
def test_strategy_reaches_the_corner(corner):
    options = settings(max_examples=1000, phases=[Phase.generate], database=None)
    find(runs(), CORNERS[corner], settings=options, random=Random(1))


def test_every_parameter_can_be_given_per_market():
    seen = set()

    def all_seen(case):
        seen.update(case.auction.varied)
        return len(seen) == 18

    options = settings(max_examples=1000, phases=[Phase.generate], database=None)
    find(runs(), all_seen, settings=options, random=Random(1))


def test_missing_hypothesis_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    monkeypatch.delitem(sys.modules, strategies.__name__)
    with pytest.raises(ImportError, match="strategies needs hypothesis: pip install hypothesis"):
        importlib.import_module(strategies.__name__)
