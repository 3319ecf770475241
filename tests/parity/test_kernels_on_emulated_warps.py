"""The sources of the kernels, run by emulated warps, end in the reference's bits.

A part of what tests/device asks of a GPU, for machines without one.
"""

from dataclasses import replace

import emulated_gpu
import numpy as np
import pytest
from emulated_gpu import emulated_gpus as emulated_gpus
from emulated_kernels import needs_compiler
from kernels_in_cpp import in_cpp, run_on_warps
from on_device import KERNELS, force_kernel
from parity_cases import CORNERS, build, everything
from worked_markets import draw_worked

from bookwarp.engines.cuda.engine import CudaEngine
from bookwarp.reference.engine import ReferenceEngine
from bookwarp.spec.record import RecordPlan
from bookwarp.testing.parity import assert_engines_agree, find_difference

pytestmark = needs_compiler

# What differs from other corners in how a kernel works, not only in what it is given.
SELECTED = (
    *("levels 8", "levels 15", "levels 1000", "one market", "one agent", "257 agents"),
    *("200 steps", "no depth", "depth at the bound", "large orders", "narrowest wide cells"),
    *("many lots at few prices", "a side runs out near an edge", "makers beyond the grid"),
    *("an auction every other step", "intervals of markets differ", "no auction in the run"),
    *("orders wait at the ends of the grid", "a parent order", "a parent order that is too much"),
    *("parent orders of every kind, and none", "parent orders that wait"),
    "everything per market",
)


@pytest.fixture(params=KERNELS)
def warps(request, monkeypatch, emulated_gpus):
    """Runs what is launched on emulated warps, every ensemble by a kernel of one kind."""
    monkeypatch.setattr(emulated_gpu, "run_kernel", run_on_warps)
    force_kernel(monkeypatch, request.param)
    return request.param


@pytest.mark.parametrize("mix", ["all", "given", "per market"])
@pytest.mark.parametrize("window", ["fixed", "following"])
@pytest.mark.parametrize("stream", ["default", "paper"])
def test_kernels_agree(warps, stream, window, mix):
    auction, steps = build(window, stream, mix)
    assert_engines_agree(auction, steps, everything(auction), ("reference", CudaEngine))


@pytest.mark.parametrize("corner", SELECTED)
def test_kernels_agree_at_corners(warps, corner):
    auction, steps = build("following", "default", "default", **CORNERS[corner])
    plan = everything(auction, every=3)
    assert_engines_agree(auction, steps, plan, ("reference", CudaEngine))


@pytest.mark.parametrize("depth_ticks", [0, 1, *range(4, 20), 2**32 - 1])
def test_depths_agree_however_far_they_reach(warps, depth_ticks):
    """Among the levels that a warp holds, and one level beyond them: each has lots of its own."""
    changes = {"levels": 96, "steps": 60, "market_order_prob": 0.5, "max_qty": 9}
    auction, steps = build("fixed", "default", "all", **changes)
    plan = RecordPlan.of(auction, ("bid_depth", "ask_depth"), depth_ticks=depth_ticks)
    few = 1 + np.arange(96) % 7  # so that prices move, among the levels and out of them
    done = []
    for engine in (ReferenceEngine, CudaEngine):
        running, rows = engine(auction, plan), plan.allocate(auction, steps)
        state = running.read_state()
        bid, ask = np.zeros_like(state.bid), np.zeros_like(state.ask)
        bid[:, :48], ask[:, 49:] = few[:48], few[49:]
        running.write_state(replace(state, bid=bid, ask=ask))
        running.run(steps, rows)
        running.wait()
        done.append((running.read_state(), rows))
    assert find_difference(*done[0], *done[1]) is None


@pytest.mark.parametrize("side", ["bid", "ask"])
def test_depths_agree_where_a_side_is_beyond_what_a_warp_holds(warps, side):
    """No run leaves such a book, but one that is set between two auctions may have it."""
    auction, steps = build("fixed", "default", "all", levels=96, steps=4, clearing_interval=5)
    plan = RecordPlan.of(auction, ("bid_depth", "ask_depth"), depth_ticks=3)
    done = []
    for engine in (ReferenceEngine, CudaEngine):
        running, rows = engine(auction, plan), plan.allocate(auction, steps)
        state = running.read_state()
        lots = {name: np.zeros_like(state.bid) for name in ("bid", "ask")}
        far = slice(85, 95) if side == "bid" else slice(2, 12)
        lots[side][:, far] = 1 + np.arange(10)
        running.write_state(replace(state, **lots))
        running.run(steps, rows)
        running.wait()
        done.append((running.read_state(), rows))
    assert find_difference(*done[0], *done[1]) is None
    assert done[0][1][f"{side}_depth"].all()


