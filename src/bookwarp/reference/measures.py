"""The sums that measures are made of, in Python's integers: no bound, no order of additions.

Rows are [row, market], objects that are Python integers, and so is every sum, [..., market].
"""

from collections.abc import Mapping

import numpy as np

from bookwarp.spec.codes import NO_PRICE
from bookwarp.spec.measure_sums import (
    HORIZONS,
    LAGS,
    READS,
    SUMS,
    WINDOW,
    binary_log,
    tail_count,
)

Sums = dict[str, np.ndarray]


def sum_rows(rows: Mapping[str, np.ndarray], blocks: tuple[str, ...]) -> Sums:
    """Return every sum of some blocks of `bookwarp.spec.measure_sums.SUMS`, Python integers.

    Args:
        rows: int64 [row, market] by name of the series, at least one row.
        blocks: names of the blocks.

    Returns:
        objects [..., market].
    """
    wanted = {name for block in blocks for name in READS[block]}
    exact = {name: rows[name].astype(object) for name in wanted}
    found: Sums = {}
    for block in SUMS:
        if block in blocks:
            found |= _SUM[block](exact)
    return found


def sum_prices(rows: Mapping[str, np.ndarray]) -> Sums:
    """Follow the price: its level, its range, its largest fall and rise."""
    last = rows["last"]
    moved = last - last[0]
    return {
        "price_first": last[0],
        "price_low": last.min(axis=0),
        "price_high": last.max(axis=0),
        "price_moved": moved.sum(axis=0),
        "price_moved_square": (moved**2).sum(axis=0),
        "drawdown": (np.maximum.accumulate(last) - last).max(axis=0),
        "drawup": (last - np.minimum.accumulate(last)).max(axis=0),
    }


def sum_returns(rows: Mapping[str, np.ndarray]) -> Sums:
    """Sum powers of the returns over every horizon; 0 for a horizon that is longer than the run."""
    last = rows["last"]
    by_horizon = [last[h:] - last[: max(0, len(last) - h)] for h in HORIZONS]
    powers = {"return_sum": 1, "return_square": 2, "return_cube": 3, "return_fourth": 4}
    found = {
        name: np.stack([_sum(returns**power) for returns in by_horizon])
        for name, power in powers.items()
    }
    found["return_most"] = np.stack([_largest(abs(returns)) for returns in by_horizon])
    found["return_abs"] = _sum(abs(by_horizon[0]))
    return found


def sum_memory(rows: Mapping[str, np.ndarray]) -> Sums:
    """Sum products of returns some rows apart, and keep the returns at both ends."""
    returns = np.diff(rows["last"], axis=0)
    count, markets = returns.shape
    pairs = [(returns[: max(0, count - k)], returns[k:]) for k in range(1, LAGS + 1)]
    none = np.zeros((LAGS, markets), object)
    return {
        "lag_product": np.stack([_sum(a * b) for a, b in pairs]),
        "lag_abs_product": np.stack([_sum(abs(a * b)) for a, b in pairs]),
        "lag_square_product": np.stack([_sum(a * b * b) for a, b in pairs]),
        "head": np.concatenate([returns, none])[:LAGS],
        "foot": np.concatenate([returns[::-1], none])[:LAGS],
    }


def sum_windows(rows: Mapping[str, np.ndarray]) -> Sums:
    """Sum what windows of returns hold, and what each window tells of the next one."""
    returns = np.diff(rows["last"], axis=0)
    markets = returns.shape[1]
    count = len(returns) // WINDOW
    windows = returns[: count * WINDOW].reshape(count, WINDOW, markets)
    net, path = windows.sum(axis=1), abs(windows).sum(axis=1)
    energy = (windows**2).sum(axis=1)
    coarse = abs(net)
    none = np.zeros(markets, object)
    return {
        "net": _sum(net),
        "net_abs": _sum(coarse),
        "net_square": _sum(net**2),
        "path": _sum(path),
        "path_square": _sum(path**2),
        "energy": _sum(energy),
        "energy_square": _sum(energy**2),
        "net_energy": _sum(net * energy),
        "coarse_to_fine": _sum(coarse[:-1] * path[1:]),
        "fine_to_coarse": _sum(path[:-1] * coarse[1:]),
        "net_abs_first": coarse[0] if count else none,
        "net_abs_last": coarse[-1] if count else none,
        "path_first": path[0] if count else none,
        "path_last": path[-1] if count else none,
    }


