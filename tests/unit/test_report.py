"""The report of a sweep: which figures it has, what they show, and the numbers beside them."""

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import to_rgba
from report_sweeps import GIVEN, drawn, one_axis, one_setting, three_axes, two_axes
from tiny_measure import TinyMeasure

import bookwarp as bw
from bookwarp.reporting import page
from bookwarp.reporting.averages import Averages
from bookwarp.reporting.quantity import Quantity
from bookwarp.reporting.swept import Swept
from bookwarp.spec.errors import ParameterError, StoreError
from bookwarp.sweeping import settings
from bookwarp.sweeping.machine import Machine
from bookwarp.sweeping.plan import SweepPlan
from bookwarp.sweeping.running import run_block
from bookwarp.sweeping.store import SweepStore

KURTOSIS = "excess_kurtosis_horizon_1"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("sweep") / "two.zarr"
    two_axes(path)
    return path


@pytest.fixture(scope="module")
def made(store):
    return bw.report(store)


def figure(report, name):
    (found,) = (each for each in report.figures if each.name == name)
    return found


class Reader(HTMLParser):
    """Collects the tags of a page, and what is open in the end."""

    EMPTY = ("meta", "path", "use", "rect", "image", "br")

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.ids = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_endtag(self, tag):
        if tag not in self.EMPTY:
            assert self.open.pop() == tag


def test_page_holds_every_figure_with_its_words_and_names_nothing_outside(made):
    reader = Reader(made.html)
    assert reader.open == []
    assert len(reader.ids) == len(set(reader.ids))
    svgs = [attrs for tag, attrs in reader.tags if tag == "svg"]
    assert [attrs["aria-label"] for attrs in svgs] == [each.alt for each in made.figures]
    assert {attrs["role"] for attrs in svgs} == {"img"}
    assert "http" not in made.html
    references = re.findall(r'(?:href|src)="([^"]*)"|url\(([^)]*)\)', made.html)
    assert references
    for word in ("".join(each) for each in references):
        assert word.startswith(("#", "data:image/png;base64,")), word
        assert not word.startswith("#") or word[1:] in reader.ids, word


def test_two_axes_give_maps_curves_memory_and_paths(made):
    names = [each.name for each in made.figures]
    six = [*("price_std", KURTOSIS, "volume_per_step"), "mean_spread"]
    six += ["acf_returns_lag_1", "acf_abs_returns_lag_1"]
    assert names[:6] == [f"heat_{name}" for name in six]
    assert names[6:12] == [f"curve_{name}" for name in six]
    assert names[12:] == [
        *("memory_acf_returns", "memory_acf_abs_returns", "memory_leverage"),
        "price_paths",
    ]


def test_cells_of_a_map_are_the_means_of_the_dataset(made, store):
    data = bw.open_sweep(store)
    wanted = data.excess_kurtosis.sel(horizon=1).mean("replica").transpose("maker", "momentum")
    axis = figure(made, f"heat_{KURTOSIS}").drawing.axes[0]
    cells = axis.collections[0].get_array()
    np.testing.assert_allclose(cells.filled(np.nan), wanted.values, rtol=1e-12)
    assert cells.mask.tolist() == [[False] * 4, [False] * 4, [False, False, False, True]]
    assert [label.get_text() for label in axis.get_xticklabels()] == ["0", "0.2", "0.4", "0.7"]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["0.1", "0.2", "0.4"]


def test_settings_that_cannot_run_are_hatched_and_listed(made):
    found = figure(made, f"heat_{KURTOSIS}")
    hatched = [each for each in found.drawing.axes[0].collections if each.get_hatch()]
    assert [each.get_hatch() for each in hatched] == ["////"]
    assert len(hatched[0].get_paths()) == 1
    assert "Hatched: the setting cannot run." in found.caption
    assert "1 of 12 cells are empty" in found.alt
    assert "1 setting cannot run" in made.html
    assert "momentum=0.7, maker=0.4" in made.html
    assert made.facts["infeasible"] == 1


