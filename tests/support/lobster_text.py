"""A small LOBSTER day, drawn at random but sound: orders come, shrink, trade and leave."""

import random
from pathlib import Path

from bookwarp.reference.replay import ReplayBooks
from bookwarp.spec.market_data import MarketRows

EMPTY = "9999999999,0,-9999999999,0"


def write_day(path: Path, count: int, seed: int = 1) -> str:
    """Write a message file of `count` rows, and return its text."""
    draw = random.Random(seed)
    lines, live = [], {}
    for row in range(count):
        time = f"34200.{row:06}" if row % 3 else f"34200.{row:06}789"
        time = time.rstrip("0")
        if len(live) < 5 or draw.random() < 0.5:
            order_id, side = 1000 + row, draw.choice((1, -1))
            price = 1_000_000 - side * 100 * draw.randint(1, 20)
            live[order_id] = [side, price, draw.randint(2, 9)]
            lines.append((time, 1, order_id, live[order_id][2], price, side))
            continue
        order_id = draw.choice(list(live))
        side, price, qty = live[order_id]
        kind = draw.choice((2, 3, 4, 5, 6, 7))
        if kind in (2, 4):
            taken = draw.randint(1, qty - 1) if kind == 2 and qty > 1 else qty
            kind = 4 if taken == qty else kind
            lines.append((time, kind, order_id, taken, price, side))
            live[order_id][2] -= taken
            if live[order_id][2] == 0:
                del live[order_id]
        elif kind == 3:
            lines.append((time, 3, order_id, qty, price, side))
            del live[order_id]
        elif kind == 5:
            lines.append((time, 5, 0, 3, price, side))
        elif kind == 6:
            lines.append((time, 6, -1, 7, price, -1))
        else:
            lines.append((time, 7, 0, 0, draw.choice((-1, 0, 1)), -1))
    text = "".join(",".join(map(str, line)) + "\n" for line in lines)
    path.write_text(text)
    return text


def live_orders(books: ReplayBooks, book: int = 0) -> list[list[tuple[int, int, int]]]:
    return [books.orders(book, side).tolist() for side in (1, -1)]


def columns(rows: MarketRows) -> dict[str, list[int]]:
    return {name: column.tolist() for name, column in zip(rows._fields, rows, strict=True)}
