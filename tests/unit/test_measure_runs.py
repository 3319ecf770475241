"""Measures of simulations: on every engine, however they are run and recorded."""

import numpy as np
import pytest
from emulated_gpu import emulated_gpus as emulated_gpus
from emulated_kernels import needs_compiler
from emulated_measures import MeasuringGpu, play_kernels

import bookwarp as bw
from bookwarp.engines import registry
from bookwarp.engines.cuda import engine
from bookwarp.measures import FactMeasure, recording
from bookwarp.measures.protocol import fill
from bookwarp.simulation import Simulation
from bookwarp.spec.runs import Runs

ALL = bw.measures.stylised_facts
GIVEN = {"markets": 7, "agents": 24, "levels": 24, "steps": 61, "seed": 3}


def run(measure=ALL, pieces=None, **given):
    settings = {"record": measure.series, "record_every": measure.every, **GIVEN, **given}
    simulation = Simulation(**settings)
    for steps in pieces or [settings["steps"]]:
        simulation.step(steps)
    return simulation


def assert_same_facts(found, expected):
    assert list(found) == list(expected)
    for name, values in expected.items():
        assert found[name].dtype == np.float64
        assert found[name].tobytes() == values.tobytes(), name


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("window", ["fixed", "following"])
def test_engines_give_the_same_bytes(every, window):
    measure = ALL.with_every(every)
    given = {"window": window, "max_qty": [1, 4, 9, 100, 2**31 - 1, 2**31 - 1, 3]}
    expected = measure.of_simulation(run(measure, engine="reference", **given))
    for threads in (1, 2):
        found = run(measure, [10, 1, 50], engine="cpu", threads=threads, **given)
        assert_same_facts(measure.of_simulation(found), expected)
    outputs = measure.outputs(GIVEN["steps"])
    assert {name: values.shape for name, values in expected.items()} == {
        name: (GIVEN["markets"], *output.shape) for name, output in outputs.items()
    }


@pytest.fixture
def devices(emulated_gpus, monkeypatch):
    """Two GPUs, played by the host, that run the kernels of measures."""
    made = []

    def make(ordinal, stream=None):
        made.append(MeasuringGpu(ordinal, stream))
        return made[-1]

    monkeypatch.setattr(registry, "unavailable_reason", lambda: None)
    monkeypatch.setattr(engine, "Gpu", make)
    play_kernels(monkeypatch)
    return made


@needs_compiler
@pytest.mark.parametrize("numbers", [[0], [1, 0]])
@pytest.mark.parametrize("keep", [True, False])
def test_rows_on_devices_are_measured_there(devices, numbers, keep, monkeypatch):
    given = {"max_qty": [1, 4, 9, 4, 4, 2, 3], "window": "following"}
    expected = ALL.of_simulation(run(engine="reference", **given))
    simulation = run(engine="cuda", devices=numbers, keep_on_device=keep, **given)
    if keep:
        # All that is exact is made of what the devices sum; no row is brought.
        monkeypatch.setattr(Simulation, "history", None)
    assert_same_facts(ALL.of_simulation(simulation), expected)


@needs_compiler
@pytest.mark.parametrize("places", [Runs.one(2, 9), Runs(1, 7, 2, 5)])
@pytest.mark.parametrize("numbers", [None, [0], [0, 1]])
def test_facts_are_written_to_the_places_that_are_told(devices, numbers, places):
    """Of a simulation on cores, on a GPU, or on two."""
    where = {} if numbers is None else {"devices": numbers, "keep_on_device": True}
    simulation = run(engine="cpu" if numbers is None else "cuda", **where)
    expected = ALL.of_simulation(run(engine="reference"))
    found = {name: np.full((30, *array.shape[1:]), -7.0) for name, array in expected.items()}
    fill(ALL, simulation, found, places)
    others = np.ones(30, bool)
    others[places.array()] = False
    for name, array in expected.items():
        assert found[name][places.array()].tobytes() == array.tobytes(), name
        assert (found[name][others] == -7.0).all()


