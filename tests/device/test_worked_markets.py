"""Markets that clear every few steps, and execution agents, on every kernel of a GPU."""

from functools import cache

import numpy as np
import pytest
from on_device import device_tests
from on_device import kernel as kernel
from parity_cases import everything
from worked_markets import draw_worked

from bookwarp.engines.cuda.engine import CudaEngine
from bookwarp.engines.registry import engine_class
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan
from bookwarp.testing.parity import assert_engines_agree, find_difference

pytestmark = device_tests

NO_ROWS = RecordPlan()


@pytest.mark.parametrize("stream", ["default", "paper"])
@pytest.mark.parametrize("window, levels", [("fixed", 24), ("following", 17)])
def test_kernels_agree_on_markets_drawn_at_random(kernel, window, levels, stream):
    for seed in range(6):
        auction = draw_worked(seed, markets=203, levels=levels, window=window, stream=stream)
        assert_engines_agree(auction, 90, everything(auction, every=4), ("cpu", CudaEngine))


@pytest.mark.parametrize("cuts", [(1,) * 60, (7, 1, 5, 47), (2, 2, 1, 55)])
def test_pieces_that_end_between_auctions_are_the_whole(kernel, cuts):
    auction = draw_worked(0, markets=1001)
    whole = engine_class("cpu")(auction, NO_ROWS)
    whole.run(sum(cuts), {})
    running = CudaEngine(auction, NO_ROWS)
    for steps in cuts:
        running.run(steps, {})
    assert find_difference(whole.read_state(), {}, running.read_state(), {}) is None


def intervals(markets, most):
    return np.random.default_rng(1).integers(1, most + 1, markets)


LARGE = {
    "one interval": {"clearing_interval": 5},
    "intervals of 1 to 50": {"clearing_interval": intervals(9_001, 50)},
    "long intervals": {"clearing_interval": 500, "max_qty": 100},
    "parents": {"parent_qty": 5_000, "parent_horizon": 150, "schedule": "share"},
    "parents between auctions": {
        "clearing_interval": intervals(9_001, 20),
        "parent_qty": np.arange(9_001) % 3 * 4_000,
        "parent_side": np.where(np.arange(9_001) % 2, 1, -1),
        "parent_start": np.arange(9_001) % 11,
        "parent_horizon": 1 + np.arange(9_001) % 200,
        "schedule": np.arange(9_001) // 2 % 3,
        "volume_profile": [5, 1, 0, 1, 9],
        "window": "following",
        "mix": {"noise": 0.3, "momentum": 0.55, "maker": 0.15},
    },
}


@cache
def large_run(name):
    """Return a large ensemble and the state that the cpu engine leaves after 200 steps."""
    auction = CallAuction.of(9_001, **LARGE[name])
    running = engine_class("cpu")(auction, NO_ROWS)
    running.run(200, {})
    return auction, running.read_state()


@pytest.mark.parametrize("name", LARGE)
def test_large_ensembles_end_as_on_the_cpu(kernel, name):
    auction, expected = large_run(name)
    running = CudaEngine(auction, NO_ROWS)
    running.run(77, {})
    running.run(123, {})
    assert find_difference(expected, {}, running.read_state(), {}) is None