def test_settings_that_cannot_run_are_counted_also_where_they_are_not_listed(monkeypatch):
    monkeypatch.setattr(settings, "_MOST_REASONS", 3)
    monkeypatch.setattr(page, "_MOST_LISTED", 2)
    design = bw.grid(momentum=[0.1, 0.6, 0.7, 0.8, 0.9], maker=[0.1, 0.5], noise="rest")
    made = bw.report(bw.sweep(design, infeasible="nan", **GIVEN), measures=["price_std"])
    assert made.facts["infeasible"] == 4
    assert "4 settings cannot run" in made.html
    assert "<li>and 2 more: " in made.html


def test_legend_stays_inside_its_figure():
    design = bw.zipped(momentum=[0.123456, 0.234567, 0.345678], noise="rest", replicas=2)
    made = bw.report(bw.sweep(design, **GIVEN), measures=["acf_returns:1"])
    drawing = figure(made, "memory_acf_returns").drawing
    drawing.draw_without_rendering()
    (legend,) = drawing.legends
    assert legend.get_window_extent().x1 <= drawing.bbox.x1
    assert len(legend.get_texts()) == 3


def test_white_is_zero_where_a_quantity_has_both_signs():
    data = two_axes()
    data["mean_spread"] = data.mean_spread * 0 + data.momentum - 0.2
    cells = figure(bw.report(data, measures="mean_spread"), "heat_mean_spread").drawing.axes[0]
    mesh = cells.collections[0]
    red, green, blue, _ = mesh.to_rgba(np.array([0.0, -0.2, 0.2])).T
    assert red[0] == pytest.approx(green[0], abs=0.02)
    assert blue[1] > red[1]
    assert red[2] > blue[2]
    low, high = mesh.norm.vmin, mesh.norm.vmax
    assert low == -high


@pytest.mark.parametrize(
    "values, name, diverges",
    [
        ([0.1, 0.2, 0.3, 0.5], "volume_volatility", True),
        ([-0.5, -0.4, -0.2, -0.1], "volume_volatility", True),
        ([0.50, 0.51, 0.52, 0.55], "volume_volatility", False),
        ([0.1, 0.2, 0.3, 0.5], "mean_spread", False),
        ([-0.1, 0.2, 0.3, 0.5], "mean_spread", True),
    ],
)
def test_maps_are_about_zero_where_values_have_both_signs_or_are_compared_with_it(
    values, name, diverges
):
    data = two_axes()
    shown = xr.DataArray(values, coords={"momentum": data.momentum})
    data[name] = data.mean_spread * 0 + shown
    found = figure(bw.report(data, measures=name), f"heat_{name}")
    mesh = found.drawing.axes[0].collections[0]
    assert (mesh.get_cmap().name == "RdBu_r") is diverges
    assert ("Blue is below 0" in found.caption) is diverges
    assert (mesh.norm.vmin == -mesh.norm.vmax) is diverges


@pytest.mark.parametrize("least, scale", [(1.0, "LogNorm"), (-1.0, "SymLogNorm")])
def test_maps_of_wide_ranges_are_by_ratios_and_say_so(least, scale):
    data = two_axes()
    values = xr.DataArray([least, 2.0, 3.0, 500.0], coords={"momentum": data.momentum})
    data["mean_spread"] = data.mean_spread * 0 + values
    axes = figure(bw.report(data, measures="mean_spread"), "heat_mean_spread").drawing.axes
    assert type(axes[0].collections[0].norm).__name__ == scale
    assert "by ratios" in axes[1].get_ylabel()


def test_numbers_along_an_axis_increase_in_whatever_order_they_were_swept():
    design = bw.grid(momentum=[0.4, 0.0, 0.2], maker=[0.2, 0.1], noise="rest", replicas=2)
    data = bw.sweep(design, **GIVEN)
    axis = figure(bw.report(data, measures="mean_spread"), "heat_mean_spread").drawing.axes[0]
    assert [label.get_text() for label in axis.get_xticklabels()] == ["0", "0.2", "0.4"]
    wanted = data.mean_spread.mean("replica").sel(momentum=[0, 0.2, 0.4], maker=[0.1, 0.2])
    np.testing.assert_allclose(axis.collections[0].get_array(), wanted.T)


def test_one_replica_has_no_interval_and_this_is_said():
    report = bw.report(one_axis(), measures="mean_spread")
    assert "Bands are 95 % intervals" in report.figures[0].caption
    design = bw.grid(momentum=[0.0, 0.2], noise="rest")
    report = bw.report(bw.sweep(design, **GIVEN), measures="mean_spread")
    assert "There is one replica, and so no interval." in report.figures[0].caption


