"""Every kernel held against the reference, to the last bit: every array, every row, the digest."""

from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from on_device import KERNELS, device_tests, force_kernel
from on_device import kernel as kernel
from parity_cases import THIN_CASES
from test_golden import FILES, assert_golden

from bookwarp.engines.cuda.engine import CudaEngine
from bookwarp.engines.registry import engine_class
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import SERIES, RecordPlan
from bookwarp.testing.parity import assert_engines_agree, find_difference
from bookwarp.testing.strategies import runs

pytestmark = device_tests

PARTS = 16
EXAMPLES = 16


@pytest.mark.parametrize("part", range(PARTS))
def test_kernels_agree_on_ensembles_drawn_at_random(part):
    @seed(part)
    @settings(
        max_examples=EXAMPLES,
        derandomize=False,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(runs(max_steps=40))
    def check(case):
        for name in KERNELS:
            with pytest.MonkeyPatch.context() as patch:
                force_kernel(patch, name)
                engines = ("reference", CudaEngine)
                assert_engines_agree(case.auction, case.steps, case.plan, engines)

    check()


@pytest.mark.parametrize("case", THIN_CASES, ids=str)
def test_kernels_agree(kernel, case):
    case.check(CudaEngine)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_published_engine_comes_out_bit_for_bit(kernel, path):
    assert_golden(path, CudaEngine)


LARGE = {
    "many markets": {"markets": 20_000, "steps": 50},
    "an odd number of them": {"markets": 9_001, "steps": 20},
    "many agents": {"markets": 300, "agents": 1024, "steps": 50},
    "few agents": {"markets": 10_000, "agents": 16, "steps": 100},
    "the paper's draws": {"markets": 5_000, "stream": "paper", "steps": 20},
    "a following window": {
        "markets": 5_000,
        "window": "following",
        "mix": {"noise": 0.15, "momentum": 0.7, "maker": 0.15},
        "steps": 200,
    },
    "many levels": {"markets": 300, "levels": 65_536, "noise_spread": 9000, "steps": 10},
    "given types": {
        "markets": 6_000,
        "agent_types": np.arange(6_000 * 256).reshape(6_000, 256) % 7 % 4,
        "steps": 30,
    },
}


@cache
def large_run(name):
    """Return a large ensemble, its steps, and the state that the cpu engine leaves."""
    given = dict(LARGE[name])
    steps = given.pop("steps")
    auction = CallAuction.of(**given)
    running = engine_class("cpu")(auction, RecordPlan(), 8)
    running.run(steps, {})
    return auction, steps, running.read_state()


@pytest.mark.parametrize("name", LARGE)
def test_large_ensembles_end_as_on_the_cpu(kernel, name):
    auction, steps, expected = large_run(name)
    running = CudaEngine(auction, RecordPlan())
    running.run(steps // 3, {})
    running.run(steps - steps // 3, {})
    assert find_difference(expected, {}, running.read_state(), {}) is None


@pytest.mark.parametrize("name", LARGE)
def test_large_ensembles_end_as_on_the_cpu_on_the_kernel_of_choice(name):
    auction, steps, expected = large_run(name)
    running = CudaEngine(auction, RecordPlan())
    running.run(steps, {})
    assert find_difference(expected, {}, running.read_state(), {}) is None


def test_many_rows_of_many_markets_come_in_order():
    auction = CallAuction.of(3000, agents=20, levels=32)
    plan = RecordPlan.of(auction, (*SERIES, "book"), book_markets=range(0, 3000, 100))
    assert_engines_agree(auction, 200, plan, ("cpu", CudaEngine), threads=8)
