"""The known difference: a port that divides bit by bit is wrong for 2**255 filled and more."""

import pytest
from u256_bytes import VECTORS, result_of

from bookwarp.reference.u256 import (
    U256Book,
    match_order,
    read_number,
    rest_order,
    take_fills,
    write_result,
)
from bookwarp.testing.u256_orders import LARGEST, pack_order

STEPS = [
    (vector["name"], number)
    for vector in VECTORS
    for number, step in enumerate(vector["steps"])
    if "out_bit_serial" in step
]


def divide_bit_by_bit(total, by):
    """Divide as such a port does: with a remainder of 256 bits, whose carry is lost."""
    rest = quotient = 0
    for bit in reversed(range(512)):
        rest = (rest << 1 | total >> bit & 1) & LARGEST
        quotient <<= 1
        if rest >= by:
            rest, quotient = rest - by, quotient | 1
    return quotient & LARGEST


def match_bit_by_bit(book, order):
    is_bid, price, qty = order[0] == 0, read_number(order, 1), read_number(order, 33)
    fills = take_fills(book.asks if is_bid else book.bids, is_bid, price, qty)
    filled = sum(fill for fill, _ in fills)
    rest_order(book, is_bid, price, qty - filled)
    total = sum(fill * each for fill, each in fills)
    return write_result(filled, divide_bit_by_bit(total, filled) if filled else 0, len(fills))


@pytest.mark.parametrize("name, number", STEPS)
def test_port_that_divides_bit_by_bit_gives_another_average(name, number):
    vector = next(each for each in VECTORS if each["name"] == name)
    exact, serial = U256Book(vector["cap"]), U256Book(vector["cap"])
    for step in vector["steps"][: number + 1]:
        order = bytes.fromhex(step["calldata"])
        exact_result, serial_result = match_order(exact, order), match_bit_by_bit(serial, order)
    assert exact_result.hex() == vector["steps"][number]["out_exact"]
    assert serial_result.hex() == vector["steps"][number]["out_bit_serial"]
    assert exact_result != serial_result
    assert (exact.bids, exact.asks) == (serial.bids, serial.asks), "books are the same"


def test_largest_quantity_at_price_7_has_the_average_0_there_and_7_here():
    results = []
    for match in (match_order, match_bit_by_bit):
        book = U256Book(1)
        match(book, pack_order(1, 7, LARGEST))
        results.append(match(book, pack_order(0, 7, LARGEST)))
    assert results == [result_of(LARGEST, 7, 1), result_of(LARGEST, 0, 1)]


def test_both_give_the_same_below_2_to_the_255():
    for filled in (1, 3, 2**64, 2**254 + 1, 2**255 - 1):
        for price in (0, 1, 7, 2**200, LARGEST):
            assert divide_bit_by_bit(filled * price, filled) == price
