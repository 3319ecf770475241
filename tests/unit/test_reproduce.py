"""The two reproductions, on sizes for which the reference suffices."""

import json

import numpy as np
import pytest

from bookwarp.reproduce import figure7, table2
from bookwarp.reproduce.figure7_sweep import SHARES, STATISTICS
from bookwarp.reproduce.files import check_folder
from bookwarp.simulation import Simulation
from bookwarp.spec.agents import Mix, draw_agent_types
from bookwarp.spec.errors import ParameterError, StoreError


@pytest.fixture(scope="module")
def sweep() -> figure7.Figure7:
    return figure7.reproduce(markets=2, steps=60, engine="reference")


def test_table_two_of_64_markets_agrees_with_the_published_digits():
    found = table2.reproduce(markets=64, engine="reference")
    assert (found.mean_last_price, found.mean_volume) == (63.75, 96937.75)
    assert found.agrees is True
    assert "agrees with the published results of 64 markets in every digit" in found.table()


def test_table_two_says_when_a_run_differs_from_the_published_one(monkeypatch):
    monkeypatch.setattr(table2, "SEED", 1)
    found = table2.reproduce(markets=64, engine="reference")
    assert found.agrees is False
    assert "DIFFERS" in found.table()


def test_table_two_without_a_published_run_is_neither_right_nor_wrong():
    found = table2.reproduce(markets=3, steps=40, engine="reference")
    assert found.agrees is None
    assert "nothing is published for 3 markets and 40 steps" in found.table()


def test_table_two_shows_the_paper_beside_this_run():
    rows = table2.reproduce(markets=3, steps=5, engine="reference").rows()
    assert [row["backend"] for row in rows[:4]] == [line[0] for line in table2.TABLE2]
    assert rows[-1]["source"] == "this run"
    assert rows[-1]["markets"] == 3


def test_table_two_is_written_as_json(tmp_path):
    found = table2.reproduce(markets=3, steps=5, engine="reference")
    (path,) = found.save(tmp_path / "new")
    assert json.loads(path.read_text()) == found.to_dict()
    with pytest.raises(StoreError, match=r"table2\.json exists"):
        found.save(tmp_path / "new")


def test_each_setting_of_the_sweep_is_the_run_of_its_own(sweep):
    """Fifteen settings in one ensemble are fifteen ensembles, market by market."""
    index = 9
    mix = Mix(noise="rest", momentum=SHARES[index], maker=0.15)
    alone = Simulation(
        2,
        256,
        128,
        60,
        42,
        stream="paper",
        agent_types=draw_agent_types(2, 256, mix, 42),
        engine="reference",
    )
    alone.step(60)
    price, volume = alone.history["last"], alone.state().volume
    found = sweep.statistics["fixed"]
    assert found["price_std"][index] == pytest.approx(price.std(axis=0), rel=1e-12)
    assert found["price_low"][index].tolist() == price.min(axis=0).tolist()
    assert found["volume_per_step"][index].tolist() == (volume / 60).tolist()
    edge = np.isin(price, (0, 1, 126, 127)).mean(axis=0)
    assert found["edge_share"][index].tolist() == edge.tolist()


def test_settings_of_the_sweep_with_exact_shares_have_their_shares():
    sweep = figure7.sweep_simulation(2, 30, "default", "fixed", "reference", None)
    _noise, momentum, maker, fundamental = sweep.auction.type_counts().T
    assert np.all(np.abs(momentum - np.repeat(SHARES, 2) * 256) < 1)
    assert np.all(np.abs(maker - 0.15 * 256) < 1)
    assert not fundamental.any()
    assert sweep.auction.market_ids.tolist() == [0, 1] * 15


def test_windows_agree_until_a_price_leaves_the_middle(sweep):
    fixed, following = (sweep.statistics[window]["price_std"] for window in ("fixed", "following"))
    assert np.array_equal(fixed[:4], following[:4])
    assert not np.array_equal(fixed[-1], following[-1])


def test_dataset_holds_every_statistic_with_its_unit(sweep):
    data = sweep.to_xarray()
    assert dict(data.sizes) == {"window": 2, "share": 15, "market": 2, "lag": 20}
    for name, (unit, _) in STATISTICS.items():
        assert data[name].attrs["units"] == unit
    assert data["price_std"].dims == ("window", "share", "market")
    assert data["edge_share"].dims == ("share", "market")
    assert data["acf_returns"].dims == ("window", "lag", "market")
    assert not any(np.isnan(values).any() for values in data.values())
    assert data.attrs["stream"] == "paper"


def test_picture_dataset_and_numbers_are_written(sweep, tmp_path):
    import xarray as xr

    picture, data, text = sweep.save(tmp_path)
    assert picture.read_bytes().startswith(b"\x89PNG")
    with xr.open_dataset(data, engine="h5netcdf") as read:
        xr.testing.assert_identical(read.load(), sweep.to_xarray())
    assert json.loads(text.read_text()) == sweep.to_dict()


def test_rows_are_means_over_markets_with_their_interval(sweep):
    row = sweep.rows()[15 + 3]
    values = sweep.statistics["following"]["price_std"][3]
    assert (row["window"], row["momentum_share"]) == ("following", 0.15)
    assert row["price_std"] == values.mean()
    assert row["price_std_half_width"] == pytest.approx(1.959964 * abs(np.diff(values)[0]) / 2)
    assert len(sweep.rows()) == 30
    assert sweep.agrees is None


def test_values_of_the_paper_stand_beside_those_of_the_fixed_grid(sweep):
    lines = {(line["statistic"], line["at"]): line for line in sweep.comparison()}
    assert lines["price_std", 0.65]["published"] == 26.90
    assert lines["price_std", 0.65]["found"] == sweep.statistics["fixed"]["price_std"][13].mean()
    assert lines["acf_returns", 1]["published"] == -0.34
    assert lines["acf_returns", 1]["found"] == sweep.memory["fixed"]["acf_returns"][0].mean()
    table = sweep.table()
    assert all(f"{share:.2f}" in table for share in SHARES)
    assert "26.34" in table


def test_progress_counts_the_steps_of_both_windows():
    seen: list[tuple[int, int]] = []
    figure7.reproduce(
        markets=1,
        steps=23,
        engine="reference",
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen[-1] == (46, 46)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


@pytest.mark.parametrize(
    "wrong", [{"markets": 0}, {"markets": 2.5}, {"steps": 22}, {"stream": "papre"}]
)
def test_wrong_size_or_name_is_refused(wrong):
    with pytest.raises(ParameterError):
        figure7.reproduce(**{"engine": "reference", "markets": 1, "steps": 30} | wrong)


def test_size_that_cannot_fit_in_memory_is_refused():
    with pytest.raises(ParameterError, match="GB"):
        table2.reproduce(markets=2 * 10**7, engine="reference")


def test_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "here").write_text("")
    with pytest.raises(StoreError, match="is not a folder"):
        check_folder(tmp_path / "here", ("table2.json",))
