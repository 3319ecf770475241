"""The kernels that open markets, run by emulated warps, write what the opening state has."""

from types import SimpleNamespace

import numpy as np
import pytest
from emulated_gpu import EmulatedGpu
from emulated_kernels import EmulatedCode, needs_compiler
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernels_in_cpp import in_cpp

from bookwarp.engines.cuda import opening
from bookwarp.engines.cuda.gpu import Memory
from bookwarp.engines.cuda.layout import (
    MARKET,
    lay_out_book,
    lay_out_parameters,
    lay_out_scalars,
    scalar_names,
    scalars_pitch,
)
from bookwarp.engines.cuda.slices import split_markets
from bookwarp.spec.market import CallAuction
from bookwarp.spec.random import market_keys
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.state import State, opening_state
from bookwarp.testing.strategies import runs

pytestmark = needs_compiler

NARROW, WIDE = np.dtype(np.int32), np.dtype(np.int64)
NO_BOOKS = RecordPlan()
MOST = {NARROW: 2**31 - 1, WIDE: 2**40}


@pytest.fixture
def warps(monkeypatch):
    """Runs the kernels on emulated warps."""
    code = EmulatedCode(in_cpp(opening.join_sources()))
    monkeypatch.setattr(opening, "load_kernels", lambda arch: code)


def assert_opens(auction, parts, lots, plan=NO_BOOKS):
    """Assert that an ensemble in so many parts opens on a GPU as it does in a state."""
    names = scalar_names(auction.has_execution_agents)
    state = opening_state(auction).arrays()
    number = 0
    for own in split_markets(auction, auction.shared_type_counts(), plan, parts):
        gpu, count = EmulatedGpu(), own.count
        arrays = {
            "parameters": np.empty(count, MARKET),
            "book": np.empty((count, auction.levels), lots),
            "scalars": np.empty((len(names), scalars_pitch(count)), WIDE),
        }
        memory = {name: Memory(gpu, array.nbytes) for name, array in arrays.items()}
        opening.open_markets(gpu, auction, own, lots=lots, **memory)
        found = SimpleNamespace(**{n: gpu.read(memory[n], array) for n, array in arrays.items()})
        here = State(0, **{name: array[own.first : own.stop] for name, array in state.items()})
        np.testing.assert_array_equal(found.book, lay_out_book(here, lots))
        np.testing.assert_array_equal(found.scalars, lay_out_scalars(here))
        assert found.parameters.tobytes() == expected_parameters(auction, own, plan).tobytes()
        assert gpu.held_nbytes == sum(array.nbytes for array in arrays.values())
        number += count
    assert number == auction.markets


def expected_parameters(auction, own, plan):
    """Return what the kernels are to be given of some markets, each laid out by itself."""
    rows = np.zeros(own.count, MARKET)
    for number in range(own.count):
        market = own.first + number
        alone = auction.subset(np.array([market]))
        rows[number] = lay_out_parameters(alone, alone.type_counts())[0]
        rows[number]["market_id"] = alone.market_ids[0]
        rows[number]["key"] = market_keys(alone.per_market("seed"), alone.market_ids)[0]
        own_books = plan.book_markets[plan.book_markets >= own.first].tolist()
        rows[number]["book_row"] = own_books.index(market) if market in own_books else -1
    return rows


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    runs(max_markets=6, max_agents=4, max_levels=20, max_steps=1), st.sampled_from([NARROW, WIDE])
)
def test_markets_open_on_warps_as_they_do_in_a_state(warps, case, lots):
    auction = case.auction
    if auction.per_market("open_depth").max() <= MOST[lots]:
        assert_opens(auction, 1, lots)
        assert_opens(auction, 2, lots)


@pytest.mark.parametrize("lots", [NARROW, WIDE], ids=str)
@pytest.mark.parametrize("window", ["fixed", "following"])
@pytest.mark.parametrize("markets", [1, 127, 128, 129, 300])
def test_markets_of_several_blocks_open(warps, markets, window, lots):
    number = np.arange(markets)
    auction = CallAuction.of(
        markets,
        levels=17,
        window=window,
        open_price=1 + number % 15,
        open_depth=number % 5 * (MOST[lots] // 4),
    )
    assert_opens(auction, 1, lots)


def test_prices_of_64_bits_open_in_a_window_that_follows(warps):
    prices = [-(2**61), 2**61, -1, 0]
    auction = CallAuction.of(4, levels=9, window="following", open_price=prices, open_depth=2**40)
    assert_opens(auction, 1, WIDE)


@pytest.mark.parametrize("levels", [8, 64], ids=["in memory of its own", "where books will be"])
@pytest.mark.parametrize("parts", [1, 2, 5])
@pytest.mark.parametrize(
    "settings, ids",
    [
        ([2, 0, 0, 2, 1, 2, 1, 0, 0], np.arange(9)[::-1] * 2**27),
        (np.arange(9) // 3, np.arange(9) % 3),
        (np.arange(9) // 3, 2**31 - 10 + np.arange(9)),
    ],
    ids=["any", "replicas", "numbers of their own"],
)
def test_settings_and_recorded_books_are_those_of_the_markets(warps, parts, levels, settings, ids):
    """However what is brought fits into the memory of the books."""
    settings = np.array(settings)
    auction = CallAuction.of(
        9,
        agents=10,
        levels=levels,
        seed=[7, 2**64 - 1, 0],
        open_price=[1, 2, 3],
        open_depth=[0, 5, 6],
        mix={"noise": "rest", "maker": [0, 0.1, 0.2]},
        market_ids=ids,
        market_settings=settings,
    )
    plan = RecordPlan.of(auction, "book", book_markets=[0, 3, 8])
    assert_opens(auction, parts, NARROW, plan)
    assert_opens(auction.flat(), parts, NARROW, plan)
    one = CallAuction.of(9, levels=levels, open_depth=3, market_settings=settings)
    assert_opens(one, parts, NARROW)
