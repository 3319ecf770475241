"""Laws of 256-bit books, for any orders."""

from hypothesis import given
from hypothesis import strategies as st

from bookwarp.reference.u256 import U256Book, match_order, read_arena, read_number, write_arena
from bookwarp.spec.u256_arenas import as_arenas, check_arenas
from bookwarp.testing.u256_orders import LARGEST, pack_order

NUMBERS = st.one_of(
    st.integers(0, 6),
    st.integers(0, LARGEST),
    st.sampled_from([2**64 - 1, 2**64, 2**128, 2**192 - 1, 2**255, LARGEST - 1, LARGEST]),
)
ORDERS = st.lists(
    st.builds(pack_order, st.sampled_from([0, 0, 1, 1, 2, 255]), NUMBERS, NUMBERS), max_size=40
)
CAPACITIES = st.integers(1, 5)


def resting_lots(book):
    return sum(qty for side in (book.bids, book.asks) for _, qty in side)


@given(ORDERS, CAPACITIES)
def test_lots_are_filled_or_rest_or_are_dropped_on_a_full_side(orders, capacity):
    book = U256Book(capacity)
    for order in orders:
        before = resting_lots(book)
        own_is_full = len(book.bids if order[0] == 0 else book.asks) == capacity
        result = match_order(book, order)
        qty, filled = read_number(order, 33), read_number(result, 0)
        assert filled <= qty
        dropped = qty - filled if own_is_full else 0
        assert resting_lots(book) == before - filled + (qty - filled) - dropped


@given(ORDERS, CAPACITIES)
def test_book_is_never_crossed_and_always_sorted(orders, capacity):
    book = U256Book(capacity)
    for order in orders:
        match_order(book, order)
        check_arenas(as_arenas(write_arena(book), capacity), capacity)
        bids, asks = [p for p, _ in book.bids], [p for p, _ in book.asks]
        assert bids == sorted(bids, reverse=True)
        assert asks == sorted(asks)
        assert not bids or not asks or bids[0] < asks[0]


@given(ORDERS, CAPACITIES)
def test_average_price_lies_between_the_best_price_and_the_limit(orders, capacity):
    book = U256Book(capacity)
    for order in orders:
        opposite = book.asks if order[0] == 0 else book.bids
        best = opposite[0][0] if opposite else 0
        result = match_order(book, order)
        filled, vwap = read_number(result, 0), read_number(result, 32)
        fills = int.from_bytes(result[64:], "big")
        assert (filled > 0) == (fills > 0)
        if filled:
            low, high = sorted((best, read_number(order, 1)))
            assert low <= vwap <= high
        else:
            assert result == bytes(68)


@given(ORDERS, CAPACITIES)
def test_arena_holds_all_of_a_book(orders, capacity):
    book = U256Book(capacity)
    for order in orders:
        match_order(book, order)
    again = read_arena(write_arena(book), capacity)
    assert (again.bids, again.asks) == (book.bids, book.asks)
