"""What measures compute: against the plain definitions, on rows of any kind."""

import numpy as np
import pytest
import scipy.stats
from made_facts import make_facts_of
from measure_rows import CASES, constant_rows, random_rows

import bookwarp as bw
from bookwarp.analysis import stylised
from bookwarp.spec.codes import NO_PRICE
from bookwarp.spec.measure_sums import HORIZONS, LAGS, TAIL_SHARE, WINDOW

ALL = bw.measures.stylised_facts
CLOSE = {"rtol": 1e-11, "atol": 1e-12}
ROWS = {name: rows for name, rows in CASES.items() if "overflow" not in name}
LONG = {name: rows for name, rows in ROWS.items() if len(rows["last"]) > WINDOW}


def facts_of(rows, measure=ALL, engine="cpu"):
    """Return the facts of rows, float64 [..., market]."""
    _, facts = make_facts_of(rows, measure, engine)
    return facts


def correlation(first, second):
    """Return Pearson's correlation of two columns, 0 if one is constant, by NumPy."""
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    return np.corrcoef(first, second)[0, 1]


def by_market(function, *series):
    return np.array([function(*(each[:, m] for each in series)) for m in range(series[0].shape[1])])


@pytest.mark.parametrize("case", ROWS)
def test_prices_are_those_of_the_plain_functions(case):
    rows = ROWS[case]["last"]
    found = facts_of(ROWS[case])
    mean, std = stylised.price_moments(rows)
    np.testing.assert_allclose(found["mean_price"], mean, **CLOSE)
    np.testing.assert_allclose(found["price_std"], std, **CLOSE)
    np.testing.assert_array_equal(found["price_low"], rows.min(axis=0).astype(float))
    np.testing.assert_array_equal(found["price_high"], rows.max(axis=0).astype(float))


@pytest.mark.parametrize("case", ROWS)
def test_falls_and_rises_are_the_largest_of_all_pairs(case):
    rows = ROWS[case]["last"][:60]
    found = facts_of({name: series[:60] for name, series in ROWS[case].items()})
    changes = rows[None] - rows[:, None]  # [from, to, market]
    later = np.arange(len(rows))[:, None] <= np.arange(len(rows))
    rise = changes[later].max(axis=0)
    fall = (-changes[later]).max(axis=0)
    np.testing.assert_array_equal(found["max_drawup"], rise)
    np.testing.assert_array_equal(found["max_drawdown"], fall)
    both = np.where(rise + fall > 0, rise + fall, 1)
    np.testing.assert_allclose(found["gain_loss_asymmetry"], (rise - fall) / both, **CLOSE)


@pytest.mark.parametrize("case", ROWS)
def test_returns_over_every_horizon_have_the_moments_of_scipy(case):
    last = ROWS[case]["last"]
    found = facts_of(ROWS[case])
    for place, horizon in enumerate(HORIZONS):
        changes = (last[horizon:] - last[:-horizon]).astype(float)
        if len(changes) == 0:
            assert all(
                np.isnan(found[name][place]).all() for name in bw.measures.returns.outputs(1)
            )
            continue
        varies = np.ptp(changes, axis=0) > 0
        with np.errstate(all="ignore"):
            wanted = {
                "return_mean": changes.mean(axis=0),
                "return_variance": changes.var(axis=0),
                "return_skewness": by_market(plain_skewness, changes),
                "excess_kurtosis": by_market(plain_kurtosis, changes),
            }
        for name, values in wanted.items():
            assert (found[name][place][~varies] == (values[~varies] if "mean" in name else 0)).all()
            # SciPy and NumPy lose digits of what is far from zero.
            np.testing.assert_allclose(
                found[name][place][varies], values[varies], rtol=1e-9, atol=1e-10, err_msg=name
            )


def plain_skewness(series):
    return scipy.stats.skew(series) if np.ptp(series) else 0.0


def plain_kurtosis(series):
    return scipy.stats.kurtosis(series) if np.ptp(series) else 0.0


def test_kurtosis_and_autocorrelations_are_those_of_figure_7():
    """The functions that the published figure is compared by give the same numbers."""
    simulation = bw.Simulation(12, 64, 64, 400, seed=5, engine="cpu", record=ALL.series).step(400)
    returns = stylised.price_returns(simulation.history["last"])
    found = ALL.of_simulation(simulation)
    lags = range(1, LAGS + 1)
    wanted = {
        "acf_returns": stylised.autocorrelation(returns, lags).T,
        "acf_abs_returns": stylised.autocorrelation(np.abs(returns), lags).T,
    }
    for name, values in wanted.items():
        np.testing.assert_allclose(found[name], values, **CLOSE)
    kurtosis = found["excess_kurtosis"][:, 0]
    np.testing.assert_allclose(kurtosis, stylised.excess_kurtosis(returns), **CLOSE)
    volume = simulation.state().volume / 400
    np.testing.assert_allclose(found["volume_per_step"], volume, **CLOSE)


