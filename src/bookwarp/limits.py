"""What a run may take of this machine: threads and memory, checked before any work."""

from contextlib import suppress
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


class RunLimit:
    """How long a run may become; a length that was checked is not checked again."""

    def __init__(
        self,
        auction: CallAuction,
        plan: RecordPlan,
        steps: int,
        threads: int,
        memory_limit: Any,
        kept_rows: int | None,
    ) -> None:
        """Refuse a tape of steps beyond the planned ones.

        Args:
            auction, plan: the ensemble and what it records.
            steps: planned in all.
            threads: as from `check_threads`.
            memory_limit: as for `memory_limit_bytes`.
            kept_rows: how many rows a device has room for; None if rows go to host memory.
        """
        self._auction, self._plan, self._steps = auction, plan, steps
        self._threads, self._kept_rows = threads, kept_rows
        self._memory_limit = memory_limit_bytes(memory_limit)
        self._checked_steps = -1
        check_tape_steps(plan, steps)

    def check(self, engine: str, steps: int) -> None:
        """Refuse a run of `steps` steps in all that would overflow or not fit in memory."""
        self._auction.check_horizon(steps, "mid2" in self._plan.names)
        rows = self._plan.rows(0, steps)
        if self._kept_rows is not None and self._plan.has_rows and rows > self._kept_rows:
            raise ParameterError(
                f"{steps} steps record {rows} rows, and keep_on_device has room for the "
                f"{self._kept_rows} of the planned {self._steps} steps: plan more steps"
            )
        self.check_rows(engine, rows if self._kept_rows is None else 0)
        self._checked_steps = steps

    def check_rows(self, engine: str, rows: int) -> None:
        """Refuse to have so many recorded rows in host memory if they do not fit there."""
        check_run_fits(engine, self._auction, self._plan, self._threads, rows, self._memory_limit)

    def check_going_on(self, engine: str, steps: int) -> None:
        """Check the length of the run unless one as long was checked before."""
        if steps > self._checked_steps:
            self.check(engine, steps)
            # Beyond the planned steps too, not every single step needs a check of its own.
            with suppress(ParameterError):
                self.check(engine, 2 * steps)


def check_tape_steps(plan: RecordPlan, steps: int) -> None:
    """Refuse to record the orders of steps beyond the planned ones."""
    if len(plan.tape_steps) and plan.tape_steps[-1] >= steps:
        raise ParameterError(
            f"tape_steps: {plan.tape_steps[-1]} is outside 0 .. {steps - 1} (steps - 1)"
        )


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.3g} GB"
