"""The kernels of measures, run by emulated warps, sum what the reference sums.

A part of what tests/device asks of a GPU, for machines without one.
"""

import numpy as np
import pytest
from emulated_kernels import needs_compiler
from emulated_measures import MeasuringGpu, gather, on_device, play_kernels
from measure_rows import BLOCKS, CASES, assert_same_sums, random_rows, reference_sums

from bookwarp.engines.cuda.measures import sums
from bookwarp.engines.cuda.measures.columns import read_columns
from bookwarp.engines.cuda.measures.layout import entries_of
from bookwarp.engines.cuda.measures.sums import CudaSums
from bookwarp.spec.errors import EngineError
from bookwarp.spec.measure_sums import SUMS, sum_shapes

pytestmark = needs_compiler

PIECE = 32


@pytest.fixture(autouse=True)
def kernels(monkeypatch):
    """Play the kernels, with pieces so small that a few markets fill more than one."""
    monkeypatch.setattr(sums, "MOST_MARKETS", PIECE)
    play_kernels(monkeypatch)


@pytest.mark.parametrize("case", CASES)
def test_sums_are_those_of_the_reference(case):
    rows = CASES[case]
    found = gather(CudaSums(on_device(MeasuringGpu(), rows), BLOCKS))
    assert_same_sums(found, reference_sums(rows), len(rows["last"]))


@pytest.mark.parametrize("block", SUMS)
def test_a_block_is_summed_alone(block):
    rows = random_rows(60, 5, seed=1)
    found = gather(CudaSums(on_device(MeasuringGpu(), rows), (block,)))
    expected = reference_sums(rows, (block,))
    assert list(found) == list(sum_shapes((block,)))
    for name, values in found.items():
        np.testing.assert_array_equal(values, expected[name].astype(np.int64), err_msg=name)


@pytest.mark.parametrize("markets", [1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 5 * PIECE + 7])
@pytest.mark.parametrize("pieces_of_memory", [1, 2, 100])
def test_markets_come_in_pieces_and_launches(markets, pieces_of_memory):
    """However little memory there is for sums, all of them come, in their order."""
    rows = random_rows(15, markets, seed=markets)
    gpu = MeasuringGpu()
    source = CudaSums(on_device(gpu, rows), BLOCKS)
    gpu.free = sums._SHARE_OF_FREE * pieces_of_memory * entries_of(BLOCKS) * PIECE * 8
    found = gather(source)
    assert_same_sums(found, reference_sums(rows), 15)
    launches = -(-markets // (pieces_of_memory * PIECE))
    assert len(gpu.launches) == len(BLOCKS) * launches


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


def test_memory_of_sums_is_given_back():
    gpu = MeasuringGpu()
    rows = on_device(gpu, random_rows(15, 3))
    before = gpu.held_nbytes
    gather(CudaSums(rows, BLOCKS))
    assert gpu.held_nbytes == before


def test_a_gpu_that_fails_is_told(monkeypatch):
    gpu = MeasuringGpu()
    rows = on_device(gpu, random_rows(15, 3))

    def refuse(nbytes):
        raise EngineError("no memory left")

    monkeypatch.setattr(gpu, "claim", refuse)
    with pytest.raises(EngineError, match="no memory left"):
        gather(CudaSums(rows, BLOCKS))