@pytest.mark.parametrize("corner", ["levels 15", "a side runs out near an edge", "no depth"])
def test_depths_agree_at_corners(warps, corner):
    auction, steps = build("following", "default", "default", **CORNERS[corner])
    plan = RecordPlan.of(auction, ("bid_depth", "ask_depth"), depth_ticks=4)
    assert_engines_agree(auction, min(steps, 60), plan, ("reference", CudaEngine))


# name -> (window, what it adds to a small ensemble): more than other engines have to tell apart.
COUNTED = {
    "what waits takes more than 16 bits": (
        "fixed",
        {
            "clearing_interval": [40, 39, 20, 7],
            "max_qty": 127,
            "market_order_prob": [0, 1, 0.1, 0.9],
            "noise_spread": 1,
        },
    ),
    "parent orders among levels that are held": (
        "fixed",
        {
            "levels": 9,
            "parent_qty": 2**31 - 1,
            "parent_side": [1, -1, 1, -1],
            "parent_start": [0, 0, 5, 39],
            "parent_horizon": [1, 40, 20, 2**31 - 1],
        },
    ),
    "lots of 64 bits": (
        "following",
        {
            "clearing_interval": 3,
            "open_depth": 2**40,
            "parent_qty": 2**31 - 1,
            "market_order_prob": 0.5,
        },
    ),
}


@pytest.mark.parametrize("name", COUNTED)
def test_kernels_agree_on_what_they_count_apart(warps, name):
    window, changes = COUNTED[name]
    auction, steps = build(window, "default", "default", **changes)
    assert_engines_agree(auction, steps, everything(auction, every=3), ("reference", CudaEngine))


@pytest.mark.parametrize("window, levels", [("fixed", 24), ("following", 17)])
def test_kernels_agree_on_markets_drawn_at_random(warps, window, levels):
    for seed in range(6):
        auction = draw_worked(seed, levels=levels, window=window)
        plan = everything(auction, every=2)
        assert_engines_agree(auction, 60, plan, ("reference", CudaEngine))


def test_the_stream_of_the_paper_waits_and_is_worked(warps):
    for seed in range(2):
        auction = draw_worked(seed, stream="paper")
        assert_engines_agree(auction, 40, everything(auction), ("reference", CudaEngine))


@pytest.mark.parametrize("cuts", [(1,) * 30, (7, 1, 5, 17), (2, 2, 1, 25)])
def test_pieces_that_end_between_auctions_are_the_whole(warps, cuts):
    for seed in (0, 1):
        auction = draw_worked(seed)
        whole = ReferenceEngine(auction, RecordPlan())
        whole.run(30, {})
        running = CudaEngine(auction, RecordPlan())
        for steps in cuts:
            running.run(steps, {})
        assert find_difference(whole.read_state(), {}, running.read_state(), {}) is None


def test_a_state_between_auctions_is_taken_up_from_the_reference(warps):
    auction = draw_worked(3)
    running, whole = ReferenceEngine(auction, RecordPlan()), ReferenceEngine(auction, RecordPlan())
    whole.run(33, {})
    for engine, steps in ((CudaEngine, 4), (ReferenceEngine, 7), (CudaEngine, 1), (CudaEngine, 21)):
        following = engine(auction, RecordPlan())
        following.write_state(running.read_state())
        following.run(steps, {})
        running = following
    assert find_difference(whole.read_state(), {}, running.read_state(), {}) is None


def test_lots_may_wait_in_a_market_that_has_just_cleared(warps):
    # No run leaves them there, but a learner that sets markets back may.
    auction = draw_worked(5)
    state = ReferenceEngine(auction, RecordPlan()).read_state()
    state.waiting_buy[:, ::3], state.waiting_sell[:, 1::3] = 7, 5
    found = []
    for engine in (ReferenceEngine, CudaEngine):
        running = engine(auction, RecordPlan())
        running.write_state(state)
        running.run(2, {})
        running.run(9, {})
        found.append(running.read_state())
    assert find_difference(found[0], {}, found[1], {}) is None


def test_ptx_without_a_form_is_an_error():
    assert in_cpp('asm("shr.u32 %0, %1, 31;" : "=r"(bit) : "r"(f(a)));') == "bit = f(a) >> 31;"
    with pytest.raises(KeyError, match=r"popc\.b32"):
        in_cpp('asm("popc.b32 %0, %1;" : "=r"(count) : "r"(word));')
