"""Run a simulation to its end and keep it, or keep what there is when it is interrupted."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bookwarp.cli.errors import describe
from bookwarp.cli.interrupts import first_signal_interrupts
from bookwarp.cli.outputs import Outputs
from bookwarp.cli.progress import show_progress
from bookwarp.simulating import run_with_checkpoints
from bookwarp.simulation import Simulation
from bookwarp.spec.errors import BookwarpError

if TYPE_CHECKING:
    from bookwarp.results.run import Run


@dataclass(frozen=True)
class Job:
    """A simulation, where it goes, and how it is to be run."""

    simulation: Simulation
    outputs: Outputs
    checkpoint_every: float
    quiet: bool
    words: tuple[str, ...]
    """Options of a command that goes on with this run, beside --resume."""


def execute(job: Job) -> "Run":
    """Run, save and draw; the checkpoint is removed when the run is saved.

    Raises:
        BookwarpError: interrupted, or the result cannot be written; it says what was kept, and
            the command that goes on.
    """
    with first_signal_interrupts():
        try:
            run = _run(job)
        except KeyboardInterrupt:
            done = f"after {job.simulation.steps_done} of {job.simulation.steps} steps"
            raise BookwarpError(f"interrupted {done}. {_kept(job)}") from None
        with _explained(job, "saving"):
            job.outputs.save(run)
        job.outputs.remove_checkpoint()
        with _explained(job, "drawing"):
            job.outputs.draw(run)
    return run


@contextmanager
def _explained(job: Job, doing: str) -> Iterator[None]:
    """Say of whatever goes wrong with the result of a run where the run is kept."""
    try:
        yield
    except KeyboardInterrupt:
        raise BookwarpError(_complete(job, doing, f"interrupted while {doing}")) from None
    except Exception as error:
        raise BookwarpError(_complete(job, doing, describe(error)[0])) from error


def _run(job: Job) -> "Run":
    before = job.simulation.steps_done
    with show_progress(job.quiet, before) as progress:
        return run_with_checkpoints(
            job.simulation, job.outputs.checkpoint, job.checkpoint_every, progress
        )


def _complete(job: Job, doing: str, reason: str) -> str:
    """Keep a run that is complete but for its files, and say where."""
    outputs = job.outputs
    if outputs.checkpoint is None:
        kept = "It was not kept: give --out to save it."
    elif doing == "drawing":
        kept = f"It is saved: {outputs.out}."
    else:
        job.simulation.save(outputs.checkpoint)
        kept = _kept(job)
    return f"{reason}. The run is complete. {kept}"


def _kept(job: Job) -> str:
    """Say what is left of an interrupted run, and how to go on with it."""
    path = job.outputs.checkpoint
    if path is None:
        return "Nothing was kept: with --out a checkpoint would have been."
    if not path.exists():
        return "Nothing was kept."
    command = shlex.join(("bookwarp", "simulate", "--resume", str(path), *job.words))
    return f"The checkpoint {path} was kept, and `{command}` goes on from it."
