"""Flat rows by hand: packed as the format says, without the types that are tested."""

import struct

BID, ASK = 0, 1
LIMIT, MARKET, IOC, FOK = range(4)
OPEN, PARTIAL, FILLED, CANCELLED = range(4)


def order(
    order_id,
    side,
    price,
    quantity,
    kind=LIMIT,
    *,
    user=0,
    fraction=0,
    remaining=None,
    at=0,
    status=0,
):
    """Return an order, 64 bytes."""
    left = quantity if remaining is None else remaining
    numbers = (order_id, user, price, fraction, quantity, left, at)
    return struct.pack("<QQQQQQQBBBxxxxx", *numbers, side, kind, status)


def trade(trade_id, maker, taker, price, quantity, side, *, users=(0, 0), fraction=0, at=0):
    """Return a trade, 80 bytes."""
    numbers = (trade_id, maker, taker, *users, price, fraction, quantity, at)
    return struct.pack("<QQQQQQQQQBxxxxxxx", *numbers, side)


def outcome(block):
    """Return of every order what remains and its status."""
    return list(
        zip(block.orders["remaining"].tolist(), block.orders["status"].tolist(), strict=True)
    )
