"""The baselines of the GPU benchmarks are the model, each by the strongest check it allows here."""

import ctypes
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from bookwarp.reference.engine import ReferenceEngine
from bookwarp.simulation import Simulation
from bookwarp.spec.agents import draw_agent_types
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.state import State, opening_state

REPOSITORY = Path(__file__).resolve().parents[2]
# The benchmarks are programs and no part of the package: they import each other as such.
sys.path.insert(0, str(REPOSITORY / "benchmarks"))

from baselines import naive_cuda  # noqa: E402
from baselines.fixed_rules import FixedRules  # noqa: E402

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")
needs_jax = pytest.mark.skipif(find_spec("jax") is None, reason="needs jax")
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
needs_nvrtc = pytest.mark.skipif(
    find_spec("cuda") is None or find_spec("cuda.core") is None, reason="needs cuda.core"
)

STEPS = 40
FOUR_TYPES = draw_agent_types(
    7, 64, {"noise": 0.4, "momentum": 0.2, "maker": 0.2, "fundamental": 0.2}
)
ENSEMBLES = {
    "as in the paper": {"levels": 128, "agents": 256},
    "odd and at the edge": {"levels": 50, "agents": 33, "seed": 9, "open_price": 3},
    "all four types, given": {"levels": 32, "agents": 64, "agent_types": FOUR_TYPES},
    "other parameters": {
        "levels": 64,
        "agents": 40,
        "max_qty": 7,
        "noise_spread": 1,
        "maker_half_spread": 3,
        "market_order_prob": 0.3,
        "open_depth": 0,
    },
}
ensembles = pytest.mark.parametrize("ensemble", ENSEMBLES.values(), ids=list(ENSEMBLES))
WORKED_BOOK = np.array([[[10, 5, 8, 0, 2], [0, 4, 7, 6, 3]]], np.int32)
WORKED_REST = [[[10, 5, 0, 0, 0], [0, 0, 1, 6, 3]]]


def reference_state(auction: CallAuction, steps: int) -> State:
    engine = ReferenceEngine(auction, RecordPlan())
    engine.run(steps, {})
    return engine.read_state()


def assert_equal_states(found: State, wanted: State) -> None:
    for name, array in wanted.arrays().items():
        assert np.array_equal(getattr(found, name), array), name
    assert found.digest() == wanted.digest()


def assert_runs_as_the_reference(markets, auction: CallAuction) -> None:
    """In one go, and again after a reset in two pieces."""
    markets.run(STEPS)
    assert_equal_states(markets.read_state(), reference_state(auction, STEPS))
    markets.reset()
    markets.run(13)
    markets.run(STEPS - 13)
    assert_equal_states(markets.read_state(), reference_state(auction, STEPS))


@needs_torch
@ensembles
def test_torch_with_the_words_of_the_stream_is_the_reference(ensemble):
    from baselines.torch_engine import TorchMarkets

    auction = CallAuction.of(7, **ensemble)
    assert_runs_as_the_reference(TorchMarkets(auction, "cpu", from_stream=True), auction)


@needs_torch
def test_counted_torch_is_the_reference(monkeypatch):
    import torch
    from baselines.torch_counted import CountedTorchMarkets

    monkeypatch.setattr(torch, "compile", lambda step, **_: step)
    for ensemble in ENSEMBLES.values():
        auction = CallAuction.of(7, **ensemble)
        assert_runs_as_the_reference(CountedTorchMarkets(auction, "cpu", compiled=True), auction)


@needs_torch
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs g++")
# What torch itself imports while it compiles.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_compiled_torch_is_the_reference():
    from baselines.torch_graph import GraphTorchMarkets

    auction = CallAuction.of(7, agents=33, levels=32)
    assert_runs_as_the_reference(GraphTorchMarkets(auction, "cpu", compiled=True), auction)


@needs_torch
def test_torch_clears_the_worked_case_of_the_paper():
    import torch
    from baselines.torch_engine import clear_auction

    price, volume, rest = clear_auction(torch.from_numpy(WORKED_BOOK))
    assert (price.tolist(), volume.tolist(), rest.tolist()) == ([2], [10], WORKED_REST)


@needs_torch
def test_torch_with_its_own_generator_simulates_the_same_model():
    """Volume and price within 0.2 % of the engine's, and within four standard errors."""
    from baselines.torch_engine import TorchMarkets

    auction = CallAuction.of(1024, agents=64, levels=64)
    simulated = TorchMarkets(auction, "cpu")
    simulated.run(200)
    found = simulated.read_state()
    wanted = Simulation(1024, 64, 64, 200, record=()).step(200).state()
    for name in ("volume", "last", "trades"):
        means = [getattr(state, name).mean() for state in (found, wanted)]
        spread = np.sqrt(sum(getattr(state, name).var() for state in (found, wanted)) / 1024)
        assert means[0] == pytest.approx(means[1], abs=4 * spread)
        assert name == "last" or means[0] == pytest.approx(means[1], rel=2e-3)


