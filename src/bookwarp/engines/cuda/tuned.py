"""Choices between kernels that were found to be fast on a GPU, on disk beside the compiled code.

A choice is kept under the name of the code that would run without it: a kernel, a compiler or a
default that changes asks for another name, and so for no choice.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bookwarp.engines.cuda.code_cache import CodeCache, cache_folder
from bookwarp.engines.cuda.compile import code_name
from bookwarp.engines.cuda.kernel_key import KernelKey
from bookwarp.engines.cuda.variants import Choice

IGNORE_VARIABLE = "BOOKWARP_IGNORE_TUNED"
_FORMAT = 1
_SUFFIX = "tuned"


def size_class(markets: int) -> int:
    """Return the power of two up to which as many markets share a choice."""
    return 1 << (markets - 1).bit_length()


def recall_choice(gpu_name: str, arch: str, key: KernelKey, markets: int) -> Choice | None:
    """Return what was chosen for a GPU, or None; None too if BOOKWARP_IGNORE_TUNED is set.

    Args:
        gpu_name, arch: the GPU, as the driver and compilers name it.
        key: what would run otherwise.
        markets: that the GPU runs.
    """
    if os.environ.get(IGNORE_VARIABLE):
        return None
    kept = _read(cache_folder(), _name_of(gpu_name, arch, key, markets))
    return None if kept is None else kept["choice"]


def remember_choice(
    gpu_name: str, arch: str, key: KernelKey, markets: int, choice: Choice, found: Mapping[str, Any]
) -> bool:
    """Keep a choice, in place of an earlier one; return whether it could be kept.

    Args:
        gpu_name, arch, key, markets: as for `recall_choice`.
        choice: what to run instead.
        found: what else to say of it, for people.
    """
    folder, name = cache_folder(), _name_of(gpu_name, arch, key, markets)
    document = {"format": _FORMAT, "gpu": gpu_name, "choice": dict(choice), **found}
    CodeCache(folder).write(name, json.dumps(document).encode())
    return _read(folder, name) == document


def remembered_choices() -> list[dict[str, Any]]:
    """Return all that is kept, as `remember_choice` was given it."""
    folder = cache_folder()
    found = (_read(folder, path.name) for path in _files(folder))
    return [document for document in found if document is not None]


def forget_choices() -> int:
    """Remove all that is kept, damaged files too; return how many they were."""
    files = _files(cache_folder())
    for path in files:
        path.unlink(missing_ok=True)
    return len(files)


def _name_of(gpu_name: str, arch: str, key: KernelKey, markets: int) -> str:
    made_of = code_name(key, arch), gpu_name, str(size_class(markets))
    return CodeCache.name_of(*made_of, suffix=_SUFFIX)


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*.{_SUFFIX}"))


def _read(folder: Path, name: str) -> dict[str, Any] | None:
    """Return what a file holds, or None if it is damaged or of another format."""
    data = CodeCache(folder).read(name)
    try:
        document = json.loads(data or b"")
    except ValueError:
        return None
    written = document.get("format") if isinstance(document, dict) else None
    return document if written == _FORMAT and isinstance(document.get("choice"), dict) else None