def test_head_of_the_page_says_what_was_measured_with_every_measure(made):
    assert "prices, returns, tails, memory, clustering, volume, spread" in made.html
    measure = bw.measures.all_of(bw.measures.volume, TinyMeasure())
    report = bw.report(one_axis(measure=measure), measures="trades")
    assert "volume, a measure of the user" in report.html


def test_one_value_everywhere_is_one_colour():
    data = two_axes()
    data["mean_spread"] = data.mean_spread * 0 + 3.0
    mesh = figure(bw.report(data, measures="mean_spread"), "heat_mean_spread").drawing.axes[0]
    colours = mesh.collections[0].to_rgba(np.array([3.0]))
    assert not np.allclose(colours[0], to_rgba("#440154"), atol=0.05)


def test_bands_are_the_intervals_of_the_measures_module():
    data = one_axis()
    found = bw.measures.over_replicas(data[["mean_spread"]])
    axis = figure(bw.report(data), "curve_mean_spread").drawing.axes[0]
    np.testing.assert_array_equal(axis.lines[0].get_xdata(), [1, 2, 5, 10, 20])
    np.testing.assert_array_equal(axis.lines[0].get_ydata(), found.mean_spread)
    corners = axis.collections[0].get_paths()[0].vertices[:, 1]
    assert set(found.mean_spread_low.values) | set(found.mean_spread_high.values) <= set(corners)
    assert axis.get_xscale() == "log"
    assert axis.get_xlabel() == "clearing interval"
    assert axis.get_ylabel() == "mean spread [tick]"


def test_other_axes_are_averaged_within_a_replica_and_this_is_said():
    data = three_axes(agents=12)
    swept = Swept.of(data)
    found = Averages.of(swept, Quantity.of(swept, "mean_spread"), ("momentum", "max_qty"))
    np.testing.assert_allclose(found.mean, data.mean_spread.mean(["window", "replica"]))
    report = bw.report(data, measures="mean_spread")
    assert report.figures[0].name == "heat_mean_spread"
    assert "Averaged over window (2 values)" in report.figures[0].caption


def test_replicas_alone_make_the_interval_of_an_average():
    design = bw.grid(momentum=[0.0, 0.2], max_qty=[1, 4], noise="rest", replicas=4)
    data = bw.sweep(design, **GIVEN)
    swept = Swept.of(data)
    found = Averages.of(swept, Quantity.of(swept, "mean_spread"), ("momentum",))
    wanted = bw.measures.over_replicas(data[["mean_spread"]].mean("max_qty"))
    np.testing.assert_allclose(found.low, wanted.mean_spread_low)


def test_axes_and_slices_can_be_chosen():
    data = three_axes(agents=12)
    report = bw.report(data, measures="mean_spread", axes="max_qty", at={"window": "following"})
    axis = figure(report, "curve_mean_spread").drawing.axes[0]
    wanted = data.mean_spread.sel(window="following").mean(["momentum", "replica"])
    np.testing.assert_allclose(axis.lines[0].get_ydata(), wanted)
    assert "Averaged over momentum (3 values)" in report.figures[0].caption
    assert "following (chosen)" in report.html
    assert report.facts["settings"] == 6
    by_name = bw.report(data, measures="mean_spread", axes=["window"])
    shown = figure(by_name, "curve_mean_spread").drawing.axes[0]
    assert [label.get_text() for label in shown.get_xticklabels()] == ["fixed", "following"]


def test_selection_of_a_dataset_is_reported_as_such():
    data = two_axes().sel(maker=0.2)
    report = bw.report(data)
    assert "0.2 (chosen)" in report.html
    assert report.figures[0].name == "curve_price_std"


def test_drawn_designs_are_scattered_against_every_parameter():
    data = drawn()
    report = bw.report(data, measures="mean_spread")
    found = figure(report, "scatter_mean_spread")
    assert [axis.get_xlabel() for axis in found.drawing.axes] == ["momentum", "window"]
    dots = found.drawing.axes[0].collections[-1].get_offsets()
    np.testing.assert_allclose(dots[:, 0], data.momentum)
    np.testing.assert_allclose(dots[:, 1], data.mean_spread.mean("replica"))


