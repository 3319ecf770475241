"""What a block did to its orders, and its trades, as rows."""

import numpy as np

from bookwarp.consensus.flat.matcher import Fills, Loaded
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.flat import FLAT_ORDER, FLAT_TRADE, FlatStatus, FlatType

MAX_TRADE_ID = 2**64 - 1

_ORDER_WORDS, _TRADE_WORDS = FLAT_ORDER.itemsize // 8, FLAT_TRADE.itemsize // 8
_SIDE_BITS = np.uint64(0xFF)
# Trades that are put together at a time: few enough to stay close to the core.
_PIECE_TRADES = 1 << 14


def number_trades(taker: np.ndarray, bases: int | np.ndarray) -> np.ndarray:
    """Return the id of each trade, uint64 [trade].

    Args:
        taker: int64 [trade], ascending.
        bases: the id of the first trade, or uint64 [order], that of each order's first.

    Raises:
        ParameterError: an id would be above 2**64 - 1.
    """
    place = np.arange(len(taker), dtype=np.uint64)
    if isinstance(bases, int):
        if bases + len(taker) - 1 > MAX_TRADE_ID:
            raise ParameterError(
                f"base_trade_id = {bases} leaves no ids, up to {MAX_TRADE_ID}, for {len(taker)} "
                f"trades"
            )
        return place + np.uint64(bases)
    within = place - np.searchsorted(taker, taker).astype(np.uint64)
    ids: np.ndarray = within + bases[taker]
    wrapped = ids < within
    if wrapped.any():
        at = int(taker[np.argmax(wrapped)])
        raise ParameterError(
            f"base_trade_id of order {at} is {bases[at]}: it leaves no ids for the trades of the "
            f"order, up to {MAX_TRADE_ID}"
        )
    return ids


def update_orders(loaded: Loaded, fills: Fills) -> None:
    """Set what remains of all orders that took part, and their status."""
    rows = loaded.rows
    traded = np.zeros(len(rows), np.int64)
    np.add.at(traded, fills.maker, fills.lots)
    np.add.at(traded, fills.taker + loaded.resting_count, fills.lots)
    remaining = rows["remaining"] - traded.astype(np.uint64)
    status = np.where(remaining == rows["quantity"], FlatStatus.OPEN, FlatStatus.PARTIAL)
    status[rows["type"] != FlatType.LIMIT] = FlatStatus.CANCELLED
    status[remaining == 0] = FlatStatus.FILLED
    rows["remaining"], rows["status"] = remaining, status


def write_trades(loaded: Loaded, fills: Fills, ids: np.ndarray) -> np.ndarray:
    """Return the trades, `FLAT_TRADE` [trade]; ids are uint64 [trade]."""
    rows = loaded.rows.view("<u8").reshape(-1, _ORDER_WORDS)
    trades = np.empty(len(ids), FLAT_TRADE)
    words = trades.view("<u8").reshape(-1, _TRADE_WORDS)
    for first in range(0, len(ids), _PIECE_TRADES):
        piece = slice(first, first + _PIECE_TRADES)
        maker = rows[fills.maker[piece]]
        taker = rows[fills.taker[piece] + loaded.resting_count]
        # The words of the two types, in the order of FLAT_TRADE.
        columns = (
            *(ids[piece], maker[:, 0], taker[:, 0], maker[:, 1], taker[:, 1]),
            *(maker[:, 2], maker[:, 3], fills.lots[piece], taker[:, 6]),
            taker[:, 7] & _SIDE_BITS,
        )
        for number, column in enumerate(columns):
            words[piece, number] = column
    return trades
