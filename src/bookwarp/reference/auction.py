"""The book between steps and the auction that clears it; arrays are [market, level]."""

from dataclasses import dataclass

import numpy as np

from bookwarp.reference.agents import Orders, round_half_even
from bookwarp.spec.codes import Side
from bookwarp.spec.state import State


@dataclass(frozen=True, eq=False)
class Cleared:
    """Outcome of one auction per market."""

    price: np.ndarray
    """int64 [market], level of the clearing price; 0 where nothing trades."""
    volume: np.ndarray
    """int64 [market], lot."""
    bid: np.ndarray
    """int64 [market, level], what rests of the buys, lot."""
    ask: np.ndarray
    """int64 [market, level], what rests of the sells, lot."""


def best_bid(bid: np.ndarray) -> np.ndarray:
    """Return the highest level with a buy, -1 where there is none. int64 [market]."""
    levels = bid.shape[1]
    found = levels - 1 - np.argmax(bid[:, ::-1] > 0, axis=1)
    return np.where(bid.any(axis=1), found, -1)


def best_ask(ask: np.ndarray) -> np.ndarray:
    """Return the lowest level with a sell, the number of levels where there is none."""
    return np.asarray(np.where(ask.any(axis=1), np.argmax(ask > 0, axis=1), ask.shape[1]))


def mid_price(bid: np.ndarray, ask: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return twice the mid: best bid + best ask, or twice `last` where a side is empty.

    Args:
        bid, ask: int64 [market, level].
        last: int64 [market], level of the last trade.
    """
    both = bid.any(axis=1) & ask.any(axis=1)
    return np.where(both, best_bid(bid) + best_ask(ask), 2 * last)


def add_orders(bid: np.ndarray, ask: np.ndarray, orders: Orders) -> tuple[np.ndarray, np.ndarray]:
    """Return resting plus incoming quantity of each side. int64 [market, level]."""
    buy, sell = bid.copy(), ask.copy()
    market = np.broadcast_to(np.arange(len(bid))[:, None], orders.price.shape)
    for total, side in ((buy, Side.BUY), (sell, Side.SELL)):
        chosen = orders.side == side
        np.add.at(total, (market[chosen], orders.price[chosen]), orders.qty[chosen])
    return buy, sell


def batch_orders(state: State, orders: Orders, clears: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what the auctions of this step match; orders for a later one are left to wait.

    Args:
        state: gives what rests and what waits, and keeps what waits on.
        orders: of this step.
        clears: which markets clear in this step, bool [market].

    Returns:
        Quantity of each side, int64 [market, level]; what rests alone in a market that does not
        clear: no auction left it crossed, so none of it trades.
    """
    if not len(state.waiting_buy):
        return add_orders(state.bid, state.ask, orders)
    buy, sell = add_orders(state.waiting_buy, state.waiting_sell, orders)
    clears = clears[:, None]
    state.waiting_buy, state.waiting_sell = np.where(clears, 0, buy), np.where(clears, 0, sell)
    return state.bid + np.where(clears, buy, 0), state.ask + np.where(clears, sell, 0)


def clear_auction(buy: np.ndarray, sell: np.ndarray) -> Cleared:
    """Clear one call auction per market at the price that trades most; the lowest such price wins.

    Args:
        buy, sell: resting plus incoming quantity, int64 [market, level], lot, >= 0.

    Cost: O(levels) a market.
    Source: arXiv:2606.21784, eqs. 1-2; worked case eqs. 11-18.
    """
    demand = np.cumsum(buy[:, ::-1], axis=1)[:, ::-1]
    supply = np.cumsum(sell, axis=1)
    executable = np.minimum(demand, supply)
    price = np.argmax(executable, axis=1)
    volume = executable.max(axis=1)
    ahead_of_buys, ahead_of_sells = demand - buy, supply - sell
    filled_buy = np.clip(volume[:, None] - ahead_of_buys, 0, buy)
    filled_sell = np.clip(volume[:, None] - ahead_of_sells, 0, sell)
    return Cleared(price, volume, buy - filled_buy, sell - filled_sell)


def window_shift(mid2: np.ndarray, levels: int) -> np.ndarray:
    """Return by how many ticks a following window moves: 0 unless the mid is near an edge."""
    margin = levels // 8
    near_edge = (mid2 < 2 * margin) | (mid2 > 2 * (levels - 1 - margin))
    return np.where(near_edge, round_half_even(mid2) - levels // 2, 0)


def shift_book(book: np.ndarray, shift: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the book seen from a window moved up by `shift`, and the lots that fell off it."""
    levels = book.shape[1]
    source = np.arange(levels) + shift[:, None]
    inside = (source >= 0) & (source < levels)
    rows = np.arange(len(book))[:, None]
    moved = np.where(inside, book[rows, np.clip(source, 0, levels - 1)], 0)
    return moved, book.sum(axis=1) - moved.sum(axis=1)