def test_one_setting_has_numbers_and_memory():
    report = bw.report(one_setting())
    names = [each.name for each in report.figures]
    assert names == ["memory_acf_returns", "memory_acf_abs_returns", "memory_leverage"]
    assert "<td><data" in report.html


def test_numbers_in_the_table_are_those_of_the_dataset(made, store):
    data = bw.measures.over_replicas(bw.open_sweep(store).load())
    rows = made.html.partition('<table class="numbers">')[2].split("<tr>")[2:]
    values = [re.findall(r'<data value="([^"]*)">([^<]*)</data>', row) for row in rows]
    assert len(values) == 12
    wanted = data.excess_kurtosis.sel(horizon=1).values.reshape(-1)
    high = data.excess_kurtosis_high.sel(horizon=1).values.reshape(-1)
    for row, mean, end in zip(values, wanted, high, strict=True):
        assert len(row) == 6
        value, shown = row[1]
        np.testing.assert_equal(float(value), mean)
        said = "–" if np.isnan(mean) else f"{mean:.4g} ± {end - mean:.2g}"
        assert shown == said


def test_measures_can_be_chosen_at_any_place_of_their_dimension():
    data = one_axis()
    asked = ["excess_kurtosis:10", "acf_returns:5", "trades"]
    report = bw.report(data, measures=asked)
    names = [each.name for each in report.figures][:3]
    assert names == ["curve_excess_kurtosis_horizon_10", "curve_acf_returns_lag_5", "curve_trades"]
    line = figure(report, "curve_acf_returns_lag_5").drawing.axes[0].lines[0]
    np.testing.assert_allclose(line.get_ydata(), data.acf_returns.sel(lag=5).mean("replica"))


def test_what_a_user_measured_is_shown_by_itself():
    report = bw.report(one_axis(measure=TinyMeasure()))
    names = [each.name for each in report.figures]
    assert names == ["curve_mean_price", "curve_mean_move_lag_1"]


@pytest.mark.parametrize(
    "arguments, said",
    [
        ({"measures": "volum_per_step"}, "unknown measure 'volum_per_step'.*'volume_per_step'"),
        ({"measures": []}, "no measure is named: choose of mean_price"),
        ({"measures": [bw.measures.prices]}, "measures must be names of variables of the sweep"),
        ({"measures": bw.measures.prices}, "measures must be a list of names, not FactMeasure"),
        ({"measures": "excess_kurtosis:3"}, "horizon = 3 is none of 1, 2, 5, 10, 20, 50"),
        ({"measures": "trades:3"}, "trades has no dimension of its own"),
        ({"axes": "momentun"}, "axes: unknown swept parameter 'momentun'.*'momentum'"),
        ({"axes": ["momentum", "max_qty", "window"]}, "one or two swept parameters"),
        ({"at": {"momentum": 0.25}}, r"at: momentum = 0\.25 was not swept: 0\.0, 0\.1, 0\.3"),
        ({"at": {"windows": "fixed"}}, "at: unknown swept parameter 'windows'"),
    ],
)
def test_what_is_not_in_the_sweep_is_said(arguments, said):
    with pytest.raises(ParameterError, match=said):
        bw.report(three_axes(agents=12), **arguments)


def test_what_is_no_sweep_is_said(tmp_path):
    with pytest.raises(ParameterError, match=r"not a dataset that bookwarp\.sweep returned"):
        bw.report(bw.simulate(2, 4, steps=3, engine="reference").to_xarray())
    with pytest.raises(ParameterError, match="needs all replicas"):
        bw.report(one_axis().mean("replica"))
    with pytest.raises(ParameterError, match=r"a report is of the store of a sweep, \*\.zarr"):
        bw.report(tmp_path / "study.toml")
    with pytest.raises(StoreError, match=r"there is no sweep in .*none\.zarr"):
        bw.report(tmp_path / "none.zarr")
    bw.simulate(2, 4, steps=3, engine="reference").save(tmp_path / "run.zarr")
    with pytest.raises(StoreError, match=r"run\.zarr is damaged, or not the store of a sweep"):
        bw.report(tmp_path / "run.zarr")


