"""Every engine held against the reference: every array, every row, the digest."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parity_cases import CASES, build, everything

from bookwarp.engines.registry import engine_class
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.state import opening_state
from bookwarp.testing.parity import assert_engines_agree
from bookwarp.testing.strategies import runs

EXAMPLES = 10 * settings.default.max_examples


@settings(max_examples=EXAMPLES)
@given(runs(max_steps=40), st.sampled_from((1, 2, 7)))
def test_engines_agree_on_ensembles_drawn_at_random(fast_engine, case, threads):
    assert_engines_agree(
        case.auction, case.steps, case.plan, ("reference", fast_engine), threads=threads
    )


@pytest.mark.parametrize("case", CASES, ids=str)
def test_engines_agree(fast_engine, case):
    case.check(fast_engine)


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("markets", [1, 2, 13])
def test_engines_agree_for_any_number_of_threads(fast_engine, markets, threads):
    auction, steps = build("fixed", "default", "all", markets=markets)
    plan = everything(auction)
    assert_engines_agree(auction, steps, plan, ("reference", fast_engine), threads=threads)


def test_engine_leaves_the_state_that_it_was_given_and_that_it_gave(engine):
    auction, _ = build("following", "default", "runaway")
    given_state = opening_state(auction)
    running = engine_class(engine)(auction, RecordPlan())
    running.write_state(given_state)
    read = running.read_state()
    running.run(20, {})
    assert given_state.digest() == opening_state(auction).digest() == read.digest()
    assert running.read_state().digest() != read.digest()


def test_engine_runs_no_steps_without_a_change(engine):
    auction, _ = build("following", "default", "all")
    running = engine_class(engine)(auction, everything(auction))
    running.run(0, everything(auction).allocate(auction, 0))
    assert running.read_state().digest() == opening_state(auction).digest()
