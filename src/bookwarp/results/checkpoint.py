"""Checkpoints: a simulation between two steps in one file, read back to the last bit or refused.

The file is a sealed archive (`bookwarp.results.archive`).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bookwarp.results.archive import ArchiveKind
from bookwarp.results.provenance import describe, made_now, parse_document, rebuild
from bookwarp.spec.errors import StoreError
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.state import State, array_shapes

_DESCRIPTION = "bookwarp-checkpoint.json"
CHECKPOINT = ArchiveKind(_DESCRIPTION, "checkpoint")


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A simulation between two steps."""

    auction: CallAuction
    plan: RecordPlan
    state: State
    steps: int
    """Steps planned in all."""
    rows: dict[str, np.ndarray]
    """Recorded rows so far as the engine writes them: volume since the start."""
    engine: str
    elapsed_s: float
    """Seconds spent in the engine so far."""


def check_writable(path: str | Path) -> None:
    """Refuse a path to which no checkpoint can be written; it is tried.

    Raises:
        ParameterError: it is not a path.
        StoreError: its folder cannot be written to, or something else is there that a checkpoint
            would replace.
    """
    CHECKPOINT.check_writable(path)


def write_checkpoint(path: str | Path, checkpoint: Checkpoint) -> None:
    """Write `checkpoint`, replacing the one at `path`; the file appears whole or not at all.

    Raises:
        ParameterError: it is not a path.
        StoreError: it cannot be written, or would replace something else.
    """
    document, parameters = describe(
        checkpoint.auction, checkpoint.plan, checkpoint.engine, checkpoint.elapsed_s, made_now()
    )
    document |= {"step": checkpoint.state.step, "steps": checkpoint.steps}
    document["rows"] = list(checkpoint.rows)
    arrays = {f"parameter/{name}": array for name, array in parameters.items()}
    arrays |= {f"state/{name}": array for name, array in checkpoint.state.arrays().items()}
    arrays |= {f"rows/{name}": array for name, array in checkpoint.rows.items()}
    CHECKPOINT.write(path, document, arrays.items())


def read_checkpoint(path: str | Path) -> Checkpoint:
    """Read what `write_checkpoint` wrote.

    Raises:
        ParameterError: it is not a path.
        StoreError: there is no such file, or it is damaged, of a newer format, or no checkpoint
            of bookwarp.
    """
    with CHECKPOINT.opened(path) as archive:
        return _read_archive(archive, str(path))


def _read_archive(archive: Any, source: str) -> Checkpoint:
    """Return the checkpoint in an archive whose seal was found whole."""
    document = parse_document(archive[_DESCRIPTION], source)
    names = document["arrays"]
    parameters = {name: archive[f"parameter/{name}"] for name in names}
    auction, plan = rebuild(document, parameters, source)
    shapes = array_shapes(auction)
    state = State(document["step"], **{name: archive[f"state/{name}"] for name in shapes})
    if {name: array.shape for name, array in state.arrays().items()} != shapes:
        raise StoreError(f"{source} is damaged: its books do not fit its parameters")
    return Checkpoint(
        auction=auction,
        plan=plan,
        state=state,
        steps=document["steps"],
        rows={name: archive[f"rows/{name}"] for name in document["rows"]},
        engine=document["engine"],
        elapsed_s=document["elapsed_s"],
    )
