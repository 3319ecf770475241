"""Sums that go through the returns of one market, which lie one after the other.

`m` is where the market's sums are.
"""

import numpy as np

from bookwarp.engines.cpu.compile import inlined
from bookwarp.engines.cpu.measures.layout import KNOWN_LOGS, NARROW_MOST, NARROW_SUM
from bookwarp.spec.measure_sums import HORIZONS, LAGS, LOG_BITS, TAIL_SHARE, WINDOW

_HORIZONS = tuple(np.int64(horizon) for horizon in HORIZONS)


@inlined
def take_up_prices(last, first, count, moved):  # type: ignore[no-untyped-def]
    """Write the prices of `count` markets from `first`, less the first price of each, by market."""
    for t in range(len(last)):
        for m in range(count):
            moved[m, t] = last[t, first + m] - last[0, first + m]


@inlined
def take_returns(moved, returns, sizes):  # type: ignore[no-untyped-def]
    """Write the returns over one row, and their absolute values."""
    for t in range(len(moved) - 1):
        returns[t] = moved[t + 1] - moved[t]
    for t in range(len(moved) - 1):
        sizes[t] = abs(returns[t])


@inlined
def sum_returns(moved, sizes, m, sums):  # type: ignore[no-untyped-def]
    """Sum powers of the returns over every horizon."""
    for h in range(len(_HORIZONS)):
        horizon = _HORIZONS[h]
        first, second, third, fourth, most = 0, 0, 0, 0, 0
        for t in range(max(np.int64(0), len(moved) - horizon)):
            change = moved[t + horizon] - moved[t]
            square = change * change
            first += change
            second += square
            third += square * change
            fourth += square * square
            most = max(most, abs(change))
        sums.return_sum[h, m] = first
        sums.return_square[h, m] = second
        sums.return_cube[h, m] = third
        sums.return_fourth[h, m] = fourth
        sums.return_most[h, m] = most
    sums.return_abs[m] = sizes.sum()


@inlined
def sum_memory(returns, sizes, narrow, m, sums):  # type: ignore[no-untyped-def]
    """Sum products of returns some rows apart, and keep the returns at both ends.

    Where every sum fits in 32 bits they are made of that many: twice as many go into a vector.
    """
    count = len(returns)
    most = find_largest(sizes)
    if most <= NARROW_MOST and count * most * most * most <= NARROW_SUM:
        for t in range(count):
            narrow[t] = returns[t]
        sum_products(narrow, np.int32, m, sums)
    else:
        sum_products(returns, np.int64, m, sums)
    for t in range(min(LAGS, count)):
        sums.head[t, m] = returns[t]
        sums.foot[t, m] = returns[count - 1 - t]


@inlined
def sum_products(returns, whole, m, sums):  # type: ignore[no-untyped-def]
    """Sum products of returns some rows apart, in the type of integers that `whole` is."""
    count = len(returns)
    for lag in range(1, LAGS + 1):
        first, later = returns[: max(0, count - lag)], returns[min(lag, count) :]
        products, sizes, squares = whole(0), whole(0), whole(0)
        for t in range(len(first)):
            product = whole(first[t] * later[t])
            products = whole(products + product)
            sizes = whole(sizes + whole(abs(product)))
            squares = whole(squares + whole(product * later[t]))
        sums.lag_product[lag - 1, m] = products
        sums.lag_abs_product[lag - 1, m] = sizes
        sums.lag_square_product[lag - 1, m] = squares


@inlined
def sum_windows(returns, sizes, m, sums):  # type: ignore[no-untyped-def]
    """Sum what windows of returns hold, and what each window tells of the next one."""
    coarse_before, path_before = 0, 0
    for window in range(len(returns) // WINDOW):
        net, path, energy = 0, 0, 0
        for t in range(window * WINDOW, (window + 1) * WINDOW):
            net += returns[t]
            path += sizes[t]
            energy += returns[t] * returns[t]
        coarse = abs(net)
        sums.net[m] += net
        sums.net_abs[m] += coarse
        sums.net_square[m] += net * net
        sums.path[m] += path
        sums.path_square[m] += path * path
        sums.energy[m] += energy
        sums.energy_square[m] += energy * energy
        sums.net_energy[m] += net * energy
        sums.coarse_to_fine[m] += coarse_before * path
        sums.fine_to_coarse[m] += path_before * coarse
        if window == 0:
            sums.net_abs_first[m], sums.path_first[m] = coarse, path
        coarse_before, path_before = coarse, path
    sums.net_abs_last[m], sums.path_last[m] = coarse_before, path_before


@inlined
def find_largest(sizes):  # type: ignore[no-untyped-def]
    """Return the largest of some numbers that are not negative; 0 if there is none."""
    most = 0
    for t in range(len(sizes)):
        most = max(most, sizes[t])
    return most


@inlined
def count_from(sizes, least):  # type: ignore[no-untyped-def]
    """Return how many of some numbers are at least `least`."""
    count = 0
    for t in range(len(sizes)):
        count += sizes[t] >= least
    return count


@inlined
def binary_log(value):  # type: ignore[no-untyped-def]
    """Return log2 of a positive integer, as `bookwarp.spec.measure_sums.binary_log` does."""
    whole = 0
    while value >> (whole + 1):
        whole += 1
    mantissa = np.uint64(value) << np.uint64(62 - whole) >> np.uint64(31)
    digits = whole
    for _ in range(LOG_BITS):
        mantissa = (mantissa * mantissa) >> np.uint64(31)
        carry = mantissa >> np.uint64(32)
        mantissa >>= carry
        digits = 2 * digits + np.int64(carry)
    return digits


@inlined
def sum_tail(sizes, m, logs, sums):  # type: ignore[no-untyped-def]
    """Find where the tail of the absolute returns starts, and add up how far it reaches.

    The start is found digit by digit: it is the largest number that more than k sizes reach.
    """
    most = find_largest(sizes)
    tail = len(sizes) // TAIL_SHARE
    start, digit = 0, 1
    while digit <= most >> 1:
        digit <<= 1
    while digit > 0:
        if count_from(sizes, start + digit) > tail:
            start += digit
        digit >>= 1
    sums.tail_start[m] = start
    if start == 0:
        return
    excess = 0
    if most < KNOWN_LOGS:
        for t in range(len(sizes)):
            excess += max(0, logs[np.uint64(sizes[t])] - logs[start])
    else:
        log_of_start = binary_log(start)
        for t in range(len(sizes)):
            if sizes[t] > start:
                excess += binary_log(sizes[t]) - log_of_start
    sums.tail_log[m] = excess
