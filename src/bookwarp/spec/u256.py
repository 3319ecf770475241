"""Books of 256-bit numbers: the bytes of orders, results and arenas.

Numbers of 32 bytes are big-endian, and so is the count of fills. The two counts at the start of an
arena are little-endian, as the machines hold them that keep such books.
"""

ORDER_BYTES = 117
"""An order: side, price, quantity, user (not looked at), book id."""
SIDE_AT = 0
PRICE_AT = 1
QTY_AT = 33
USER_AT = 65
BOOK_ID_AT = 85

BID = 0
"""The side of a bid; any other byte is an ask."""

NUMBER_BYTES = 32
"""A price, a quantity, a volume-weighted average price, a book id."""

RESULT_BYTES = 68
"""A result: filled quantity, volume-weighted average price, number of fills."""
FILLED_AT = 0
VWAP_AT = 32
FILL_COUNT_AT = 64

BID_COUNT_AT = 0
"""In an arena: u32, how many slots of the bids are used."""
ASK_COUNT_AT = 4
SLOTS_AT = 8
"""Where the four columns of an arena begin; see `ARENA_COLUMNS`."""
ARENA_COLUMNS = ("bid_price", "bid_qty", "ask_price", "ask_qty")
"""`capacity` numbers each: bids from high to low, asks from low to high, among equal prices by
arrival. What is beyond the count of a side is zero, so that equal books have equal bytes."""

MAX_CAPACITY = 2**24
"""Most slots a side: a book takes 2 GiB then."""
MAX_BOOKS = 2**31 - 1
MAX_ORDERS = 2**32 - 1
"""Of a call."""

DEFAULT_TILE = 65_536
"""Books that are worked at a time."""


def arena_bytes(capacity: int) -> int:
    """Return the length of an arena with so many slots a side."""
    return SLOTS_AT + len(ARENA_COLUMNS) * NUMBER_BYTES * capacity


def column_at(name: str, capacity: int) -> int:
    """Return where a column of an arena begins."""
    return SLOTS_AT + ARENA_COLUMNS.index(name) * NUMBER_BYTES * capacity
