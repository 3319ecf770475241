"""The kernels of measures, run by emulated warps, make the sums and facts of the reference.

A part of what tests/device asks of a GPU, for machines without one.
"""

import numpy as np
import pytest
from emulated_kernels import needs_compiler
from emulated_measures import MeasuringGpu, gather, on_device, play_kernels, sum_on
from measure_rows import BLOCKS, CASES, assert_same_sums, random_rows, reference_sums

import bookwarp as bw
from bookwarp.engines.cuda.measures import facts, sums
from bookwarp.engines.cuda.measures.columns import read_columns
from bookwarp.engines.cuda.measures.facts import CudaFacts
from bookwarp.engines.cuda.measures.layout import FactLayout, entries_of
from bookwarp.spec.errors import EngineError, ParameterError
from bookwarp.spec.exact_sums import exact_markets
from bookwarp.spec.measure_facts import FACTS, USES, fact_shapes
from bookwarp.spec.measure_sums import SUMS, sum_shapes
from bookwarp.spec.runs import Runs

pytestmark = needs_compiler

PIECE = 32
GROUPS = tuple(FACTS)


@pytest.fixture(autouse=True)
def kernels(monkeypatch):
    """Play the kernels, with pieces so small that a few markets fill more than one."""
    monkeypatch.setattr(sums, "MOST_MARKETS", PIECE)
    play_kernels(monkeypatch)


@pytest.mark.parametrize("case", CASES)
def test_sums_are_those_of_the_reference(case):
    rows = CASES[case]
    found = sum_on(MeasuringGpu(), rows, BLOCKS)
    assert_same_sums(found, reference_sums(rows), len(rows["last"]))


@pytest.mark.parametrize("block", SUMS)
def test_a_block_is_summed_alone(block):
    rows = random_rows(60, 5, seed=1)
    found = sum_on(MeasuringGpu(), rows, (block,))
    expected = reference_sums(rows, (block,))
    assert list(found) == list(sum_shapes((block,)))
    for name, values in found.items():
        np.testing.assert_array_equal(values, expected[name].astype(np.int64), err_msg=name)


def facts_on(gpu, rows, groups=GROUPS, every=1):
    """Return the facts of rows, and whose are to be made anew."""
    return gather(facts_source(gpu, rows, groups, every), groups)


def facts_source(gpu, rows, groups, every=1):
    everywhere = Runs.one(0, rows["last"].shape[1])
    return CudaFacts(on_device(gpu, rows), groups, every, everywhere)


def assert_facts_of_the_reference(found, rows, groups=GROUPS, every=1):
    """Fail unless facts, and whose are to be made anew, are those of the reference, in bytes."""
    facts, again = found
    count = len(rows["last"])
    assert list(facts) == [name for group in groups for name in FACTS[group]]
    for number, group in enumerate(groups):
        sums = reference_sums(rows, USES[group])
        exact = exact_markets(sums, count)
        np.testing.assert_array_equal(again[number], ~exact, err_msg=group)
        formulas = bw.measures.named(group).groups[0].formulas
        kept = {name: values[..., exact].astype(np.int64) for name, values in sums.items()}
        for name, values in formulas(kept, count, every).items():
            expected = np.moveaxis(values, -1, 0)
            assert facts[name][exact].tobytes() == expected.tobytes(), name


@pytest.mark.parametrize("case", CASES)
def test_facts_are_those_of_the_reference(case):
    rows = CASES[case]
    assert_facts_of_the_reference(facts_on(MeasuringGpu(), rows), rows)


@pytest.mark.parametrize("groups", [(group,) for group in GROUPS] + [("volume", "prices")])
def test_groups_are_made_alone_and_in_any_order(groups):
    rows = random_rows(60, 5, seed=1)
    found = facts_on(MeasuringGpu(), rows, groups, every=3)
    assert_facts_of_the_reference(found, rows, groups, every=3)


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 10, 11, 12, 21, 22, 31, 32, 50, 51, 52, 53])
def test_facts_of_few_rows_are_those_of_the_reference(rows):
    made = random_rows(rows, 3, seed=rows)
    assert_facts_of_the_reference(facts_on(MeasuringGpu(), made), made)


