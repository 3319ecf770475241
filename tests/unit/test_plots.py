"""The picture of a run: which panels there are, what they show, and where it is written."""

import dataclasses
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from matplotlib.figure import Figure

import bookwarp as bw
from bookwarp.analysis import panels
from bookwarp.analysis.panels import grouped_percentiles
from bookwarp.analysis.plots import check_plot, plot_run
from bookwarp.spec.errors import ParameterError, StoreError

PRICES, VOLUME, BOOKS = "Price of each market", "Volume of each market", "Mean book"


def titles_of(figure):
    return [axis.get_title(loc="left") for axis in figure.axes]


def axis_of(figure, start):
    (axis,) = (each for each in figure.axes if each.get_title(loc="left").startswith(start))
    return axis


def small_run(**parameters):
    return bw.simulate(
        **{"markets": 40, "agents": 8, "steps": 30, "engine": "reference"} | parameters
    )


@pytest.mark.parametrize(
    "record,expected",
    [
        (("last", "volume"), [PRICES, VOLUME, "Last price after 30 steps", BOOKS]),
        (("mid2",), [PRICES, "Last price after 30 steps", BOOKS]),
        (("volume",), [VOLUME, "Last price after 30 steps", BOOKS]),
        ((), ["Last price after 30 steps", BOOKS]),
    ],
)
def test_panels_are_what_the_run_has(record, expected):
    titles = titles_of(small_run(record=record).plot())
    assert len(titles) == len(expected)
    assert all(title.startswith(start) for title, start in zip(titles, expected, strict=True))


def test_every_run_can_be_drawn(run, tmp_path):
    figure = run.plot(tmp_path / "run.png")
    assert isinstance(figure, Figure)
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "parameters",
    [
        {"markets": 1},
        {"markets": 2, "levels": 8, "steps": 1},
        {"steps": 1000, "record_every": 3, "agents": 2},
        {"open_price": 2**61, "window": "following"},
        {"window": "following", "open_price": np.r_[-(2**61), np.full(39, 2**61)]},
        {"open_depth": 0, "mix": {"maker": 1.0}, "maker_half_spread": 40},
        {"max_qty": 2**31 - 1},
    ],
)
@pytest.mark.parametrize("record", [("last", "volume"), ("mid2", "volume")])
def test_extreme_runs_can_be_drawn_without_a_warning(parameters, record, tmp_path):
    small_run(**parameters, record=record).plot(tmp_path / "run.png")


def test_title_says_what_made_the_run():
    title = small_run(seed=11, window="following").plot().get_suptitle()
    for part in ("40 markets", "8 agents", "128 levels", "30 steps", "seed 11", "default stream"):
        assert part in title
    assert "following window" in title
    assert "noise 0.7, momentum 0.15, maker 0.15" in title
    assert "fundamental" not in title
    types = bw.draw_agent_types(40, 8)
    assert "types given" in small_run(agent_types=types).plot().get_suptitle()


def test_title_says_the_range_of_what_differs():
    shares = np.linspace(0, 0.5, 40)
    run = small_run(seed=np.arange(40), mix=bw.Mix(noise="rest", momentum=shares, maker=0.1))
    title = run.plot().get_suptitle()
    assert "seeds by market" in title
    assert "momentum 0 to 0.5" in title


def test_axes_have_names_with_units():
    for axis in small_run().plot().axes:
        assert axis.get_xlabel()
        assert axis.get_ylabel()
    assert "[tick]" in axis_of(small_run().plot(), PRICES).get_ylabel()
    assert "[lot" in axis_of(small_run().plot(), VOLUME).get_ylabel()


def lines_of(axis):
    return {line.get_label(): line.get_xydata() for line in axis.get_lines()}


def test_single_markets_are_drawn_as_recorded():
    run = small_run()
    lines = lines_of(axis_of(run.plot(), PRICES))
    assert set(lines) == {"median", "market 0", "market 20", "market 39"}
    for market in (0, 20, 39):
        np.testing.assert_array_equal(lines[f"market {market}"][:, 0], run.history_steps)
        np.testing.assert_array_equal(
            lines[f"market {market}"][:, 1], run.history["last"][:, market]
        )


def test_mid_prices_are_drawn_in_ticks():
    run = small_run(record="mid2")
    line = lines_of(axis_of(run.plot(), PRICES))["market 0"]
    np.testing.assert_array_equal(line[:, 1], run.history["mid2"][:, 0] / 2)


def test_volume_is_that_of_a_step_whatever_the_stride():
    run = small_run(record_every=3)
    line = lines_of(axis_of(run.plot(), VOLUME))["mean"]
    np.testing.assert_allclose(line[:, 1], run.history["volume"].mean(axis=1) / 3)
    assert line[:, 0].tolist() == run.history_steps.tolist()