def sum_tail(rows: Mapping[str, np.ndarray]) -> Sums:
    """Find where the tail of the absolute returns starts, and add up how far it reaches."""
    sizes = abs(np.diff(rows["last"], axis=0))
    count, markets = sizes.shape
    starts, logs = np.zeros(markets, object), np.zeros(markets, object)
    if count:
        tail = tail_count(count)
        for market in range(markets):
            falling = sorted(sizes[:, market], reverse=True)
            start = falling[tail]
            starts[market] = start
            if start > 0:
                logs[market] = sum(binary_log(x) - binary_log(start) for x in falling[:tail])
    return {"tail_start": starts, "tail_log": logs}


def sum_volume(rows: Mapping[str, np.ndarray]) -> Sums:
    """Sum the lots traded, alone and with the absolute return of the same row."""
    lots = rows["volume"]
    sizes = abs(np.diff(rows["last"], axis=0))
    return {
        "lots": lots.sum(axis=0),
        "lots_first": lots[0],
        "lots_square": (lots**2).sum(axis=0),
        "lots_most": lots.max(axis=0),
        "lots_by_return": _sum(lots[1:] * sizes),
        "traded": _count(lots > 0),
    }


def sum_book(rows: Mapping[str, np.ndarray]) -> Sums:
    """Sum spreads and depths, and count the rows in which a side is empty."""
    bid, ask = rows["best_bid"], rows["best_ask"]
    has_bid, has_ask = bid != NO_PRICE, ask != NO_PRICE
    both = has_bid & has_ask
    spread = np.where(both, ask - bid, 0)
    return {
        "two_sided": _count(both),
        "no_bid": _count(~has_bid),
        "no_ask": _count(~has_ask),
        "spread": spread.sum(axis=0),
        "spread_square": (spread**2).sum(axis=0),
        "spread_most": spread.max(axis=0),
        "bid_lots": rows["bid_depth"].sum(axis=0),
        "ask_lots": rows["ask_depth"].sum(axis=0),
        "bid_lots_most": rows["bid_depth"].max(axis=0),
        "ask_lots_most": rows["ask_depth"].max(axis=0),
    }


_SUM = {
    "prices": sum_prices,
    "returns": sum_returns,
    "memory": sum_memory,
    "windows": sum_windows,
    "tail": sum_tail,
    "volume": sum_volume,
    "book": sum_book,
}


def _sum(values: np.ndarray) -> np.ndarray:
    """Return the sum over rows, of which there may be none."""
    return np.asarray(values.sum(axis=0) + np.zeros(values.shape[1], object))


def _largest(values: np.ndarray) -> np.ndarray:
    """Return the largest of each market's values, none below 0, of which there may be none."""
    return np.asarray(values.max(axis=0, initial=0))


def _count(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows.astype(bool).sum(axis=0).astype(object))


class ReferenceSums:
    """The sums of some markets at a time; implements the protocol `RowSums` of the engines."""

    def __init__(self, rows: Mapping[str, np.ndarray], blocks: tuple[str, ...]) -> None:
        """Take rows and blocks as `sum_rows` does."""
        self._rows = {name: rows[name] for block in blocks for name in READS[block]}
        self._blocks = blocks

    @property
    def markets(self) -> int:
        """How many markets the rows are of."""
        return int(next(iter(self._rows.values())).shape[1])

    def sums(self, first: int, stop: int) -> Sums:
        """Return the sums of the markets `first` .. `stop`, half-open, objects [..., market]."""
        return sum_rows({n: rows[:, first:stop] for n, rows in self._rows.items()}, self._blocks)
