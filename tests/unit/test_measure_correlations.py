"""Correlations over lags: the compiled form gives the bits of the formula with whole arrays."""

import numpy as np
import pytest
from measure_rows import random_rows

from bookwarp.engines.measure_protocol import LagSums, lag_correlations, row_sums
from bookwarp.measures.memory_facts import correlate_lags
from bookwarp.spec.measure_sums import LAGS

BLOCKS = ("returns", "memory")


def lag_sums(rows, lags):
    found = row_sums("reference", rows, BLOCKS).sums(0, rows["last"].shape[1])
    found = {name: array.astype(np.int64) for name, array in found.items()}
    names = ("head", "foot", "lag_product", "lag_abs_product", "lag_square_product")
    head, foot, *products = (found[name][:lags] for name in names)
    powers = (found["return_sum"][0], found["return_abs"])
    powers += (found["return_square"][0], found["return_fourth"][0])
    return LagSums(head, foot, *powers, *products)


@pytest.mark.parametrize("count", [4, 30, 61, 500])
@pytest.mark.parametrize("scale", [1, 40, 1000])
def test_every_bit_is_that_of_the_formula(count, scale):
    rows = random_rows(count, 200, seed=count + scale, scale=scale)
    rows["last"][:, 3] = 7  # never changes
    rows["last"][1:, 5] = rows["last"][1, 5]  # changes once
    sums = lag_sums(rows, min(LAGS, count - 3))
    expected = correlate_lags(sums, count - 1)
    found = lag_correlations(sums, count - 1)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one.view(np.int64), other.view(np.int64))
    assert (found[0][:, 3] == 0).all()
    assert (found[0][:, :3] != 0).any()


def test_parts_of_larger_arrays_are_read_as_they_lie():
    rows = random_rows(80, 90, seed=1, scale=9)
    sums = lag_sums(rows, LAGS)
    whole = lag_correlations(sums, 79)
    part = lag_correlations(LagSums(*(array[..., 20:50] for array in sums)), 79)
    for one, other in zip(whole, part, strict=True):
        np.testing.assert_array_equal(one[:, 20:50], other)
