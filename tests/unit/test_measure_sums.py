"""The sums that measures are made of are those of the reference, in every bit, on every engine."""

import numpy as np
import pytest
from measure_rows import (
    BLOCKS,
    CASES,
    assert_same_sums,
    constant_rows,
    random_rows,
    reference_sums,
    series_of,
)

from bookwarp.engines.measure_protocol import row_sums
from bookwarp.spec.exact_sums import exact_markets, fourth_power_limit, square_limit
from bookwarp.spec.measure_sums import LOG_BITS, READS, SUMS, binary_log, sum_shapes


@pytest.mark.parametrize("case", CASES)
def test_sums_on_cores_are_those_of_the_reference(case):
    rows = CASES[case]
    source = row_sums("cpu", rows, BLOCKS)
    found = source.sums(0, source.markets)
    assert_same_sums(found, reference_sums(rows), len(rows["last"]))


@pytest.mark.parametrize("block", SUMS)
def test_a_block_reads_its_own_series_and_gives_its_own_sums(block):
    rows = random_rows(70, 11, seed=1)
    source = row_sums("cpu", series_of(rows, (block,)), (block,))
    found = source.sums(2, 11)
    expected = reference_sums(rows, (block,))
    assert list(found) == list(sum_shapes((block,))) == list(expected)
    for name, values in found.items():
        np.testing.assert_array_equal(values, expected[name][..., 2:].astype(np.int64))


@pytest.mark.parametrize("rows", [2, 9, 150])
@pytest.mark.parametrize("change", [1, 242, 243, 645, 646, 700, 1290, 1291, 5000])
def test_sums_of_memory_are_right_on_both_sides_of_32_bits(rows, change):
    """Products are made in 32 bits where all fit: here every return is as large as it can be."""
    made = constant_rows(rows, 4)
    made["last"][:, 0] = change * np.arange(rows)
    made["last"][:, 1] = -change * np.arange(rows)
    made["last"][:, 2] = change * (np.arange(rows) % 2)
    source = row_sums("cpu", made, ("returns", "memory"))
    expected = reference_sums(made, ("returns", "memory"))
    assert_same_sums(source.sums(0, 4), expected, rows, ("returns", "memory"))


def test_reference_gives_python_integers_of_the_shapes_that_are_told():
    for case, rows in CASES.items():
        markets = rows["last"].shape[1]
        for name, values in reference_sums(rows).items():
            assert values.shape == (*sum_shapes(BLOCKS)[name], markets), case
            assert all(type(value) is int for value in values.ravel()), (case, name)


def test_reference_is_what_a_hand_makes_of_six_prices():
    rows = constant_rows(6, 1)
    rows["last"][:, 0] = [10, 12, 11, 11, 8, 9]  # returns 2, -1, 0, -3, 1
    rows["volume"][:, 0] = [5, 0, 7, 1, 0, 2]
    found = {name: values[..., 0].tolist() for name, values in reference_sums(rows).items()}
    assert (found["price_first"], found["price_low"], found["price_high"]) == (10, 8, 12)
    assert (found["price_moved"], found["price_moved_square"]) == (1, 4 + 1 + 1 + 4 + 1)
    assert (found["drawdown"], found["drawup"]) == (4, 2)
    assert found["return_sum"] == [-1, 1 - 1 - 3 - 2, -1, 0, 0, 0]
    assert found["return_square"] == [15, 1 + 1 + 9 + 4, 1, 0, 0, 0]
    assert found["return_cube"][0] == 8 - 1 - 27 + 1
    assert found["return_fourth"][0] == 16 + 1 + 81 + 1
    assert found["return_most"] == [3, 3, 1, 0, 0, 0]
    assert found["return_abs"] == 7
    assert found["lag_product"][:5] == [-2 - 3, 3, -6 + -1, 2, 0]
    assert found["lag_abs_product"][:5] == [2 + 3, 3, 6 + 1, 2, 0]
    assert found["lag_square_product"][:5] == [2 - 3, -9, 18 - 1, 2, 0]
    assert found["head"][:6] == [2, -1, 0, -3, 1, 0]
    assert found["foot"][:6] == [1, -3, 0, -1, 2, 0]
    assert (found["lots"], found["lots_first"], found["lots_most"]) == (15, 5, 7)
    assert (found["lots_square"], found["traded"]) == (25 + 49 + 1 + 4, 4)
    assert found["lots_by_return"] == 0 * 2 + 7 * 1 + 1 * 0 + 0 * 3 + 2 * 1
    assert (found["tail_start"], found["tail_log"]) == (3, 0)
    assert (found["two_sided"], found["spread"], found["spread_most"]) == (6, 6, 1)


def test_tail_is_the_largest_twentieth():
    rows = constant_rows(41, 1)
    sizes = np.array([4, 9, 16, *[1] * 37])
    rows["last"][1:, 0] = 64 + np.cumsum(sizes * np.where(np.arange(40) % 2, -1, 1))
    found = reference_sums(rows, ("tail",))
    assert found["tail_start"][0] == 4
    assert found["tail_log"][0] == binary_log(16) + binary_log(9) - 2 * binary_log(4)


def test_windows_are_of_ten_returns():
    rows = constant_rows(22, 1)  # two windows and one return more
    changes = np.array([1] * 10 + [-2] * 5 + [2] * 5 + [7])
    rows["last"][1:, 0] = 64 + np.cumsum(changes)
    found = {n: v[0] for n, v in reference_sums(rows, ("windows",)).items()}
    assert (found["net"], found["net_abs"], found["net_square"]) == (10, 10, 100)
    assert (found["path"], found["path_square"]) == (30, 100 + 400)
    assert (found["energy"], found["energy_square"]) == (10 + 40, 100 + 1600)
    assert (found["net_energy"], found["coarse_to_fine"], found["fine_to_coarse"]) == (100, 200, 0)
    assert (found["net_abs_first"], found["net_abs_last"]) == (10, 0)
    assert (found["path_first"], found["path_last"]) == (10, 20)


@pytest.mark.parametrize("value", [1, 2, 3, 255, 256, 10**6, 2**31, 2**32 + 1, 2**62, 2**63 - 1])
def test_logarithms_by_integers_are_close_and_never_too_large(value):
    found = binary_log(value)
    exact = np.log2(np.longdouble(value)) * 2**LOG_BITS
    assert -1.1 < found - exact < 1e-3


def test_logarithms_never_fall():
    found = [binary_log(value) for value in range(1, 5000)]
    assert found == sorted(found)
    assert [binary_log(2**power) for power in range(62)] == [p << LOG_BITS for p in range(62)]


def test_bounds_are_the_largest_values_that_fit():
    for count in (1, 2, 999, 10**6, 2**32):
        for limit, power in ((square_limit(count), 2), (fourth_power_limit(count), 4)):
            assert count * (2 * limit) ** power < 2**63 <= count * (2 * (limit + 1)) ** power


@pytest.mark.parametrize("block", SUMS)
def test_sums_that_are_told_to_be_exact_fit(block):
    """Whatever is declared exact is the number of the reference and not one modulo 2**64."""
    bases = {"memory": ("returns",), "windows": ("returns",), "volume": ("returns",)}
    blocks = (*bases.get(block, ()), block)
    for case, rows in CASES.items():
        expected = reference_sums(rows, blocks)
        exact = exact_markets(expected, len(rows["last"]))
        for name, values in expected.items():
            if exact.any():
                assert abs(values[..., exact]).max() < 2**63, (case, name)


def test_reads_are_series_that_blocks_have():
    assert READS.keys() == SUMS.keys()
