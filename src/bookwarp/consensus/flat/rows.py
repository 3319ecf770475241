"""Orders of 64 bytes as they come in: read from bytes, and checked before anything is matched."""

from typing import Any

import numpy as np

from bookwarp.consensus.flat.pieces import in_pieces
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.flat import FLAT_ORDER, FlatSide, FlatStatus, FlatType

MAX_QUANTITY = 2**63 - 1
"""Lots that the matcher can hold of an order, and at one price of a side."""
MAX_ORDERS = 2**31 - 1
"""Orders of a block, with those that rest in its books."""

_ROW_BYTES = FLAT_ORDER.itemsize
# A row as eight words: where in it are quantity, remaining, and the codes with the padding.
_QUANTITY, _REMAINING, _CODES = 4, 5, 7
_STATUS_BIT = 16
# The bits that codes may have: side 0 and 1; type 0 to 3; status 0 and 1.
_ORDER_BITS = np.uint64(0x01_03_01)
_RESTING_BITS = np.uint64(0x01_00_01)


def as_orders(orders: Any) -> np.ndarray:
    """Return orders as `FLAT_ORDER` [order], contiguous; without a copy where it can be.

    Args:
        orders: an array of `FLAT_ORDER`, uint8 [order, 64], or bytes.

    Raises:
        ParameterError: they are something else, or the last order is not whole.
    """
    if isinstance(orders, bytes | bytearray | memoryview):
        whole, rest = divmod(len(orders), _ROW_BYTES)
        if rest:
            raise ParameterError(f"order {whole} has {rest} bytes; an order has {_ROW_BYTES}")
        return np.frombuffer(orders, FLAT_ORDER)
    array = np.asarray(orders)
    if array.dtype == np.uint8 and array.ndim == 2:
        if array.shape[1] != _ROW_BYTES:
            raise ParameterError(
                f"orders have {array.shape[1]} bytes each; an order has {_ROW_BYTES}"
            )
        return np.ascontiguousarray(array).reshape(-1).view(FLAT_ORDER)
    if array.dtype != FLAT_ORDER or array.ndim != 1:
        raise ParameterError(
            f"orders must be bytes, uint8 [order, {_ROW_BYTES}] or an array of FLAT_ORDER, not an "
            f"array of {array.dtype} with {array.ndim} dimensions"
        )
    return np.ascontiguousarray(array)


def check_orders(orders: np.ndarray, threads: int = 1) -> None:
    """Check orders that come in.

    Raises:
        ParameterError: naming the first order that is wrong, the field, its offset and its value.
    """
    at = _first_wrong(orders, _ORDER_BITS, threads)
    if at is not None:
        raise ParameterError(f"order {at}: {explain(orders[at])}")


def check_resting(orders: np.ndarray) -> None:
    """Check the fields of orders that rest.

    Raises:
        ParameterError: naming the first order that is wrong, the field, its offset and its value.
    """
    at = _first_wrong(orders, _RESTING_BITS, threads=1)
    if at is not None:
        raise ParameterError(f"resting order {at}: {explain(orders[at], rests=True)}")


def _first_wrong(orders: np.ndarray, code_bits: np.uint64, threads: int) -> int | None:
    words = orders.view("<u8").reshape(-1, _ROW_BYTES // 8)

    def look(piece: slice) -> int | None:
        wrong = _wrong_rows(words[piece], code_bits)
        return piece.start + int(np.argmax(wrong)) if wrong.any() else None

    found = in_pieces(look, len(words), threads)
    return next((at for at in found if at is not None), None)


def _wrong_rows(words: np.ndarray, code_bits: np.uint64) -> np.ndarray:
    """Return which rows `explain` has something to say of; with few passes over many rows."""
    quantity, remaining, codes = (words[:, word] for word in (_QUANTITY, _REMAINING, _CODES))
    # Less 1, so that a remaining of 0 is the largest number.
    wrong: np.ndarray = (codes & ~code_bits) != 0
    wrong |= (remaining - np.uint64(1)) >= quantity
    wrong |= quantity > MAX_QUANTITY
    is_partial = (codes >> np.uint64(_STATUS_BIT)) & np.uint64(1) != 0
    wrong |= (remaining < quantity) != is_partial
    return wrong


def explain(order: np.void, rests: bool = False) -> str:
    """Return what is wrong with an order: the first field by offset, its value, what it may be."""
    quantity, remaining = int(order["quantity"]), int(order["remaining"])
    types = (FlatType.LIMIT,) if rests else tuple(FlatType)
    status = FlatStatus.PARTIAL if remaining < quantity else FlatStatus.OPEN
    found = (
        ("quantity", 1 <= quantity <= MAX_QUANTITY, f"1 .. {MAX_QUANTITY}"),
        ("remaining", 1 <= remaining <= quantity, f"1 .. quantity, which is {quantity}"),
        ("side", int(order["side"]) in tuple(FlatSide), _names(FlatSide)),
        ("type", int(order["type"]) in types, _names(types)),
        ("status", order["status"] == status, _names((status,))),
        ("reserved", not order["reserved"].any(), "zeros"),
    )
    for name, right, allowed in found:
        if not right:
            offset = FLAT_ORDER.fields[name][1]  # type: ignore[index]
            value = order[name].tobytes().hex() if name == "reserved" else int(order[name])
            return f"{name} (offset {offset}) is {value}, not {allowed}"
    raise AssertionError("nothing is wrong with this order")


def _names(codes: Any) -> str:
    return " or ".join(f"{int(code)} ({code.name.lower()})" for code in codes)
