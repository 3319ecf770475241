"""A bar on stderr for runs that last."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_PATIENCE_SECONDS = 1.0


@contextmanager
def show_progress(quiet: bool, before: int = 0) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function of (steps done, steps wanted) that draws a bar from the first second on.

    It is None where nothing is to be drawn: if `quiet`, or if stderr is not a terminal.

    Args:
        quiet: draw nothing.
        before: steps that were done in an earlier run, counted in the bar.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task("loading the engine", total=None)

    def report(done: int, wanted: int) -> None:
        bar.update(task, description="step", completed=before + done, total=before + wanted)

    patience = threading.Timer(_PATIENCE_SECONDS, bar.start)
    patience.start()
    try:
        yield report
    finally:
        patience.cancel()
        patience.join()
        bar.stop()
