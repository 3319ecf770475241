"""How a run that lasts tells how far it is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = bool | Callable[[int, int], None] | None
"""True for a bar on stderr, or a function of (steps done, steps wanted)."""


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
