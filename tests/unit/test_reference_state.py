"""The opening state, the digest, and single steps of the reference engine."""

import hashlib
import struct

import numpy as np
import pytest

from bookwarp.reference.engine import ReferenceEngine
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.state import STATE_LAYOUT, State, array_shapes, opening_state


def tiny_state():
    """Two markets of three levels, every number another one."""
    return State(
        step=7,
        bid=np.array([[1, 2, 3], [4, 5, 6]]),
        ask=np.array([[7, 8, 9], [10, 11, 12]]),
        last=np.array([-13, 14]),
        prev_mid2=np.array([15, 16]),
        base=np.array([-17, 18]),
        volume=np.array([19, 2**62]),
        trades=np.array([20, 21]),
        pruned_bid=np.array([22, 23]),
        pruned_ask=np.array([24, 25]),
    )


def test_digest_is_the_sha256_of_the_documented_layout():
    numbers = [2, 3, 7]  # markets, levels, step
    numbers += [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]  # bid, ask
    numbers += [-13, 14, 15, 16, -17, 18]  # last, prev_mid2, base
    numbers += [19, 2**62, 20, 21, 22, 23, 24, 25]  # volume, trades, pruned_bid, pruned_ask
    stream = b"bookwarp call-auction state 1\n" + struct.pack(f"<{len(numbers)}q", *numbers)
    expected = hashlib.sha256(stream).hexdigest()
    assert tiny_state().digest() == expected
    assert expected == "ebfbe7b093b850553604f003ec2a79df71603101cb0119976c13fbec810adbca"


@pytest.mark.parametrize("name", ["step", *STATE_LAYOUT])
def test_digest_depends_on_every_number_of_the_state(name):
    state = tiny_state()
    if name == "step":
        state.step += 1
    else:
        getattr(state, name).reshape(-1)[-1] += 1
    assert state.digest() != tiny_state().digest()


def test_digest_does_not_depend_on_how_memory_is_laid_out():
    state = tiny_state()
    state.bid = np.asfortranarray(state.bid)
    state.ask = state.ask.astype(">i8")
    assert state.digest() == tiny_state().digest()


def test_copy_of_a_state_is_independent():
    state = tiny_state()
    copy = state.copy()
    for array in copy.arrays().values():
        array += 1
    copy.step += 1
    assert state.digest() == tiny_state().digest()


def test_opening_book_has_its_depth_one_tick_below_and_above_the_open_price():
    state = opening_state(CallAuction.of(2, levels=8, open_price=[1, 6], open_depth=[5, 9]))
    assert state.bid.tolist() == [[5, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 9, 0, 0]]
    assert state.ask.tolist() == [[0, 0, 5, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 9]]
    assert state.last.tolist() == [1, 6]
    assert state.prev_mid2.tolist() == [2, 12]
    assert state.step == 0
    for name in ("base", "volume", "trades", "pruned_bid", "pruned_ask"):
        assert getattr(state, name).tolist() == [0, 0]


@pytest.mark.parametrize("levels, centre", [(8, 4), (9, 4)])
def test_opening_window_of_a_following_market_is_centred_on_the_open_price(levels, centre):
    auction = CallAuction.of(2, levels=levels, open_price=[-3, 10**15], window="following")
    state = opening_state(auction)
    assert state.base.tolist() == [-3 - centre, 10**15 - centre]
    assert state.last.tolist() == [-3, 10**15]
    assert state.prev_mid2.tolist() == [2 * centre] * 2
    assert np.argwhere(state.bid).tolist() == [[0, centre - 1], [1, centre - 1]]
    assert np.argwhere(state.ask).tolist() == [[0, centre + 1], [1, centre + 1]]


def test_state_has_the_shapes_of_its_layout():
    auction = CallAuction.of(3, levels=10)
    assert array_shapes(auction) == {
        name: (3, 10) if name in ("bid", "ask") else (3,) for name in STATE_LAYOUT
    }
    for array in opening_state(auction).arrays().values():
        assert array.dtype == np.int64
        assert array.flags.c_contiguous


def maker_auction(**parameters):
    """Two makers who stand one tick below and above the mid and trade sides every step."""
    return CallAuction.of(
        1,
        agents=2,
        levels=16,
        open_depth=0,
        max_qty=1,
        mix={"maker": 1},
        **parameters,
    )


def test_a_step_without_a_trade_leaves_the_last_price():
    engine = ReferenceEngine(maker_auction(), RecordPlan())
    engine.run(3, {})
    state = engine.read_state()
    # The mid is 2 * last before step 0 and (7 + 9) / 2 after it.
    assert np.argwhere(state.bid[0]).tolist() == [[7]]
    assert state.bid[0, 7] == state.ask[0, 9] == 3
    assert (state.last[0], state.volume[0], state.trades[0]) == (8, 0, 0)
    assert (state.prev_mid2[0], state.step) == (16, 3)


def test_a_step_with_a_trade_sets_the_last_price_to_a_tick():
    auction = maker_auction(maker_half_spread=0, window="following", open_price=-100)
    engine = ReferenceEngine(auction, RecordPlan())
    engine.run(2, {})
    state = engine.read_state()
    assert (state.last[0], state.volume[0], state.trades[0]) == (-100, 2, 2)
    assert not state.bid.any()
    assert not state.ask.any()


def test_window_follows_the_last_price_where_a_side_is_empty():
    auction = maker_auction(window="following", open_price=0)
    engine = ReferenceEngine(auction, RecordPlan())
    state = opening_state(auction)
    # One bid at level 1 and no ask; the last trade was 100 ticks above the window's top.
    state.bid[0, 1] = 5
    state.last[0] = state.base[0] + 115
    engine.write_state(state)
    engine.run(1, {})
    after = engine.read_state()
    assert after.base[0] == state.base[0] + 115 - 8
    assert (after.pruned_bid[0], after.pruned_ask[0]) == (5, 0)
    assert after.prev_mid2[0] == 16
    # The makers quote around the new centre.
    assert np.argwhere(after.bid[0]).tolist() == [[7]]
    assert np.argwhere(after.ask[0]).tolist() == [[9]]


def test_return_is_measured_between_ticks_when_the_window_moves():
    # One momentum agent; the mid stays at the tick it was while the window moves by -7. So the
    # return is 0 and the order's side is drawn, the same as in a window that does not move.
    books = []
    for level in (1, 8):
        auction = CallAuction.of(
            8,
            agents=1,
            levels=16,
            mix={"momentum": 1},
            window="following",
            open_depth=0,
            market_order_prob=0,
        )
        state = opening_state(auction)
        state.bid[:, level - 1] = state.ask[:, level + 1] = 50
        state.prev_mid2[:] = 2 * level
        engine = ReferenceEngine(auction, RecordPlan())
        engine.write_state(state)
        engine.run(1, {})
        after = engine.read_state()
        assert set(after.base - state.base) == {level - 8}
        assert set(after.prev_mid2) == {16}
        books.append((after.bid.tolist(), after.ask.tolist()))
    assert books[0] == books[1]
    filled_bids = np.array(books[0][0]).sum(axis=1) < 50
    assert 0 < filled_bids.sum() < 8, "both sides are drawn"


def test_writing_and_reading_a_state_copies_it():
    auction = maker_auction()
    engine = ReferenceEngine(auction, RecordPlan())
    state = opening_state(auction)
    engine.write_state(state)
    state.bid[0, 0] = 77
    read = engine.read_state()
    assert read.bid[0, 0] == 0
    read.bid[0, 0] = 77
    assert engine.read_state().bid[0, 0] == 0
