"""The kernels that open markets, run by emulated warps, write what the opening state has."""

from types import SimpleNamespace

import numpy as np
import pytest
from emulated_gpu import EmulatedGpu
from emulated_kernels import EmulatedCode, needs_compiler
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bookwarp.engines.cuda import opening
from bookwarp.engines.cuda.extras import upload
from bookwarp.engines.cuda.gpu import Memory
from bookwarp.engines.cuda.layout import (
    lay_out_book,
    lay_out_markets,
    lay_out_scalars,
    scalar_names,
    scalars_pitch,
)
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.state import State, opening_state
from bookwarp.testing.strategies import runs

pytestmark = needs_compiler

NARROW, WIDE = np.dtype(np.int32), np.dtype(np.int64)
MOST = {NARROW: 2**31 - 1, WIDE: 2**40}


@pytest.fixture
def warps(monkeypatch):
    """Runs the kernels on emulated warps."""
    monkeypatch.setattr(opening, "load_kernels", lambda arch: EmulatedCode(opening.join_sources()))


def assert_opens(auction, first, stop, lots):
    """Assert that some markets of an ensemble open on a GPU as they do in a state."""
    gpu, count, names = EmulatedGpu(), stop - first, scalar_names(auction.has_execution_agents)
    all_markets = lay_out_markets(auction, auction.type_counts(), RecordPlan())
    shapes = {"book": (count, auction.levels), "scalars": (len(names), scalars_pitch(count))}
    arrays = {"book": np.empty(shapes["book"], lots), "scalars": np.empty(shapes["scalars"], WIDE)}
    memory = {name: Memory(gpu, array.nbytes) for name, array in arrays.items()}
    markets = upload(gpu, all_markets[first:stop])
    opening.open_markets(gpu, auction, first, stop, markets=markets, lots=lots, **memory)
    found = SimpleNamespace(**{n: gpu.read(memory[n], array) for n, array in arrays.items()})
    state = opening_state(auction).arrays()
    own = State(0, **{name: array[first:stop] for name, array in state.items()})
    np.testing.assert_array_equal(found.book, lay_out_book(own, lots))
    np.testing.assert_array_equal(found.scalars, lay_out_scalars(own))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    runs(max_markets=6, max_agents=4, max_levels=20, max_steps=1), st.sampled_from([NARROW, WIDE])
)
def test_markets_open_on_warps_as_they_do_in_a_state(warps, case, lots):
    auction = case.auction
    if auction.per_market("open_depth").max() <= MOST[lots]:
        middle = auction.markets // 2
        assert_opens(auction, middle, auction.markets, lots)
        if middle:
            assert_opens(auction, 0, middle, lots)


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
    assert_opens(auction, 0, markets, lots)


def test_prices_of_64_bits_open_in_a_window_that_follows(warps):
    prices = [-(2**61), 2**61, -1, 0]
    auction = CallAuction.of(4, levels=9, window="following", open_price=prices, open_depth=2**40)
    assert_opens(auction, 0, 4, WIDE)
