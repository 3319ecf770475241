"""What is recorded, after which steps, in how much memory."""

import numpy as np
import pytest

from bookwarp.engines.registry import engine_class
from bookwarp.simulation import Simulation
from bookwarp.spec.codes import NO_PRICE
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RECORDABLE, SERIES, RecordPlan
from bookwarp.spec.state import opening_state

AUCTION = CallAuction.of(5, agents=9, levels=16)


@pytest.mark.parametrize("every", [1, 2, 3, 7, 100])
def test_a_row_is_taken_after_every_so_many_steps(every):
    plan = RecordPlan.of(AUCTION, "last", every=every)
    for start in range(25):
        for stop in range(start, 25):
            steps = [step for step in range(start, stop) if (step + 1) % every == 0]
            assert plan.rows(start, stop) == len(steps)
            assert plan.row_steps(start, stop).tolist() == steps


@pytest.mark.parametrize("every", [1, 2, 5])
@pytest.mark.parametrize("cuts", [[11], [1] * 11, [0, 4, 0, 1, 6, 0], [10, 1], [2, 3, 6]])
def test_history_has_the_rows_of_every_nth_step_for_any_cut(engine, every, cuts):
    record = (*SERIES, "book")
    given = {"agents": 9, "levels": 16, "steps": 11, "engine": engine}
    fine = Simulation(4, **given, record=record, book_markets=[1, 3]).step(11).history
    coarse = Simulation(4, **given, record=record, book_markets=[1, 3], record_every=every)
    for count in cuts:
        coarse.step(count)
    rows = list(range(every - 1, 11, every))
    assert coarse.history.keys() == {*SERIES, "book_bid", "book_ask"}
    for name, series in coarse.history.items():
        assert series.dtype == np.int64
        expected = fine[name][rows]
        if name == "volume":
            ends = np.cumsum(fine["volume"], axis=0)[rows]
            expected = np.diff(ends, axis=0, prepend=0)
        np.testing.assert_array_equal(series, expected, err_msg=name)


def test_volume_of_the_rows_is_the_volume_of_the_state_if_the_last_step_is_a_row(engine):
    simulation = Simulation(6, agents=20, levels=16, steps=12, record_every=4, engine=engine)
    simulation.step(5).step(7)
    history = simulation.history["volume"]
    assert history.shape == (3, 6)
    np.testing.assert_array_equal(history.sum(axis=0), simulation.state().volume)


def test_history_can_be_read_between_pieces_without_harm(engine):
    simulation = Simulation(2, agents=5, levels=16, steps=9, engine=engine)
    whole = Simulation(2, agents=5, levels=16, steps=9, engine=engine).step(9).history
    assert simulation.history["volume"].shape == (0, 2)
    for done in range(1, 10):
        history = simulation.step(1).history
        for name in ("last", "volume"):
            np.testing.assert_array_equal(history[name], whole[name][:done])


def test_nothing_recorded_is_an_empty_history(engine):
    simulation = Simulation(2, agents=5, levels=16, steps=3, record=None, engine=engine)
    assert simulation.step(3).history == {}


def run_one_step(engine, depth_ticks, bid, ask):
    """Return a row after a step from a given book, with one lot more on one side of it."""
    auction = CallAuction.of(
        1,
        agents=2,
        levels=16,
        max_qty=1,
        mix={"maker": 1},
        maker_half_spread=0,
        window="following",
        open_price=100,
    )
    plan = RecordPlan.of(auction, tuple(SERIES), depth_ticks=depth_ticks)
    state = opening_state(auction)
    state.bid[0], state.ask[0] = bid, ask
    running = engine_class(engine)(auction, plan)
    running.write_state(state)
    rows = plan.allocate(auction, 1)
    running.run(1, rows)
    return {name: rows[name][0, 0].item() for name in SERIES}


BID = [1, 2, 4, 8, 16, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0]
ASK = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 5, 0, 0, 7, 9]


@pytest.mark.parametrize(
    "depth_ticks, bid_depth, ask_depth",
    [
        (0, 32, 3),
        (1, 32, 8),
        (2, 48, 8),
        (3, 56, 8),
        (4, 60, 15),
        (5, 62, 24),
        (6, 63, 24),
        (2**32 - 1, 63, 24),
    ],
)
def test_depth_is_what_rests_within_some_ticks_of_the_best_price(
    engine, depth_ticks, bid_depth, ask_depth
):
    # Two makers meet at the mid, level 8, and leave the rest as it was.
    row = run_one_step(engine, depth_ticks, BID, ASK)
    assert row == {
        "last": 100,
        "volume": 1,
        "mid2": 200,
        "best_bid": 98,
        "best_ask": 102,
        "bid_depth": bid_depth,
        "ask_depth": ask_depth,
    }


def test_side_that_is_empty_has_no_price_and_no_depth(engine):
    row = run_one_step(engine, 5, [0] * 16, [0] * 16)
    assert (row["best_bid"], row["best_ask"]) == (NO_PRICE, NO_PRICE)
    assert (row["bid_depth"], row["ask_depth"]) == (0, 0)
    assert (row["last"], row["mid2"]) == (100, 200)
    assert NO_PRICE == -(2**63)


