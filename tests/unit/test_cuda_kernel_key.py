"""Which kernel runs an ensemble, and what it is specialised by."""

import numpy as np
import pytest

from bookwarp.engines.cuda import layout
from bookwarp.engines.cuda.kernel_key import (
    Arrangement,
    GpuShape,
    arrangements,
    bound_orders,
    choose_key,
    largest_orders,
    wide_draws,
)
from bookwarp.engines.cuda.layout import (
    MARKET,
    ROWS,
    lay_out_book,
    lay_out_parameters,
    lay_out_scalars,
    lay_out_types,
    read_out_state,
)
from bookwarp.engines.cuda.part import grid_of
from bookwarp.engines.cuda.slices import split_markets
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.state import opening_state

MAKERS = {"maker": 0.5, "noise": 0.5}
NO_MAKERS = {"noise": 1}


def orders_of(auction):
    return bound_orders(auction, auction.type_counts())


def key_for(
    markets=4,
    multiprocessors=0.01,
    wide_lots=False,
    recording=False,
    arrangement=None,
    **parameters,
):
    """Return the key of choice; that of many markets on a GPU, if nothing else is said."""
    auction = CallAuction.of(markets, **parameters)
    return choose_key(
        auction,
        orders_of(auction),
        wide_lots=wide_lots,
        recording=recording,
        shape=GpuShape(multiprocessors, 32),
        arrangement=arrangement,
    )


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"stream": "paper"},
        {"noise_spread": 0},
        {"noise_spread": [0, 1, 2, 3]},
        {"max_qty": 127, "noise_spread": 3},
        {"max_qty": 126, "noise_spread": 3, "stream": "paper"},
        {"mix": MAKERS, "maker_half_spread": 15},
        {"mix": NO_MAKERS, "maker_half_spread": 2**31 - 1},
        {"mix": {"noise": [1, 0.5, 1, 1], "maker": "rest"}, "maker_half_spread": [99, 15, 99, 99]},
        {"agents": 13_106, "max_qty": 4},
        {"levels": 65_536},
        {"window": "following"},
        {"market_order_prob": 1},
    ],
)
def test_orders_that_fit_packed_counters_are_counted(parameters):
    assert key_for(**parameters).kernel == "counted"


@pytest.mark.parametrize(
    "parameters",
    [
        {"noise_spread": 4},
        {"noise_spread": [3, 3, 3, 4]},
        {"max_qty": 128},
        {"max_qty": 127, "noise_spread": 3, "stream": "paper"},
        {"mix": MAKERS, "maker_half_spread": 16},
        {"mix": {"noise": [1, 0.5, 1, 1], "maker": "rest"}, "maker_half_spread": [1, 16, 1, 1]},
        {"agents": 13_108, "max_qty": 4},
        {"max_qty": 127, "agents": 512},
    ],
)
def test_orders_that_do_not_are_not(parameters):
    assert key_for(**parameters).kernel == "general"


ALONE, HALVES, QUARTERS = (Arrangement(together, False) for together in (1, 2, 4))
AHEAD = Arrangement(1, True)