def test_damaged_store_is_said(tmp_path):
    path = tmp_path / "damaged.zarr"
    one_axis(out=path)
    for chunk in (path / "last_price").glob("c.*"):
        chunk.write_bytes(chunk.read_bytes()[:-3])
    with pytest.raises(StoreError, match="the sweep is damaged: last_price cannot be read"):
        bw.report(path)


def test_report_of_an_unfinished_store_says_how_much_is_missing(tmp_path):
    path = tmp_path / "unfinished.zarr"
    design = bw.grid(momentum=[0.0, 0.2, 0.4], maker=[0.1, 0.9], noise="rest", replicas=3)
    fixed = {name: value for name, value in GIVEN.items() if name != "engine"}
    plan = SweepPlan.of(design, TinyMeasure(), fixed, "nan", block=6)
    store, machine = SweepStore(path, plan), Machine.of("reference")
    store.prepare()
    assert store.missing() == [0, 1, 2]
    for number in (0, 2):
        store.write(run_block(plan, number, machine))
    report = bw.report(path)
    assert (report.facts["missing_markets"], report.facts["markets"]) == (3, 12)
    assert report.facts["digest"] is None
    assert "3 of 12 markets (25.0%) are missing" in report.html
    assert "none: the sweep is not complete" in report.html
    for said in ("Dotted: there is no value.", "Hatched: the setting cannot run."):
        assert said in report.figures[0].caption


def test_nothing_is_reported_of_nothing(tmp_path):
    path = tmp_path / "empty.zarr"
    one_axis(out=path)
    for name in bw.open_sweep(path).data_vars:
        for chunk in (path / str(name)).glob("c.*"):
            chunk.unlink()
    with pytest.raises(ParameterError, match="none of 15 markets has been run"):
        bw.report(path)


def test_figures_are_pictures_and_documents(made, tmp_path):
    paths = made.save_png(tmp_path / "png")
    assert [path.stem for path in paths] == [each.name for each in made.figures]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)
    for path in paths[:-1]:
        path.unlink()
    with pytest.raises(StoreError, match=r"price_paths\.png exists"):
        made.save_png(tmp_path / "png")
    assert list((tmp_path / "png").iterdir()) == paths[-1:]
    for each in made.figures:
        ET.fromstring(each.svg())


def test_paths_are_drawn_in_a_panel_for_each_setting_and_a_line_for_each_replica(made, store):
    data = bw.open_sweep(store)
    axes = figure(made, "price_paths").drawing.axes
    titles = [axis.get_title(loc="left") for axis in axes]
    settings = [(0.0, 0.1), (0.0, 0.2), (0.0, 0.4), (0.7, 0.1), (0.7, 0.2)]
    assert titles == [f"momentum {momentum:g}, maker {maker:g}" for momentum, maker in settings]
    for axis, (momentum, maker) in zip(axes, settings, strict=True):
        here = (data.path_momentum == momentum) & (data.path_maker == maker)
        drawn_paths = np.array([line.get_ydata() for line in axis.lines])
        np.testing.assert_array_equal(drawn_paths, data.path_price[here])


def test_autocorrelations_are_drawn_for_settings_along_the_first_axis(made, store):
    data = bw.open_sweep(store)
    found = figure(made, "memory_acf_returns")
    curves = [line for line in found.drawing.axes[0].lines if len(line.get_xdata()) == 50]
    assert [line.get_label() for line in curves] == [f"momentum {m:g}" for m in (0, 0.2, 0.4, 0.7)]
    wanted = data.acf_returns.sel(maker=0.2).mean("replica")
    np.testing.assert_allclose([line.get_ydata() for line in curves], wanted)
    assert "Other parameters are at maker 0.2." in found.caption


def test_page_is_written_whole_and_not_over_another(made, tmp_path):
    path = made.save(tmp_path / "report.html")
    assert path.read_text(encoding="utf-8") == made.html
    with pytest.raises(StoreError, match=r"report\.html exists"):
        made.save(path)
    made.save(path, overwrite=True)
    with pytest.raises(ParameterError, match=r"a report is written as \*\.html"):
        made.save(tmp_path / "report.pdf")
    with pytest.raises(StoreError, match="is not a folder"):
        made.save_png(path)


def test_same_sweep_gives_the_same_page(store, made):
    assert bw.report(store).html == made.html