@needs_torch
def test_torch_generator_goes_on_when_only_the_state_is_reset():
    from baselines.torch_engine import TorchMarkets

    markets = TorchMarkets(CallAuction.of(4, agents=32, levels=32), "cpu")
    books = []
    for reset in (markets.reset_state, markets.reset_state, markets.reset):
        reset()
        markets.run(3)
        books.append(markets.book.clone())
    assert not books[0].equal(books[1])
    assert books[0].equal(books[2])


@needs_jax
@ensembles
@pytest.mark.parametrize("gather", ["scatter", "matmul", "count"])
def test_every_form_in_jax_is_the_reference(ensemble, gather):
    from baselines.jax_engine import SUM, JaxMarkets

    auction = CallAuction.of(7, **ensemble)
    for sum_levels in SUM:
        markets = JaxMarkets(auction, "cpu", gather, sum_levels)
        markets.run(STEPS)
        assert_equal_states(markets.read_state(), reference_state(auction, STEPS))


@needs_jax
def test_jax_starts_anew_and_goes_on():
    from baselines.jax_engine import JaxMarkets

    auction = CallAuction.of(7, agents=33, levels=32)
    assert_runs_as_the_reference(JaxMarkets(auction, "cpu"), auction)


@needs_jax
def test_jax_clears_the_worked_case_of_the_paper():
    from baselines.jax_engine import SUM, clear_auction

    for sum_levels in SUM.values():
        price, volume, rest = clear_auction(WORKED_BOOK, sum_levels)
        assert (price.tolist(), volume.tolist(), rest.tolist()) == ([2], [10], WORKED_REST)


@needs_jax
def test_jax_refuses_more_lots_than_its_sums_hold():
    from baselines.jax_engine import JaxMarkets

    markets = JaxMarkets(CallAuction.of(2, agents=2**12, levels=32), "cpu", sum_levels="matmul")
    with pytest.raises(ValueError, match="lots"):
        markets.run(2000)


def test_rules_that_the_baselines_do_not_have_are_refused():
    for more in (
        {"window": "following"},
        {"stream": "paper"},
        {"max_qty": [1, 2]},
        {"max_qty": 1000, "noise_spread": 500},
    ):
        with pytest.raises(ValueError, match="this baseline"):
            FixedRules.of(CallAuction.of(2, **more))


@needs_nvrtc
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_120"])
@pytest.mark.parametrize("stream", ["default", "paper"])
def test_naive_kernel_compiles(architecture, stream):
    code = naive_cuda.compile_kernel(CallAuction.of(7, stream=stream), architecture)
    assert len(code.code) > 1000


# What a thread of the kernel needs, for a C++ compiler: the grid is one thread after the other.
_AS_CPP = """
#include <algorithm>
#define __device__
#define __global__
using std::max, std::min;
struct Index { unsigned x; };
static Index blockIdx, blockDim{1}, threadIdx{0};
static float __ull2float_rn(unsigned long long value) { return (float)value; }
static float __fmul_rn(float a, float b) { return a * b; }
"""


def naive_on_the_processor(auction: CallAuction, folder: Path):
    """Return the naive kernel as a function of its arguments, compiled as C++."""
    macros = "".join(f"#define {n} {v}\n" for n, v in naive_cuda.macros_of(auction).items())
    kernel = (REPOSITORY / "benchmarks/baselines/naive_cuda.cu").read_text(encoding="utf-8")
    whole = """
extern "C" void run_all(int* bid, int* ask, int* last, int* prev_mid2, long long* volume,
                        long long* trades, const unsigned char* types,
                        const unsigned long long* keys, const unsigned* ids, unsigned markets,
                        unsigned step) {
    for (blockIdx.x = 0; blockIdx.x < markets + 3; ++blockIdx.x)
        run_step(bid, ask, last, prev_mid2, volume, trades, types, keys, ids, markets, step);
}
"""
    source, library = folder / "naive.cpp", folder / "naive.so"
    source.write_text(_AS_CPP + macros + kernel + whole, encoding="utf-8")
    words = ["g++", "-std=c++17", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-w"]
    subprocess.run([*words, str(source), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library)).run_all


@needs_compiler
@ensembles
@pytest.mark.parametrize("stream", ["default", "paper"])
def test_naive_kernel_is_the_reference(ensemble, stream, tmp_path):
    auction = CallAuction.of(7, stream=stream, **ensemble)
    run_all = naive_on_the_processor(auction, tmp_path)
    arrays = naive_cuda.to_device_layout(opening_state(auction))
    constant = naive_cuda.constant_arrays(auction)
    pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (*arrays.values(), *constant)]
    for step in range(STEPS):
        run_all(*pointers, ctypes.c_uint(auction.markets), ctypes.c_uint(step))
    found = naive_cuda.from_device_layout(auction, STEPS, arrays)
    assert_equal_states(found, reference_state(auction, STEPS))
