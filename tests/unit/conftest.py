"""What tests share: runs to store, what it means that two are the same, and interrupts."""

import signal

import numpy as np
import pytest

import bookwarp as bw
from bookwarp.spec.parameters import PARAMETERS

MARKETS = 6
EVERYTHING = (
    *("last", "volume", "mid2", "best_bid", "best_ask", "bid_depth", "ask_depth"),
    *("book", "tape"),
)


def plain_run():
    """Everything the same for all markets, and the two default series."""
    return bw.simulate(4, 10, levels=16, steps=12, seed=7, engine="reference")


def varied_run():
    """Everything that can differ from market to market does, and all is recorded."""
    market = np.arange(MARKETS)
    return bw.simulate(
        MARKETS,
        agents=9,
        levels=17,
        steps=11,
        seed=np.array([0, 1, 2**63, 2**64 - 1, 12345678901234567891, 7], np.uint64),
        open_price=2**61 * np.array([-1, 1, 0, 0, 0, 0]) + market,
        open_depth=market,
        max_qty=market + 1,
        noise_spread=market,
        market_order_prob=np.array([0.0, 0.1, 0.1 + 2**-56, 1 / 3, 1e-300, 1.0]),
        maker_half_spread=market,
        mix=bw.Mix(noise="rest", momentum=np.linspace(0, 0.7, MARKETS) ** 1.1, maker=0.15),
        window="following",
        market_ids=market[::-1] * 1000,
        engine="reference",
        record=EVERYTHING,
        record_every=2,
        depth_ticks=3,
        book_markets=[1, 4],
        tape_markets=[0, 5],
        tape_steps=[0, 3, 10],
    )


def typed_run():
    """Agent types given, the published stream, no rows."""
    types = bw.draw_agent_types(5, 8, seed=3)
    mix = {"agent_types": types, "stream": "paper", "seed": 2**64 - 1, "record": ()}
    return bw.simulate(5, 8, levels=8, steps=9, engine="reference", **mix)


def opening_run():
    """No step was done; what was to be recorded is there, and empty."""
    recording = {"record": ("last", "book", "tape"), "book_markets": [], "tape_markets": [1]}
    return bw.simulate(3, 8, steps=0, engine="reference", tape_steps=[], **recording)


def worked_run():
    """Orders wait and parent orders are worked, and the run ends in the middle of both."""
    return bw.simulate(
        4,
        agents=12,
        levels=20,
        steps=11,
        window="following",
        clearing_interval=[1, 3, 4, 2**31 - 1],
        parent_qty=[60, 0, 40, 9],
        parent_side=[1, 1, -1, 1],
        parent_start=[2, 0, 1, 5],
        parent_horizon=[7, 1, 100, 3],
        schedule=["twap", "twap", "profile", "share"],
        volume_profile=[2, 0, 5],
        volume_share=1 / 3,
        engine="reference",
        record=("last", "mid2", "tape"),
        tape_markets=[0, 2],
        tape_steps=[1, 3, 7, 8],
    )


RUNS = {each.__name__: each for each in (plain_run, varied_run, typed_run, opening_run, worked_run)}


@pytest.fixture(scope="session", params=RUNS)
def run(request):
    """One run after the other; tests leave it as it is."""
    return RUNS[request.param]()


@pytest.fixture(scope="session")
def varied():
    return varied_run()


@pytest.fixture(scope="session")
def plain():
    return plain_run()


def assert_equal_arrays(found, expected):
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype


def assert_same_auction(found, expected):
    """Every parameter has the same value and type, and gives the same agents."""
    for name in ("markets", "agents", "levels", "stream", "window"):
        assert getattr(found, name) == getattr(expected, name)
    for name in [
        *(each for each in PARAMETERS if each != "steps"),
        "agent_types",
        "volume_profile",
    ]:
        one, other = getattr(found, name), getattr(expected, name)
        assert type(one) is type(other), name
        assert_equal_arrays(np.asarray(one), np.asarray(other))
    assert (found.mix is None) == (expected.mix is None)
    for name, share in (expected.mix or {}).items():
        assert type(found.mix[name]) is type(share)
        assert_equal_arrays(np.asarray(found.mix[name]), np.asarray(share))
    assert_equal_arrays(found.type_counts(), expected.type_counts())


def assert_same_plan(found, expected):
    for name in ("names", "every", "depth_ticks"):
        assert getattr(found, name) == getattr(expected, name)
    for name in ("book_markets", "tape_markets", "tape_steps"):
        assert_equal_arrays(getattr(found, name), getattr(expected, name))


def assert_same_run(found, expected, timed=True):
    """Everything is the same, to the last bit and in the same order."""
    assert_same_auction(found.auction, expected.auction)
    assert_same_plan(found.plan, expected.plan)
    assert found.steps == expected.steps
    assert list(found.state.arrays()) == list(expected.state.arrays())
    for name, array in expected.state.arrays().items():
        assert_equal_arrays(getattr(found.state, name), array)
    assert list(found.history) == list(expected.history)
    for name, rows in expected.history.items():
        assert_equal_arrays(found.history[name], rows)
    assert (found.tape is None) == (expected.tape is None)
    if expected.tape is not None:
        assert_equal_arrays(found.tape, expected.tape)
    if timed:
        assert (found.engine, found.elapsed_s) == (expected.engine, expected.elapsed_s)
        assert dict(found.made_by) == dict(expected.made_by)


@pytest.fixture(scope="session")
def same_run():
    """The function that holds one run against another."""
    return assert_same_run


@pytest.fixture(scope="session")
def same_auction():
    """The function that holds one ensemble against another."""
    return assert_same_auction


@pytest.fixture
def closed_folder(tmp_path):
    """A folder in which no file can be created, not even by root."""
    import os
    from pathlib import Path

    if os.geteuid():
        folder = tmp_path / "closed"
        folder.mkdir(mode=0o500)
        return folder
    folder = Path("/proc/self")
    if not folder.is_dir():
        pytest.skip("root can write to every folder of this system")
    return folder


@pytest.fixture
def python_interrupts():
    """Ctrl-C raises KeyboardInterrupt, whatever the process that runs the tests made of it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
