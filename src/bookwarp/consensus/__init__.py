"""Books for consensus: exact bytes, the same on every engine (docs/consensus.md).

Example:
    >>> from bookwarp.consensus import U256Books
    >>> books = U256Books(1024, capacity=32)
    >>> results = books.match(calldata, book)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bookwarp.consensus.calldata_block import CalldataBlock as CalldataBlock
    from bookwarp.consensus.calldata_block import execute_calldata as execute_calldata
    from bookwarp.consensus.keccak import keccak256 as keccak256
    from bookwarp.consensus.merkle import RowProof as RowProof
    from bookwarp.consensus.merkle import prove_row as prove_row
    from bookwarp.consensus.merkle import row_root as row_root
    from bookwarp.consensus.merkle import verify_row as verify_row
    from bookwarp.consensus.roots import execution_root as execution_root
    from bookwarp.consensus.u256_books import U256Books as U256Books
    from bookwarp.consensus.verification import Verification as Verification
    from bookwarp.consensus.verification import verify as verify

# name -> module, imported when its first name is used.
_PUBLIC = {
    "CalldataBlock": "bookwarp.consensus.calldata_block",
    "RowProof": "bookwarp.consensus.merkle",
    "U256Books": "bookwarp.consensus.u256_books",
    "Verification": "bookwarp.consensus.verification",
    "execute_calldata": "bookwarp.consensus.calldata_block",
    "execution_root": "bookwarp.consensus.roots",
    "keccak256": "bookwarp.consensus.keccak",
    "prove_row": "bookwarp.consensus.merkle",
    "row_root": "bookwarp.consensus.merkle",
    "verify": "bookwarp.consensus.verification",
    "verify_row": "bookwarp.consensus.merkle",
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
