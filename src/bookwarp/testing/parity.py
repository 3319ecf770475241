"""Engines compared to the last bit, and the first step at which two of them part."""

from collections.abc import Sequence

import numpy as np

from bookwarp.engines.protocol import Engine
from bookwarp.engines.registry import engine_class
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.state import State

DEFAULT_ENGINES = ("reference", "cpu")

EngineLike = str | type[Engine]


def assert_engines_agree(
    auction: CallAuction,
    steps: int,
    plan: RecordPlan | None = None,
    engines: Sequence[EngineLike] = DEFAULT_ENGINES,
    *,
    threads: int | None = None,
) -> State:
    """Run an ensemble on several engines and compare every array, every row and the digest.

    Args:
        auction: the ensemble.
        steps: steps to run, in one go.
        plan: what to record; nothing if None.
        engines: names of the registry, or engine classes; each is compared with the first.
        threads: threads of each engine.

    Returns:
        The state after the run.

    Raises:
        AssertionError: naming the first step that differs, the market, the array, the index and
            both values. The steps are replayed one by one to find it.
    """
    plan = plan or RecordPlan()
    oracle, *others = engines
    expected = _run(oracle, auction, steps, plan, threads)
    for other in others:
        found = _run(other, auction, steps, plan, threads)
        difference = find_difference(*expected, *found)
        if difference is not None:
            where = _replay(oracle, other, auction, steps, plan, threads)
            names = f"{_name(oracle)} and {_name(other)}"
            raise AssertionError(
                f"{names} part at {where}"
                if where
                else f"{names} agree step by step, but not in one go of {steps} steps: {difference}"
            )
        digests = expected[0].digest(), found[0].digest()
        assert digests[0] == digests[1], f"equal states have different digests: {digests}"
    return expected[0]


def find_difference(
    state: State,
    rows: dict[str, np.ndarray],
    other_state: State,
    other_rows: dict[str, np.ndarray],
) -> str | None:
    """Return a sentence on the first value that differs, or None if nothing does."""
    if state.step != other_state.step:
        return f"steps done: {state.step} and {other_state.step}"
    for name, array in state.arrays().items():
        found = _compare_arrays(name, array, other_state.arrays()[name], ("market", "level"))
        if found:
            return found
    for name in rows:
        dims = ("row", "chosen market", "level") if rows[name].ndim == 3 else ("row", "market")
        found = _compare_arrays(f"record {name}", rows[name], other_rows[name], dims)
        if found:
            return found
    return None


def _compare_arrays(
    name: str, one: np.ndarray, other: np.ndarray, dims: tuple[str, ...]
) -> str | None:
    if (one.shape, one.dtype) != (other.shape, other.dtype):
        return f"{name}: {one.dtype} {one.shape} and {other.dtype} {other.shape}"
    wrong = np.argwhere(one != other)
    if not len(wrong):
        return None
    at = tuple(int(index) for index in wrong[0])
    place = ", ".join(f"{dim} {index}" for dim, index in zip(dims, at, strict=False))
    return f"{name}[{place}]: {one[at]} and {other[at]} ({len(wrong)} of {one.size} differ)"


def _run(
    engine: EngineLike, auction: CallAuction, steps: int, plan: RecordPlan, threads: int | None
) -> tuple[State, dict[str, np.ndarray]]:
    running = _make(engine, auction, plan, threads)
    rows = plan.allocate(auction, plan.rows(0, steps))
    running.run(steps, rows)
    return running.read_state(), rows


def _replay(
    oracle: EngineLike,
    other: EngineLike,
    auction: CallAuction,
    steps: int,
    plan: RecordPlan,
    threads: int | None,
) -> str | None:
    """Run both engines one step at a time until they differ."""
    pair = [_make(engine, auction, plan, threads) for engine in (oracle, other)]
    for step in range(steps):
        done = []
        for running in pair:
            rows = plan.allocate(auction, plan.rows(step, step + 1))
            running.run(1, rows)
            done.append((running.read_state(), rows))
        difference = find_difference(*done[0], *done[1])
        if difference is not None:
            return f"step {step}, {difference}"
    return None


def _make(
    engine: EngineLike, auction: CallAuction, plan: RecordPlan, threads: int | None
) -> Engine:
    made = engine_class(engine) if isinstance(engine, str) else engine
    return made(auction, plan, threads)


def _name(engine: EngineLike) -> str:
    return engine if isinstance(engine, str) else engine.__name__
