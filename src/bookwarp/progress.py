"""How a run that lasts tells how far it is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from bookwarp.spec.errors import ParameterError

Progress = bool | Callable[[int, int], None] | None
"""True for a bar on stderr, or a function of (steps done, steps wanted)."""


def check_progress(progress: Any) -> None:
    """Refuse what is no way to show progress.

    Raises:
        ParameterError: it is not None, a bool or a function.
    """
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise ParameterError(
            f"progress must be True, False, None or a function of (done, wanted), not {progress!r}"
        )


@contextmanager
def work_bar(progress: Progress, done: int, wanted: int) -> Iterator[Callable[[int], None]]:
    """Yield a function of the agent events done since its last call that shows progress as asked.

    The bar, in a terminal or a notebook, has the rate and the time left.

    Args:
        progress: True for a bar on stderr, or a function of (agent events done, wanted).
        done: what was done before, in an earlier call.
        wanted: agent events in all.
    """
    so_far = done
    with _events_bar(progress, done, wanted) as show:

        def report(events: int) -> None:
            nonlocal so_far
            so_far += events
            show(so_far, wanted)

        yield report


@contextmanager
def _events_bar(progress: Progress, done: int, wanted: int) -> Iterator[Callable[[int, int], None]]:
    if progress is not True:
        with progress_bar(progress, wanted) as show:
            yield show
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        ProgressColumn,
        Task,
        TaskProgressColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar
    from rich.text import Text

    class RateColumn(ProgressColumn):
        """Agent events a second."""

        def render(self, task: Task) -> Text:
            """Return the rate of the last seconds, or of all if there are too few."""
            rate = task.speed or (task.completed - done) / max(task.elapsed or 0.0, 1e-9)
            return Text(f"{rate / 1e6:,.0f} M agent events/s")

    columns = (BarColumn(), TaskProgressColumn(), RateColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=wanted, completed=done)
        yield lambda so_far, _: bar.update(task, completed=so_far)


@contextmanager
def progress_bar(progress: Progress, total: int) -> Iterator[Callable[[int, int], None]]:
    """Yield a function of (done, total) that shows progress as asked."""
    if callable(progress):
        yield progress
        return
    if not progress:
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("steps", total=total)
        yield lambda done, total: bar.update(task, completed=done)
