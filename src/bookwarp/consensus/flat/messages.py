"""Flat rows as the messages of `bw.match`, and back."""

import numpy as np

from bookwarp.consensus.flat.pieces import in_pieces
from bookwarp.consensus.flat.prices import PriceTicks
from bookwarp.consensus.flat.rows import as_orders, check_orders
from bookwarp.spec.book_state import RESTING
from bookwarp.spec.codes import Side
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.flat import FLAT_ORDER, FlatSide, FlatStatus, FlatType
from bookwarp.spec.orders import ORDER, Kind, Op, TimeInForce
from bookwarp.spec.u256 import MAX_BOOKS
from bookwarp.spec.u256_orders import as_book_numbers

_SIDES = {FlatSide.BID: Side.BUY, FlatSide.ASK: Side.SELL}
_KINDS = {
    FlatType.LIMIT: (Kind.LIMIT, TimeInForce.GTC),
    FlatType.MARKET: (Kind.MARKET, TimeInForce.IOC),
    FlatType.IOC: (Kind.LIMIT, TimeInForce.IOC),
    FlatType.FOK: (Kind.LIMIT, TimeInForce.FOK),
}
_TYPES = {pair: flat_type for flat_type, pair in _KINDS.items()}
# What a market order is in `bw.match`, whatever its time in force, FOK apart.
_TYPES |= {(Kind.MARKET, TimeInForce.GTC): FlatType.MARKET}


def to_messages(orders: object, book: object = 0) -> tuple[np.ndarray, PriceTicks]:
    """Return flat orders as a table for `bw.match`, and what its ticks stand for.

    Quantities are what remains. The ids of the orders of a book must differ there, as they need not
    here.

    Args:
        orders: array of `FLAT_ORDER`, uint8 [order, 64], or bytes.
        book: the book of each order, integers [order], or one for all.

    Returns:
        `bw.ORDER` [order], and the prices of its ticks.

    Raises:
        ParameterError: an order is wrong, naming order, field, offset and value.
    """
    rows = as_orders(orders)
    check_orders(rows)
    prices, ticks = PriceTicks.of(rows)
    books = as_book_numbers(book, len(rows), MAX_BOOKS)
    return write_messages(rows, ticks, books, rows["order_id"]), prices


def from_messages(messages: np.ndarray, prices: PriceTicks) -> tuple[np.ndarray, np.ndarray]:
    """Return new orders of a table for `bw.match` as flat orders, and their books.

    Users and timestamps are 0, for the caller to fill in.

    Args:
        messages: `bw.ORDER` [order].
        prices: what its ticks stand for.

    Returns:
        `FLAT_ORDER` [order], and their books, int64 [order].

    Raises:
        ParameterError: a message is no new order, or of a kind that flat orders have not.
    """
    rows = np.zeros(len(messages), FLAT_ORDER)
    rows["type"] = _flat_types(messages)
    limits = rows["type"] != FlatType.MARKET
    found = prices.prices(messages["price"][limits])
    rows["price_integer"][limits], rows["price_fraction"][limits] = found
    rows["order_id"] = messages["order_id"]
    rows["quantity"] = rows["remaining"] = messages["qty"]
    rows["side"] = np.where(messages["side"] == Side.BUY, FlatSide.BID, FlatSide.ASK)
    rows["status"] = FlatStatus.OPEN
    check_orders(rows)
    return rows, messages["book"].astype(np.int64)


def _flat_types(messages: np.ndarray) -> np.ndarray:
    types = np.full(len(messages), 255, np.uint8)
    is_new = messages["op"] == Op.NEW
    for (kind, tif), flat_type in _TYPES.items():
        types[is_new & (messages["kind"] == kind) & (messages["tif"] == tif)] = flat_type
    if (types == 255).any():
        at = int(np.argmax(types == 255))
        row = messages[at]
        raise ParameterError(
            f"message {at} has op {row['op']}, kind {row['kind']} and tif {row['tif']}: a flat "
            f"order is new, and limit (GTC, IOC, FOK) or market (GTC, IOC)"
        )
    return types


def _code_words() -> np.ndarray:
    """Return what follows the book in an `ORDER`, by side and type of a flat order."""
    orders = np.zeros((len(FlatSide), len(FlatType)), ORDER)
    orders["op"] = Op.NEW
    for side, sign in _SIDES.items():
        orders["side"][side] = sign
    for flat_type, (kind, tif) in _KINDS.items():
        orders["kind"][:, flat_type], orders["tif"][:, flat_type] = kind, tif
    return orders.view("<u8").reshape(*orders.shape, 4)[:, :, 3].ravel()


_CODE_WORDS = _code_words()


def write_messages(
    rows: np.ndarray, ticks: np.ndarray, book: np.ndarray, order_ids: np.ndarray, threads: int = 1
) -> np.ndarray:
    """Return `ORDER` [order] of flat orders whose remaining lots come in.

    Args:
        rows: `FLAT_ORDER` [order], checked.
        ticks, book, order_ids: of each, integers [order].
        threads: how many write.
    """
    messages = np.empty(len(rows), ORDER)
    words = messages.view("<u8").reshape(-1, ORDER.itemsize // 8)

    def write_piece(piece: slice) -> None:
        messages["order_id"][piece], messages["price"][piece] = order_ids[piece], ticks[piece]
        messages["qty"][piece] = rows["remaining"][piece]
        code = rows["side"][piece].astype(np.int64) * len(FlatType) + rows["type"][piece]
        words[piece, 3] = book[piece].astype(np.uint64) | _CODE_WORDS[code]

    in_pieces(write_piece, len(rows), threads)
    return messages


def write_resting(
    rows: np.ndarray, ticks: np.ndarray, book: np.ndarray, order_ids: np.ndarray
) -> np.ndarray:
    """Return `RESTING` [order] of flat orders that rest; arguments as of `write_messages`."""
    resting = np.zeros(len(rows), RESTING)
    resting["order_id"], resting["price"] = order_ids, ticks
    resting["qty"] = rows["remaining"]
    resting["book"] = book
    resting["side"] = np.where(rows["side"] == FlatSide.BID, Side.BUY, Side.SELL)
    resting["tif"] = TimeInForce.GTC
    return resting
