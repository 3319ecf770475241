"""Every parameter outside its domain is refused before any work, by a sentence that helps."""

import pickle
from fractions import Fraction

import numpy as np
import pytest

from bookwarp.simulation import Simulation
from bookwarp.spec.agents import Mix, draw_agent_types
from bookwarp.spec.codes import AgentType, Schedule, Stream, Window
from bookwarp.spec.errors import BookwarpError, ParameterError
from bookwarp.spec.market import CallAuction
from bookwarp.spec.parameters import PARAMETERS

MARKETS = 3
SMALL = {"agents": 4, "levels": 16}
PER_MARKET = [p.name for p in PARAMETERS.values() if p.per_market and p.name != "market_ids"]
FOR_ALL = ["agents", "levels"]
NUMBERS = [name for name in PER_MARKET if name != "schedule"]  # which may be a word
WHOLE = [name for name in NUMBERS if not PARAMETERS[name].real]


def refused(markets=MARKETS, **parameters):
    """Return the sentence with which an ensemble is refused."""
    with pytest.raises(ParameterError) as caught:
        CallAuction.of(markets, **{**SMALL, **parameters})
    return str(caught.value)


def refused_run(**parameters):
    """Return the sentence with which a simulation is refused."""
    with pytest.raises(ParameterError) as caught:
        Simulation(MARKETS, **{**SMALL, "engine": "reference", **parameters})
    return str(caught.value)


@pytest.mark.parametrize("name", [*FOR_ALL, *WHOLE])
@pytest.mark.parametrize(
    "value", [True, np.bool_(0), 1.0, np.float32(2), 2.5, float("nan"), float("inf"), "8", b"8", 1j]
)
def test_what_is_not_an_integer_is_refused_by_name_and_value(name, value):
    message = refused(**{name: value})
    assert message == f"{name} must be an integer, not {value!r}"


@pytest.mark.parametrize("name", [*FOR_ALL, *PER_MARKET])
@pytest.mark.parametrize("value", [{}, {"a": 1}, object, print])
def test_what_is_no_number_at_all_is_refused_by_name_and_value(name, value):
    message = refused(**{name: value})
    assert name in message
    assert repr(value) in message


@pytest.mark.parametrize("name", [*FOR_ALL, *WHOLE])
@pytest.mark.parametrize("past", ["low", "high"])
def test_an_integer_past_its_limit_is_refused_with_the_limits(name, past):
    parameter = PARAMETERS[name]
    value = parameter.low - 1 if past == "low" else parameter.high + 1
    expected = f"{name} = {value} is outside {parameter.low} .. {parameter.high}"
    assert refused(**{name: value}) == expected
    assert refused(**{name: 10**50 * (1 if past == "high" else -1)}).startswith(f"{name} = ")


@pytest.mark.parametrize(
    "value", [-1e-9, 1.0000001, -1, 2, 10**400, float("nan"), float("inf"), -float("inf")]
)
def test_a_probability_outside_0_to_1_is_refused(value):
    message = refused(market_order_prob=value)
    assert message.startswith("market_order_prob = ")
    assert message.endswith(" is outside 0 .. 1")


@pytest.mark.parametrize("value", [True, np.bool_(1), "0.1", 1j])
def test_a_probability_that_is_no_real_number_is_refused(value):
    assert refused(market_order_prob=value) == (
        f"market_order_prob must be a number, not {value!r}"
    )


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(0.25), Fraction(1, 3), np.int8(1)])
def test_a_probability_may_be_any_real_number_in_its_domain(value):
    kept = CallAuction.of(MARKETS, market_order_prob=value).market_order_prob
    assert isinstance(kept, float)
    assert kept == float(value)


@pytest.mark.parametrize("name", PER_MARKET)
@pytest.mark.parametrize("shape", [(0,), (1,), (2,), (4,), (3, 1), (1, 3), (3, 3), (0, 3)])
def test_an_array_of_another_shape_is_refused_with_the_shape_it_must_have(name, shape):
    value = np.full(shape, 2, np.int64)
    message = refused(**{name: value})
    assert message == (
        f"{name} has shape {shape}; it must be one number or one per market, shape (3,)"
    )


@pytest.mark.parametrize("name", FOR_ALL)
@pytest.mark.parametrize("value", [[8, 8, 8], np.array([8, 8, 8]), (8,)])
def test_what_is_the_same_for_all_markets_is_refused_as_an_array(name, value):
    assert refused(**{name: value}) == (
        f"{name} is the same for all markets: give one number, not an array"
    )


