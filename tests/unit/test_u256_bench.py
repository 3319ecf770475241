"""The benchmark of 256-bit books: no rate without the fills that the workload says."""

import numpy as np
import pytest

from bookwarp.consensus import bench
from bookwarp.consensus.bench import NoRateError, check_fills, time_workload
from bookwarp.consensus.workload import count_fills, make_workload
from bookwarp.engines import registry
from bookwarp.reference.u256_engine import ReferenceU256Engine
from bookwarp.spec.errors import ParameterError


class EmptyLoop(ReferenceU256Engine):
    """Matches nothing, and is fast."""

    def match(self, calldata, book, tile=None):
        return np.zeros((len(calldata), 68), np.uint8)


class WrongAverage(ReferenceU256Engine):
    """Makes the fills, at another price."""

    def match(self, calldata, book, tile=None):
        results = super().match(calldata, book, tile)
        results[-1, 63] ^= 1
        return results


class Forgetful(ReferenceU256Engine):
    """Gives the results, and loses a lot of the last book."""

    def read_arenas(self, first, stop):
        arenas = super().read_arenas(first, stop)
        arenas[-1, -1] ^= 1
        return arenas


class PlayedDevice(ReferenceU256Engine):
    """Has a device whose clock says one second for all passes together, else two."""

    def time_passes(self, calldata, book, together):
        books = np.arange(calldata.shape[1])
        return np.stack([self.match(each, books) for each in calldata]), 1.0 if together else 2.0


@pytest.fixture
def play(monkeypatch):
    """The function that puts another engine in the place of the reference."""
    return lambda engine: monkeypatch.setattr(bench, "u256_engine_class", lambda _name: engine)


def test_workload_of_the_seed_makes_one_fill_an_order():
    workload = make_workload("seed", 32, 32)
    assert workload.arenas.shape == (1, 8 + 128 * 32)
    assert count_fills(workload.results).tolist() == [32]
    assert workload.fill_count(1000) == 32_000
    assert int.from_bytes(workload.arenas[0, 4:8].tobytes(), "little") == 32
    assert workload.calldata.shape == (32, 1, 117)


def test_mixed_workload_rests_fills_sweeps_and_drops():
    workload = make_workload("mixed", 8, 40)
    fills = workload.results[..., 67]
    assert (fills == 0).mean() > 0.2
    assert (fills == 1).mean() > 0.2
    assert (fills > 4).mean() > 0.01
    counts = workload.arenas[:, :8].copy().view("<u4")
    assert counts.min() == 0
    assert (counts == 8).any(axis=0).all()
    expected = count_fills(workload.results)
    assert workload.fill_count(300) == expected.sum() + expected[:44].sum()


@pytest.mark.parametrize("fills", [0, 31, 33])
def test_other_fills_than_the_workload_says_are_refused(fills):
    workload = make_workload("seed", 32, 32)
    with pytest.raises(NoRateError, match=rf"{fills} fills of 32 orders .* makes 1\.000"):
        check_fills(workload, 1, fills)
    check_fills(workload, 1, 32)


def test_no_fills_are_refused_even_if_none_are_to_be_made():
    workload = make_workload("seed", 32, 32)
    workload.results[:] = 0
    assert workload.fill_count(1) == 0
    with pytest.raises(NoRateError, match=r"0 fills of 32 orders are 0\.000 an order"):
        check_fills(workload, 1, 0)


@pytest.mark.parametrize(
    "engine, message",
    [
        (EmptyLoop, "0 fills of 160 orders are 0.000 an order, and the workload 'seed' makes 1"),
        (WrongAverage, "results of pass 0 of book 4 differ"),
        (Forgetful, "arenas of book 4 differ"),
    ],
)
def test_what_matches_wrongly_has_no_rate(play, engine, message):
    play(engine)
    with pytest.raises(NoRateError, match=message):
        next(time_workload(make_workload("seed", 32, 32), 5, "reference"))


@pytest.mark.parametrize("flow", ["seed", "mixed"])
def test_rate_stands_beside_its_fills(engine, flow):
    workload = make_workload(flow, 32, 4)
    found = list(time_workload(workload, 300, engine, threads=2, trials=2))
    assert [each.way for each in found] == [bench.CALL_A_PASS, bench.ONE_CALL]
    for each in found:
        assert each.orders == 1200
        assert each.fills == workload.fill_count(300)
        assert len(each.seconds) == 2
        rates = each.rates()
        assert 0 < rates["min"] <= rates["median"] <= rates["max"]
        described = each.to_dict()
        assert described["fills_per_order"] == each.fills / 1200
        assert described["orders_per_s"] == rates
        assert not each.on_device


def test_launches_of_a_device_are_told_apart(play):
    play(PlayedDevice)
    found = list(time_workload(make_workload("seed", 32, 2), 10, "reference", trials=1))
    device = [each for each in found if each.on_device]
    assert [(each.way, each.rates()["median"]) for each in device] == [
        (bench.LAUNCH_A_PASS, 10.0),
        (bench.ONE_LAUNCH, 20.0),
    ]


@pytest.mark.parametrize(
    "given, message",
    [
        (("seed", 31, 32), "capacity = 31 is below 32"),
        (("seed", 32, 321), "passes = 321 is outside 1 .. 320"),
        (("seed", 32, 0), "passes = 0 is outside"),
        (("mixed", 32, 0), "passes = 0 is outside"),
        (("mixed", 0, 1), "capacity = 0 is outside"),
        (("seeds", 32, 32), "unknown flow 'seeds': did you mean 'seed'"),
    ],
)
def test_workload_that_does_not_fit_is_refused(given, message):
    with pytest.raises(ParameterError, match=message):
        make_workload(*given)


@pytest.mark.parametrize("given", [{"books": 0}, {"trials": 0}, {"engine": "cpuu"}])
def test_wrong_arguments_are_refused(given):
    with pytest.raises(ParameterError):
        next(time_workload(make_workload("seed", 32, 1), **({"books": 3} | given)))


def test_registry_knows_the_engines_that_books_have():
    assert registry.U256_ENGINES == registry.BOOK_ENGINES
