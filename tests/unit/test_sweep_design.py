"""Designs: which settings there are, in which order, and what is refused."""

import numpy as np
import pytest

from bookwarp.spec.errors import ParameterError
from bookwarp.sweeping.design import SETTING, grid, zipped
from bookwarp.sweeping.sampling import latin_hypercube, random_design
from bookwarp.sweeping.varied import VARIED, check_values


def test_grid_has_every_combination_and_the_last_parameter_varies_fastest():
    design = grid(momentum=[0.0, 0.5], max_qty=[1, 2, 3], noise="rest", replicas=4)
    assert design.dims == {"momentum": 2, "max_qty": 3}
    assert (design.settings, design.markets, design.replicas) == (6, 24, 4)
    assert design.values("momentum").tolist() == [0.0, 0.0, 0.0, 0.5, 0.5, 0.5]
    assert design.values("max_qty").tolist() == [1, 2, 3, 1, 2, 3]
    assert design.constants == {"noise": "rest"}


def test_zipped_lists_go_along_one_dimension():
    design = zipped(momentum=[0.0, 0.5], seed=[2**64 - 1, 0], window=["fixed", "following"])
    assert design.dims == {SETTING: 2}
    assert design.values("seed").tolist() == [2**64 - 1, 0]
    assert design.values("window").tolist() == ["fixed", "following"]


def test_arrays_and_ranges_are_lists_of_values():
    design = grid(momentum=np.arange(0, 0.2, 0.05), agents=range(8, 11), replicas=np.int64(2))
    assert design.values("momentum").tolist()[::3] == np.arange(0, 0.2, 0.05).tolist()
    assert design.columns["agents"][1].tolist() == [8, 9, 10]


@pytest.mark.parametrize(
    "given, said",
    [
        ({"momentun": [0.1]}, "did you mean 'momentum'"),
        ({"mix": {"noise": 1}}, "a design names the shares themselves: noise, momentum"),
        ({"markets": [1, 2]}, "markets is not given to a sweep: replicas says how many"),
        ({"market_ids": [1, 2]}, "market_ids is not given to a sweep"),
        ({"momentum": []}, "momentum must be a list with at least one value"),
        ({"momentum": [[0.1, 0.2]]}, "momentum must be a list of numbers, not of \\[0.1, 0.2\\]"),
        ({"momentum": [0.1, 1.1]}, r"momentum = 1\.1 is outside 0 \.\. 1"),
        ({"momentum": [0.1, "rest"]}, "momentum must be a number, not 'rest'"),
        ({"max_qty": [1.5]}, r"max_qty must be an integer, not 1\.5"),
        ({"max_qty": 0}, r"max_qty = 0 is outside 1 \.\. "),
        ({"steps": [10, -1]}, r"steps = -1 is outside 0"),
        ({"window": ["fixed", "floating"]}, "unknown window 'floating'"),
        ({"window": "follows"}, "did you mean 'following'"),
        ({"replicas": 0}, r"replicas = 0 is outside 1 \.\. "),
        ({"replicas": 2.5}, r"replicas must be an integer, not 2\.5"),
        ({"replicas": 10**9}, r"replicas = 1000000000 is outside 1 \.\. 10000000"),
        ({"replicas": 10**7, "steps": range(1000)}, "are 10000000000 markets; at most 2147483647"),
        (
            dict.fromkeys(("momentum", "maker", "noise"), np.linspace(0, 0.3, 1000)),
            r"settings = 1000000000 is outside 1 \.\. 10000000",
        ),
        ({"momentum": [0.1, 0.2, 0.1]}, r"momentum: 0\.1 is given twice"),
        ({"momentum": [0.1, True]}, "momentum must be a number, not True"),
        ({"max_qty": [1, True]}, "max_qty must be an integer, not True"),
        ({"max_qty": np.array([True])}, "max_qty must be an integer, not True"),
        ({"max_qty": ["1", "2"]}, "max_qty must be an integer, not '1'"),
        ({"max_qty": np.array(["1"])}, "max_qty must be an integer, not '1'"),
        ({"max_qty": np.linspace(1, 3, 3)}, r"max_qty must be an integer, not 1\.0"),
        ({"max_qty": [1, None]}, "max_qty must be an integer, not None"),
        ({"max_qty": np.ones((2, 3), int)}, r"max_qty must be a list of numbers, not of \[1, 1"),
        ({"max_qty": [[1], [2, 3]]}, r"max_qty must be a list of numbers, not of \[1\]"),
        ({"momentum": [0.1, np.nan]}, r"momentum = nan is outside 0 \.\. 1$"),
        ({"momentum": [0.1, -np.inf]}, r"momentum = -inf is outside 0 \.\. 1$"),
        ({"momentum": [0.1, 10**400]}, r"momentum = 10{96}\.\.\. is outside 0 \.\. 1$"),
        ({"seed": [1, 2**64]}, r"seed = 18446744073709551616 is outside 0 \.\. "),
        ({"seed": [10**5000]}, "seed = an integer of thousands of digits is outside"),
        ({"window": 10**5000}, "unknown window 'an integer of thousands of digits': it is one"),
        ({"window": ["fixed", 1]}, "unknown window '1': it is one of fixed, following"),
        ({"window": ["fixed", "fixed"]}, "window: fixed is given twice"),
        ({"seed": range(10**9)}, "seed has 1000000000 values; a design has at most 10000000"),
        ({"seed": range(10**30)}, "seed has .* values; a design has at most 10000000"),
        ({"replicas": [2]}, r"replicas must be one integer, not \[2\]"),
        ({"replicas": True}, "replicas must be an integer, not True"),
        ({"max_qty": "x" * 1000}, r"max_qty must be an integer, not 'x{96}\.\.\.$"),
    ],
)
def test_what_is_wrong_with_a_grid_is_said(given, said):
    with pytest.raises(ParameterError, match=said):
        grid(**given)