@needs_compiler
def test_books_that_are_recorded_too_are_no_trouble(devices):
    expected = ALL.of_simulation(run(engine="reference"))
    both = {"record": ("book", *ALL.series), "book_markets": [0, 6]}
    for name in ("cpu", "cuda"):
        kept = {"keep_on_device": True} if name == "cuda" else {}
        assert_same_facts(ALL.of_simulation(run(engine=name, **both, **kept)), expected)


@needs_compiler
def test_markets_beyond_64_bits_are_summed_on_the_host(devices, monkeypatch):
    given = {"max_qty": [4, 2**31 - 1] * 3 + [4]}
    expected = ALL.of_simulation(run(engine="reference", **given))
    simulation = run(engine="cuda", devices=[0, 1], keep_on_device=True, **given)
    monkeypatch.setattr(Simulation, "history", None)
    assert_same_facts(ALL.of_simulation(simulation), expected)


@needs_compiler
def test_rows_of_a_checkpoint_are_measured_with_those_that_follow(devices, tmp_path):
    expected = ALL.of_simulation(run(engine="reference"))
    run(pieces=[20], engine="cpu").save(tmp_path / "kept")
    simulation = Simulation.resume(tmp_path / "kept", engine="cuda", keep_on_device=True)
    assert_same_facts(ALL.of_simulation(simulation.step(41)), expected)


def test_some_measures_are_part_of_all():
    expected = ALL.of_simulation(run(engine="cpu"))
    together = {}
    for name in ("prices", "returns", "tails", "memory", "clustering", "volume", "spread"):
        measure = getattr(bw.measures, name)
        found = measure.of_simulation(run(measure, engine="cpu"))
        assert_same_facts(found, {each: expected[each] for each in measure.outputs(61)})
        together |= found
    assert together.keys() == expected.keys()


def test_what_a_measure_needs_is_no_more_than_it_reads():
    assert bw.measures.prices.series == ("last",)
    assert bw.measures.memory.series == ("last",)
    assert bw.measures.volume.series == ("last", "volume")
    assert bw.measures.spread.series == ("best_bid", "best_ask", "bid_depth", "ask_depth")
    assert len(ALL.series) == 6


def test_all_of_reads_rows_once_for_all_groups_of_facts():
    measure = bw.measures.all_of(bw.measures.volume, bw.measures.prices, bw.measures.volume)
    assert isinstance(measure, FactMeasure)
    assert [group.name for group in measure.groups] == ["volume", "prices"]
    assert measure.series == ("last", "volume")


def mean_and_range(rows):
    last = rows["last"]
    return {"middle": np.median(last, axis=0), "by_third": np.stack([last[0], last[-1]], axis=1)}


OUTPUTS = {
    "middle": bw.measures.Output("tick", "median of the price"),
    "by_third": bw.measures.Output("tick", "both ends", ("end",), {"end": np.arange(2)}),
}


@pytest.mark.parametrize("name", ["cpu", "reference"])
def test_a_function_of_rows_is_a_measure(name):
    own = bw.measures.custom(mean_and_range, series="last", outputs=OUTPUTS)
    measure = bw.measures.all_of(bw.measures.volume, own)
    assert measure.series == ("last", "volume")
    assert list(measure.outputs(61))[-2:] == ["middle", "by_third"]
    simulation = run(measure, engine=name)
    found = measure.of_simulation(simulation)
    last = simulation.history["last"]
    np.testing.assert_array_equal(found["middle"], np.median(last, axis=0))
    np.testing.assert_array_equal(found["by_third"], last[[0, -1]].T.astype(float))
    assert found["by_third"].dtype == np.float64
    volume = bw.measures.volume.of_simulation(simulation)
    assert_same_facts({n: found[n] for n in volume}, volume)


