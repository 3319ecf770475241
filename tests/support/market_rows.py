"""Rows of market data, sensible and not, for tests of replays."""

import numpy as np
from hypothesis import strategies as st

from bookwarp.spec.codes import NO_PRICE
from bookwarp.spec.market_data import MarketEvent, MarketRows, allocate_rows

INT64 = (-(2**63) + 1, 2**63 - 1)
# An id is one of few, so that rows meet; one of them is as large as it can be.
IDS = (0, 1, 2, 3, 4, 5, 6, 7, 2**63, 2**64 - 1)


def rows_of(*rows: tuple, book: int = 0) -> MarketRows:
    """Return rows given as (event, order_id, side, price, qty[, new_id])."""
    made = allocate_rows(len(rows))
    made.book[:] = book
    for i, (event, order_id, side, price, qty, *new_id) in enumerate(rows):
        made.event[i], made.order_id[i] = event, order_id
        made.side[i], made.price[i], made.qty[i] = side, price, qty
        made.new_id[i] = new_id[0] if new_id else 0
    return made


def copy_rows(rows: MarketRows) -> MarketRows:
    return MarketRows(*(column.copy() for column in rows))


@st.composite
def market_rows(draw, max_rows: int = 80) -> MarketRows:
    """Draw rows for three books: most of them fit what came before, some are odd."""
    near = draw(st.sampled_from((0, INT64[0], INT64[1] - 8)))
    price = st.integers(near, near + 8) | st.just(NO_PRICE)
    event = st.sampled_from([MarketEvent.ADD] * 8 + list(MarketEvent))
    qty = st.integers(1, 9) | st.sampled_from((-1, 0, 2**62, 2**63 - 1))
    side = st.sampled_from((1, -1, 1, -1, 0))
    row = st.tuples(event, st.sampled_from(IDS), side, price, qty, st.sampled_from(IDS))
    rows = draw(st.lists(row, max_size=max_rows))
    made = rows_of(*rows)
    made.book[:] = draw(st.lists(st.integers(-1, 2), min_size=len(rows), max_size=len(rows)))
    return made


def long_stream(seed: int, count: int, ids: int, prices: int, books: int) -> MarketRows:
    """Return a long random stream in which orders live for a while, on many levels."""
    rng = np.random.default_rng(seed)
    rows = allocate_rows(count)
    rows.event[:] = rng.choice([*[1] * 6, 2, 3, 3, 3, 4, 4, 5, 6, 7, *range(8, 13)], count)
    rows.book[:] = rng.integers(0, books, count)
    rows.order_id[:] = rng.integers(0, ids, count)
    rows.new_id[:] = rng.integers(0, ids, count)
    rows.side[:] = rng.choice([1, -1], count)
    rows.price[:] = rng.integers(0, prices, count)
    rows.qty[:] = rng.integers(1, 9, count)
    return rows
