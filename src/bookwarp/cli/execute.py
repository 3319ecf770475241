"""Run a simulation to its end and keep it, or keep what there is when it is interrupted."""

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bookwarp.cli.interrupts import first_signal_interrupts
from bookwarp.cli.outputs import Outputs
from bookwarp.cli.progress import show_progress
from bookwarp.simulate import Simulation, run_with_checkpoints
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
    """Run, save and draw; the checkpoint is removed only when all of it is done.

    Raises:
        BookwarpError: interrupted, or the result cannot be written; it says what was kept, and
            the command that goes on.
    """
    simulation, outputs = job.simulation, job.outputs
    with first_signal_interrupts():
        try:
            run = _run(job)
        except KeyboardInterrupt:
            raise BookwarpError(f"interrupted {_progress(simulation)}. {_kept(job)}") from None
        try:
            outputs.write(run)
        except (KeyboardInterrupt, OSError, MemoryError) as error:
            reason = str(error) or "interrupted while saving"
            if outputs.checkpoint is not None:
                simulation.save(outputs.checkpoint)
            raise BookwarpError(f"{reason} (the run is complete). {_kept(job)}") from error
    outputs.remove_checkpoint()
    return run


def _run(job: Job) -> "Run":
    before = job.simulation.steps_done
    with show_progress(job.quiet, before) as progress:
        return run_with_checkpoints(
            job.simulation, job.outputs.checkpoint, job.checkpoint_every, progress
        )


def _progress(simulation: Simulation) -> str:
    return f"after {simulation.steps_done} of {simulation.steps} steps"


def _kept(job: Job) -> str:
    """Say what is left of an interrupted run, and how to go on with it."""
    path = job.outputs.checkpoint
    if path is None:
        return "Nothing was kept: with --out a checkpoint would have been."
    if not path.exists():
        return "Nothing was kept."
    command = shlex.join(("bookwarp", "simulate", "--resume", str(path), *job.words))
    return f"The checkpoint {path} was kept, and `{command}` goes on from it."
