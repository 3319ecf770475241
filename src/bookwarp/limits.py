"""What a run may take of this machine: threads and memory, checked before any work."""

from typing import Any

import numpy as np

from bookwarp.engines.registry import available_threads, engine_nbytes
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.market import CallAuction
from bookwarp.spec.parameters import PARAMETERS, check_value
from bookwarp.spec.record import RecordPlan
from bookwarp.tape import tape_nbytes

# Share of the free memory that a run may take when no limit is given.
_MEMORY_SHARE = 0.9


def check_threads(threads: Any) -> int:
    """Return how many threads a run may use: all available processors if None."""
    available = available_threads()
    if threads is None:
        return available
    if isinstance(threads, bool) or not isinstance(threads, int | np.integer):
        raise ParameterError(f"threads must be an integer, not {threads!r}")
    if not 1 <= threads <= 1024:
        raise ParameterError(f"threads = {threads} is outside 1 .. 1024")
    return int(threads)


def memory_limit_bytes(limit: Any) -> int:
    """Return the bytes that a run may take: most of what is free if None."""
    if limit is None:
        import psutil

        return int(psutil.virtual_memory().available * _MEMORY_SHARE)
    if isinstance(limit, bool) or not isinstance(limit, int | np.integer) or limit < 1:
        raise ParameterError(f"memory_limit must be a positive number of bytes, not {limit!r}")
    return int(limit)


def check_books_fit(markets: Any, levels: Any, memory_limit: Any) -> None:
    """Refuse books that cannot fit, before anything with an entry for each market is made."""
    count = int(check_value(PARAMETERS["markets"], markets))
    books = 2 * 8 * count * int(check_value(PARAMETERS["levels"], levels))
    limit = memory_limit_bytes(memory_limit)
    if books > limit:
        raise ParameterError(
            f"this run would take at least {_gigabytes(books)} for the books; "
            f"{_gigabytes(limit)} may be used: lower markets or levels, or set memory_limit"
        )


def check_run_fits(
    engine: str, auction: CallAuction, plan: RecordPlan, threads: int, rows: int, limit: int
) -> None:
    """Refuse a run whose state and recorded rows take more than `limit` bytes of host memory.

    Args:
        engine: name of the engine that runs it.
        auction, plan: the ensemble and what it records.
        threads: as from `check_threads`.
        rows: how many rows are recorded in all.
        limit: as from `memory_limit_bytes`.
    """
    state = engine_nbytes(engine, auction, threads)
    records = plan.nbytes(auction, rows) + tape_nbytes(auction, plan)
    if "volume" in plan.names:
        records += 8 * rows * auction.markets  # its differences
    if state + records <= limit:
        return
    lower = "markets, levels or agents"
    if records > state:
        lower = "markets, steps or what is recorded, or raise record_every"
    raise ParameterError(
        f"this run would take {_gigabytes(state + records)} ({_gigabytes(state)} for the "
        f"books, {_gigabytes(records)} for {rows} recorded rows); {_gigabytes(limit)} may be "
        f"used: lower {lower}, or set memory_limit"
    )


def check_tape_steps(plan: RecordPlan, steps: int) -> None:
    """Refuse to record the orders of steps beyond the planned ones."""
    if len(plan.tape_steps) and plan.tape_steps[-1] >= steps:
        raise ParameterError(
            f"tape_steps: {plan.tape_steps[-1]} is outside 0 .. {steps - 1} (steps - 1)"
        )


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.3g} GB"
