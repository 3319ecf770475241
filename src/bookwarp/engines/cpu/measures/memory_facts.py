"""Formulas of what a return tells of later ones, for many markets at once.

They are those of `bookwarp.measures.memory_facts`, with the same operations in the same order.
Loops are short and go over the lanes, a market in each, so that each becomes one of vectors: what
they cost is divisions and roots. What is needed twice is made once.
"""

from bookwarp.engines.cpu.compile import inlined
from bookwarp.engines.cpu.measures.layout import LAG_SERIES, LANES
from bookwarp.engines.cpu.measures.moments import center, correlate, leave_undefined
from bookwarp.spec.measure_sums import LAGS

# Rows of the scratch memory: the returns but the last, and but the first, `lag` ones; the absolute
# values of both; and the squares of the later ones.
_FIRST, _LATER, _FIRST_SIZE, _LATER_SIZE, _LATER_SQUARE = range(LAG_SERIES)


@inlined
def take_all(sums, begin, count, work):  # type: ignore[no-untyped-def]
    """Begin with the sums over all returns, for both parts."""
    for lane in range(count):
        m = begin + lane
        total, size = sums.return_sum[0, m], sums.return_abs[m]
        square, fourth = sums.return_square[0, m], sums.return_fourth[0, m]
        work.first[_FIRST, lane], work.second[_FIRST, lane] = total, square
        work.first[_LATER, lane], work.second[_LATER, lane] = total, square
        work.first[_FIRST_SIZE, lane], work.second[_FIRST_SIZE, lane] = size, square
        work.first[_LATER_SIZE, lane], work.second[_LATER_SIZE, lane] = size, square
        work.first[_LATER_SQUARE, lane], work.second[_LATER_SQUARE, lane] = square, fourth


@inlined
def leave_out(ends, first, second):  # type: ignore[no-untyped-def]
    """Take one value of each market out of the sums of a part."""
    for lane in range(len(ends)):
        first[lane] -= ends[lane]
    for lane in range(len(ends)):
        second[lane] -= ends[lane] * ends[lane]


@inlined
def leave_out_sizes(ends, first, second):  # type: ignore[no-untyped-def]
    """Take one absolute value of each market out of the sums of a part."""
    for lane in range(len(ends)):
        first[lane] -= abs(ends[lane])
    for lane in range(len(ends)):
        second[lane] -= ends[lane] * ends[lane]


@inlined
def leave_out_squares(ends, first, second):  # type: ignore[no-untyped-def]
    """Take one square of each market out of the sums of a part."""
    for lane in range(len(ends)):
        first[lane] -= ends[lane] * ends[lane]
    for lane in range(len(ends)):
        square = ends[lane] * ends[lane]
        second[lane] -= square * square


@inlined
def center_series(pairs, series, count, work):  # type: ignore[no-untyped-def]
    """Apply `center` to a series of every market."""
    first, second = work.first[series, :count], work.second[series, :count]
    near, rest = work.near[series, :count], work.rest[series, :count]
    variance = work.variance[series, :count]
    for lane in range(count):
        near[lane], rest[lane], variance[lane] = center(pairs, first[lane], second[lane])


@inlined
def correlate_series(pairs, x, y, products, work, lag, facts):  # type: ignore[no-untyped-def]
    """Correlate two series of every market, and write that [lane, lag]."""
    count = len(products)
    found = work.found[:count]
    for lane in range(count):
        found[lane] = correlate(
            pairs,
            work.first[x, lane],
            (work.near[x, lane], work.rest[x, lane], work.variance[x, lane]),
            work.first[y, lane],
            (work.near[y, lane], work.rest[y, lane], work.variance[y, lane]),
            products[lane],
        )
    for lane in range(count):
        facts[lane, lag] = found[lane]


@inlined
def make_lanes(sums, rows, begin, stop, work, facts):  # type: ignore[no-untyped-def]
    """Make the facts of the markets `begin` .. `stop`, of which there are at most `LANES`."""
    count = stop - begin
    returns = rows - 1
    take_all(sums, begin, count, work)
    first, second = work.first[:, :count], work.second[:, :count]
    for k in range(max(0, min(LAGS, returns - 2))):
        head, foot = sums.head[k, begin:stop], sums.foot[k, begin:stop]
        leave_out(foot, first[_FIRST], second[_FIRST])
        leave_out(head, first[_LATER], second[_LATER])
        leave_out_sizes(foot, first[_FIRST_SIZE], second[_FIRST_SIZE])
        leave_out_sizes(head, first[_LATER_SIZE], second[_LATER_SIZE])
        leave_out_squares(head, first[_LATER_SQUARE], second[_LATER_SQUARE])
        pairs = returns - 1 - k
        for series in range(LAG_SERIES):
            center_series(pairs, series, count, work)
        correlate_series(
            pairs, _FIRST, _LATER, sums.lag_product[k, begin:stop], work, k,
            facts.acf_returns[begin:stop],
        )  # fmt: skip
        correlate_series(
            pairs, _FIRST_SIZE, _LATER_SIZE, sums.lag_abs_product[k, begin:stop], work, k,
            facts.acf_abs_returns[begin:stop],
        )  # fmt: skip
        correlate_series(
            pairs, _FIRST, _LATER_SQUARE, sums.lag_square_product[k, begin:stop], work, k,
            facts.leverage[begin:stop],
        )  # fmt: skip


@inlined
def make_memory_facts(sums, rows, work, facts):  # type: ignore[no-untyped-def]
    """Make all correlations over lags; NaN at lags that leave fewer than two pairs."""
    markets = len(sums.return_abs)
    for k in range(max(0, min(LAGS, rows - 3)), LAGS):
        leave_undefined(facts.acf_returns, k)
        leave_undefined(facts.acf_abs_returns, k)
        leave_undefined(facts.leverage, k)
    for begin in range(0, markets, LANES):
        make_lanes(sums, rows, begin, min(markets, begin + LANES), work, facts)
