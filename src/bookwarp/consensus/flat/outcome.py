"""What a block did to its orders, and its trades, as rows."""

import numpy as np

from bookwarp.consensus.flat.matcher import Fills, Loaded
from bookwarp.consensus.flat.pieces import in_pieces, wholes
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.flat import FLAT_ORDER, FLAT_TRADE, FlatStatus, FlatType

MAX_TRADE_ID = 2**64 - 1

_ORDER_WORDS, _TRADE_WORDS = FLAT_ORDER.itemsize // 8, FLAT_TRADE.itemsize // 8
_SIDE_BITS = np.uint64(0xFF)


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


def update_orders(loaded: Loaded, fills: Fills, threads: int = 1) -> None:
    """Set what remains of all orders that took part, and their status."""
    rows = loaded.rows
    traded = np.zeros(len(rows), np.int64)
    np.add.at(traded, fills.maker, fills.lots)
    np.add.at(traded, fills.taker + loaded.resting_count, fills.lots)

    def update_piece(piece: slice) -> None:
        orders = rows[piece]
        remaining = orders["remaining"] - traded[piece].astype(np.uint64)
        status = np.full(len(orders), FlatStatus.PARTIAL, np.uint8)
        status[remaining == orders["quantity"]] = FlatStatus.OPEN
        status[orders["type"] != FlatType.LIMIT] = FlatStatus.CANCELLED
        status[remaining == 0] = FlatStatus.FILLED
        orders["remaining"], orders["status"] = remaining, status

    in_pieces(update_piece, len(rows), threads)


def _words(rows: np.ndarray) -> np.ndarray:
    """Return orders as words, uint64 [order, 8]."""
    return rows.view("<u8").reshape(-1, _ORDER_WORDS)


def write_trades(loaded: Loaded, fills: Fills, ids: np.ndarray, threads: int = 1) -> np.ndarray:
    """Return the trades, `FLAT_TRADE` [trade]; ids are uint64 [trade]."""
    rows = wholes(loaded.rows)
    trades = np.empty(len(ids), FLAT_TRADE)
    words = trades.view("<u8").reshape(-1, _TRADE_WORDS)

    def write_piece(piece: slice) -> None:
        maker = _words(rows[fills.maker[piece]])
        taker = _words(rows[fills.taker[piece] + loaded.resting_count])
        # The words of the two types, in the order of FLAT_TRADE.
        columns = (
            *(ids[piece], maker[:, 0], taker[:, 0], maker[:, 1], taker[:, 1]),
            *(maker[:, 2], maker[:, 3], fills.lots[piece], taker[:, 6]),
            taker[:, 7] & _SIDE_BITS,
        )
        for number, column in enumerate(columns):
            words[piece, number] = column

    in_pieces(write_piece, len(ids), threads)
    return trades