def test_lists_that_are_not_equally_long_are_refused():
    with pytest.raises(ParameterError, match="momentum has 2, maker has 3"):
        zipped(momentum=[0.1, 0.2], maker=[0.1, 0.2, 0.3])
    with pytest.raises(ParameterError, match="at least one list"):
        zipped(momentum=0.1)


RANGES = {
    "momentum": (0.1, 0.4),
    "max_qty": (2, 5),
    "maker": [0.05, 0.15],
    "window": ["fixed", "following"],
    "seed": (2**64 - 3, 2**64 - 1),
    "noise": "rest",
}


@pytest.mark.parametrize("draw", [random_design, latin_hypercube])
def test_drawn_settings_lie_in_their_ranges_and_reach_all_of_them(draw):
    design = draw(400, draw_seed=3, replicas=2, **RANGES)
    assert design.dims == {SETTING: 400}
    values = {name: design.values(name) for name in RANGES if name != "noise"}
    assert values["momentum"].dtype == np.float64
    assert 0.1 <= values["momentum"].min() < 0.11
    assert 0.39 < values["momentum"].max() <= 0.4
    assert set(values["max_qty"].tolist()) == {2, 3, 4, 5}
    assert set(values["maker"].tolist()) == {0.05, 0.15}
    assert set(values["window"].tolist()) == {"fixed", "following"}
    assert set(values["seed"].tolist()) == {2**64 - 3, 2**64 - 2, 2**64 - 1}
    assert design.constants == {"noise": "rest"}


@pytest.mark.parametrize("draw", [random_design, latin_hypercube])
def test_drawn_settings_are_a_function_of_the_seed(draw):
    one, same, other = (draw(9, draw_seed=seed, momentum=(0, 0.5)) for seed in (1, 1, 2))
    assert one.describe() == same.describe()
    assert one.describe() != other.describe()


def test_latin_hypercube_has_one_setting_in_every_part_of_a_range():
    design = latin_hypercube(50, draw_seed=1, momentum=(0, 1), maker=(0, 0.5))
    for name, width in (("momentum", 1 / 50), ("maker", 0.5 / 50)):
        parts = np.floor(design.values(name) / width).astype(int)
        assert sorted(parts.tolist()) == list(range(50))


@pytest.mark.parametrize(
    "given, said",
    [
        ({"momentum": (0.4, 0.1)}, r"a range \(low, high\)"),
        ({"momentum": (0.1, 0.2, 0.3)}, r"a range \(low, high\)"),
        ({"momentum": (0.1, 1.2)}, r"momentum = 1\.2 is outside 0 \.\. 1"),
        ({"momentum": (np.nan, 0.2)}, r"momentum = nan is outside 0 \.\. 1"),
        ({"momentum": (0.1, np.inf)}, r"momentum = inf is outside 0 \.\. 1"),
        ({"momentum": (False, True)}, "momentum must be a number, not False"),
        ({"momentum": ("a", "b")}, "momentum must be a number, not 'a'"),
        ({"momentum": ((0, 1), (0, 1))}, "momentum must be a list of numbers, not of "),
        ({"max_qty": (5, 2)}, r"max_qty must be a range \(low, high\), low not above .*\(5, 2\)"),
        ({"max_qty": (1.0, 2.0)}, r"max_qty must be an integer, not 1\.0"),
        ({"draw_seed": [3], "momentum": (0, 1)}, r"draw_seed must be one integer, not \[3\]"),
        ({"window": ("fixed", "following")}, "window has no range"),
        ({"noise": "rest"}, "at least one list"),
    ],
)
def test_what_is_wrong_with_ranges_is_said(given, said):
    with pytest.raises(ParameterError, match=said):
        random_design(5, **given)
    with pytest.raises(ParameterError, match=r"settings = 0 is outside"):
        random_design(0, momentum=(0, 1))
    with pytest.raises(ParameterError, match=r"settings = 1000000000 is outside"):
        random_design(10**9, momentum=(0, 1))
    with pytest.raises(ParameterError, match=r"draw_seed = -1 is outside"):
        random_design(5, draw_seed=-1, momentum=(0, 1))


def test_latin_hypercube_says_what_it_needs(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "scipy.stats", None)
    with pytest.raises(ParameterError, match=r"pip install \"bookwarp\[sweep\]\""):
        latin_hypercube(5, momentum=(0, 1))


def test_every_parameter_of_the_model_can_be_varied():
    from bookwarp.spec.market import SHARES
    from bookwarp.spec.parameters import PARAMETERS

    assert set(VARIED) == {*SHARES, *PARAMETERS, "stream", "window"} - {"markets", "market_ids"}
    for name in set(VARIED) - {"stream", "window", "schedule"}:
        low = PARAMETERS[name].low if name in PARAMETERS else 0
        assert check_values(name, [low, low + 1]).tolist() == [low, low + 1]
