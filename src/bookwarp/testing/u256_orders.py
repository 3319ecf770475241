"""Random orders of 256-bit numbers, drawn so that they meet, and so that sums cross every word."""

from random import Random

from bookwarp.spec.u256 import BOOK_ID_AT, NUMBER_BYTES, ORDER_BYTES, USER_AT

BITS = 8 * NUMBER_BYTES
LARGEST = (1 << BITS) - 1
_SIDES = (0, 0, 0, 0, 1, 1, 1, 2, 255)
_PRICES = 12
_QTY_BITS = (3, 5, 40, 64, 66, 128, 130, 192, 255, 256)


def pack_order(side: int, price: int, qty: int, book_id: bytes = bytes(NUMBER_BYTES)) -> bytes:
    """Return the 117 bytes of an order, whose user is zero.

    Args:
        side: 0 is a bid, 1 .. 255 an ask.
        price, qty: 0 .. 2**256 - 1.
        book_id: 32 bytes.
    """
    numbers = price.to_bytes(NUMBER_BYTES, "big") + qty.to_bytes(NUMBER_BYTES, "big")
    return bytes([side]) + numbers + bytes(BOOK_ID_AT - USER_AT) + book_id


def draw_number(random: Random, bits: int = BITS) -> int:
    """Draw a number of 0 .. `bits` bits: any, all ones, a power of two, or next to one."""
    width = random.randint(0, bits)
    largest = (1 << width) - 1
    form = random.randrange(6)
    if form == 0:
        return largest
    if form == 1:
        return (largest + 1) >> 1
    if form == 2:
        # The carry into a word, or out of it.
        near = (1 << 64 * random.randint(0, bits // 64)) + random.randint(-2, 2)
        return min(max(near, 0), (1 << bits) - 1)
    return random.getrandbits(width) if width else 0


def draw_orders(random: Random, count: int) -> bytes:
    """Draw the orders of one book: few prices, of all sizes; quantities of a size for the book.

    One order in sixteen has a quantity of any size, 0 and 2**256 - 1 among them, and one in sixteen
    a price of its own.

    Args:
        random: where randomness comes from.
        count: how many.

    Returns:
        117 bytes for each.
    """
    prices = [draw_number(random) for _ in range(random.randint(1, _PRICES))]
    start = draw_number(random)
    prices += [min(start + step, LARGEST) for step in range(random.randint(0, 4))]
    bits = random.choice(_QTY_BITS)
    orders = bytearray()
    for _ in range(count):
        odd = random.randrange(16)
        price = draw_number(random) if odd == 0 else random.choice(prices)
        qty = random.choice((0, LARGEST, draw_number(random))) if odd == 1 else None
        given = draw_number(random, bits) if qty is None else qty
        orders += pack_order(random.choice(_SIDES), price, given)
    assert len(orders) == count * ORDER_BYTES
    return bytes(orders)
