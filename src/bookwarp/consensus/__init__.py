"""Books for consensus: exact bytes, the same on every engine (docs/consensus.md).

Example:
    >>> from bookwarp.consensus import U256Books
    >>> books = U256Books(1024, capacity=32)
    >>> results = books.match(calldata, book)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bookwarp.consensus.u256_books import U256Books as U256Books

# name -> module, imported when its first name is used.
_PUBLIC = {
    "U256Books": "bookwarp.consensus.u256_books",
}

__all__ = [*_PUBLIC]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'bookwarp.consensus' has no attribute {name!r}")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