@pytest.mark.parametrize("name", PER_MARKET)
@pytest.mark.parametrize("value", [[1, [1, 2], 3], [[1], [1, 2], [3]], [(), 1, 2]])
def test_a_ragged_array_is_refused_by_name(name, value):
    assert refused(**{name: value}).startswith(f"{name} is not a regular array")


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize(
    "value", [["1", "2", "3"], [True, False, True], [1j, 2, 3], [None, 1, 2], [object, 1, 2]]
)
def test_an_array_of_another_kind_is_refused_by_name(name, value):
    kind = "numbers" if PARAMETERS[name].real else "integers"
    assert refused(**{name: value}).startswith(f"{name} must hold {kind}, not ")


@pytest.mark.parametrize("name", WHOLE)
def test_an_array_of_floats_is_refused_for_whole_numbers(name):
    assert refused(**{name: [1.0, 2.0, 3.0]}) == f"{name} must hold integers, not float64"


@pytest.mark.parametrize(
    "name, value",
    [
        ("max_qty", [1, 0, 4]),
        ("max_qty", np.array([1, 2**31, 4])),
        ("noise_spread", [3, -1, 3]),
        ("open_depth", [8, -1, 8]),
        ("maker_half_spread", np.array([0, 2**31, 1], np.uint64)),
        ("market_order_prob", [0.5, 1.5, 0]),
        ("market_order_prob", [0.5, float("nan"), 0]),
        ("seed", [1, -1, 1]),
        ("seed", [1, 2**64, 2]),
        ("open_price", [1, 15, 14]),
        ("open_price", [1, 0, 14]),
    ],
)
def test_a_bad_value_in_an_array_is_refused_with_its_market(name, value):
    message = refused(**{name: value})
    assert message.startswith(f"{name} = {value[1]} in market 1 is outside ")


@pytest.mark.parametrize("markets", [0, -1, 2**31, True, 1.0, "3", None, [3], float("nan")])
def test_a_number_of_markets_that_cannot_be_is_refused(markets):
    message = refused(markets)
    assert message.startswith("markets ")
    assert repr(markets) in message or "give one number" in message


@pytest.mark.parametrize("steps", [-1, 2**32, 1.0, True, None, "10", [1], float("inf")])
def test_a_number_of_steps_that_cannot_be_is_refused(steps):
    assert refused_run(steps=steps).startswith("steps ")
    simulation = Simulation(MARKETS, **SMALL, steps=1, engine="reference")
    with pytest.raises(ParameterError, match=r"^steps "):
        simulation.step(steps)
    assert simulation.steps_done == 0


@pytest.mark.parametrize(
    "name, nearest",
    [
        ("leves", "levels"),
        ("level", "levels"),
        ("agent", "agents"),
        ("openprice", "open_price"),
        ("maxqty", "max_qty"),
        ("noise_spred", "noise_spread"),
        ("market_order_probability", "market_order_prob"),
        ("half_spread", "maker_half_spread"),
        ("sed", "seed"),
        ("agent_type", "agent_types"),
        ("windows", "window"),
        ("streem", "stream"),
        ("engin", "engine"),
        ("thread", "threads"),
        ("recrod", "record"),
        ("recordevery", "record_every"),
        ("market_id", "market_ids"),
        ("tape_market", "tape_markets"),
        ("book_market", "book_markets"),
        ("memorylimit", "memory_limit"),
    ],
)
def test_an_unknown_parameter_is_refused_with_the_nearest_one(name, nearest):
    assert refused_run(**{name: 1}) == f"unknown parameter {name!r}: did you mean {nearest!r}?"


def test_an_unknown_parameter_that_is_near_to_none_is_refused_with_all_names():
    message = refused_run(zzz=1)
    assert message.startswith("unknown parameter 'zzz': it is one of ")
    for name in ("levels", "seed", "mix", "window", "market_order_prob", "record", "engine"):
        assert name in message


@pytest.mark.parametrize(
    "name, value, expected",
    [
        ("stream", "papr", "unknown stream 'papr': did you mean 'paper'?"),
        ("stream", "numpy", "unknown stream 'numpy': it is one of default, paper."),
        ("stream", 1, "unknown stream '1': it is one of default, paper."),
        ("stream", None, "unknown stream 'None': it is one of default, paper."),
        ("stream", "PAPER", "unknown stream 'PAPER'"),
        ("stream", Window.FIXED, "unknown stream "),
        ("window", "follow", "unknown window 'follow': did you mean 'following'?"),
        ("window", True, "unknown window 'True'"),
        ("window", ["fixed"], "unknown window "),
        ("engine", "cup", "unknown engine 'cup': did you mean 'cpu'?"),
        ("engine", "gpu", "unknown engine 'gpu'"),
        ("engine", None, "unknown engine 'None'"),
        ("engine", 3, "unknown engine '3'"),
    ],
)
def test_an_unknown_choice_is_refused_with_what_there_is(name, value, expected):
    assert refused_run(**{name: value}).startswith(expected)