@needs_compiler
@pytest.mark.parametrize("columns", [1, 2, 100])
def test_a_function_takes_rows_of_devices_block_by_block(devices, columns, monkeypatch):
    series = ("last", "volume")
    seen = []

    def watch(rows):
        seen.append(next(iter(rows.values())).shape[1])
        return {"middle": np.median(rows["last"], axis=0), "lots": rows["volume"].max(axis=0)}

    measure = bw.measures.custom(watch, series=series, outputs=("middle", "lots"))
    history = run(measure, engine="reference").history
    simulation = run(measure, engine="cuda", devices=[0, 1], keep_on_device=True)
    monkeypatch.setattr(Simulation, "history", None)
    monkeypatch.setattr(recording, "_BLOCK_BYTES", 8 * 61 * len(series) * columns)
    found = measure.of_simulation(simulation)
    np.testing.assert_array_equal(found["middle"], np.median(history["last"], axis=0))
    np.testing.assert_array_equal(found["lots"], history["volume"].max(axis=0).astype(float))
    wanted = {1: [1] * 7, 2: [2, 1, 2, 2], 100: [3, 4]}
    assert seen == wanted[columns]


def test_measures_are_told_apart():
    one = bw.measures.custom(mean_and_range, series="last", outputs=OUTPUTS)
    other = bw.measures.custom(lambda rows: {}, series="last", outputs="middle")
    described = [m.describe() for m in (ALL, ALL.with_every(2), bw.measures.prices, one, other)]
    described.append(bw.measures.all_of(ALL, one).describe())
    assert all(described.count(each) == 1 for each in described)
    assert described == [bw.measures.named("stylised_facts").describe(), *described[1:]]


def test_measures_have_names():
    assert bw.measures.named("prices").groups == bw.measures.prices.groups
    both = bw.measures.named(["volume", "spread", "volume"], every=4)
    assert [group.name for group in both.groups] == ["volume", "spread"]
    assert both.every == 4
    assert bw.measures.named(["stylised_facts", "prices"]).groups == ALL.groups


def wrong_shape(rows):
    return {"middle": rows["last"]}


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: bw.measures.named("price"), "unknown measure 'price': did you mean 'prices'"),
        (lambda: bw.measures.named([]), "no measure is named"),
        (lambda: bw.measures.all_of(), "at least one measure"),
        (lambda: ALL.with_every(0), "every must be a positive integer, not 0"),
        (lambda: bw.measures.named("prices", every=1.5), "not 1.5"),
        (lambda: ALL.outputs(0), "at least one recorded row: 0 steps record none"),
        (lambda: ALL.with_every(5).outputs(4), "4 steps record none with every = 5"),
        (
            lambda: bw.measures.all_of(bw.measures.prices, bw.measures.volume.with_every(2)),
            "different distances, 1 and 2 steps",
        ),
        (
            lambda: bw.measures.custom(len, series="lst", outputs="a"),
            "unknown series 'lst': did you mean 'last'",
        ),
        (lambda: bw.measures.custom(len, series=(), outputs="a"), "at least one series"),
        (lambda: bw.measures.custom(len, series="last", outputs=()), "and one output"),
        (
            lambda: bw.measures.all_of(
                bw.measures.prices,
                bw.measures.custom(len, series="last", outputs="mean_price"),
            ).outputs(5),
            "two measures have an output of the name 'mean_price'",
        ),
        (
            lambda: bw.measures.volume.of_simulation(run(bw.measures.prices)),
            "a measure needs volume: the simulation has to record it",
        ),
        (
            lambda: bw.measures.prices.of_simulation(run(record_every=2)),
            "record_every = 1, not 2",
        ),
        (lambda: ALL.of_simulation(run(pieces=[0])), "0 steps record none"),
        (
            lambda: bw.measures.custom(
                wrong_shape, series="last", outputs="middle"
            ).of_simulation(run()),
            r"returned 'middle' as int64 \(61, 7\); it must be numbers of the shape \(7,\)",
        ),
        (
            lambda: bw.measures.custom(
                wrong_shape, series="last", outputs="a"
            ).of_simulation(run()),
            r"wrong_shape returned \['middle'\]; its outputs are \['a'\]",
        ),
        (
            lambda: bw.measures.custom(
                lambda rows: 3, series="last", outputs="a"
            ).of_simulation(run()),
            "returned 3; its outputs are",
        ),
    ],
)  # fmt: skip
def test_wrong_requests_are_refused_in_a_sentence(call, sentence):
    with pytest.raises(bw.ParameterError, match=sentence):
        call()
