"""Where a reproduction writes what it found, and what made it."""

import json
import platform
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from bookwarp.simulation import Simulation
from bookwarp.spec.errors import StoreError


def provenance(simulation: Simulation) -> dict[str, Any]:
    """Return what made a result: versions, engine, threads, time."""
    try:
        release = version("bookwarp")
    except PackageNotFoundError:
        release = "not installed"
    return {
        "bookwarp": release,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "engine": simulation.engine,
        "threads": simulation.threads,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def check_folder(folder: str | Path, names: Iterable[str]) -> Path:
    """Return `folder` as a path in which none of the files `names` exists yet.

    Raises:
        StoreError: the folder is a file, or a file of that name is there already.
    """
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise StoreError(f"{path} is not a folder: name a folder to write to")
    for name in names:
        if (path / name).exists():
            raise StoreError(f"{path / name} exists: name another folder, or remove it first")
    return path


def make_folder(folder: str | Path, names: Iterable[str]) -> Path:
    """Check as `check_folder` does, and create the folder if it is missing."""
    path = check_folder(folder, names)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{path} cannot be created: {error.strerror}") from None
    return path


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write `content` as indented JSON, ending in a newline."""
    try:
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from None