def test_long_history_is_drawn_in_spans_that_say_so():
    run = small_run(steps=1001, agents=2, record=("last", "volume"))
    axis = axis_of(run.plot(), VOLUME)
    line = lines_of(axis)["mean"]
    assert len(line) == 112
    assert axis.get_xlabel() == "step (in spans of 9)"
    assert line[0, 1] == pytest.approx(run.history["volume"][:9].mean())
    assert line[-1, 1] == pytest.approx(run.history["volume"][999:].mean())
    assert line[:, 0].tolist() == [*range(4, 999, 9), 999.5]


def test_bars_of_final_prices_count_every_market():
    run = small_run(levels=1000)
    (bars,) = axis_of(run.plot(), "Last price").patches
    values, edges, _ = bars.get_data()
    assert values.sum() == 40
    np.testing.assert_array_equal(values, np.histogram(run.last_price, edges)[0])


def test_book_is_drawn_by_its_distance_from_the_last_price_of_each_market():
    run = small_run(markets=3, levels=16, steps=0)
    state = run.state.copy()
    state.bid[:], state.ask[:] = 0, 0
    state.last[:] = [5, 8, 12]
    state.bid[[0, 1, 2], [4, 7, 11]] = [3, 6, 9]
    state.ask[[0, 1, 2], [7, 10, 15]] = [30, 60, 90]
    figure = dataclasses.replace(run, state=state).plot()
    depth = {}
    for bars in axis_of(figure, BOOKS).patches:
        values, edges, _ = bars.get_data()
        depth[bars.get_label()] = dict(zip((edges[:-1] + 0.5).tolist(), values, strict=True))
    assert {k: v for k, v in depth["bid"].items() if v} == {-1.0: 6.0}
    assert {k: -v for k, v in depth["ask"].items() if v} == {2.0: 30.0, 3.0: 30.0}


def test_book_of_many_markets_is_the_sum_over_blocks(monkeypatch):
    run = small_run(markets=10)
    whole = panels._mean_depth(run, run.bid)
    monkeypatch.setattr(panels, "_BLOCK_MARKETS", 3)
    np.testing.assert_allclose(panels._mean_depth(run, run.bid), whole)
    assert whole.sum() == pytest.approx(run.bid.sum() / 10)


def test_percentiles_of_spread_values():
    np.testing.assert_allclose(
        grouped_percentiles(np.arange(100)), np.array([5, 25, 50, 75, 95]) - 0.5
    )
    np.testing.assert_allclose(grouped_percentiles(np.full(9, 7)), [6.55, 6.75, 7, 7.25, 7.45])
    np.testing.assert_allclose(
        grouped_percentiles(np.array([0, 10])), [-0.4, 0, 0.5, 10, 10.4], atol=10
    )


def test_percentiles_do_not_depend_on_how_values_are_counted(monkeypatch):
    values = np.random.default_rng(0).integers(-50, 50, (7, 30))
    counted = grouped_percentiles(values)
    monkeypatch.setattr(panels, "_COUNTED_RANGE", 0)
    np.testing.assert_array_equal(grouped_percentiles(values), counted)


def test_svg_is_written_by_its_suffix(tmp_path):
    small_run().plot(tmp_path / "run.svg")
    assert ET.parse(tmp_path / "run.svg").getroot().tag.endswith("svg")


def test_pdf_is_written_by_its_suffix(tmp_path):
    small_run().plot(tmp_path / "run.PDF")
    assert (tmp_path / "run.PDF").read_bytes().startswith(b"%PDF")


def test_picture_is_of_a_size_for_a_page(tmp_path):
    figure = bw.simulate(64, steps=200).plot(tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size < 300_000
    assert figure.get_size_inches().tolist() == pytest.approx([9.2, 7.2])


def test_drawing_leaves_pyplot_alone(tmp_path):
    loaded = "matplotlib.pyplot" in sys.modules
    small_run().plot(tmp_path / "run.png")
    assert ("matplotlib.pyplot" in sys.modules) == loaded


@pytest.mark.parametrize("name", ["run.jpg", "run", "run.png.gz"])
def test_suffix_that_is_not_known_is_refused(tmp_path, name):
    for call in (check_plot, small_run(steps=1).plot):
        with pytest.raises(ParameterError, match=r"written as \.png, \.svg"):
            call(tmp_path / name)


def test_existing_picture_is_replaced_only_when_that_is_asked_for(tmp_path):
    run = small_run(steps=1)
    (tmp_path / "run.png").write_text("precious")
    for call in (check_plot, run.plot):
        with pytest.raises(StoreError, match=r"run\.png exists"):
            call(tmp_path / "run.png")
    assert (tmp_path / "run.png").read_text() == "precious"
    check_plot(tmp_path / "run.png", overwrite=True)
    plot_run(run, tmp_path / "run.png", overwrite=True)
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")


def test_folder_that_is_missing_or_closed_is_refused(tmp_path, closed_folder):
    run = small_run(steps=1)
    for call in (check_plot, run.plot):
        with pytest.raises(StoreError, match="there is no folder"):
            call(tmp_path / "missing" / "run.png")
        with pytest.raises(StoreError, match="cannot be written"):
            call(closed_folder / "run.png")
