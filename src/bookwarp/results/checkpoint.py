"""Checkpoints: a simulation between two steps in one file, read back to the last bit or refused.

The file is a NumPy .npz archive without pickles. Its first member holds the description as JSON,
the others the arrays. The archive's comment, the last 64 bytes of the file, is the SHA-256 of all
bytes before it, in hexadecimal digits: a file that was changed anywhere is not read.
"""

import hashlib
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from bookwarp.results.output import as_path, check_absent, check_folder, written_whole
from bookwarp.results.provenance import describe, made_now, parse_document, rebuild
from bookwarp.spec.errors import StoreError
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.state import STATE_LAYOUT, State, array_shapes

_DESCRIPTION = "bookwarp-checkpoint.json"
# A zip archive begins with a header of 30 bytes that starts with this, then its first name.
_ZIP_START = b"PK\x03\x04"
_NAME_AT = 30
_SEAL_LENGTH = 64
# Books are mostly zeros: the lightest compression makes them many times smaller.
_COMPRESSION_LEVEL = 1
_BLOCK_BYTES = 1 << 20
# The time in an archive says nothing, so that equal simulations give equal arrays and layout.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


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
    given = as_path(path)
    check_absent(given, overwrite=True)
    if given.exists() and given.stat().st_size and not _is_checkpoint(given):
        raise StoreError(
            f"{given} exists and is not a checkpoint of bookwarp: it is not overwritten"
        )
    check_folder(given)


def write_checkpoint(path: str | Path, checkpoint: Checkpoint) -> None:
    """Write `checkpoint`, replacing the one at `path`; the file appears whole or not at all.

    Raises:
        ParameterError: it is not a path.
        StoreError: it cannot be written, or would replace something else.
    """
    check_writable(path)
    document, parameters = describe(
        checkpoint.auction, checkpoint.plan, checkpoint.engine, checkpoint.elapsed_s, made_now()
    )
    document |= {"step": checkpoint.state.step, "steps": checkpoint.steps}
    document["rows"] = list(checkpoint.rows)
    arrays = {f"parameter/{name}": array for name, array in parameters.items()}
    arrays |= {f"state/{name}": array for name, array in checkpoint.state.arrays().items()}
    arrays |= {f"rows/{name}": array for name, array in checkpoint.rows.items()}
    with written_whole(as_path(path)) as temporary:
        _write_archive(temporary, document, arrays)
        _seal(temporary)


def read_checkpoint(path: str | Path) -> Checkpoint:
    """Read what `write_checkpoint` wrote.

    Raises:
        ParameterError: it is not a path.
        StoreError: there is no such file, or it is damaged, of a newer format, or no checkpoint
            of bookwarp.
    """
    given = as_path(path)
    if given.is_dir():
        raise StoreError(f"{given} is a folder, not a checkpoint")
    try:
        _check_seal(given)
        with np.load(given, allow_pickle=False) as archive:
            return _read_archive(archive, str(given))
    except FileNotFoundError:
        raise StoreError(f"there is no checkpoint {given}") from None
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(f"{given} cannot be read: {error.strerror or error}") from error


def _write_archive(path: Path, document: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    with zipfile.ZipFile(
        path, "x", zipfile.ZIP_DEFLATED, compresslevel=_COMPRESSION_LEVEL
    ) as archive:
        archive.comment = bytes(_SEAL_LENGTH)
        with _member(archive, _DESCRIPTION) as member:
            member.write(json.dumps(document).encode())
        for name, array in arrays.items():
            with _member(archive, f"{name}.npy") as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


def _member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    info = zipfile.ZipInfo(name, _NO_TIME)
    info.compress_type = archive.compression
    return archive.open(info, "w", force_zip64=True)


def _read_archive(archive: Any, source: str) -> Checkpoint:
    """Return the checkpoint in an archive whose seal was found whole."""
    document = parse_document(archive[_DESCRIPTION], source)
    names = document["arrays"]
    parameters = {name: archive[f"parameter/{name}"] for name in names}
    auction, plan = rebuild(document, parameters, source)
    state = State(document["step"], **{name: archive[f"state/{name}"] for name in STATE_LAYOUT})
    found = {name: array.shape for name, array in state.arrays().items()}
    if found != array_shapes(auction):
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


def _seal(path: Path) -> None:
    digest = _hash_body(path)
    with path.open("rb+") as file:
        file.seek(-_SEAL_LENGTH, 2)
        file.write(digest)


def _check_seal(path: Path) -> None:
    """Refuse a file that is no checkpoint, or whose bytes are not those that were written."""
    if not _is_checkpoint(path):
        empty = " (it is empty)" if path.stat().st_size == 0 else ""
        raise StoreError(f"{path} is not a checkpoint of bookwarp{empty}")
    with path.open("rb") as file:
        file.seek(-_SEAL_LENGTH, 2)
        seal = file.read()
    if _hash_body(path) != seal:
        raise StoreError(
            f"{path} is damaged: its SHA-256 is not the one that was written with it; go on from "
            f"an earlier checkpoint, or start anew"
        )


def _is_checkpoint(path: Path) -> bool:
    """Return whether a file begins as a checkpoint does, and is long enough to have a seal."""
    name = _DESCRIPTION.encode()
    with path.open("rb") as file:
        start = file.read(_NAME_AT + len(name))
    long_enough = path.stat().st_size > len(start) + _SEAL_LENGTH
    return long_enough and start.startswith(_ZIP_START) and start.endswith(name)


def _hash_body(path: Path) -> bytes:
    """Return the SHA-256 of all bytes but the seal, as hexadecimal digits."""
    hasher = hashlib.sha256()
    for block in _body_blocks(path):
        hasher.update(block)
    return hasher.hexdigest().encode()


def _body_blocks(path: Path) -> Iterator[bytes]:
    left = path.stat().st_size - _SEAL_LENGTH
    with path.open("rb") as file:
        while left > 0:
            block = file.read(min(left, _BLOCK_BYTES))
            if not block:
                return
            left -= len(block)
            yield block
