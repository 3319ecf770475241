"""On what, and by which code, a row was measured."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bookwarp.engines.registry import available_threads

REPOSITORY = Path(__file__).resolve().parents[1]
_PACKAGES = ("bookwarp", "numpy", "numba")
_DEVICE_PACKAGES = ("cuda-core", "cuda-bindings", "torch", "triton", "jax", "jaxlib")


def describe_machine() -> dict[str, Any]:
    """Return the processor, its cores and the operating system."""
    return {
        "cpu": _cpu_model(),
        "cores": available_threads(),
        "cores_of_machine": os.cpu_count(),
        "system": platform.system(),
    }


def describe_code(commit: str | None = None) -> dict[str, Any]:
    """Return the commit, whether anything but rows is changed since, and the versions.

    `commit` is the one to note where there is no Git to ask.
    """
    changed = _git("status", "--porcelain", "--", ".", ":(exclude)benchmarks/rows")
    return {
        "commit": _git("rev-parse", "HEAD") or commit,
        "dirty": None if changed is None else bool(changed),
        "python": platform.python_version(),
        **{name: _version(name) for name in _PACKAGES},
        **{name: found for name in _DEVICE_PACKAGES if (found := _version(name))},
    }


def _git(*words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *words], cwd=REPOSITORY, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
