"""`bookwarp simulate --resume`: which checkpoint is meant, and what may be said beside it."""

from pathlib import Path

from bookwarp.cli.options import MACHINE, RUN_OPTIONS, parse_given
from bookwarp.cli.outputs import CHECKPOINT_SUFFIX, checkpoint_of
from bookwarp.simulation import Simulation
from bookwarp.spec.errors import ParameterError


def find_checkpoint(path: Path) -> Path:
    """Return the checkpoint at `path`, or that of the run which is to be saved there.

    Raises:
        ParameterError: there is none.
    """
    from bookwarp.results.store import SUFFIXES

    if not path.name:
        raise ParameterError(f"there is no checkpoint {path}")
    beside = checkpoint_of(path)
    if beside.exists():
        return beside
    if path.suffix in SUFFIXES:
        raise ParameterError(f"there is no checkpoint {beside} to go on from")
    if not path.exists():
        raise ParameterError(f"there is no checkpoint {path}")
    return path


def default_out(checkpoint: Path) -> Path | None:
    """Return where the run of a checkpoint is saved: its name without .ckpt; None without one."""
    return checkpoint.with_suffix("") if checkpoint.suffix == CHECKPOINT_SUFFIX else None


def refuse_description(config: Path | None, given: dict[str, str | None]) -> None:
    """Refuse options that describe the model or the recording: the checkpoint holds both.

    Raises:
        ParameterError: naming them.
    """
    options = (RUN_OPTIONS[name] for name, text in given.items() if text is not None)
    wrong = [option.flag for option in options if option.panel != MACHINE]
    wrong += ["--config"] if config is not None else []
    if wrong:
        raise ParameterError(
            f"--resume goes on with the run in the checkpoint: leave out {', '.join(wrong)}"
        )


def resume_simulation(checkpoint: Path, given: dict[str, str | None]) -> Simulation:
    """Return the simulation in a checkpoint, to run on the engine and threads that were given.

    Raises:
        StoreError: the file is damaged, or not a checkpoint of bookwarp.
    """
    return Simulation.resume(checkpoint, **parse_given(given))
