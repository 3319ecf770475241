"""Flat rows: orders of 64 bytes in, trades of 80 bytes out, with exact bytes on every engine.

Example:
    >>> from bookwarp.consensus import flat
    >>> block = flat.match_block(orders, book)
    >>> block.trades, block.digest()
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bookwarp.consensus.flat.block import FlatBlock as FlatBlock
    from bookwarp.consensus.flat.block import match_block as match_block
    from bookwarp.consensus.flat.books import FlatBooks as FlatBooks
    from bookwarp.consensus.flat.messages import from_messages as from_messages
    from bookwarp.consensus.flat.messages import to_messages as to_messages
    from bookwarp.consensus.flat.prices import PriceTicks as PriceTicks
    from bookwarp.spec.flat import FLAT_ORDER as FLAT_ORDER
    from bookwarp.spec.flat import FLAT_TRADE as FLAT_TRADE
    from bookwarp.spec.flat import FlatSide as FlatSide
    from bookwarp.spec.flat import FlatState as FlatState
    from bookwarp.spec.flat import FlatStatus as FlatStatus
    from bookwarp.spec.flat import FlatType as FlatType

# name -> module, imported when its first name is used.
_PUBLIC = {
    "FLAT_ORDER": "bookwarp.spec.flat",
    "FLAT_TRADE": "bookwarp.spec.flat",
    "FlatBlock": "bookwarp.consensus.flat.block",
    "FlatBooks": "bookwarp.consensus.flat.books",
    "FlatSide": "bookwarp.spec.flat",
    "FlatState": "bookwarp.spec.flat",
    "FlatStatus": "bookwarp.spec.flat",
    "FlatType": "bookwarp.spec.flat",
    "PriceTicks": "bookwarp.consensus.flat.prices",
    "from_messages": "bookwarp.consensus.flat.messages",
    "match_block": "bookwarp.consensus.flat.block",
    "to_messages": "bookwarp.consensus.flat.messages",
}

__all__ = [*_PUBLIC]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'bookwarp.consensus.flat' has no attribute {name!r}")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
