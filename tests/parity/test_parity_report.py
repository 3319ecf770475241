"""What is said when two engines differ: the first step, the market, the array, the values."""

import re

import pytest

from bookwarp.reference.engine import ReferenceEngine
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan
from bookwarp.testing.parity import assert_engines_agree, find_difference

AUCTION = CallAuction.of(3, agents=9, levels=16)
PLAN = RecordPlan.of(AUCTION, ("last", "volume", "book"), every=2, book_markets=[0, 2])


class WrongBook(ReferenceEngine):
    """Loses a lot of market 2 in step 5."""

    def run(self, steps, rows):
        before = self.read_state().step
        super().run(steps, rows)
        if before <= 5 < before + steps:
            state = self.read_state()
            state.ask[2, 3] += 1
            self.write_state(state)


class WrongRow(ReferenceEngine):
    """Records too much volume of market 1 after step 7."""

    def run(self, steps, rows):
        before = self.read_state().step
        super().run(steps, rows)
        if before <= 7 < before + steps:
            rows["volume"][7 // 2 - before // 2, 1] += 5


class WrongBookRow(ReferenceEngine):
    """Records a wrong book of market 2."""

    def run(self, steps, rows):
        super().run(steps, rows)
        rows["book_bid"][:, 1, 4] -= 1


class WrongInOneGo(ReferenceEngine):
    """Forgets a trade when it runs more than one step."""

    def run(self, steps, rows):
        super().run(steps, rows)
        if steps > 1:
            state = self.read_state()
            state.trades[0] -= 1
            self.write_state(state)


class WrongStepCount(ReferenceEngine):
    """Counts a step too many."""

    def read_state(self):
        state = super().read_state()
        state.step += 1
        return state


def report(engine, steps=12):
    with pytest.raises(AssertionError) as caught:
        assert_engines_agree(AUCTION, steps, PLAN, ("reference", engine))
    return str(caught.value)


def test_first_step_market_array_and_values_are_named():
    pattern = (
        r"reference and WrongBook part at step 5, ask\[market 2, level 3\]: (\d+) and (\d+) "
        r"\(1 of 48 differ\)"
    )
    values = re.fullmatch(pattern, report(WrongBook)).groups()
    assert int(values[1]) == int(values[0]) + 1


def test_difference_in_a_recorded_row_alone_is_found():
    pattern = (
        r"reference and WrongRow part at step 7, record volume\[row 0, market 1\]: (\d+) and (\d+) "
        r"\(1 of 3 differ\)"
    )
    values = re.fullmatch(pattern, report(WrongRow)).groups()
    assert int(values[1]) == int(values[0]) + 5


def test_difference_in_a_recorded_book_names_the_place_of_the_chosen_market():
    message = report(WrongBookRow)
    assert "part at step 1, record book_bid[row 0, chosen market 1, level 4]: " in message


def test_difference_that_depends_on_the_cut_is_reported_as_such():
    message = report(WrongInOneGo)
    assert "agree step by step, but not in one go of 12 steps: trades[market 0]: " in message


def test_steps_done_are_compared():
    assert "part at step 0, steps done: 1 and 2" in report(WrongStepCount)


def test_engines_that_agree_return_the_state():
    state = assert_engines_agree(AUCTION, 12, PLAN, ("reference", ReferenceEngine))
    assert state.step == 12


def test_arrays_of_another_type_or_shape_differ():
    state = ReferenceEngine(AUCTION, RecordPlan()).read_state()
    other = state.copy()
    other.volume = other.volume.astype("int32")
    assert find_difference(state, {}, other, {}) == "volume: int64 (3,) and int32 (3,)"
    other = state.copy()
    other.last = other.last[:2]
    assert find_difference(state, {}, other, {}) == "last: int64 (3,) and int64 (2,)"