@pytest.mark.parametrize("case", ROWS)
def test_memory_is_pearsons_correlation_of_both_parts(case):
    returns = np.diff(ROWS[case]["last"], axis=0).astype(float)
    found = facts_of(ROWS[case])
    for lag in range(1, LAGS + 1):
        here = {
            name: found[name][lag - 1] for name in ("acf_returns", "acf_abs_returns", "leverage")
        }
        if len(returns) - lag < 2:
            assert all(np.isnan(values).all() for values in here.values())
            continue
        first, later = returns[:-lag], returns[lag:]
        wanted = {
            "acf_returns": by_market(correlation, first, later),
            "acf_abs_returns": by_market(correlation, abs(first), abs(later)),
            "leverage": by_market(correlation, first, later**2),
        }
        for name, values in wanted.items():
            np.testing.assert_allclose(here[name], values, rtol=1e-9, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("case", ROWS)
def test_hill_is_the_mean_excess_of_logarithms(case):
    sizes = np.sort(np.abs(np.diff(ROWS[case]["last"], axis=0)), axis=0)[::-1]
    found = facts_of(ROWS[case])
    count = len(sizes) // TAIL_SHARE
    for market in range(sizes.shape[1]):
        hill, index = found["hill"][market], found["tail_index"][market]
        if count == 0 or sizes[count, market] == 0:
            assert np.isnan(hill)
            assert np.isnan(index)
            continue
        wanted = np.log(sizes[:count, market] / sizes[count, market]).mean()
        assert abs(hill - wanted) < 2e-7
        assert np.isnan(index) if hill == 0 else index == 1 / hill


def test_hill_finds_the_index_of_a_power_law():
    rng = np.random.default_rng(7)
    sizes = np.floor(100 * rng.pareto(3.0, (20_000, 8)) + 100).astype(np.int64)
    rows = {"last": np.cumsum(sizes * rng.choice([-1, 1], sizes.shape), axis=0)}
    found = facts_of(rows, bw.measures.tails)
    assert abs(found["tail_index"].mean() - 3) < 0.15


@pytest.mark.parametrize("case", LONG)
def test_windows_tell_how_volatility_clusters(case):
    returns = np.diff(LONG[case]["last"], axis=0)
    found = facts_of(LONG[case])
    count = len(returns) // WINDOW
    for market in range(returns.shape[1]):
        series = returns[:, market]
        windows = series[: count * WINDOW].reshape(count, WINDOW)
        paths, coarse = abs(windows).sum(axis=1), abs(windows.sum(axis=1))
        fano = paths.var() / paths.mean() if paths.any() else 0.0
        alone = abs(series).var()
        ratio = paths.var() / (WINDOW * alone) if alone else 0.0
        assert found["volatility_fano"][market] == pytest.approx(fano, rel=1e-9, abs=1e-12)
        assert found["volatility_ratio"][market] == pytest.approx(ratio, rel=1e-9, abs=1e-12)
        names = "coarse_to_fine", "fine_to_coarse", "scale_asymmetry"
        scales = [found[name][market] for name in names]
        if count < 3:
            assert np.isnan(scales).all()
            continue
        to_fine, to_coarse = (
            correlation(coarse[:-1], paths[1:]), correlation(paths[:-1], coarse[1:])
        )  # fmt: skip
        assert scales == pytest.approx([to_fine, to_coarse, to_fine - to_coarse], abs=1e-9)


@pytest.mark.parametrize("case", LONG)
def test_conditional_kurtosis_is_that_of_returns_about_their_mean(case):
    returns = np.diff(LONG[case]["last"], axis=0).astype(float)
    found = facts_of(LONG[case])["conditional_kurtosis"]
    centred = returns - returns.mean(axis=0)
    count = len(returns) // WINDOW
    energy = (centred[: count * WINDOW] ** 2).reshape(count, WINDOW, -1).sum(axis=1)
    square = (energy**2).mean(axis=0)
    changes = np.ptp(returns, axis=0) > 0
    wanted = (centred**4).mean(axis=0) * WINDOW * (WINDOW + 2) / np.where(square > 0, square, 1) - 3
    np.testing.assert_allclose(found, np.where(changes, wanted, 0), rtol=1e-8, atol=1e-8)


def test_conditional_kurtosis_is_zero_where_only_volatility_changes():
    """Normal returns of changing volatility have fat tails, but none given the volatility."""
    rng = np.random.default_rng(3)
    scale = np.repeat(np.exp(rng.normal(4, 1, 4000)), WINDOW)
    returns = np.rint(rng.normal(0, scale)).astype(np.int64)
    rows = {"last": np.concatenate([[0], np.cumsum(returns)])[:, None]}
    found = facts_of(rows, bw.measures.all_of(bw.measures.returns, bw.measures.clustering))
    assert found["excess_kurtosis"][0, 0] > 20
    assert abs(found["conditional_kurtosis"][0]) < 0.6
    assert found["volatility_ratio"][0] > 3


@pytest.mark.parametrize("case", ROWS)
def test_volume_and_its_correlation_with_volatility(case):
    volume, last = ROWS[case]["volume"], ROWS[case]["last"]
    found = facts_of(ROWS[case])
    np.testing.assert_allclose(found["volume_per_step"], volume.mean(axis=0), **CLOSE)
    np.testing.assert_allclose(found["volume_std"], volume.std(axis=0), **CLOSE)
    np.testing.assert_allclose(found["traded_share"], (volume > 0).mean(axis=0), **CLOSE)
    if len(volume) < 3:
        assert np.isnan(found["volume_volatility"]).all()
        return
    wanted = by_market(correlation, volume[1:], abs(np.diff(last, axis=0)))
    np.testing.assert_allclose(found["volume_volatility"], wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("case", ROWS)
def test_spread_depth_and_empty_sides(case):
    rows = ROWS[case]
    found = facts_of(rows)
    both = (rows["best_bid"] != NO_PRICE) & (rows["best_ask"] != NO_PRICE)
    for market in range(both.shape[1]):
        here = both[:, market]
        spreads = (rows["best_ask"] - rows["best_bid"])[here, market]
        if here.any():
            assert found["mean_spread"][market] == pytest.approx(spreads.mean(), rel=1e-12)
            assert found["spread_std"][market] == pytest.approx(spreads.std(), rel=1e-9, abs=1e-12)
        else:
            assert np.isnan(found["mean_spread"][market])
            assert np.isnan(found["spread_std"][market])
    for side in ("bid", "ask"):
        depth = rows[f"{side}_depth"].mean(axis=0)
        np.testing.assert_allclose(found[f"{side}_depth"], depth, **CLOSE)
        empty = (rows[f"best_{side}"] == NO_PRICE).mean(axis=0)
        np.testing.assert_allclose(found[f"no_{side}_share"], empty, **CLOSE)
    np.testing.assert_allclose(found["empty_side_share"], 1 - both.mean(axis=0), **CLOSE)


def test_a_market_in_which_nothing_happens_has_no_facts_but_its_price():
    found = facts_of(constant_rows(80, 2, price=-(2**50), empty=True))
    undefined = {"hill", "tail_index", "mean_spread", "spread_std"}
    assert {name for name, values in found.items() if np.isnan(values).any()} == undefined
    ones = {"no_bid_share", "no_ask_share", "empty_side_share"}
    prices = {"mean_price", "price_low", "price_high"}
    for name, values in found.items():
        if name not in undefined:
            wanted = 1.0 if name in ones else -(2.0**50) if name in prices else 0.0
            assert (values == wanted).all(), name


@pytest.mark.parametrize("case", CASES)
def test_reference_and_cores_give_the_same_bytes(case):
    """Where sums of 64 bits do not fit, too: then both are Python's integers."""
    with np.errstate(all="raise"):
        first, second = (facts_of(CASES[case], engine=engine) for engine in ("reference", "cpu"))
    assert list(first) == list(second) == list(ALL.outputs(1))
    for name, values in first.items():
        assert values.tobytes() == second[name].tobytes(), name
        assert np.isfinite(values[~np.isnan(values)]).all(), name


@pytest.mark.parametrize("scale", [1, 10**3, 10**6, 2**40])
def test_numbers_without_a_scale_give_facts_without_a_scale(scale):
    """A market of another tick and another lot has the same facts, also beyond 64 bits."""
    rows = random_rows(90, 6, seed=3)
    larger = {"last": rows["last"] * scale, "volume": rows["volume"] * scale}
    measures = bw.measures
    chosen = measures.all_of(
        measures.returns, measures.memory, measures.clustering, measures.tails, measures.volume
    )
    plain, scaled = facts_of(rows, chosen), facts_of(larger, chosen)
    dimensionless = [n for n, output in chosen.outputs(90).items() if output.unit == "1"]
    assert len(dimensionless) > 10
    for name in dimensionless:
        if name not in ("hill", "tail_index"):
            np.testing.assert_allclose(scaled[name], plain[name], **CLOSE, err_msg=name)
    np.testing.assert_allclose(scaled["hill"], plain["hill"], atol=3e-7)


@pytest.mark.parametrize("rows", [1, 2, 3, 11, 52, 53])
def test_outputs_have_the_shapes_that_are_told(rows):
    found = facts_of(random_rows(rows, 4, seed=rows))
    outputs = ALL.outputs(rows)
    assert list(found) == list(outputs)
    for name, values in found.items():
        assert values.shape == (*outputs[name].shape, 4)
        assert values.dtype == np.float64
