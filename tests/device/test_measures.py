"""Measures of rows that stay on a GPU: the same bytes as the reference, whatever is recorded."""

import numpy as np
import pytest
from emulated_measures import gather, on_device, sum_on
from measure_rows import BLOCKS, CASES, assert_same_sums, random_rows, reference_sums
from on_device import device_tests

import bookwarp as bw
from bookwarp.engines.measure_protocol import compiled_facts, device_facts, row_sums
from bookwarp.measures import recording
from bookwarp.simulation import Simulation
from bookwarp.spec.measure_facts import FACTS, fact_shapes
from bookwarp.spec.runs import Runs

pytestmark = device_tests

ALL = bw.measures.stylised_facts
GROUPS = tuple(FACTS)


@pytest.fixture(scope="module")
def gpu():
    from bookwarp.engines.cuda.gpu import Gpu

    return Gpu(0)


@pytest.mark.parametrize("case", CASES)
def test_sums_are_those_of_the_reference(gpu, case):
    rows = CASES[case]
    found = sum_on(gpu, rows, BLOCKS)
    assert_same_sums(found, reference_sums(rows), len(rows["last"]))


@pytest.mark.parametrize("markets", [1, 31, 8_191, 8_192, 8_193, 70_001])
@pytest.mark.parametrize("rows", [2, 61, 1024])
def test_sums_are_those_of_the_cores(gpu, rows, markets):
    """Random rows of many markets; the cores are held against the reference elsewhere."""
    if rows * markets > 10_000_000:
        rows = 10_000_000 // markets
    made = random_rows(rows, markets, seed=rows + markets, scale=40)
    found = sum_on(gpu, made, BLOCKS)
    expected = row_sums("cpu", made, BLOCKS).sums(0, markets)
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


@pytest.mark.parametrize("case", CASES)
def test_facts_of_rows_are_those_of_the_cores(gpu, case):
    """Of rows of any kind; and the same ones are to be made anew."""
    rows = CASES[case]
    count, markets = rows["last"].shape
    source = device_facts(on_device(gpu, rows), GROUPS, 3, Runs.one(0, markets))
    found, again = gather(source, GROUPS)
    expected = {name: np.empty((markets, *shape)) for name, shape in fact_shapes(GROUPS).items()}
    sums = row_sums("cpu", rows, BLOCKS).sums(0, markets)
    anew = compiled_facts(sums, GROUPS, count, 3, expected)
    np.testing.assert_array_equal(again, anew)
    for number, group in enumerate(GROUPS):
        for name in FACTS[group]:
            exact = ~anew[number]
            assert found[name][exact].tobytes() == expected[name][exact].tobytes(), name


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("window", ["fixed", "following"])
@pytest.mark.parametrize("keep", [True, False])
def test_facts_are_those_of_the_reference(every, window, keep):
    measure = ALL.with_every(every)
    given = {"markets": 9, "agents": 40, "levels": 24, "steps": 200, "seed": 5, "window": window}
    given |= {"record": measure.series, "record_every": every, "max_qty": [4, 2**31 - 1, 9] * 3}
    expected = measure.of_simulation(Simulation(**given, engine="reference").step(200))
    found = measure.of_simulation(Simulation(**given, engine="cuda", keep_on_device=keep).step(200))
    assert list(found) == list(expected)
    for name, values in expected.items():
        assert found[name].tobytes() == values.tobytes(), name


def test_a_function_takes_columns_of_rows_on_the_gpu(monkeypatch):
    """In blocks of some markets each; and markets beyond 64 bits are found among many."""
    given = {"markets": 1500, "agents": 40, "steps": 90, "seed": 5}
    given |= {"max_qty": [4, 4, 2**31 - 1] * 500}

    def last_and_most(rows):
        return {"end": rows["last"][-1], "most": rows["volume"].max(axis=0)}

    own = bw.measures.custom(last_and_most, series=("last", "volume"), outputs=("end", "most"))
    measure = bw.measures.all_of(bw.measures.volume, own)
    given["record"] = measure.series
    expected = measure.of_simulation(Simulation(**given, engine="cpu").step(90))
    simulation = Simulation(**given, engine="cuda", keep_on_device=True).step(90)
    monkeypatch.setattr(Simulation, "history", None)
    monkeypatch.setattr(recording, "_BLOCK_BYTES", 8 * 90 * 2 * 400)
    found = measure.of_simulation(simulation)
    for name, values in expected.items():
        assert found[name].tobytes() == values.tobytes(), name


def test_facts_of_many_markets_are_those_of_the_cores():
    given = {"markets": 40_000, "agents": 64, "steps": 120, "seed": 5, "record": ALL.series}
    expected = ALL.of_simulation(Simulation(**given, engine="cpu").step(120))
    found = ALL.of_simulation(Simulation(**given, engine="cuda", keep_on_device=True).step(120))
    for name, values in expected.items():
        assert found[name].tobytes() == values.tobytes(), name
