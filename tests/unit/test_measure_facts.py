"""The compiled formulas of facts give the bytes of those that are written with arrays."""

import numpy as np
import pytest
from made_facts import UNWRITTEN, allocate_facts, make_facts_of
from measure_rows import CASES, constant_rows, random_rows

import bookwarp as bw
from bookwarp.engines.measure_protocol import compiled_facts, row_sums
from bookwarp.spec.exact_sums import exact_limits, exact_markets
from bookwarp.spec.measure_facts import FACTS, USES, blocks_of
from bookwarp.spec.measure_sums import LAGS, LENGTHS, sum_shapes

ALL = bw.measures.stylised_facts
GROUPS = tuple(FACTS)


def sums_of(rows, groups):
    """Return the sums of the blocks that some groups are made of, int64 [..., market]."""
    source = row_sums("cpu", rows, blocks_of(groups))
    return source.sums(0, source.markets)


def make(rows, groups, every=1):
    """Return compiled facts, [market, ...] by name, and where they are to be made anew."""
    found = allocate_facts(groups, rows["last"].shape[1])
    again = compiled_facts(sums_of(rows, groups), groups, len(rows["last"]), every, found)
    return found, again


def formulas_of(rows, group, every=1):
    """Return what the formulas with arrays make of a group, [market, ...], and of which markets."""
    sums = sums_of(rows, (group,))
    exact = exact_markets(sums, len(rows["last"]))
    kept = {name: np.where(exact, array, 0) for name, array in sums.items()}
    found = bw.measures.named(group).groups[0].formulas(kept, len(rows["last"]), every)
    return {name: np.moveaxis(array, -1, 0) for name, array in found.items()}, exact


def assert_same_bytes(rows, groups, every=1):
    found, again = make(rows, groups, every)
    assert again.dtype == bool
    for group, anew in zip(groups, again, strict=True):
        expected, exact = formulas_of(rows, group, every)
        np.testing.assert_array_equal(anew, ~exact, err_msg=group)
        for name, values in expected.items():
            assert found[name][exact].tobytes() == values[exact].tobytes(), name


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("case", CASES)
def test_compiled_facts_have_the_bytes_of_the_formulas(case, every):
    assert_same_bytes(CASES[case], GROUPS, every)


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("case", CASES)
def test_a_group_is_made_alone(case, group):
    assert_same_bytes(CASES[case], (group,))


def test_groups_are_told_apart_in_the_order_that_they_are_asked_for():
    rows = CASES["lots that overflow"]
    assert_same_bytes(rows, ("spread", "volume", "prices"))
    _, again = make(rows, ("spread", "volume", "prices"))
    assert again.any(axis=1).tolist() == [True, True, False]


@pytest.mark.parametrize("count", range(1, 61))
def test_however_few_rows_there_are(count):
    """What horizons, lags, windows and tails are left is told by the rows alone."""
    assert_same_bytes(random_rows(count, 3, seed=count, scale=1 + count % 7), GROUPS)


@pytest.mark.parametrize("scale", [1, 40, 1000])
@pytest.mark.parametrize("count", [61, 500, 1201])
def test_many_markets_of_many_rows(count, scale):
    """Correlations of more markets than are made at once, some of which never change."""
    rows = random_rows(count, 150, seed=count + scale, scale=scale)
    rows["last"][:, 3] = 7
    rows["last"][1:, 5] = rows["last"][1, 5]
    rows["last"][:, 140] = np.arange(count)
    assert_same_bytes(rows, GROUPS)
    found, _ = make(rows, GROUPS)
    assert (found["acf_returns"][[3, 140]] == 0).all()
    assert (found["acf_returns"][:3] != 0).any()


@pytest.mark.parametrize("count", [61, 500])
def test_prices_that_drift_by_parts_of_a_tick(count):
    """Means far from whole numbers: every term of the formulas counts."""
    rows = random_rows(count, 150, seed=count)
    rises = np.random.default_rng(count).random((count, 150)) < np.linspace(0, 1, 150)
    rows["last"] = np.cumsum(rises, axis=0)
    assert_same_bytes(rows, GROUPS)