def test_a_choice_may_be_its_code():
    auction = CallAuction.of(1, stream=Stream.PAPER, window=Window.FOLLOWING)
    assert (auction.stream, auction.window) == (Stream.PAPER, Window.FOLLOWING)


@pytest.mark.parametrize("levels", [8, 9, 100, 65_536])
def test_the_open_price_of_a_fixed_window_leaves_a_level_on_each_side(levels):
    for price in (1, levels - 2):
        assert CallAuction.of(1, levels=levels, open_price=price).open_price == price
    for price in (0, levels - 1, levels, -5):
        message = refused(levels=levels, open_price=price)
        assert message == f"open_price = {price} is outside 1 .. {levels - 2} (levels - 2)"


@pytest.mark.parametrize("price", [0, -1, -(10**12), 10**18])
def test_the_open_price_of_a_following_window_may_be_any_tick(price):
    auction = CallAuction.of(1, window="following", open_price=price)
    assert auction.open_price == price


def test_what_float32_cannot_hold_is_refused_in_the_paper_stream_only():
    assert refused(stream="paper", max_qty=2**24 + 1) == (
        'max_qty = 16777217 is outside 1 .. 16777216 (stream "paper")'
    )
    assert refused(stream="paper", noise_spread=[1, 2**23, 1]) == (
        'noise_spread = 8388608 in market 1 is outside 0 .. 8388607 (stream "paper")'
    )
    CallAuction.of(1, stream="paper", max_qty=2**24, noise_spread=2**23 - 1)
    CallAuction.of(1, stream="default", max_qty=2**31 - 1, noise_spread=2**30 - 1)


@pytest.mark.parametrize(
    "mix, expected",
    [
        ({"noise": 0.5}, "mix must sum to 1, but noise + momentum + maker + fundamental = 0.5"),
        ({}, "mix must sum to 1"),
        ({"noise": 0.7, "maker": 0.31}, "mix must sum to 1, but"),
        ({"noise": -0.1, "maker": 1.1}, "mix.noise = -0.1 is outside 0 .. 1"),
        ({"noise": 1.5}, "mix.noise = 1.5 is outside 0 .. 1"),
        ({"noise": float("nan"), "maker": 1}, "mix.noise = nan is outside 0 .. 1"),
        ({"noise": float("inf")}, "mix.noise = inf is outside 0 .. 1"),
        ({"noize": 1}, "unknown share of the mix 'noize': did you mean 'noise'?"),
        ({0: 1}, "unknown share of the mix '0'"),
        ({"noise": "much"}, "mix.noise must be a number, not 'much'"),
        ({"noise": "1"}, "mix.noise must be a number, not '1'"),
        ({"noise": True}, "mix.noise must be a number, not True"),
        ({"noise": None}, "mix.noise must be a number, not None"),
        ({"noise": [1, 1]}, "mix.noise has shape (2,); it must be one number or one per market"),
        ({"noise": [[1, 1, 1]]}, "mix.noise has shape (1, 3)"),
        ({"noise": [[1], 1, 1]}, "mix.noise is not a regular array"),
        ({"noise": [0.5, 1, 1], "maker": 0.5}, "mix must sum to 1, but noise + momentum + maker"),
        ({"noise": "rest", "maker": "rest"}, "mix: only one share can be 'rest', not noise and"),
        ({"noise": "rest", "maker": 1.5}, "mix.maker = 1.5 is outside 0 .. 1"),
        ({"noise": "rest", "maker": 0.6, "momentum": 0.6}, "mix.noise = -0.2 is outside 0 .. 1"),
        ([0.7, 0.15, 0.15, 0], "mix must be a Mix or a mapping of shares, not [0.7"),
        (0.7, "mix must be a Mix or a mapping of shares, not 0.7"),
        (0, "mix must be a Mix or a mapping of shares, not 0"),
        ("", "mix must be a Mix or a mapping of shares, not ''"),
        ("noise", "mix must be a Mix or a mapping of shares, not 'noise'"),
        (np.array([0.5, 0.5]), "mix must be a Mix or a mapping of shares, not array"),
    ],
)
def test_a_mix_that_cannot_be_is_refused(mix, expected):
    assert refused(mix=mix).startswith(expected)


