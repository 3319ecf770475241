"""Settings that many markets share are the same as a value for each of the markets."""

import numpy as np
import pytest

from bookwarp.simulation import Simulation
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.market import CallAuction
from bookwarp.spec.state import opening_state

SETTINGS = [2, 0, 0, 1, 2, 2, 1]
VARIED = {
    "seed": [3, 2**64 - 1, 0],
    "open_price": [5, 9, 20],
    "open_depth": [0, 8, 3],
    "max_qty": [1, 4, 9],
    "noise_spread": [0, 3, 2],
    "market_order_prob": [0.0, 0.5, 0.1],
    "maker_half_spread": [1, 2, 4],
    "clearing_interval": [1, 2, 3],
    "parent_qty": [0, 30, 5],
    "parent_side": [1, -1, 1],
    "parent_start": [0, 2, 1],
    "parent_horizon": [1, 9, 4],
    "schedule": ["twap", "share", "twap"],
    "volume_share": [0.1, 0.3, 0.2],
}
MIX = {"noise": "rest", "momentum": [0.0, 0.2, 0.3], "maker": [0.5, 0.1, 0.0]}
SIZES = {"agents": 20, "levels": 32, "market_ids": [7, 7, 8, 9, 1, 2, 3]}


def each(values):
    return [values[number] for number in SETTINGS]


def shared(**given):
    return {**SIZES, **VARIED, "mix": MIX, "market_settings": SETTINGS, **given}


def flat(**given):
    varied = {name: each(values) for name, values in VARIED.items()}
    mix = {name: share if share == "rest" else each(share) for name, share in MIX.items()}
    return {**SIZES, **varied, "mix": mix, **given}


def test_an_ensemble_of_settings_is_that_of_its_markets():
    settings, markets = CallAuction.of(7, **shared()), CallAuction.of(7, **flat())
    assert (settings.entry, markets.entry) == ("setting", "market")
    names = (*VARIED, *(f"mix_{name}" for name in (*MIX, "fundamental")))
    for auction in (settings.flat(), settings.subset(np.arange(7)), settings):
        for name in names:
            found, expected = auction.per_market(name), markets.per_market(name)
            np.testing.assert_array_equal(found, expected, err_msg=name)
            assert found.dtype == expected.dtype
        np.testing.assert_array_equal(auction.type_counts(), markets.type_counts())
        assert opening_state(auction).digest() == opening_state(markets).digest()
        assert auction.varied == markets.varied
    assert settings.flat().market_settings is None
    assert markets.flat() is markets
    assert settings.shared_type_counts().shape == (3, 4)
    some = settings.subset(np.array([6, 1]))
    assert some.per_market("max_qty").tolist() == [4, 1]
    assert some.market_ids.tolist() == [3, 7]
    assert not some.max_qty.flags.writeable


def test_runs_are_those_of_the_markets(engine, tmp_path):
    given = {"steps": 12, "record": ("last", "volume", "bid_depth"), "engine": engine}
    expected = Simulation(7, **flat(**given)).run()
    simulation = Simulation(7, **shared(**given)).step(5)
    simulation.save(tmp_path / "here.npz")
    found = simulation.run()
    assert found.digest() == expected.digest()
    for name, rows in expected.history.items():
        np.testing.assert_array_equal(found.history[name], rows, err_msg=name)
    assert found.auction.market_settings is None
    again = Simulation.resume(tmp_path / "here.npz", engine=engine).run()
    assert again.digest() == expected.digest()


def test_types_are_given_to_markets(engine):
    types = np.random.default_rng(1).integers(0, 4, (7, 20))
    given = {"steps": 9, "engine": engine, "agent_types": types, "mix": None}
    found = Simulation(7, **shared(**given))
    assert found.auction.market_settings is None
    assert found.run().digest() == Simulation(7, **flat(**given)).run().digest()


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"market_settings": [0, 1]}, r"market_settings has shape \(2,\); .* shape \(7,\)"),
        ({"market_settings": [-1] + [2] * 6}, "market_settings = -1 in market 0 is outside 0 .."),
        ({"market_settings": [True] + [2] * 6}, "market_settings must hold integers, not bool"),
        ({"market_ids": [True] + [2] * 6}, "market_ids must hold integers, not bool"),
        ({"market_settings": [0.5] * 7}, "market_settings must hold integers, not float64"),
        ({"market_settings": [1] * 7}, r"seed has shape \(3,\); .* one per setting, shape \(2,\)"),
        ({"max_qty": [1, 0, 2]}, "max_qty = 0 in setting 1 is outside 1 .."),
        ({"max_qty": each([1, 2, 3])}, r"max_qty has shape \(7,\); .* one per setting, shape \(3,"),
        ({"mix": {"noise": [1, 1]}}, r"mix.noise has shape \(2,\); .* one per setting, shape \(3,"),
        ({"mix": {"noise": [1, 0.5, 1]}}, "mix must sum to 1, but .* = 0.5 in setting 1"),
        ({"open_price": [5, 9, 31]}, r"open_price = 31 in setting 2 is outside 1 .. 30 \(levels"),
        ({"open_depth": [0, 2**63 - 1, 0]}, "9223372036854775837 in setting 1 could overflow"),
    ],
)
def test_errors_name_the_setting(wrong, said):
    with pytest.raises(ParameterError, match=said):
        CallAuction.of(7, **shared(**wrong))


def test_what_nobody_can_change_is_not_copied():
    kept, open_to_change = np.arange(3), np.arange(3)
    kept.flags.writeable = False
    view = np.broadcast_to(np.int64(1), 3)
    for given, taken in ((kept, True), (open_to_change, False), (view, False)):
        found = CallAuction.of(3, market_ids=given).market_ids
        assert (found is given) == taken
        assert found.tolist() == given.tolist()
        assert not found.flags.writeable
    open_to_change[:] = 7
    assert CallAuction.of(3, max_qty=kept + 1).max_qty.tolist() == [1, 2, 3]