@pytest.mark.parametrize("groups", [GROUPS, ("memory", "prices")])
def test_some_markets_in_the_middle_of_larger_arrays(groups):
    rows = random_rows(80, 90, seed=1, scale=9)
    sums, whole = sums_of(rows, groups), make(rows, groups)[0]
    found = allocate_facts(groups, 90)
    part = {name: array[..., 20:50] for name, array in sums.items()}
    compiled_facts(part, groups, 80, 1, {name: array[20:50] for name, array in found.items()})
    for name, values in found.items():
        assert values[20:50].tobytes() == whole[name][20:50].tobytes(), name
        assert (values[:20] == UNWRITTEN).all(), name
        assert (values[50:] == UNWRITTEN).all(), name


@pytest.mark.parametrize("case", CASES)
def test_what_is_not_a_number_is_the_same_one_everywhere(case):
    """NaN has a sign and a payload, which bytes show."""
    _, facts = make_facts_of(CASES[case], ALL)
    for name, values in facts.items():
        nans = values[np.isnan(values)].view(np.int64)
        assert (nans == np.array(np.nan).view(np.int64)).all(), name


@pytest.mark.parametrize("extreme", [2**63 - 1, -(2**63), -1])
@pytest.mark.parametrize("rows", [1, 2, 53, 500])
def test_sums_that_say_nothing_do_no_harm(rows, extreme):
    """They are made anew: whatever stands there before is the machine's."""
    shapes = sum_shapes(blocks_of(GROUPS))
    sums = {name: np.full((*shape, 70), extreme, np.int64) for name, shape in shapes.items()}
    for name in sums:
        if name.endswith("_most"):
            sums[name][:] = 2**63 - 1
    again = compiled_facts(sums, GROUPS, rows, 1, allocate_facts(GROUPS, 70))
    anew = dict(zip(GROUPS, again.all(axis=1), strict=True))
    assert all(anew[group] for group in ("returns", "memory", "clustering", "volume", "spread"))


def limit_cases():
    """Yield (group, sum, place in it, its limit) of whatever tells whether facts are exact."""
    limits = exact_limits(200)
    for group in ("returns", "memory", "clustering", "volume"):
        for place, limit in enumerate(limits.returns):
            narrow = place == 0 and group == "clustering"
            yield group, "return_most", place, limits.window if narrow else limit
    yield "volume", "lots_most", ..., limits.square
    yield "spread", "spread_most", ..., limits.square
    yield "spread", "bid_lots_most", ..., limits.depth
    yield "spread", "ask_lots_most", ..., limits.depth
    yield "prices", "price_high", ..., limits.square
    yield "prices", "price_low", ..., -limits.square


@pytest.mark.parametrize("group, name, place, limit", list(limit_cases()))
def test_facts_are_made_anew_from_the_first_value_that_is_too_large(group, name, place, limit):
    sums = sums_of(constant_rows(200, 2, price=0), (group,))
    sums[name][place] = [limit, limit + (1 if limit > 0 else -1)]
    again = compiled_facts(sums, (group,), 200, 1, allocate_facts((group,), 2))
    assert again.tolist() == [[False, True]]
    assert (~exact_markets(sums, 200)).tolist() == [False, True]


def test_facts_are_told_as_the_measures_give_them():
    """Names, order and dimensions: engines lay out memory by the specification."""
    outputs = {group.name: group.outputs for group in ALL.groups}
    assert list(outputs) == list(FACTS) == list(USES)
    for group, facts in FACTS.items():
        assert list(outputs[group]) == list(facts)
        for name, dims in facts.items():
            assert outputs[group][name].dims == dims, name
            assert outputs[group][name].shape == tuple(LENGTHS[dim] for dim in dims), name
    assert LENGTHS["lag"] == LAGS