def test_recorded_book_is_the_state_of_the_chosen_markets(engine):
    auction = CallAuction.of(5, agents=9, levels=16, seed=4)
    plan = RecordPlan.of(auction, "book", book_markets=[4, 0, 4])
    rows = plan.allocate(auction, 1)
    running = engine_class(engine)(auction, plan)
    running.run(1, rows)
    state = running.read_state()
    np.testing.assert_array_equal(rows["book_bid"][0], state.bid[[0, 4]])
    np.testing.assert_array_equal(rows["book_ask"][0], state.ask[[0, 4]])


@pytest.mark.parametrize("rows", [0, 1, 10])
def test_bytes_of_a_plan_are_those_that_it_allocates(rows):
    for record, books in (((), None), (("last", "mid2"), None), (RECORDABLE[:-1], [1, 2])):
        plan = RecordPlan.of(AUCTION, record, book_markets=books)
        allocated = sum(array.nbytes for array in plan.allocate(AUCTION, rows).values())
        assert plan.nbytes(AUCTION, rows) == allocated


def test_bytes_of_a_plan_too_large_for_int64_are_counted():
    auction = CallAuction.of(1, levels=65_536)
    plan = RecordPlan.of(auction, "book", book_markets=0)
    assert plan.nbytes(auction, 2**60) == 2 * 8 * 2**60 * 65_536


def test_names_are_kept_once_and_series_in_their_own_order():
    plan = RecordPlan.of(AUCTION, ["volume", "last", "volume", "ask_depth"])
    assert plan.names == ("volume", "last", "ask_depth")
    assert plan.series == ("last", "volume", "ask_depth")
    assert RecordPlan.of(AUCTION, "mid2").names == ("mid2",)
    assert RecordPlan.of(AUCTION, None).names == ()


@pytest.mark.parametrize(
    "request_, expected",
    [
        ({"record": "lst"}, "unknown record 'lst': did you mean 'last'?"),
        ({"record": ["last", "best_bit"]}, "unknown record 'best_bit': did you mean 'best_bid'?"),
        ({"record": ["last", 3]}, "unknown record '3': it is one of last, volume, mid2"),
        ({"record": 5}, "record must be a name or a list of names, not 5"),
        ({"record": True}, "record must be a name or a list of names, not True"),
        ({"record": 0.5}, "record must be a name or a list of names, not 0.5"),
        ({"every": 0}, "record_every = 0 is outside 1 .. 4294967295"),
        ({"every": -3}, "record_every = -3 is outside 1 .. 4294967295"),
        ({"every": 2**32}, "record_every = 4294967296 is outside"),
        ({"every": 1.0}, "record_every must be an integer, not 1.0"),
        ({"every": True}, "record_every must be an integer, not True"),
        ({"every": "2"}, "record_every must be an integer, not '2'"),
        ({"every": None}, "record_every must be an integer, not None"),
        ({"every": float("nan")}, "record_every must be an integer, not nan"),
        ({"depth_ticks": -1}, "depth_ticks = -1 is outside 0 .. 4294967295"),
        ({"depth_ticks": 2.5}, "depth_ticks must be an integer, not 2.5"),
        ({"depth_ticks": [1]}, "depth_ticks must be an integer, not [1]"),
        ({"record": "book"}, "record 'book' needs book_markets"),
        ({"record": "tape"}, "record 'tape' needs tape_markets, tape_steps"),
        ({"book_markets": [0]}, "book_markets needs 'book' in record"),
        ({"tape_markets": [0]}, "tape_markets, tape_steps needs 'tape' in record"),
        ({"tape_steps": [0]}, "tape_markets, tape_steps needs 'tape' in record"),
        ({"record": "tape", "tape_markets": 0}, "record 'tape' needs both tape_markets and"),
        ({"record": "tape", "tape_steps": 0}, "record 'tape' needs both tape_markets and"),
        ({"record": "book", "book_markets": [5]}, "book_markets: 5 is outside 0 .. 4"),
        ({"record": "book", "book_markets": [0, -1]}, "book_markets: -1 is outside 0 .. 4"),
        ({"record": "book", "book_markets": [0.0]}, "book_markets must be a list of integers"),
        ({"record": "book", "book_markets": [True]}, "book_markets must be a list of integers"),
        ({"record": "book", "book_markets": "0"}, "book_markets must be a list of integers"),
        ({"record": "book", "book_markets": [[0, 1]]}, "book_markets must be a list of integers"),
        ({"record": "book", "book_markets": [[0], 1]}, "book_markets is not a regular array"),
        (
            {"record": "tape", "tape_markets": [9], "tape_steps": [0]},
            "tape_markets: 9 is outside 0 .. 4",
        ),
        (
            {"record": "tape", "tape_markets": [0], "tape_steps": [-1]},
            "tape_steps: -1 is outside 0 .. 4294967294",
        ),
    ],
)
def test_request_that_cannot_be_is_refused(request_, expected):
    with pytest.raises(ParameterError) as caught:
        RecordPlan.of(AUCTION, **request_)
    assert str(caught.value).startswith(expected)


def test_tape_of_a_step_that_the_run_does_not_have_is_refused():
    with pytest.raises(ParameterError, match=r"^tape_steps: 10 is outside 0 \.\. 9 \(steps - 1\)$"):
        Simulation(2, steps=10, record="tape", tape_markets=[0], tape_steps=[3, 10])
