"""A run as an xarray Dataset: names, units, coordinates; nothing is lost and nothing is copied."""

import json

import numpy as np
import pytest

import bookwarp as bw
from bookwarp.results.dataset import dataset_to_run, run_to_dataset
from bookwarp.spec.codes import NO_PRICE
from bookwarp.spec.errors import StoreError
from bookwarp.spec.record import SERIES
from bookwarp.spec.state import ALL_LAYOUT, state_layout


def test_dataset_is_the_run_and_back(run, same_run):
    same_run(dataset_to_run(run_to_dataset(run), "it"), run)


def test_final_values_have_the_names_of_the_run(run):
    dataset = run.to_xarray()
    assert dataset["bid"].dims == dataset["ask"].dims == ("market", "level")
    for name in state_layout(run.auction):
        final = "last_price" if name == "last" else name.replace("own_", "execution_")
        np.testing.assert_array_equal(dataset[final].values, getattr(run, final))
        assert dataset[final].attrs["units"] == ALL_LAYOUT[name][1]
        assert dataset[final].attrs["long_name"] == ALL_LAYOUT[name][2]
    assert ("waiting_buy" in dataset) == run.auction.has_waiting_orders
    assert ("execution_cost" in dataset) == run.auction.has_execution_agents


def test_a_run_without_waiting_or_parent_orders_has_none_of_their_lots(plain):
    for name in ("waiting_buy", "waiting_sell"):
        assert getattr(plain, name).shape == plain.bid.shape
        assert not getattr(plain, name).any()
    for name in ("waiting", "filled", "cost"):
        assert getattr(plain, f"execution_{name}").tolist() == [0] * plain.markets
    assert plain.arrival_mid2.tolist() == plain.start_volume.tolist() == [0] * plain.markets


def test_books_and_history_are_shared_with_the_run(varied):
    dataset = varied.to_xarray()
    assert np.shares_memory(dataset["bid"].values, varied.bid)
    assert np.shares_memory(dataset["ask"].values, varied.ask)
    assert np.shares_memory(dataset["history_last"].values, varied.history["last"])


def test_recorded_series_have_steps_markets_and_units(varied):
    dataset = varied.to_xarray()
    for name, (unit, meaning) in SERIES.items():
        series = dataset[f"history_{name}"]
        assert series.dims == ("step", "market")
        assert (series.attrs["units"], series.attrs["long_name"]) == (unit, meaning)
        np.testing.assert_array_equal(series.values, varied.history[name])
    assert dataset["step"].values.tolist() == [1, 3, 5, 7, 9]
    assert dataset["history_best_bid"].attrs["no_price"] == NO_PRICE
    assert dataset["history_bid_depth"].attrs["depth_ticks"] == 3


def test_recorded_books_have_the_markets_they_were_chosen_for(varied):
    book = varied.to_xarray()["history_book_ask"]
    assert book.dims == ("step", "book_market", "level")
    assert book["book_market"].values.tolist() == [1, 4]


def test_orders_are_columns_on_one_dimension(varied):
    dataset = varied.to_xarray()
    for name in varied.tape.dtype.names:
        assert dataset[f"tape_{name}"].dims == ("order",)
        np.testing.assert_array_equal(dataset[f"tape_{name}"].values, varied.tape[name])
    assert dataset["taped_step"].values.tolist() == [0, 3, 10]


def test_parameters_that_differ_are_coordinates_of_the_markets(varied):
    dataset = varied.to_xarray()
    for name in varied.auction.varied:
        assert dataset.coords[name].dims == ("market",)
        assert {"units", "long_name"} <= set(dataset[name].attrs)
        np.testing.assert_array_equal(dataset[name].values, varied.auction.per_market(name))
    assert dataset["seed"].dtype == np.uint64
    assert dataset["market_ids"].values.tolist() == [5000, 4000, 3000, 2000, 1000, 0]
    assert dataset.attrs["mix_maker"] == 0.15
    grouped = dataset["last_price"].groupby("mix_momentum").mean()
    assert grouped.sizes["mix_momentum"] == 6


def test_parameters_that_are_the_same_are_attributes(plain):
    attributes = plain.to_xarray().attrs
    expected = {"seed": 7, "open_price": 8, "max_qty": 4, "mix_noise": 0.7, "stream": "default"}
    assert {name: attributes[name] for name in expected} == expected
    assert (attributes["markets"], attributes["steps"]) == (4, 12)
    assert attributes["digest"] == plain.digest()
    assert json.loads(attributes["provenance"])["auction"]["seed"] == 7


def test_given_types_are_there():
    types = bw.draw_agent_types(3, 5, seed=1)
    dataset = bw.simulate(3, 5, steps=2, agent_types=types, engine="reference").to_xarray()
    assert dataset["agent_types"].dims == ("market", "agent")
    np.testing.assert_array_equal(dataset["agent_types"].values, types)


def test_every_variable_says_its_unit_and_what_it_is(run):
    dataset = run.to_xarray()
    for name in dataset.variables:
        assert set(dataset[name].attrs) >= {"units", "long_name"}, name


@pytest.mark.parametrize("name", ["volume", "history_mid2", "seed", "tape_qty", "taped_step"])
def test_changed_value_is_found(varied, name):
    dataset = varied.to_xarray().copy(deep=True)
    changed = dataset[name].values.copy()
    changed.flat[0] += 1
    dataset[name] = (dataset[name].dims, changed)
    with pytest.raises(StoreError, match="it is damaged"):
        dataset_to_run(dataset, "it")


@pytest.mark.parametrize("name", ["provenance", "digest", "contents_sha256"])
def test_changed_attribute_is_found(plain, name):
    dataset = plain.to_xarray()
    dataset.attrs[name] = dataset.attrs[name].replace("7", "8").replace("a", "b")
    with pytest.raises(StoreError, match="it is damaged"):
        dataset_to_run(dataset, "it")


def test_dataset_of_something_else_is_refused(plain):
    dataset = plain.to_xarray()
    del dataset.attrs["provenance"]
    with pytest.raises(StoreError, match="it was not written by bookwarp"):
        dataset_to_run(dataset, "it")
