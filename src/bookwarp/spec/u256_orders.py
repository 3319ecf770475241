"""What is given to books of 256-bit numbers: orders and the books they go to, all checked."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from bookwarp.spec.errors import ParameterError
from bookwarp.spec.u256 import (
    BOOK_ID_AT,
    MAX_BOOKS,
    MAX_CAPACITY,
    MAX_ORDERS,
    ORDER_BYTES,
    PRICE_AT,
    QTY_AT,
    SIDE_AT,
    USER_AT,
)

_FIELDS = {
    "book id": BOOK_ID_AT,
    "user": USER_AT,
    "quantity": QTY_AT,
    "price": PRICE_AT,
    "side": SIDE_AT,
}


def check_integer(name: str, value: Any, low: int, high: int) -> int:
    """Return an integer of low .. high, both included.

    Raises:
        ParameterError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ParameterError(f"{name} must be an integer, not {value!r}")
    if not low <= int(value) <= high:
        raise ParameterError(f"{name} = {value} is outside {low} .. {high}")
    return int(value)


def check_sizes(books: Any, capacity: Any) -> tuple[int, int]:
    """Return how many books there are, and how many slots they have a side.

    Raises:
        ParameterError: naming what is wrong, its value and the limit.
    """
    return (
        check_integer("books", books, 1, MAX_BOOKS),
        check_integer("capacity", capacity, 1, MAX_CAPACITY),
    )


def as_calldata(orders: Any) -> np.ndarray:
    """Return orders as uint8 [order, 117], C-contiguous; an array of that form without a copy.

    Args:
        orders: such an array, the bytes of one order after the other, or a sequence of bytes
            objects, one an order.

    Raises:
        ParameterError: the length of an order is wrong, naming order, field and offset; or there
            are too many; or it is nothing of the above.
    """
    if isinstance(orders, np.ndarray):
        if orders.dtype != np.uint8 or orders.ndim != 2:
            raise ParameterError(
                f"calldata must be uint8 [order, {ORDER_BYTES}], not {orders.dtype} "
                f"{list(orders.shape)}"
            )
        if orders.shape[1] != ORDER_BYTES:
            raise ParameterError(_wrong_length(0, orders.shape[1]))
        check_integer("the number of orders", len(orders), 0, MAX_ORDERS)
        return np.ascontiguousarray(orders)
    if isinstance(orders, bytes | bytearray | memoryview):
        data = bytes(orders)
        if len(data) % ORDER_BYTES:
            raise ParameterError(_wrong_length(*divmod(len(data), ORDER_BYTES)))
        return np.frombuffer(data, np.uint8).reshape(-1, ORDER_BYTES)
    if isinstance(orders, Sequence) and not isinstance(orders, str):
        return _join(orders)
    raise ParameterError(f"calldata must be an array or bytes, not {type(orders).__name__}")


def _join(orders: Sequence[Any]) -> np.ndarray:
    for number, order in enumerate(orders):
        if not isinstance(order, bytes | bytearray | memoryview):
            raise ParameterError(f"order {number} must be bytes, not {type(order).__name__}")
        if len(order) != ORDER_BYTES:
            raise ParameterError(_wrong_length(number, len(order)))
    return np.frombuffer(b"".join(orders), np.uint8).reshape(-1, ORDER_BYTES)


def _wrong_length(order: int, length: int) -> str:
    found = f"order {order} has {length} bytes, and an order has {ORDER_BYTES}: "
    if length > ORDER_BYTES:
        return f"{found}its book id ends before offset {ORDER_BYTES}"
    name, at = next((n, at) for n, at in _FIELDS.items() if at <= length)
    return f"{found}it ends at offset {length}, and its {name} begins at offset {at}"


def as_book_numbers(book: Any, orders: int, books: int) -> np.ndarray:
    """Return the book of every order, int64 [order], C-contiguous.

    Args:
        book: integers [order], or one for all.
        orders: how many orders there are.
        books: how many books there are.

    Raises:
        ParameterError: a book does not exist, naming order, value and limit; or there is not one
            for each order.
    """
    if isinstance(book, Integral):
        return np.full(orders, check_integer("book", book, 0, books - 1), np.int64)
    numbers = np.asarray(book)
    if numbers.dtype.kind not in "iu" and numbers.size:
        raise ParameterError(f"book must be integers [order], not {numbers.dtype}")
    if numbers.shape != (orders,):
        raise ParameterError(
            f"book has the shape {list(numbers.shape)}, and there are {orders} orders: it must be "
            f"[{orders}]"
        )
    if orders and (numbers.min() < 0 or numbers.max() >= books):
        order = int(np.argmax((numbers < 0) | (numbers >= books)))
        raise ParameterError(
            f"order {order}: book {numbers[order]} does not exist; there are {books} books, "
            f"0 .. {books - 1}"
        )
    return np.ascontiguousarray(numbers, np.int64)
