"""Messages to continuous books: integer codes, and the record that engines read.

Append only: a code never changes its meaning.
"""

from enum import IntEnum

import numpy as np


class Op(IntEnum):
    """What a message asks for."""

    NEW = 0
    CANCEL = 1
    MODIFY = 2


class Kind(IntEnum):
    """Whether an order has a limit; a market order takes any price, and never rests."""

    LIMIT = 0
    MARKET = 1


class TimeInForce(IntEnum):
    """What becomes of the part of an order that does not trade at once."""

    GTC = 0
    """It rests."""
    IOC = 1
    """It is cancelled."""
    FOK = 2
    """There is none: the order trades whole or not at all."""
    POST_ONLY = 3
    """It rests; an order that would trade is rejected."""


ORDER = np.dtype(
    [
        ("order_id", "<u8"),
        ("price", "<i8"),
        ("qty", "<i8"),
        ("book", "<u4"),
        ("op", "u1"),
        ("side", "i1"),
        ("kind", "u1"),
        ("tif", "u1"),
    ],
    align=True,
)
"""One message, 32 bytes without a gap.

`order_id` any; `price` [tick], not looked at for CANCEL and MARKET; `qty` [lot], not looked at for
CANCEL; `book` 0 .. books-1; `side` a `Side`; `op`, `kind`, `tif` codes of the enums above. Of
CANCEL and MODIFY `side`, `kind` and `tif` are not looked at: those of the order itself hold. Owners
are an array beside it, uint64 [message], 0 for no owner, which engines get only if self-trades
matter.
"""
