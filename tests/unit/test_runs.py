"""Numbers in runs, and how markets are dealt to devices by them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwarp.spec.errors import ParameterError
from bookwarp.spec.runs import Runs
from bookwarp.sweeping import markets
from bookwarp.sweeping.markets import as_array, cut_evenly, deal, pick


@st.composite
def runs(draw):
    run = draw(st.integers(1, 5))
    return Runs(
        first=draw(st.integers(0, 9)),
        count=draw(st.integers(0, 23)),
        run=run,
        apart=run + draw(st.integers(0, 4)),
    )


def plain(runs):
    return [
        runs.first + place // runs.run * runs.apart + place % runs.run
        for place in range(runs.count)
    ]


@given(runs())
def test_numbers_are_those_of_the_definition(runs):
    assert runs.array().tolist() == plain(runs)
    assert runs.array().dtype == np.int64
    assert len(runs) == runs.count
    assert [runs.at(place) for place in range(runs.count)] == plain(runs)
    assert runs.stop == (plain(runs)[-1] + 1 if runs.count else runs.first)
    follow = not runs.count or plain(runs) == list(range(runs.first, runs.stop))
    assert runs.is_one == follow or (runs.count and follow)
    assert np.arange(99)[runs.index].tolist() == plain(runs)
    assert isinstance(runs.index, slice) == runs.is_one


@given(runs(), st.data())
def test_numbers_between_two_places_are_those_of_the_definition(runs, data):
    first = data.draw(st.integers(0, runs.count))
    stop = data.draw(st.integers(first, runs.count))
    parts = list(runs.between(first, stop))
    assert len(parts) <= 2
    assert [number for part in parts for number in plain(part)] == plain(runs)[first:stop]


@given(runs(), st.sampled_from([(), (3,)]))
def test_views_are_the_entries_in_their_order(runs, more):
    array = np.arange(99 * 3).reshape(33 * 3, 3) if more else np.arange(99)
    expected = array[plain(runs)]
    seen = 0
    for before, view in runs.views(array):
        assert before == seen
        entries = view.reshape(-1, *more)
        assert all(row.flags.c_contiguous for row in view)
        np.testing.assert_array_equal(entries, expected[seen : seen + len(entries)])
        seen += len(entries)
        view[...] = -1
    assert seen == runs.count
    assert (array[plain(runs)] == -1).all()
    assert np.count_nonzero(array == -1) == expected.size


def test_entries_behind_an_array_are_refused():
    (view,) = Runs(1, 4, 2, 4).views(np.zeros(7))
    assert view[1].shape == (2, 2)
    with pytest.raises(IndexError, match="entry 6 of an array of 6"):
        list(Runs(1, 4, 2, 4).views(np.zeros(6)))


def test_one_run_may_be_cut_into_runs_of_any_length_and_others_not():
    assert plain(Runs.one(3, 10).in_runs_of(2)) == list(range(3, 10))
    assert plain(Runs(1, 5, 2, 4).in_runs_of(2)) == [1, 2, 5, 6, 9]
    with pytest.raises(ParameterError, match="runs of 2 numbers are no runs of 3"):
        Runs(1, 5, 2, 4).in_runs_of(3)


@pytest.mark.parametrize(
    "given, said",
    [
        ((-1, 4, 2, 4), "first = -1 is less than 0"),
        ((0, -1, 2, 4), "count = -1 is less than 0"),
        ((0, 4, 0, 4), "run = 0 is less than 1"),
        ((0, 4, 3, 2), "apart = 2 is less than 3"),
    ],
)
def test_numbers_that_cannot_be_are_refused(given, said):
    with pytest.raises(ParameterError, match=said):
        Runs(*given)


@pytest.mark.parametrize("parts", [2, 3, 8])
@pytest.mark.parametrize("count", [1024, 5000, 57_600, 640_000, 640_001, 639_999])
def test_every_part_gets_runs_from_all_over(count, parts):
    dealt = deal(Runs.one(7, 7 + count), parts, count, 1)
    numbers = np.concatenate([as_array(part) for part in dealt])
    assert np.array_equal(np.sort(numbers), np.arange(7, 7 + count))
    sizes = [len(part) for part in dealt]
    assert max(sizes) <= 1.03 * count / parts
    if count < 512 * parts:
        assert all(part.is_one for part in dealt)
        return
    for part in dealt:
        # Of work that grows from the first number to the last, about as much as every other.
        assert part.run % 32 == 0
        assert 32 <= part.run <= 8192
        assert abs(as_array(part).mean() / (7 + count / 2) - 1) < 0.05


def test_the_longest_of_the_runs_that_make_the_parts_equal_is_taken():
    assert deal(Runs.one(0, 640_000), 2, 640_000, 64) == [
        Runs(0, 320_000, 8000, 16_000),
        Runs(8000, 320_000, 8000, 16_000),
    ]


@pytest.mark.parametrize(
    "count, replicas, unit",
    [(640_000, 64, 64), (640_000, 100, 800), (57_344, 7, 224), (1554, 111, 32)],
)
def test_replicas_stay_together_where_that_leaves_runs_enough(count, replicas, unit):
    one, other = deal(Runs.one(0, count), 2, count, replicas)
    assert one.run == other.run < one.apart
    assert one.run % unit == 0


def test_parts_of_neighbours_are_made_where_a_part_would_be_too_large():
    """As the last run of 5001 numbers, which is shorter, makes one part larger than the other."""
    numbers = Runs.one(0, 5001)
    largest = max(map(len, deal(numbers, 2, 5001, 1)))
    assert largest > 2501
    assert deal(numbers, 2, largest - 1, 1) == cut_evenly(numbers, 2)


def test_numbers_that_are_no_runs_are_dealt_too(monkeypatch):
    monkeypatch.setattr(markets, "_SHORTEST_RUN", 2)
    monkeypatch.setattr(markets, "_RUNS_EACH", 2)
    numbers = np.array([0, 1, 4, 5, 8, 9, 12, 13])
    assert [part.tolist() for part in deal(numbers, 2, 8, 1)] == [[0, 1, 8, 9], [4, 5, 12, 13]]


def test_numbers_at_places_are_runs_where_none_is_left_out():
    assert pick(Runs.one(5, 9), Runs(0, 3, 1, 2)) == Runs(5, 3, 1, 2)
    assert pick(np.array([1, 2, 3, 7]), np.array([1, 2])) == Runs.one(2, 4)
    assert pick(np.array([1, 2, 3, 7]), Runs.one(2, 4)).tolist() == [3, 7]
    assert pick(Runs(0, 6, 2, 4), Runs.one(1, 4)).tolist() == [1, 4, 5]
