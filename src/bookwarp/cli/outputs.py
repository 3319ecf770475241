"""Where a run goes: the paths of `--out` and `--plot`, and the checkpoint beside them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bookwarp.results.output import MAY_OVERWRITE
from bookwarp.spec.errors import ParameterError, StoreError
from bookwarp.spec.record import RecordPlan

if TYPE_CHECKING:
    from bookwarp.results.run import Run

CHECKPOINT_SUFFIX = ".ckpt"


@contextmanager
def wrong_use() -> Iterator[None]:
    """Make the fault of a path that was given a fault in the use of the program."""
    try:
        yield
    except StoreError as error:
        said = str(error)
        if said.endswith(MAY_OVERWRITE):
            said = f"{said.removesuffix(MAY_OVERWRITE)}, or give --overwrite"
        raise ParameterError(said) from None


def checkpoint_of(out: Path) -> Path:
    """Return where the checkpoint of a run is kept that will be saved at `out`."""
    return out.with_name(out.name + CHECKPOINT_SUFFIX)


@dataclass(frozen=True)
class Outputs:
    """What is to be written when a run is over."""

    out: Path | None
    plot: Path | None
    overwrite: bool

    @property
    def checkpoint(self) -> Path | None:
        """Where the run is kept until it is saved; None if it will not be."""
        return None if self.out is None else checkpoint_of(self.out)

    def check(self, plan: RecordPlan, resumed: Path | None = None) -> None:
        """Refuse what cannot be written, before any work.

        Args:
            plan: what the run records.
            resumed: the checkpoint that the run goes on from, if it does.

        Raises:
            ParameterError: a path exists, has a suffix that is not known, or cannot be written.
        """
        from bookwarp.analysis.plots import check_plot
        from bookwarp.results.store import check_output

        with wrong_use():
            if self.out is not None:
                check_output(self.out, self.overwrite, plan)
                self._check_checkpoint(checkpoint_of(self.out), resumed)
            if self.plot is not None:
                check_plot(self.plot, self.overwrite)

    def save(self, run: "Run") -> None:
        """Save `run` where it was asked for.

        Raises:
            StoreError: it cannot be written.
        """
        if self.out is not None:
            run.save(self.out, overwrite=self.overwrite)

    def draw(self, run: "Run") -> None:
        """Draw `run` where it was asked for.

        Raises:
            StoreError: it cannot be written.
        """
        if self.plot is not None:
            run.plot(self.plot, overwrite=self.overwrite)

    def remove_checkpoint(self) -> None:
        """Remove the checkpoint of a run that is saved."""
        if self.checkpoint is not None:
            self.checkpoint.unlink(missing_ok=True)

    def _check_checkpoint(self, path: Path, resumed: Path | None) -> None:
        """Do not overwrite the checkpoint of another run that was interrupted."""
        from bookwarp.results.checkpoint import check_writable

        check_writable(path)
        if not path.exists() or (resumed is not None and path.samefile(resumed)):
            return
        if not self.overwrite:
            raise ParameterError(
                f"{path} is the checkpoint of a run that was interrupted: go on from it with "
                f"--resume {path}, or give --overwrite to start anew"
            )
        path.unlink()


def load_run(store: Path) -> "Run":
    """Return a saved run.

    Raises:
        ParameterError: there is nothing of that name.
        StoreError: it is damaged, or not a run of bookwarp.
    """
    from bookwarp.results.store import load

    if not store.exists():
        raise ParameterError(f"there is no saved run {store}")
    return load(store)