def test_a_mix_that_does_not_sum_to_1_in_one_market_names_it():
    message = refused(mix=Mix(noise=[0.7, 0.6, 0.7]))
    assert message == (
        "mix must sum to 1, but noise + momentum + maker + fundamental = 0.9 in market 1"
    )


def test_the_rest_of_a_mix_is_what_the_others_leave():
    shares = CallAuction.of(2, mix={"noise": "rest", "maker": [0.1, 0.25]}).mix
    np.testing.assert_array_equal(shares["noise"], [0.9, 0.75])
    assert shares["momentum"] == 0.0


def test_a_mix_and_agent_types_together_are_refused():
    message = refused(mix=Mix(), agent_types=np.zeros((MARKETS, 4), np.int8))
    assert message == "give either mix or agent_types, not both"


@pytest.mark.parametrize(
    "types, expected",
    [
        (np.zeros((4, 3), np.int8), "agent_types has shape (4, 3); markets and agents ask for"),
        (np.zeros(12, np.int8), "agent_types has shape (12,)"),
        (np.zeros((3, 4, 1), np.int8), "agent_types has shape (3, 4, 1)"),
        (0, "agent_types has shape ()"),
        (np.zeros((3, 4)), "agent_types must hold integer codes, not float64"),
        (np.zeros((3, 4), bool), "agent_types must hold integer codes, not bool"),
        (np.full((3, 4), "noise"), "agent_types must hold integer codes, not <U5"),
        ([[0] * 4, [0, 0, 4, 0], [0] * 4], "agent_types[1, 2] = 4 is outside 0 .. 3"),
        ([[0] * 4, [0] * 4, [0, -1, 0, 0]], "agent_types[2, 1] = -1 is outside 0 .. 3"),
        ([[0] * 4, [0] * 3, [0] * 4], "agent_types is not a regular array"),
    ],
)
def test_agent_types_that_cannot_be_are_refused(types, expected):
    assert refused(agent_types=types).startswith(expected)


@pytest.mark.parametrize(
    "ids, expected",
    [
        ([0, 1], "market_ids has shape (2,)"),
        ([[0, 1, 2]], "market_ids has shape (1, 3)"),
        ([0, -1, 2], "market_ids = -1 in market 1 is outside 0 .. 2147483647"),
        ([0, 2**31, 2], "market_ids = 2147483648 in market 1 is outside"),
        ([0.0, 1.0, 2.0], "market_ids must hold integers, not float64"),
        (["a", "b", "c"], "market_ids must hold integers, not <U1"),
        ([[0], 1, 2], "market_ids is not a regular array"),
        (5, "market_ids has shape (1,)"),
    ],
)
def test_market_ids_that_cannot_be_are_refused(ids, expected):
    assert refused(market_ids=ids).startswith(expected)


@pytest.mark.parametrize("value", [0, -1, 1025, 2.0, True, "2"])
def test_a_number_of_threads_that_cannot_be_is_refused(value):
    message = refused_run(threads=value)
    assert message.startswith("threads ")
    assert repr(value) in message


@pytest.mark.parametrize("value", [0, -1, 1.5e9, True, "1GB"])
def test_a_memory_limit_that_cannot_be_is_refused(value):
    assert refused_run(memory_limit=value) == (
        f"memory_limit must be a positive number of bytes, not {value!r}"
    )


def test_given_values_are_kept_as_they_are():
    auction = CallAuction.of(
        3,
        agents=np.int16(5),
        levels=np.uint8(9),
        seed=[0, 2**64 - 1, 7],
        open_price=np.array([1, 4, 7], np.int8),
        market_order_prob=[0, 0.5, 1],
        market_ids=[9, 9, 2**31 - 1],
    )
    assert (type(auction.agents), auction.agents) == (int, 5)
    assert (type(auction.levels), auction.levels) == (int, 9)
    assert auction.seed.dtype == np.uint64
    assert auction.seed.tolist() == [0, 2**64 - 1, 7]
    assert auction.open_price.dtype == np.int64
    assert auction.market_ids.tolist() == [9, 9, 2**31 - 1]
    assert auction.varied == ("seed", "open_price", "market_order_prob")
    assert not auction.seed.flags.writeable