@pytest.mark.parametrize("markets", [1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 5 * PIECE + 7])
@pytest.mark.parametrize("pieces_of_memory", [0, 1, 2, 3, 100])
def test_markets_come_in_pieces_and_launches(markets, pieces_of_memory, monkeypatch):
    """However little memory there is for sums and facts, all of them come, in their order."""
    monkeypatch.setattr(facts, "_MARKETS_TOGETHER", 2 * PIECE)
    rows = random_rows(15, markets, seed=markets)
    gpu = MeasuringGpu()
    source = facts_source(gpu, rows, GROUPS)
    piece = entries_of(BLOCKS) * PIECE * 8 + FactLayout(GROUPS, PIECE).nbytes
    gpu.free = facts._SHARE_OF_FREE * pieces_of_memory * piece
    assert_facts_of_the_reference(gather(source, GROUPS), rows)
    launches = -(-markets // (min(max(1, pieces_of_memory), 2) * PIECE))
    assert len(gpu.launches) == (len(BLOCKS) + len(GROUPS)) * launches


@pytest.mark.parametrize("markets", [1, 6, 7, 12, 20, 23])
@pytest.mark.parametrize("together", [1, 2, 100])
def test_facts_go_to_runs_of_entries_and_leave_the_others_alone(markets, together, monkeypatch):
    monkeypatch.setattr(facts, "_MARKETS_TOGETHER", 6 * together)
    rows = random_rows(15, markets, seed=markets)
    places = Runs(4, markets, 6, 18)
    found = {
        name: np.full((places.stop + 3, *shape), np.inf)
        for name, shape in fact_shapes(GROUPS).items()
    }
    again = CudaFacts(on_device(MeasuringGpu(), rows), GROUPS, 1, places).bring(found)
    own = {name: array[places.array()] for name, array in found.items()}
    assert_facts_of_the_reference((own, again), rows)
    others = np.ones(places.stop + 3, bool)
    others[places.array()] = False
    assert all((array[others] == np.inf).all() for array in found.values())


@pytest.mark.parametrize("markets", [1, PIECE, PIECE + 1, 3 * PIECE + 5])
@pytest.mark.parametrize("seldom", [1, 7])
def test_markets_to_make_anew_are_told_in_every_piece(markets, seldom):
    """Also in the last one, behind whose markets is whatever was in the memory before."""
    rows = random_rows(15, markets, seed=markets)
    wide = random_rows(15, markets, seed=1, scale=2**40, lots=2**58)
    for name in rows:
        rows[name][:, ::seldom] = wide[name][:, ::seldom]
    found = facts_on(MeasuringGpu(), rows)
    assert found[1][GROUPS.index("returns"), ::seldom].all()
    assert_facts_of_the_reference(found, rows)


@pytest.mark.parametrize("chosen", [[0], [6, 2, 2], range(7)])
@pytest.mark.parametrize("rows", [1, 40])
def test_columns_are_those_of_the_chosen_markets(chosen, rows):
    made = random_rows(rows, 7, seed=rows)
    gpu = MeasuringGpu()
    kept = on_device(gpu, made)
    before = gpu.held_nbytes
    found = read_columns(kept, ("volume", "best_ask"), np.array(chosen))
    assert list(found) == ["volume", "best_ask"]
    for name, columns in found.items():
        np.testing.assert_array_equal(columns, made[name][:, list(chosen)], err_msg=name)
    assert gpu.held_nbytes == before


def test_nothing_is_copied_any_longer_when_a_gpu_fails(monkeypatch):
    """Whoever has the arrays may let them go then."""
    rows = random_rows(15, 3 * PIECE, seed=2)
    gpu = MeasuringGpu()
    source = facts_source(gpu, rows, ("prices",))
    monkeypatch.setattr(facts, "_MARKETS_TOGETHER", PIECE)
    launches = len(gpu.launches)

    def fail(*given):
        if len(gpu.launches) > launches + 2:
            raise EngineError("the GPU failed")
        MeasuringGpu.launch(gpu, *given)

    monkeypatch.setattr(gpu, "launch", fail)
    with pytest.raises(EngineError, match="the GPU failed"):
        gather(source, ("prices",))
    assert gpu.rows_fetching == []


def test_arrays_that_a_gpu_cannot_copy_to_are_refused():
    source = facts_source(MeasuringGpu(), random_rows(15, 3), ("prices",))
    found = {name: np.zeros(6)[::2] for name in FACTS["prices"]}
    with pytest.raises(ParameterError, match=r"the array for \w+ must be contiguous"):
        source.bring(found)


def test_memory_of_sums_and_facts_is_given_back():
    gpu = MeasuringGpu()
    source = facts_source(gpu, random_rows(15, 3), GROUPS)
    before = gpu.held_nbytes
    gather(source, GROUPS)
    assert gpu.held_nbytes == before


def test_a_gpu_that_fails_is_told(monkeypatch):
    gpu = MeasuringGpu()
    source = facts_source(gpu, random_rows(15, 3), GROUPS)

    def refuse(nbytes):
        raise EngineError("no memory left")

    monkeypatch.setattr(gpu, "claim", refuse)
    with pytest.raises(EngineError, match="no memory left"):
        gather(source, GROUPS)
