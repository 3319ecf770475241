"""Who is right: every contender is compared before it is timed."""

from functools import lru_cache
from typing import Any

import numpy as np
from cases import Case
from contender import Contender, Outcome, call_auction
from contenders import CONTENDERS

from bookwarp.reference.engine import ReferenceEngine
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.state import State

_DEVIATIONS = 4.0
"""Standard errors by which two means over markets may differ by chance."""


class ParityError(Exception):
    """A contender computes something else than the reference."""


def check_small(contender: Contender, case: Case) -> str:
    """Compare a contender with the reference on a small version of the case.

    Returns:
        A sentence that says what was compared.

    Raises:
        ParityError: they differ.
    """
    if not contender.same_draws:
        return check_means(contender, case)
    small = case.small()
    found = _state(contender.run(small, small.steps)).digest()
    wanted = _state(CONTENDERS["reference"].run(small, small.steps)).digest()
    if found != wanted:
        raise ParityError(f"{case.name}: {contender.name} {found} differs from reference {wanted}")
    return f"digest equals the reference's: {small.markets} markets, {small.steps} steps"


def check_sample(contender: Contender, case: Case, state: State) -> str:
    """Compare three markets of the case itself, after all of its steps, with the reference.

    Markets do not touch each other, so the reference runs these three alone.
    """
    rows = np.unique([0, case.markets // 2, case.markets - 1])
    wanted = _alone(_Same(case), tuple(rows.tolist()), state.step)
    found = State(state.step, **{name: array[rows] for name, array in state.arrays().items()})
    if found.digest() != wanted.digest():
        raise ParityError(f"{case.name}: {contender.name} differs from the reference in {rows}")
    return f"{len(rows)} whole markets equal the reference's, {state.step} steps"


def check_means(contender: Contender, case: Case) -> str:
    """Compare a baseline's mean volume and mean price with those of the cpu engine.

    256 markets at least, over the steps that the baseline is timed over, at most 100. Four
    standard errors are below 0.2 % of the volume from some thousand markets on.
    """
    wide = Case(case.name, max(case.markets, 256), case.agents, case.levels, case.steps, case.seed)
    steps = min(contender.steps(case), 100)
    found, wanted = contender.run(wide, steps), CONTENDERS["cpu"].run(wide, steps)
    volume = _deviation(found.volume, wanted.volume)
    price = _deviation(found.mean_price, wanted.mean_price)
    if max(abs(volume), abs(price)) > _DEVIATIONS:
        raise ParityError(
            f"{case.name}: {contender.name} is {volume:+.1f} standard errors from the cpu engine "
            f"in volume and {price:+.1f} in price"
        )
    off = _percent(found.volume, wanted.volume), _percent(found.mean_price, wanted.mean_price)
    return (
        f"mean volume {volume:+.1f} and mean price {price:+.1f} standard errors ({', '.join(off)}) "
        f"from the cpu engine's, {wide.markets} markets, {steps} steps"
    )


class _Same:
    """A case as a key: cases hold mappings, and so have no hash of their own."""

    def __init__(self, case: Case) -> None:
        self.case = case

    def __hash__(self) -> int:
        return hash(self.case.name)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, _Same) and self.case == other.case


@lru_cache(maxsize=2)
def _alone(key: _Same, rows: tuple[int, ...], steps: int) -> State:
    """Return the state of a few markets that the reference runs alone.

    Kept: the contenders of a case are compared with the same markets.
    """
    engine = ReferenceEngine(call_auction(key.case).subset(np.array(rows)), RecordPlan())
    engine.run(steps, {})
    return engine.read_state()


def _deviation(found: np.ndarray, wanted: np.ndarray) -> float:
    """Return the difference of two means over markets, in its standard errors."""
    error = np.sqrt((found.var(ddof=1) + wanted.var(ddof=1)) / len(found))
    return float((found.mean() - wanted.mean()) / error) if error > 0 else 0.0


def _percent(found: np.ndarray, wanted: np.ndarray) -> str:
    return f"{100 * (found.mean() / wanted.mean() - 1):+.3f} %"


def _state(outcome: Outcome) -> State:
    assert outcome.state is not None
    return outcome.state
