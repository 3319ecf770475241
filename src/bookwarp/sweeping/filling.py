"""Fill a sweep: run the blocks that are missing, and write each beside the next ones."""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor

from bookwarp.progress import Progress, work_bar
from bookwarp.sweeping.dataset import Results
from bookwarp.sweeping.machine import Machine
from bookwarp.sweeping.running import Block, Report, running_blocks
from bookwarp.sweeping.store import SweepStore

Written = Callable[[int], None]
"""Is told the number of every block that was written."""
Run = Callable[[list[int], Report, Written], None]
"""Runs blocks and writes them; it is told which, and tells of agent events and written blocks."""

# Blocks that are written at once: most of it is copying and hashing, beside a GPU that runs on. On
# 16 cores 8 took an eighth longer, and 16 as long.
_WRITERS = 12


def fill(results: Results | SweepStore, run: Run, progress: Progress = None) -> None:
    """Run what is missing of a sweep, and show how far it is.

    Raises:
        EngineError, StoreError: what `run` raises.
        KeyboardInterrupt: with a note that says what was kept.
    """
    plan, missing = results.plan, results.missing()
    written = sorted(set(range(plan.blocks.count)).difference(missing))
    wanted = plan.all_events
    done = sum(plan.events(number) for number in written)
    try:
        with work_bar(progress, done, wanted) as report:
            run(missing, report, written.append)
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(results.kept(len(written)))
        raise


def run_here(results: Results | SweepStore, machine: Machine) -> Run:
    """Return what runs blocks on this machine."""

    def run(missing: list[int], report: Report, written: Written) -> None:
        # Where results are written to a store, each launch has memory of its own until they are.
        room = results.room if isinstance(results, Results) else None
        with running_blocks(results.plan, missing, machine, report, room) as blocks:
            results.prepare()
            if isinstance(results, SweepStore):
                write_blocks(results, blocks, written)
            else:
                for block in blocks:
                    results.write(block)
                    written(block.number)

    return run


def write_blocks(
    store: SweepStore, blocks: Iterable[Block], written: Written | None = None
) -> None:
    """Write blocks to a store as they come, several at once, beside those that still run.

    Raises:
        StoreError: the store cannot be written.
    """
    pool = ThreadPoolExecutor(_WRITERS)
    writing: deque[Future[None]] = deque()
    try:
        for block in blocks:
            writing.append(pool.submit(_write, store, block, written))
            if len(writing) > 2 * _WRITERS:
                writing.popleft().result()
        for last in writing:
            last.result()
    except KeyboardInterrupt:
        # What has been run is kept.
        pool.shutdown()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _write(store: SweepStore, block: Block, written: Written | None) -> None:
    store.write(block)
    if written is not None:
        written(block.number)