def test_what_is_given_is_copied_so_that_it_cannot_change_under_a_run():
    seed = np.array([1, 2, 3], np.uint64)
    types = np.zeros((3, 4), np.int8)
    share = np.array([1.0, 1.0, 1.0])
    auction = CallAuction.of(3, agents=4, seed=seed, agent_types=types)
    mixed = CallAuction.of(3, mix={"noise": share})
    seed[0], types[0, 0], share[0] = 9, 3, 0
    assert auction.seed[0] == 1
    assert auction.agent_types[0, 0] == AgentType.NOISE
    assert mixed.mix["noise"][0] == 1


def test_what_is_left_out_or_none_takes_its_default():
    auction = CallAuction.of(2, levels=100, open_price=None, seed=None, mix=None)
    assert auction.open_price == 50
    assert (auction.agents, auction.seed, auction.open_depth) == (256, 0, 8)
    assert (auction.max_qty, auction.noise_spread, auction.maker_half_spread) == (4, 3, 1)
    assert auction.market_order_prob == 0.1
    assert auction.mix == {"noise": 0.7, "momentum": 0.15, "maker": 0.15, "fundamental": 0.0}
    assert (auction.stream, auction.window) == (Stream.DEFAULT, Window.FIXED)
    assert auction.market_ids.tolist() == [0, 1]
    assert CallAuction.of(1, levels=9).open_price == 4
    assert (auction.clearing_interval, auction.parent_qty, auction.parent_side) == (1, 0, 1)
    assert (auction.parent_start, auction.parent_horizon) == (0, 1)
    assert (auction.schedule, auction.volume_share) == (Schedule.TWAP, 0.1)
    assert auction.volume_profile is None
    assert (auction.has_waiting_orders, auction.has_execution_agents) == (False, False)


@pytest.mark.parametrize(
    "given, kept",
    [
        ("share", Schedule.SHARE),
        (Schedule.SHARE, Schedule.SHARE),
        (2, Schedule.SHARE),
        (["twap", "share", "twap"], [0, 2, 0]),
        (("twap", "share", "twap"), [0, 2, 0]),
        (np.array(["twap", "share", "twap"]), [0, 2, 0]),
        ([Schedule.TWAP, Schedule.SHARE, Schedule.TWAP], [0, 2, 0]),
        (np.array([0, 2, 0], np.int8), [0, 2, 0]),
    ],
)
def test_a_schedule_is_given_by_name_or_by_code(given, kept):
    auction = CallAuction.of(MARKETS, schedule=given)
    assert np.asarray(auction.schedule).tolist() == kept
    assert isinstance(auction.schedule, int | np.ndarray)


@pytest.mark.parametrize(
    "value, expected",
    [
        ("vwap", "unknown schedule 'vwap': did you mean 'twap'?"),
        (["twap", "twop", "share"], "unknown schedule 'twop': did you mean 'twap'?"),
        (["twap", 1, "share"], "schedule must hold integers, not <U21"),
        (3, "schedule = 3 is outside 0 .. 2"),
        ([0, 3, 0], "schedule = 3 in market 1 is outside 0 .. 2"),
        (1.0, "schedule must be an integer, not 1.0"),
        (["twap", "twap"], "schedule has shape (2,); it must be one number or one per market, "),
        ("profile", "schedule = 1 is profile, and needs volume_profile"),
        (["twap", "share", "profile"], "schedule = 1 in market 2 is profile, and needs volume_pro"),
    ],
)
def test_a_schedule_that_cannot_be_is_refused(value, expected):
    assert refused(schedule=value).startswith(expected)


@pytest.mark.parametrize(
    "value, expected",
    [
        ([], "volume_profile must be a list of integers, not []"),
        ([0, 0], "volume_profile sums to 0, outside 1 .. 2147483647"),
        ([2**30, 2**30], "volume_profile sums to 2147483648, outside 1 .. 2147483647"),
        ([1, -1], "volume_profile[1] = -1 is outside 0 .. 2147483647"),
        ([1, 2**31], "volume_profile[1] = 2147483648 is outside 0 .. 2147483647"),
        ([1.0, 2.0], "volume_profile must be a list of integers, not [1.0, 2.0]"),
        ([[1], [2]], "volume_profile must be a list of integers, not [[1], [2]]"),
        (3, "volume_profile must be a list of integers, not 3"),
        ([True], "volume_profile must be a list of integers, not [True]"),
        ([[1], [1, 2]], "volume_profile is not a regular array: "),
    ],
)
def test_a_volume_profile_that_cannot_be_is_refused(value, expected):
    assert refused(volume_profile=value).startswith(expected)


