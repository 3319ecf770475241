"""Cases worked out by hand, put before every engine through the one seam."""

import numpy as np
import pytest

from bookwarp.engines.registry import engine_class
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.state import opening_state

# The market of each stream whose four agents send, in some order, in step 0 of seed 0:
# buy 8 at the mid, buy 2 two ticks above, sell 4 one tick below, sell 7 at the mid.
WORKED_CASE_MARKET = {"default": 625_288, "paper": 899_898}
# Markets of one agent whose draw is exactly 1 in step 0 of stream "paper", by what it decides.
DRAW_OF_ONE = {"side": 7_249_893, "marketable": 26_909_750, "qty": 11_567_779, "offset": 21_304_286}


@pytest.mark.parametrize("stream", WORKED_CASE_MARKET)
@pytest.mark.parametrize("levels, lowest", [(8, 0), (8, 3), (9, 1), (128, 60)])
@pytest.mark.parametrize("window", ["fixed", "following"])
def test_worked_case_of_the_paper_in_a_larger_grid(engine, stream, levels, lowest, window):
    # Levels 0 .. 4 of the case are levels `lowest` .. of the grid. Resting before the step are
    # bid 10 5 0 0 0 and ask 0 0 0 6 3, so the mid is level 2 of the case; the four orders make
    # BUY 10 5 8 0 2 and SELL 0 4 7 6 3.
    auction = CallAuction.of(
        1,
        agents=4,
        levels=levels,
        open_depth=0,
        max_qty=8,
        noise_spread=2,
        market_order_prob=0,
        mix={"noise": 1},
        stream=stream,
        window=window,
        market_ids=[WORKED_CASE_MARKET[stream]],
    )
    case = slice(lowest, lowest + 5)
    state = opening_state(auction)
    state.bid[0, case] = [10, 5, 0, 0, 0]
    state.ask[0, case] = [0, 0, 0, 6, 3]
    running = engine_class(engine)(auction, RecordPlan())
    running.write_state(state)
    running.run(1, {})
    after = running.read_state()
    assert after.base[0] == state.base[0], "the window does not move"
    assert after.last[0] == state.base[0] + lowest + 2
    assert (after.volume[0], after.trades[0]) == (10, 1)
    for side, rests in ((after.bid, [10, 5, 0, 0, 0]), (after.ask, [0, 0, 1, 6, 3])):
        expected = np.zeros(levels, np.int64)
        expected[case] = rests
        np.testing.assert_array_equal(side[0], expected)


# Markets of one agent whose draw in step 0 is exactly one half, once rounded to float32.
DRAW_OF_HALF = {"side": 18_853_533, "marketable": 4_516_924}
# Stream "default", max_qty 2048, no spread: what is left to decide "marketable" in step 0.
LEFT_OVER = {0: 67_330, 2**31: 699_970}


def one_order(engine, market, stream="paper", **parameters):
    """Return bid and ask after one noise agent met an empty book of 64 levels."""
    auction = CallAuction.of(
        1,
        agents=1,
        levels=64,
        open_depth=0,
        mix={"noise": 1},
        stream=stream,
        market_ids=[market],
        **parameters,
    )
    running = engine_class(engine)(auction, RecordPlan())
    running.run(1, {})
    state = running.read_state()
    return state.bid[0], state.ask[0]


@pytest.mark.parametrize("max_qty", [1, 4, 2**24])
def test_a_draw_of_exactly_1_makes_an_order_one_lot_too_large(engine, max_qty):
    bid, ask = one_order(engine, DRAW_OF_ONE["qty"], max_qty=max_qty)
    assert bid.sum() + ask.sum() == max_qty + 1


@pytest.mark.parametrize("noise_spread", [0, 3, 20])
def test_a_draw_of_exactly_1_sets_a_price_one_tick_too_far(engine, noise_spread):
    bid, ask = one_order(
        engine, DRAW_OF_ONE["offset"], noise_spread=noise_spread, market_order_prob=0
    )
    assert np.flatnonzero(bid + ask).tolist() == [32 + noise_spread + 1]


def test_a_draw_of_exactly_1_is_not_marketable_even_with_probability_1(engine):
    bid, ask = one_order(engine, DRAW_OF_ONE["marketable"], noise_spread=0, market_order_prob=1)
    assert np.flatnonzero(bid + ask).tolist() == [32]


def test_a_draw_of_exactly_1_sells(engine):
    bid, ask = one_order(engine, DRAW_OF_ONE["side"])
    assert (bid.any(), ask.any()) == (False, True)


def test_a_draw_of_exactly_one_half_sells(engine):
    bid, ask = one_order(engine, DRAW_OF_HALF["side"])
    assert (bid.any(), ask.any()) == (False, True)


def test_a_draw_of_exactly_the_probability_is_not_marketable(engine):
    market = DRAW_OF_HALF["marketable"]
    bid, ask = one_order(engine, market, noise_spread=0, market_order_prob=0.5)
    assert np.flatnonzero(bid + ask).tolist() == [32]
    bid, ask = one_order(engine, market, noise_spread=0, market_order_prob=0.5001)
    assert np.flatnonzero(bid + ask).tolist() in ([0], [63])


@pytest.mark.parametrize("left, probability", [(0, 0.0), (2**31, 0.5)])
def test_an_order_is_marketable_only_below_the_threshold(engine, left, probability):
    given = {"stream": "default", "max_qty": 2048, "noise_spread": 0}
    bid, ask = one_order(engine, LEFT_OVER[left], market_order_prob=probability, **given)
    assert np.flatnonzero(bid + ask).tolist() == [32]
    bid, ask = one_order(engine, LEFT_OVER[left], market_order_prob=probability + 2**-31, **given)
    assert np.flatnonzero(bid + ask).tolist() in ([0], [63])


def test_an_odd_word_of_a_wide_market_is_compared_with_its_lowest_bit_cleared(engine):
    # What is left of the word of market 3 is 1730192559, and 1730192558 when it is compared.
    given = {"stream": "default", "max_qty": 5000, "noise_spread": 0}
    bid, ask = one_order(engine, 3, market_order_prob=1_730_192_558 / 2**32, **given)
    assert np.flatnonzero(bid + ask).tolist() == [32]
    bid, ask = one_order(engine, 3, market_order_prob=1_730_192_559 / 2**32, **given)
    assert np.flatnonzero(bid + ask).tolist() in ([0], [63])
