"""keccak256, the hash of Ethereum: SHA-3 as it was before the standard changed its padding."""

from collections.abc import Callable
from functools import cache
from typing import Any

from bookwarp.spec.errors import ParameterError


def keccak256(data: bytes) -> bytes:
    """Return the hash of `data`, 32 bytes.

    Raises:
        ParameterError: the package that computes it is not installed, naming the extra that
            brings it.
    """
    digest: bytes = keccak_hasher()(data).digest()
    return digest


@cache
def keccak_hasher() -> Callable[[Any], Any]:
    """Return what makes, of bytes or a view of them, an object whose `digest()` is their hash.

    Raises:
        ParameterError: the package is not installed, naming the extra that brings it.
    """
    try:
        from sha3 import keccak_256
    except ImportError:
        raise ParameterError(
            "keccak256 needs the package safe-pysha3, which is not installed: "
            'pip install "bookwarp[consensus]"'
        ) from None
    found: Callable[[Any], Any] = keccak_256
    return found
