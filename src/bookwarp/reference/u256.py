"""Books of 256-bit numbers in Python's integers: the specification. One rule a function.

A side of a book is a list of `[price, qty]`, the best first; a slot is one order.
"""

from bookwarp.spec.u256 import (
    ASK_COUNT_AT,
    BID,
    BID_COUNT_AT,
    FILL_COUNT_AT,
    FILLED_AT,
    NUMBER_BYTES,
    PRICE_AT,
    QTY_AT,
    RESULT_BYTES,
    SIDE_AT,
    VWAP_AT,
    arena_bytes,
    column_at,
)

Slots = list[list[int]]


class U256Book:
    """One book with room for `capacity` orders a side."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.bids: Slots = []
        self.asks: Slots = []


def match_order(book: U256Book, order: bytes) -> bytes:
    """Match an order of 117 bytes, let what remains of it rest, and return the 68 bytes of it."""
    is_bid = order[SIDE_AT] == BID
    price, qty = read_number(order, PRICE_AT), read_number(order, QTY_AT)
    fills = take_fills(book.asks if is_bid else book.bids, is_bid, price, qty)
    filled = sum(fill for fill, _ in fills)
    rest_order(book, is_bid, price, qty - filled)
    return write_result(filled, average_price(fills), len(fills))


def crosses(is_bid: bool, limit: int, resting: int) -> bool:
    """Return whether an order trades at a resting price."""
    return resting <= limit if is_bid else limit <= resting


def take_fills(opposite: Slots, is_bid: bool, limit: int, qty: int) -> list[tuple[int, int]]:
    """Fill from the best slot on, at the resting price; return (quantity, price) of each fill.

    A filled slot goes, one that is filled in part shrinks.
    """
    fills: list[tuple[int, int]] = []
    while qty and opposite and crosses(is_bid, limit, opposite[0][0]):
        price, resting = opposite[0]
        fill = min(qty, resting)
        fills.append((fill, price))
        qty -= fill
        opposite[0][1] -= fill
        if fill == resting:
            del opposite[0]
    return fills


def average_price(fills: list[tuple[int, int]]) -> int:
    """Return the average price by volume, rounded down; 0 of no fill. The sum has 512 bits."""
    filled = sum(fill for fill, _ in fills)
    return sum(fill * price for fill, price in fills) // filled if filled else 0


def rest_order(book: U256Book, is_bid: bool, price: int, qty: int) -> None:
    """Let a remainder rest behind equal prices; it is dropped if its side is full."""
    own = book.bids if is_bid else book.asks
    if qty == 0 or len(own) == book.capacity:
        return
    place = 0
    while place < len(own) and (own[place][0] >= price if is_bid else own[place][0] <= price):
        place += 1
    own.insert(place, [price, qty])


def read_number(data: bytes, at: int) -> int:
    """Return the 32 bytes from `at` on as a number."""
    return int.from_bytes(data[at : at + NUMBER_BYTES], "big")


def write_result(filled: int, vwap: int, fill_count: int) -> bytes:
    """Return the 68 bytes of a result."""
    result = bytearray(RESULT_BYTES)
    result[FILLED_AT:VWAP_AT] = filled.to_bytes(NUMBER_BYTES, "big")
    result[VWAP_AT:FILL_COUNT_AT] = vwap.to_bytes(NUMBER_BYTES, "big")
    result[FILL_COUNT_AT:] = fill_count.to_bytes(4, "big")
    return bytes(result)


def write_arena(book: U256Book) -> bytes:
    """Return the exact bytes of a book; what is beyond the count of a side is zero."""
    arena = bytearray(arena_bytes(book.capacity))
    for slots, count_at, side in (
        (book.bids, BID_COUNT_AT, "bid"),
        (book.asks, ASK_COUNT_AT, "ask"),
    ):
        arena[count_at : count_at + 4] = len(slots).to_bytes(4, "little")
        for index, slot in enumerate(slots):
            for name, number in zip(("price", "qty"), slot, strict=True):
                at = column_at(f"{side}_{name}", book.capacity) + NUMBER_BYTES * index
                arena[at : at + NUMBER_BYTES] = number.to_bytes(NUMBER_BYTES, "big")
    return bytes(arena)


def read_arena(arena: bytes, capacity: int) -> U256Book:
    """Return the book that sound bytes hold."""
    book = U256Book(capacity)
    for slots, count_at, side in (
        (book.bids, BID_COUNT_AT, "bid"),
        (book.asks, ASK_COUNT_AT, "ask"),
    ):
        for index in range(int.from_bytes(arena[count_at : count_at + 4], "little")):
            at = [
                column_at(f"{side}_{name}", capacity) + NUMBER_BYTES * index
                for name in ("price", "qty")
            ]
            slots.append([read_number(arena, each) for each in at])
    return book