@pytest.mark.parametrize(
    "expected, parameters",
    [
        (QUARTERS, {}),
        (QUARTERS, {"markets": 33, "multiprocessors": 1}),
        (HALVES, {"markets": 32, "multiprocessors": 1}),
        (HALVES, {"markets": 9, "multiprocessors": 1}),
        (AHEAD, {"markets": 8, "multiprocessors": 1}),
        (AHEAD, {"markets": 1, "multiprocessors": 132}),
        (HALVES, {"mix": MAKERS, "maker_half_spread": 4}),
        (HALVES, {"mix": MAKERS, "maker_half_spread": 7}),
        (ALONE, {"mix": MAKERS, "maker_half_spread": 8}),
        (QUARTERS, {"mix": NO_MAKERS, "maker_half_spread": 8}),
        (ALONE, {"noise_spread": 4}),
        (ALONE, {"noise_spread": 4, "multiprocessors": 132}),
        (ALONE, {"stream": "paper"}),
        (ALONE, {"stream": "paper", "markets": 2, "multiprocessors": 1}),
        (AHEAD, {"stream": "paper", "markets": 2, "multiprocessors": 2}),
        # A lane's counters would not hold what it draws ahead.
        (ALONE, {"max_qty": 100, "noise_spread": 1, "multiprocessors": 132}),
    ],
)
def test_markets_are_put_on_warps_as_they_run_fastest(expected, parameters):
    key = key_for(**parameters)
    assert (key.markets_per_warp, key.draws_ahead) == expected
    assert key.block == (64 if expected.draws_ahead else 32)
    if key.kernel == "counted":
        assert grid_of(key, 5, 100) == -(-5 // expected.markets_per_warp)


@pytest.mark.parametrize(
    "expected, parameters",
    [
        ([QUARTERS, HALVES, ALONE, AHEAD], {}),
        ([HALVES, ALONE, AHEAD], {"stream": "paper", "noise_spread": 3}),
        ([QUARTERS, HALVES, ALONE, AHEAD], {"stream": "paper", "noise_spread": 2}),
        ([HALVES, ALONE, AHEAD], {"mix": MAKERS, "maker_half_spread": 7}),
        ([ALONE, AHEAD], {"mix": MAKERS, "maker_half_spread": 15}),
        ([QUARTERS, HALVES, ALONE], {"max_qty": 100, "noise_spread": 1}),
        ([ALONE], {"noise_spread": 4}),
    ],
)
def test_markets_are_put_on_warps_in_every_way_that_fits(expected, parameters):
    auction = CallAuction.of(4, **parameters)
    assert arrangements(orders_of(auction)) == expected


def test_registers_are_kept_for_as_many_blocks_as_there_are():
    assert key_for(markets=4, multiprocessors=1, arrangement=QUARTERS).blocks_per_sm == 16
    assert key_for(markets=65, multiprocessors=1, arrangement=QUARTERS).blocks_per_sm == 32
    assert key_for(markets=65, multiprocessors=1, arrangement=AHEAD).blocks_per_sm == 8
    auction = CallAuction.of(100)
    flags = {"wide_lots": False, "recording": False, "shape": GpuShape(1, 24)}
    assert choose_key(auction, orders_of(auction), **flags).blocks_per_sm == 24


def test_a_lane_empties_its_counters_before_they_overflow():
    for max_qty in (1, 2, 4, 31, 32, 63, 64, 127):
        for stream in ("default", "paper"):
            key = key_for(agents=500, max_qty=max_qty, noise_spread=3, stream=stream)
            if key.kernel == "counted":
                assert key.rounds_per_sum >= 1
                assert key.rounds_per_sum * 2 * (max_qty + (stream == "paper")) <= 255


def test_keys_that_make_the_same_code_are_equal():
    assert key_for(max_qty=4, agents=256) == key_for(max_qty=5, agents=256, seed=3, open_price=9)
    general = {"noise_spread": 9}
    assert key_for(**general) == key_for(**general, max_qty=77, mix={"fundamental": 1})
    assert key_for(**general) != key_for(**general, stream="paper")


@pytest.mark.parametrize(
    "macro, value, parameters",
    [
        ("LEVELS", 100, {"levels": 100}),
        ("AGENTS", 77, {"agents": 77}),
        ("FOLLOWING", 1, {"window": "following"}),
        ("PAPER", 1, {"stream": "paper"}),
        ("GIVEN_TYPES", 1, {"agent_types": np.zeros((4, 256), np.int8)}),
        ("FUNDAMENTAL_AGENTS", 1, {"mix": {"noise": [1, 1, 1, 0], "fundamental": "rest"}}),
        ("WIDE_LOTS", 1, {"wide_lots": True}),
        ("RECORDING", 1, {"recording": True}),
        ("MARKETS_PER_WARP", 2, {"multiprocessors": 0.3}),
        ("DRAWS_AHEAD", 1, {"multiprocessors": 1}),
        ("MAKERS_APART", 1, {"maker_half_spread": 4}),
    ],
)
def test_a_parameter_that_changes_the_code_is_in_the_key(macro, value, parameters):
    usual, found = key_for(), key_for(**parameters)
    assert found != usual
    assert found.macros()[macro] == value != usual.macros()[macro]


@pytest.mark.parametrize(
    "levels, wide_lots, shared", [(128, False, 1024), (2048, False, 2**14), (1024, True, 2**14)]
)
def test_a_small_histogram_is_kept_in_shared_memory(levels, wide_lots, shared):
    key = key_for(noise_spread=9, levels=levels, wide_lots=wide_lots)
    assert (key.shared_bytes, key.scratch_bytes) == (shared, 0)
    assert key.macros()["HISTOGRAM_IN_SHARED"] == 1
    larger = key_for(noise_spread=9, levels=levels + 1600, wide_lots=wide_lots)
    if (levels + 1600) * 2 * (8 if wide_lots else 4) > 2**14:
        assert larger.shared_bytes == 0
        assert larger.scratch_bytes == 2 * (levels + 1600) * (8 if wide_lots else 4)
        assert larger.macros()["HISTOGRAM_IN_SHARED"] == 0


def test_the_counting_kernel_has_no_histogram():
    key = key_for(levels=65_536)
    assert (key.kernel, key.shared_bytes, key.scratch_bytes) == ("counted", 0, 0)


def test_blocks_of_the_general_kernel_take_markets_in_turn():
    key = key_for(noise_spread=9)
    assert grid_of(key, 100, 132) == 100
    assert grid_of(key, 10**6, 132) == 132 * 16


def test_draws_are_wide_by_the_rule_of_the_stream():
    given = {"max_qty": [682, 683, 1, 4], "noise_spread": [1, 1, 1024, 3]}
    assert wide_draws(CallAuction.of(4, **given)).tolist() == [False, True, True, False]
    assert not wide_draws(CallAuction.of(4, **given, stream="paper")).any()
    assert largest_orders(CallAuction.of(4, **given)).tolist() == [682, 683, 1, 4]
    assert largest_orders(CallAuction.of(1, stream="paper")).tolist() == [5]


def test_structures_have_the_sizes_of_their_twins():
    assert (MARKET.itemsize, ROWS.itemsize) == (80, 88)


def test_parameters_are_laid_out_for_every_market():
    auction = CallAuction.of(
        3,
        agents=10,
        levels=16,
        seed=[1, 2**64 - 1, 3],
        open_price=[1, 2, 3],
        max_qty=[1, 2**31 - 1, 3],
        noise_spread=[1, 2**30 - 1, 0],
        market_order_prob=[0, 1, 0.5],
        maker_half_spread=[2**31 - 1, 16, 5],
        mix={
            "noise": [0.5, 1, 0.2],
            "maker": [0.5, 0, 0.1],
            "momentum": [0, 0, 0.4],
            "fundamental": "rest",
        },
        market_ids=[7, 2**31 - 1, 9],
    )
    rows = lay_out_parameters(auction, auction.type_counts())
    assert rows["seed"].tolist() == [1, 2**64 - 1, 3]
    assert rows["max_qty"].tolist() == [1, 2**31 - 1, 3]
    assert rows["two_max_qty"].tolist() == [2, 2**32 - 2, 6]
    assert rows["noise_spread"].tolist() == [1, 2**30 - 1, 0]
    assert rows["threshold"].tolist() == [0, 2**32 - 1, 2**31]
    assert rows["marketable_below"].tolist() == [0, 0, 0]
    assert rows["noise_end"].tolist() == [5, 10, 2]
    assert rows["momentum_end"].tolist() == [5, 10, 6]
    assert rows["maker_end"].tolist() == [10, 10, 7]
    # No farther than the grid is wide, and nowhere where nobody is a maker.
    assert rows["maker_half_spread"].tolist() == [16, 0, 5]
    assert rows["wide"].tolist() == [0, 1, 0]


@pytest.mark.parametrize("stream", ["default", "paper"])
def test_what_markets_share_is_laid_out_as_if_each_had_its_own(stream):
    shared = {
        "seed": 2**64 - 1,
        "open_price": 3,
        "max_qty": 700,
        "noise_spread": 9,
        "market_order_prob": 0.3,
        "maker_half_spread": 99,
        "clearing_interval": 2,
    }
    mix = {"noise": 0.5, "momentum": 0.2, "maker": 0.2, "fundamental": 0.1}
    own = {name: [value] * 3 for name, value in shared.items()}
    own_mix = {name: [share] * 3 for name, share in mix.items()}
    sizes = {"agents": 17, "levels": 16, "stream": stream}
    once = CallAuction.of(3, **sizes, **shared, mix=mix)
    each = CallAuction.of(3, **sizes, **own, mix=own_mix)
    assert once.shared_type_counts().shape == (1, 4)
    assert each.shared_type_counts().shape == once.type_counts().shape == (3, 4)
    np.testing.assert_array_equal(once.type_counts(), each.type_counts())
    rows = lay_out_parameters(once, once.shared_type_counts())
    assert rows.shape == (1,)
    three = np.repeat(rows, 3).tobytes()
    assert lay_out_parameters(once, once.type_counts()).tobytes() == three
    assert lay_out_parameters(each, each.type_counts()).tobytes() == three
    assert bound_orders(once, once.shared_type_counts()) == orders_of(once) == orders_of(each)


def test_parameters_of_many_markets_are_laid_out_in_pieces(monkeypatch):
    number = np.arange(10)
    auction = CallAuction.of(
        10, levels=16, seed=number, max_qty=1 + number, open_price=1 + number, market_ids=number**2
    )
    given = auction, auction.type_counts()
    rows = lay_out_parameters(*given)
    assert rows["open_price"].tolist() == rows["max_qty"].tolist() == list(range(1, 11))
    monkeypatch.setattr(layout, "_ROWS_TOGETHER", 4)
    assert lay_out_parameters(*given).tobytes() == rows.tobytes()


def test_types_are_filled_up_with_nobody():
    types = lay_out_types(np.array([[0, 1, 2], [3, 3, 3]], np.int8))
    assert types.shape == (2, 64)
    assert types.dtype == np.uint8
    assert types[:, :3].tolist() == [[0, 1, 2], [3, 3, 3]]
    assert (types[:, 3:] == 4).all()
    assert lay_out_types(np.zeros((1, 64), np.int8)).shape == (1, 64)
    assert lay_out_types(np.zeros((1, 65), np.int8)).shape == (1, 128)


@pytest.mark.parametrize("lots", [np.int32, np.int64])
def test_a_state_is_the_same_after_there_and_back(lots):
    state = opening_state(CallAuction.of(4, levels=16, open_depth=[0, 1, 2, 2**31 - 1]))
    for number, array in enumerate(state.arrays().values()):
        if array.ndim == 1:
            array += number * 10**12
    book, scalars = lay_out_book(state, np.dtype(lots)), lay_out_scalars(state)
    assert book.dtype == lots
    assert scalars.shape == (9, 32)
    assert scalars[-2, :4].tolist() == [-1, 7, 7, 7]
    assert scalars[-1, :4].tolist() == [16, 9, 9, 9]
    halves = [book[:1], book[1:]], [scalars[:, :1], scalars[:, 1:]]
    assert read_out_state(0, *halves, []).digest() == state.digest()


def test_books_are_numbered_anew_in_every_part():
    auction = CallAuction.of(7, agents=2, levels=8)
    plan = RecordPlan.of(auction, "book", book_markets=[1, 2, 5])
    parts = split_markets(auction, auction.shared_type_counts(), plan, 3)
    assert [(part.first, part.stop) for part in parts] == [(0, 2), (2, 4), (4, 7)]
    assert [(part.first_book, part.books) for part in parts] == [(0, 1), (1, 1), (2, 1)]
    assert [part.book_rows.tolist() for part in parts] == [[-1, 0], [0, -1], [-1, 0, -1]]
    rows = {"last": np.arange(14).reshape(2, 7), "book_bid": np.arange(48).reshape(2, 3, 8)}
    own = parts[1].of_rows(rows)
    assert own["last"].tolist() == [[2, 3], [9, 10]]
    assert own["book_bid"][:, 0, 0].tolist() == [8, 32]
    assert len(split_markets(auction, auction.shared_type_counts(), plan, 100)) == 7


def test_parts_have_only_the_entries_of_their_markets():
    varied = {"seed": [5, 6, 7, 8], "open_depth": [1, 2, 3, 4]}
    for given, entries, depths in (
        ({}, [1, 1], [[8], [8]]),
        (varied, [2, 2], [[1, 2], [3, 4]]),
        ({**varied, "market_settings": [3, 1, 1, 0]}, [4, 4], [[1, 2, 3, 4]] * 2),
    ):
        auction = CallAuction.of(4, levels=8, agents=2, **given)
        parts = split_markets(auction, auction.shared_type_counts(), RecordPlan(), 2)
        assert [len(part.parameters) for part in parts] == entries
        assert [part.depths.tolist() for part in parts] == depths
        assert [part.book_rows for part in parts] == [None, None]
    assert [part.settings.numbers.tolist() for part in parts] == [[3, 1], [1, 0]]


@pytest.mark.parametrize(
    "settings, ids",
    [
        ((5, 1), (0, 12)),
        ((0, 12), (2**31 - 13, 12)),
        ((2, 3), (7, 4)),
        ((0, 6), (3, 1)),
        (None, (0, 12)),
        ([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6], [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 3]),
        ([0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3], [3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2]),
        ([0] * 5 + [1] * 7, [0] * 5 + [1] * 7),
    ],
)
def test_numbers_that_follow_a_rule_are_not_brought(settings, ids):
    def numbers(rule, kind):
        if not isinstance(rule, tuple):
            return rule
        first, period = rule
        place = np.arange(12)
        return first + (place // period if kind == "settings" else place % period)

    given = numbers(settings, "settings"), numbers(ids, "ids")
    auction = CallAuction.of(
        12,
        levels=8,
        seed=7 if settings is None else range(max(given[0]) + 1),
        market_settings=given[0],
        market_ids=given[1],
    )
    (own,) = split_markets(auction, auction.shared_type_counts(), RecordPlan(), 1)
    for found, rule in ((own.settings, settings), (own.ids, ids)):
        if isinstance(rule, list):
            assert found.numbers.tolist() == rule
        else:
            assert found.numbers is None
            assert (found.first, found.period) == (rule or (0, 1))
