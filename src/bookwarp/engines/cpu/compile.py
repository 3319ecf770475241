"""How the kernels are compiled: without the interpreter lock, and kept on disk.

And without Numba's run time for memory (`_nrt`): a kernel allocates nothing, and counting the
references to its arrays, an atomic operation at every use of one, took a third of its time.
"""

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit

# Numba keys its disk cache by the file of the compiled function alone; an edit to a function that
# it calls from another file would go unseen. Entry points close over this digest, which makes it
# part of the key.
_HERE = Path(__file__).parent

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}


@cache
def source_digest() -> str:
    """Return a digest of everything that is compiled into the kernels."""
    hasher = hashlib.sha256()
    for path in sorted([*_HERE.rglob("*.py"), *(_HERE.parents[1] / "spec").glob("*.py")]):
        hasher.update(path.read_bytes())
    return hasher.hexdigest()


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a function that is only called from other kernels, into each of them."""
    return njit(**_OPTIONS, forceinline=True)(function)


def entry_point(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls, and keep it on disk."""
    return njit(**_OPTIONS, cache=True)(function)