def test_a_volume_profile_is_kept_apart_from_what_was_given():
    given = np.array([1, 0, 2**31 - 2])
    auction = CallAuction.of(MARKETS, schedule="profile", volume_profile=given)
    given[0] = 5
    assert auction.volume_profile.tolist() == [1, 0, 2**31 - 2]
    assert auction.volume_profile.dtype == np.int64
    assert not auction.volume_profile.flags.writeable


@pytest.mark.parametrize("given, where", [(0, ""), ([1, 0, -1], " in market 1")])
def test_a_parent_order_has_one_of_two_sides(given, where):
    assert refused(parent_side=given) == f"parent_side = 0{where} is neither 1 nor -1"


def test_an_execution_agent_is_not_given_by_its_type():
    types = np.zeros((MARKETS, 4), np.int8)
    types[1, 2] = AgentType.EXECUTION
    assert refused(agent_types=types) == (
        "agent_types[1, 2] = 4 is outside 0 .. 3 (an execution agent comes of parent_qty)"
    )


def test_lots_of_a_parent_order_count_among_those_that_must_fit():
    most = 2**63 - 1 - 4 * 4 * 10
    CallAuction.of(1, **SMALL, open_depth=most).check_horizon(10)
    auction = CallAuction.of(2, **SMALL, open_depth=most - 5, parent_qty=[5, 6])
    with pytest.raises(ParameterError) as caught:
        auction.check_horizon(10)
    assert str(caught.value) == (
        f"open_depth + agents * max_qty * steps + parent_qty = {2**63} in market 1 could overflow "
        "a quantity (limit 2**63 - 1): lower max_qty, agents (4), steps (10), open_depth or "
        "parent_qty"
    )


def test_the_cost_of_a_parent_order_must_fit():
    given = {**SMALL, "window": "following", "max_qty": 1, "open_depth": 0}
    most = (2**60 - 1) // (16 * 2**26)
    CallAuction.of(1, **given, parent_qty=most).check_horizon(2**26 - 1)
    with pytest.raises(ParameterError) as caught:
        CallAuction.of(1, **given, parent_qty=most + 1).check_horizon(2**26 - 1)
    assert str(caught.value) == (
        f"parent_qty * (steps + 1) * levels = {2**60} could overflow the cost of the parent order "
        f"(limit 2**60 - 1): lower parent_qty, levels (16) or steps ({2**26 - 1})"
    )


def test_drawn_agent_types_are_those_of_the_published_engine():
    drawn = draw_agent_types(5, 3, {"noise": 0.5, "momentum": 0.25, "maker": 0.25}, seed=9)
    expected = np.random.default_rng(9).choice([0, 1, 2, 3], size=15, p=[0.5, 0.25, 0.25, 0.0])
    assert drawn.dtype == np.int8
    np.testing.assert_array_equal(drawn, expected.reshape(5, 3))


def test_drawn_agent_types_take_one_mix_for_all_markets():
    with pytest.raises(ParameterError, match="one mix for all markets"):
        draw_agent_types(2, 3, {"noise": [1.0, 0.5], "maker": [0.0, 0.5]})


def test_every_parameter_error_is_a_value_error_and_a_bookwarp_error():
    assert issubclass(ParameterError, ValueError)
    assert issubclass(ParameterError, BookwarpError)


@pytest.mark.parametrize("name, kind", [("max_qty", "integers"), ("market_order_prob", "numbers")])
def test_a_bool_among_numbers_is_none(name, kind):
    for values in ([1, True], (True, False), [np.True_, 1], np.array([True, False])):
        with pytest.raises(ParameterError, match=f"{name} must hold {kind}, not bool"):
            CallAuction.of(2, **{name: values})


def test_a_duration_is_no_integer():
    with pytest.raises(ParameterError, match=r"max_qty must be an integer, not .*timedelta64"):
        CallAuction.of(4, max_qty=np.timedelta64(1, "s"))


def test_error_says_which_markets_are_wrong_and_none_where_all_share_it():
    with pytest.raises(ParameterError) as each:
        CallAuction.of(4, max_qty=[1, 0, 2, 0])
    assert each.value.wrong_markets.tolist() == [False, True, False, True]
    assert pickle.loads(pickle.dumps(each.value)).wrong_markets.tolist() == [0, 1, 0, 1]
    with pytest.raises(ParameterError) as shared:
        CallAuction.of(4, max_qty=0)
    assert shared.value.wrong_markets is None
