"""Every kernel held against the reference, to the last bit: every array, every row, the digest."""

from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from on_device import KERNELS, device_tests, force_kernel
from on_device import kernel as kernel
from test_engines_agree import CORNERS, MIXES, STREAMS_AND_WINDOWS, build, everything
from test_golden import FILES, read_golden

from bookwarp.engines.cuda.engine import CudaEngine
from bookwarp.engines.registry import engine_class
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import SERIES, RecordPlan
from bookwarp.spec.state import opening_state
from bookwarp.testing.parity import assert_engines_agree, find_difference
from bookwarp.testing.strategies import runs

pytestmark = device_tests

PARTS = 16
EXAMPLES = 16
INT64_MAX = 2**63 - 1


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


@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize("stream, window", STREAMS_AND_WINDOWS)
def test_kernels_agree_on_every_mix(kernel, stream, window, mix):
    auction, steps = build(window, stream, mix)
    assert_engines_agree(auction, steps, everything(auction), ("reference", CudaEngine))


def corner_cases():
    """Yield every corner with both streams and windows; types are given in every other one."""
    for number, corner in enumerate(CORNERS):
        for stream, window in STREAMS_AND_WINDOWS:
            mix = "given" if (number + (window == "following")) % 2 else "default"
            yield pytest.param(corner, stream, window, mix, id=f"{corner}-{stream}-{window}")


@pytest.mark.parametrize("corner, stream, window, mix", list(corner_cases()))
def test_kernels_agree_at_every_corner(kernel, corner, stream, window, mix):
    auction, steps = build(window, stream, mix, **CORNERS[corner])
    plan = everything(auction, every=3)
    assert_engines_agree(auction, steps, plan, ("reference", CudaEngine))


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("mix", ["default", "runaway", "fundamental"])
def test_kernels_agree_at_the_ends_of_the_line_of_ticks(kernel, mix, sign):
    steps, levels = 40, 24
    farthest = INT64_MAX - (steps + 1) * levels
    auction, _ = build("following", "default", mix, open_price=sign * farthest)
    plan = RecordPlan.of(auction, [name for name in SERIES if name != "mid2"])
    assert_engines_agree(auction, steps, plan, ("reference", CudaEngine))


@pytest.mark.parametrize("stream", ["default", "paper"])
@pytest.mark.parametrize("step", [1, 2**31 - 3, 2**32 - 6])
def test_kernels_agree_far_into_a_run(kernel, stream, step):
    auction, _ = build("following", stream, "all")
    states = []
    for name in ("reference", "cuda"):
        engine = engine_class(name)(auction, RecordPlan())
        state = opening_state(auction)
        state.step = step
        engine.write_state(state)
        engine.run(5, {})
        states.append(engine.read_state())
    assert find_difference(states[0], {}, states[1], {}) is None


@pytest.mark.parametrize("stream", ["default", "paper"])
def test_kernels_continue_from_states_of_other_engines(kernel, stream):
    auction, _ = build("following", stream, "runaway")
    whole = engine_class("reference")(auction, RecordPlan())
    whole.run(60, {})
    state = opening_state(auction)
    for name, steps in (("cuda", 13), ("cpu", 7), ("reference", 1), ("cuda", 39)):
        engine = engine_class(name)(auction, RecordPlan())
        engine.write_state(state)
        engine.run(steps, {})
        state = engine.read_state()
    assert find_difference(whole.read_state(), {}, state, {}) is None


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_published_engine_comes_out_bit_for_bit(kernel, path):
    arrays, inputs = read_golden(path)
    steps = inputs.pop("steps")
    inputs.pop("mix")
    auction = CallAuction.of(**inputs, agent_types=arrays["agent_type"], stream="paper")
    plan = RecordPlan.of(auction, ("last", "volume"))
    rows = plan.allocate(auction, steps)
    running = CudaEngine(auction, plan)
    running.run(steps, rows)
    state = running.read_state()
    found = {
        "last_price": state.last,
        "volume": state.volume,
        "trades": state.trades,
        "price_history": rows["last"],
        "bid": state.bid,
        "ask": state.ask,
    }
    for name, array in found.items():
        np.testing.assert_array_equal(array, arrays[name], err_msg=name)


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
