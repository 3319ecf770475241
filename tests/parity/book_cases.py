"""Small streams of messages and what they must lead to, as data for every engine.

Messages: `N id side qty price [tif] [o owner]`, `M id qty price`, `C id`, apart by semicolons. The
side is B or S, the price MKT for a market order, the time in force IOC, FOK or PO (post-only).

Outcome: `T maker taker price qty` a trade, `X id qty reason` a cancellation that no cancel asked
for, `R id reason` a rejection; in the order they happen. A book is its bids and asks, best price
first, at each price the orders as `id x qty`, first to trade first.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.book_state import BookState
from bookwarp.spec.codes import Side
from bookwarp.spec.events import EventType, Reason
from bookwarp.spec.orders import ORDER, Kind, Op, TimeInForce

MAX, MIN = 2**63 - 1, -(2**63)
ID_MAX = 2**64 - 1


@dataclass(frozen=True)
class BookCase:
    name: str
    messages: str
    outcome: str
    book: str
    rules: dict[str, Any] = field(default_factory=dict)
    flags: int = 0

    def __str__(self) -> str:
        return self.name


_TIF = {"IOC": TimeInForce.IOC, "FOK": TimeInForce.FOK, "PO": TimeInForce.POST_ONLY}


def read_messages(text: str, book: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return messages as `ORDER` [message] and their owners, uint64 [message]."""
    parts = [part.split() for part in text.split(";") if part.strip()]
    orders, owners = np.zeros(len(parts), ORDER), np.zeros(len(parts), np.uint64)
    orders["book"] = book
    for order, (index, words) in zip(orders, enumerate(parts), strict=True):
        op = words[0][0]
        if len(words[0]) > 1:
            words = [op, words[0][1:], *words[1:]]
        order["op"] = {"N": Op.NEW, "C": Op.CANCEL, "M": Op.MODIFY}[op]
        order["order_id"] = int(words[1])
        if op == "C":
            continue
        if op == "M":
            order["qty"], order["price"] = int(words[2]), int(words[3])
            continue
        order["side"] = {"B": Side.BUY, "S": Side.SELL}[words[2]]
        order["qty"] = int(words[3])
        # What a market order says of a price is not looked at.
        order["kind"] = Kind.MARKET if words[4] == "MKT" else Kind.LIMIT
        order["price"] = 77 if words[4] == "MKT" else int(words[4])
        for word in words[5:]:
            if word in _TIF:
                order["tif"] = _TIF[word]
            else:
                owners[index] = int(re.fullmatch(r"o(\d+)", word)[1])
    return orders, owners


def tell_outcome(orders: np.ndarray, events: np.ndarray) -> str:
    """Return the events in the words of a case."""
    told = []
    for event in events:
        order_id, reason = int(event["order_id"]), Reason(event["reason"]).name.lower()
        if event["type"] == EventType.TRADE:
            taker = int(orders["order_id"][event["message"]])
            told.append(f"T {order_id} {taker} {event['price']} {event['qty']}")
        elif event["type"] == EventType.CANCELLED and event["reason"] != Reason.REQUESTED:
            told.append(f"X {order_id} {event['qty']} {reason}")
        elif event["type"] == EventType.REJECTED:
            told.append(f"R {order_id} {reason}")
    return "; ".join(told)


def tell_book(state: BookState, book: int = 0) -> str:
    """Return one book in the words of a case."""
    sides = {Side.BUY: "bid", Side.SELL: "ask"}
    levels: dict[tuple[str, int], list[str]] = {}
    first, last = state.order_offsets[book : book + 2]
    for order in state.orders[first:last]:
        level = (sides[Side(order["side"])], int(order["price"]))
        levels.setdefault(level, []).append(f"{order['order_id']}x{order['qty']}")
    return "; ".join(f"{s} {price}: {' '.join(rest)}" for (s, price), rest in levels.items())


def mirror_messages(orders: np.ndarray) -> np.ndarray:
    """Return messages with buyers and sellers exchanged; ~p turns the order of all prices round."""
    mirrored = orders.copy()
    mirrored["side"] = -orders["side"]
    mirrored["price"] = ~orders["price"]
    return mirrored


def rules_of(case: BookCase) -> BookRules:
    return BookRules.of(**case.rules)


CASES = (
    # The first eight are those of the specification.
    BookCase(
        "partly filled maker keeps its place",
        "N1 S 5 100; N2 S 5 100; N3 B 3 100; N4 B 3 100",
        "T 1 3 100 3; T 1 4 100 2; T 2 4 100 1",
        "ask 100: 2x4",
    ),
    BookCase(
        "rest of a taker rests",
        "N1 B 100 12; N2 B 100 12; N3 S 309 12",
        "T 1 3 12 100; T 2 3 12 100",
        "ask 12: 3x109",
    ),
    BookCase(
        "modification that crosses trades at once",
        "N1 S 1 200; N2 B 1 100; M2 1 200",
        "T 1 2 200 1",
        "",
    ),
    BookCase(
        "order filled by its modification is gone",
        "N1 S 5 200; N2 B 5 100; M2 5 200; C2",
        "T 1 2 200 5; R 2 unknown_id",
        "",
    ),
    BookCase(
        "rest of an IOC is cancelled",
        "N1 B 1 9296; N2 B 5 9274; N3 S 4 9286 IOC",
        "T 1 3 9296 1; X 3 3 rest",
        "bid 9274: 2x5",
    ),
    BookCase(
        "live id is not given twice",
        "N1 B 3 100; N1 B 3 101",
        "R 1 duplicate_id",
        "bid 100: 1x3",
    ),
    BookCase(
        "smaller quantity keeps the place",
        "N1 B 5 100; N2 B 5 100; M1 3 100; N3 S 4 100",
        "T 1 3 100 3; T 2 3 100 1",
        "bid 100: 2x4",
    ),
    BookCase(
        "larger quantity loses the place",
        "N1 B 5 100; N2 B 5 100; M1 9 100; N3 S 6 100",
        "T 2 3 100 5; T 1 3 100 1",
        "bid 100: 1x8",
    ),
    # Price, then time.
    BookCase(
        "best price first and never past the limit",
        "N1 S 5 102; N2 S 5 100; N3 S 5 101; N4 B 12 101",
        "T 2 4 100 5; T 3 4 101 5",
        "bid 101: 4x2; ask 102: 1x5",
    ),
    BookCase(
        "seller takes the highest bid first",
        "N1 B 5 98; N2 B 5 100; N3 B 5 99; N4 S 12 99",
        "T 2 4 100 5; T 3 4 99 5",
        "bid 98: 1x5; ask 99: 4x2",
    ),
    BookCase("maker sets the price", "N1 S 5 100; N2 B 5 105", "T 1 2 100 5", ""),
    BookCase(
        "one tick apart is no trade", "N1 S 5 101; N2 B 5 100", "", "bid 100: 2x5; ask 101: 1x5"
    ),
    BookCase(
        "late order at a better price goes first",
        "N1 S 5 101; N2 S 5 100; N3 B 6 101",
        "T 2 3 100 5; T 1 3 101 1",
        "ask 101: 1x4",
    ),
    BookCase(
        "order that comes back to a price is the last there",
        "N1 S 5 100; N2 S 5 100; M1 5 101; M1 5 100; N3 B 7 100",
        "T 2 3 100 5; T 1 3 100 2",
        "ask 100: 1x3",
    ),
    BookCase(
        "equal prices stay in line after a partial fill",
        "N1 S 5 100; N2 S 5 100; N3 S 5 100; N4 B 7 100; N5 B 4 100; N6 B 4 100",
        "T 1 4 100 5; T 2 4 100 2; T 2 5 100 3; T 3 5 100 1; T 3 6 100 4",
        "",
    ),
    BookCase(
        "level that was emptied fills anew",
        "N1 S 5 100; N2 B 5 100; N3 S 2 100; N4 B 3 100",
        "T 1 2 100 5; T 3 4 100 2",
        "bid 100: 4x1",
    ),
    BookCase(
        "price that was an ask becomes a bid",
        "N1 S 5 100; N2 B 8 100; N3 S 2 100; N4 B 1 99",
        "T 1 2 100 5; T 2 3 100 2",
        "bid 100: 2x1; bid 99: 4x1",
    ),
    # Market orders.
    BookCase("market order finds an empty book", "N1 B 5 MKT", "X 1 5 rest", ""),
    BookCase(
        "market order does not rest beside its own side",
        "N1 B 5 100; N2 B 5 MKT",
        "X 2 5 rest",
        "bid 100: 1x5",
    ),
    BookCase(
        "market order takes any price and leaves nothing",
        f"N1 S 5 {MAX}; N2 S 5 {MIN}; N3 B 12 MKT",
        f"T 2 3 {MIN} 5; T 1 3 {MAX} 5; X 3 2 rest",
        "",
    ),
    BookCase(
        "market sell takes the lowest bid there can be",
        f"N1 B 5 {MIN}; N2 S 3 MKT; N3 S 3 MKT IOC",
        f"T 1 2 {MIN} 3; T 1 3 {MIN} 2; X 3 1 rest",
        "",
    ),
    BookCase("market FOK trades whole", "N1 S 5 100; N2 B 5 MKT FOK", "T 1 2 100 5", ""),
    BookCase(
        "market FOK trades whole or not at all",
        "N1 S 5 100; N2 B 6 MKT FOK",
        "X 2 6 fill_or_kill",
        "ask 100: 1x5",
    ),
    BookCase(
        "market order that may not trade is rejected or cancelled",
        "N1 B 5 MKT PO; N2 S 5 100; N3 B 5 MKT PO",
        "X 1 5 rest; R 3 post_only",
        "ask 100: 2x5",
    ),
    BookCase(
        "id of a market order is free again", "N1 B 5 MKT; N1 B 5 100", "X 1 5 rest", "bid 100: 1x5"
    ),
    # IOC and FOK.
    BookCase(
        "IOC that crosses nothing is cancelled",
        "N1 S 5 101; N2 B 4 100 IOC",
        "X 2 4 rest",
        "ask 101: 1x5",
    ),
    BookCase("filled IOC has no rest", "N1 S 5 100; N2 B 5 100 IOC", "T 1 2 100 5", ""),
    BookCase(
        "rest of an IOC is not in the book",
        "N1 S 2 100; N2 B 5 100 IOC; N3 S 1 100; C2",
        "T 1 2 100 2; X 2 3 rest; R 2 unknown_id",
        "ask 100: 3x1",
    ),
    BookCase(
        "FOK over several levels",
        "N1 S 5 100; N2 S 5 101; N3 B 10 101 FOK",
        "T 1 3 100 5; T 2 3 101 5",
        "",
    ),
    BookCase(
        "FOK that lacks one lot trades nothing",
        "N1 S 5 100; N2 S 5 101; N3 B 11 101 FOK",
        "X 3 11 fill_or_kill",
        "ask 100: 1x5; ask 101: 2x5",
    ),
    BookCase(
        "FOK does not count lots past its limit",
        "N1 S 5 100; N2 S 5 102; N3 B 10 101 FOK",
        "X 3 10 fill_or_kill",
        "ask 100: 1x5; ask 102: 2x5",
    ),
    BookCase(
        "FOK leaves the rest of a maker",
        "N1 S 5 100; N2 S 5 100; N3 B 7 100 FOK",
        "T 1 3 100 5; T 2 3 100 2",
        "ask 100: 2x3",
    ),
    BookCase("FOK finds an empty book", "N1 S 5 100 FOK", "X 1 5 fill_or_kill", ""),
    BookCase(
        "FOK counts more lots than an int64 holds",
        f"N1 S {MAX} 100; N2 S {MAX} 101; N3 B {MAX} 105 FOK; N4 B {MAX} 105 FOK; N5 B 1 105 FOK",
        f"T 1 3 100 {MAX}; T 2 4 101 {MAX}; X 5 1 fill_or_kill",
        "",
        flags=8,
    ),
    BookCase(
        "id of a killed order is free again",
        "N1 B 5 100 FOK; N1 B 5 100",
        "X 1 5 fill_or_kill",
        "bid 100: 1x5",
    ),
    # Post-only.
    BookCase(
        "post-only that would trade is rejected",
        "N1 S 5 100; N2 B 5 100 PO",
        "R 2 post_only",
        "ask 100: 1x5",
    ),
    BookCase(
        "post-only rests and is a maker",
        "N1 S 5 101; N2 B 5 100 PO; N3 S 2 100",
        "T 2 3 100 2",
        "bid 100: 2x3; ask 101: 1x5",
    ),
    BookCase(
        "modification of a post-only order that would trade is rejected",
        "N1 S 5 101; N2 B 5 99 PO; M2 5 101; N3 S 5 99",
        "R 2 post_only; T 2 3 99 5",
        "ask 101: 1x5",
    ),
    BookCase(
        "modified post-only order stays post-only",
        "N1 S 5 101; N2 B 5 99 PO; M2 6 100; M2 6 101; M2 2 100",
        "R 2 post_only",
        "bid 100: 2x2; ask 101: 1x5",
    ),
    BookCase(
        "id of a rejected post-only order is free",
        "N1 S 5 100; N2 B 5 100 PO; N2 B 5 99",
        "R 2 post_only",
        "bid 99: 2x5; ask 100: 1x5",
    ),
    # Cancel.
    BookCase("cancel is done once", "N1 B 5 100; C1; C1", "R 1 unknown_id", ""),
    BookCase(
        "filled order cannot be cancelled",
        "N1 B 5 100; N2 S 5 100; C1; C2",
        "T 1 2 100 5; R 1 unknown_id; R 2 unknown_id",
        "",
    ),
    BookCase(
        "unknown id cannot be cancelled",
        "C7; N1 B 5 100; C7",
        "R 7 unknown_id; R 7 unknown_id",
        "bid 100: 1x5",
    ),
    BookCase(
        "cancel in the middle of a queue",
        "N1 S 5 100; N2 S 5 100; N3 S 5 100; C2; N4 B 6 100",
        "T 1 4 100 5; T 3 4 100 1",
        "ask 100: 3x4",
    ),
    BookCase(
        "cancel at both ends of a queue",
        "N1 S 5 100; N2 S 5 100; N3 S 5 100; C1; C3; N4 S 1 100; N5 B 6 100",
        "T 2 5 100 5; T 4 5 100 1",
        "",
    ),
    BookCase(
        "next price is the best after the best is cancelled",
        "N1 B 5 100; N2 B 5 98; N3 B 5 99; C1; N4 S 7 98",
        "T 3 4 99 5; T 2 4 98 2",
        "bid 98: 2x3",
    ),
    BookCase(
        "cancelled id is free again", "N1 B 5 100; C1; N1 S 4 90; C1; C1", "R 1 unknown_id", ""
    ),
    BookCase(
        "filled id is free again",
        "N1 B 5 100; N2 S 5 100; N1 S 3 100; N2 B 1 100",
        "T 1 2 100 5; T 1 2 100 1",
        "ask 100: 1x2",
    ),
    # Ids.
    BookCase(
        "smallest and largest id",
        f"N0 S 5 100; N{ID_MAX} S 5 100; N5 B 6 100; C0; C{ID_MAX}",
        f"T 0 5 100 5; T {ID_MAX} 5 100 1; R 0 unknown_id",
        "",
    ),
    BookCase(
        "ids that differ in high bits only",
        f"N1 S 1 100; N{1 + 2**32} S 1 100; N{1 + 2**63} S 1 100; C{1 + 2**32}; N9 B 2 100",
        f"T 1 9 100 1; T {1 + 2**63} 9 100 1",
        "",
    ),
    BookCase(
        "duplicate that would trade whole is rejected",
        "N1 B 5 100; N2 S 5 101; N1 B 5 101",
        "R 1 duplicate_id",
        "bid 100: 1x5; ask 101: 2x5",
    ),
    BookCase(
        "duplicate IOC is rejected",
        "N1 S 5 100; N1 B 5 100 IOC; N1 B 5 MKT",
        "R 1 duplicate_id; R 1 duplicate_id",
        "ask 100: 1x5",
    ),
    BookCase(
        "id of a partly filled order is live",
        "N1 B 5 100; N2 S 3 100; N1 B 1 99",
        "T 1 2 100 3; R 1 duplicate_id",
        "bid 100: 1x2",
    ),
    # Prices.
    BookCase(
        "lowest price there is", f"N1 S 5 {MIN}; N2 B 3 {MIN}", f"T 1 2 {MIN} 3", f"ask {MIN}: 1x2"
    ),
    BookCase(
        "highest price there is", f"N1 B 5 {MAX}; N2 S 3 {MAX}", f"T 1 2 {MAX} 3", f"bid {MAX}: 1x2"
    ),
    BookCase(
        "ends of the line do not meet",
        f"N1 B 5 {MIN}; N2 S 5 {MAX}; N3 B 1 0",
        "",
        f"bid 0: 3x1; bid {MIN}: 1x5; ask {MAX}: 2x5",
    ),
    BookCase(
        "lowest sell meets the highest buy",
        f"N1 B 5 {MAX}; N2 B 5 {MIN}; N3 S 10 {MIN}",
        f"T 1 3 {MAX} 5; T 2 3 {MIN} 5",
        "",
    ),
    BookCase(
        "negative prices",
        "N1 S 5 -10; N2 B 5 -11; N3 B 4 -10; N4 S 1 0",
        "T 1 3 -10 4",
        "bid -11: 2x5; ask -10: 1x1; ask 0: 4x1",
    ),
    BookCase(
        "price range holds at its ends",
        "N1 B 5 89; N2 B 5 90; N3 S 5 111; N4 S 5 110; N5 B 1 MKT; M2 5 89; M2 5 111",
        "R 1 price; R 3 price; T 4 5 110 1; R 2 price; R 2 price",
        "bid 90: 2x5; ask 110: 4x4",
        {"price_range": (90, 110)},
    ),
    # Quantities.
    BookCase(
        "no quantity is rejected",
        f"N1 B 0 100; N1 B -5 100; N1 B {MIN} 100; N1 B 0 MKT; N1 B 1 100",
        "R 1 qty; R 1 qty; R 1 qty; R 1 qty",
        "bid 100: 1x1",
    ),
    BookCase(
        "first reason that applies is given",
        "N1 B 5 100; N1 B 0 1; N2 B 0 1; M3 0 1; M1 0 1",
        "R 1 duplicate_id; R 2 qty; R 3 unknown_id; R 1 qty",
        "bid 100: 1x5",
        {"price_range": (90, 110)},
    ),
    BookCase(
        "price is looked at before post-only",
        "N1 S 5 100; N2 B 5 111 PO; N3 B 5 110 PO",
        "R 2 price; R 3 post_only",
        "ask 100: 1x5",
        {"price_range": (90, 110)},
    ),
    BookCase(
        "largest quantity there is",
        f"N1 S {MAX} 100; N2 B 1 100; N3 B {MAX} 100",
        f"T 1 2 100 1; T 1 3 100 {MAX - 1}",
        "bid 100: 3x1",
    ),
    BookCase(
        "lots that wrap round are told",
        f"N1 S {MAX} 100; N2 B {MAX} 100; N3 S 1 100; N4 B 1 100",
        f"T 1 2 100 {MAX}; T 3 4 100 1",
        "",
        flags=8,
    ),
    # Modifications.
    BookCase(
        "unknown id cannot be modified",
        "M7 5 100; N1 B 5 100; C1; M1 5 100",
        "R 7 unknown_id; R 1 unknown_id",
        "",
    ),
    BookCase(
        "filled order cannot be modified",
        "N1 B 5 100; N2 S 5 100; M1 5 100; M2 5 100",
        "T 1 2 100 5; R 1 unknown_id; R 2 unknown_id",
        "",
    ),
    BookCase(
        "modification to nothing is rejected",
        "N1 B 5 100; M1 0 100; M1 -1 101",
        "R 1 qty; R 1 qty",
        "bid 100: 1x5",
    ),
    BookCase(
        "equal modification keeps the place",
        "N1 B 5 100; N2 B 5 100; M1 5 100; N3 S 6 100",
        "T 1 3 100 5; T 2 3 100 1",
        "bid 100: 2x4",
    ),
    BookCase(
        "modified price goes to the end there",
        "N1 B 5 99; N2 B 5 100; M1 3 100; N3 S 6 100",
        "T 2 3 100 5; T 1 3 100 1",
        "bid 100: 1x2",
    ),
    BookCase(
        "smaller quantity at another price loses the place",
        "N1 B 5 100; N2 B 5 100; M1 4 101; M1 4 100; N3 S 6 100",
        "T 2 3 100 5; T 1 3 100 1",
        "bid 100: 1x3",
    ),
    BookCase(
        "modification that trades in part rests at its new price",
        "N1 S 2 100; N2 S 2 101; N3 B 10 99; M3 6 100; N4 S 1 100",
        "T 1 3 100 2; T 3 4 100 1",
        "bid 100: 3x3; ask 101: 2x2",
    ),
    BookCase(
        "modified seller crosses downwards",
        "N1 B 5 100; N2 B 5 99; N3 S 8 105; M3 8 99",
        "T 1 3 100 5; T 2 3 99 3",
        "bid 99: 2x2",
    ),
    BookCase(
        "modification keeps the side",
        "N1 S 5 100; M1 7 102; N2 B 9 103",
        "T 1 2 102 7",
        "bid 103: 2x2",
    ),
    BookCase(
        "open quantity of a partly filled order is set",
        "N1 B 10 100; N2 S 4 100; M1 5 100; N3 B 1 100; N4 S 6 100",
        "T 1 2 100 4; T 1 4 100 5; T 3 4 100 1",
        "",
    ),
    BookCase(
        "open quantity above what is left loses the place",
        "N1 B 10 100; N3 B 1 100; N2 S 4 100; M1 7 100; N4 S 2 100",
        "T 1 2 100 4; T 3 4 100 1; T 1 4 100 1",
        "bid 100: 1x6",
    ),
    BookCase(
        "replaced order loses its place with fewer lots",
        "N1 B 5 100; N2 B 5 100; M1 3 100; N3 S 4 100",
        "T 2 3 100 4",
        "bid 100: 2x1 1x3",
        {"modify": "replace"},
    ),
    BookCase(
        "replaced order loses its place with equal lots",
        "N1 B 5 100; N2 B 5 100; M1 5 100; N3 S 4 100",
        "T 2 3 100 4",
        "bid 100: 2x1 1x5",
        {"modify": "replace"},
    ),
    BookCase(
        "order alone at its price may be replaced there",
        "N1 B 5 100; M1 6 100; M1 5 100; N2 S 2 100",
        "T 1 2 100 2",
        "bid 100: 1x3",
        {"modify": "replace"},
    ),
    BookCase(
        "replacement that crosses trades at once",
        "N1 S 5 200; N2 B 5 100; M2 7 200; C2; C2",
        "T 1 2 200 5; R 2 unknown_id",
        "",
        {"modify": "replace"},
    ),
    BookCase(
        "total quantity counts what was traded",
        "N1 B 10 100; N2 B 1 100; N3 S 4 100; M1 8 100; N4 S 5 100",
        "T 1 3 100 4; T 1 4 100 4; T 2 4 100 1",
        "",
        {"qty": "total"},
    ),
    BookCase(
        "total quantity that is larger loses the place",
        "N1 B 10 100; N2 B 1 100; N3 S 4 100; M1 11 100; N4 S 2 100",
        "T 1 3 100 4; T 2 4 100 1; T 1 4 100 1",
        "bid 100: 1x6",
        {"qty": "total"},
    ),
    BookCase(
        "total quantity that leaves nothing open is rejected",
        "N1 B 10 100; N2 S 4 100; M1 4 100; M1 3 100; M1 0 100; M1 5 100",
        "T 1 2 100 4; R 1 qty; R 1 qty; R 1 qty",
        "bid 100: 1x1",
        {"qty": "total"},
    ),
    BookCase(
        "total quantity counts what the order took",
        "N1 S 4 100; N2 B 10 100; M2 7 100",
        "T 1 2 100 4",
        "bid 100: 2x3",
        {"qty": "total"},
    ),
    BookCase(
        "total quantity counts trades before and after a move",
        "N1 S 1 101; N2 B 10 100; N3 S 2 100; M2 9 101; N4 S 2 101; M2 7 101",
        "T 2 3 100 2; T 1 2 101 1; T 2 4 101 2",
        "bid 101: 2x2",
        {"qty": "total"},
    ),
    BookCase(
        "total quantity starts anew with the id",
        "N1 B 10 100; N2 S 4 100; C1; N1 B 10 100; M1 4 100",
        "T 1 2 100 4",
        "bid 100: 1x4",
        {"qty": "total"},
    ),
    # Room.
    BookCase(
        "order that finds no room is rejected",
        "N1 B 5 100; N2 S 5 101; N3 B 5 100; N4 S 5 102; C1; N5 B 1 99",
        "R 3 book_full; R 4 book_full",
        "bid 99: 5x1; ask 101: 2x5",
        {"capacity": 2},
        flags=1,
    ),
    BookCase(
        "full book trades",
        "N1 S 5 100; N2 S 5 101; N3 B 2 100; N4 B 9 102; N5 B 1 MKT",
        "T 1 3 100 2; T 1 4 100 3; T 2 4 101 5; X 5 1 rest",
        "bid 102: 4x1",
        {"capacity": 2},
    ),
    BookCase(
        "order that trades and rests has room",
        "N1 S 5 100; N2 S 5 101; N3 B 9 100",
        "T 1 3 100 5",
        "bid 100: 3x4; ask 101: 2x5",
        {"capacity": (2, 2)},
    ),
    BookCase(
        "order that does not rest needs no room",
        "N1 S 5 101; N2 B 5 100 IOC; N3 B 5 100 FOK; N4 S 1 100",
        "X 2 5 rest; X 3 5 fill_or_kill; R 4 book_full",
        "ask 101: 1x5",
        {"capacity": 1},
        flags=1,
    ),
    BookCase(
        "post-only that finds no room is rejected",
        "N1 S 5 101; N2 B 5 100 PO; N3 B 5 101 PO",
        "R 2 book_full; R 3 post_only",
        "ask 101: 1x5",
        {"capacity": 1},
        flags=1,
    ),
    BookCase(
        "id of an order without room is free",
        "N1 S 5 101; N2 B 5 100; C1; N2 B 5 100",
        "R 2 book_full",
        "bid 100: 2x5",
        {"capacity": 1},
        flags=1,
    ),
    BookCase(
        "full book modifies",
        "N1 B 5 100; M1 7 101; M1 8 99; M1 2 99; N2 B 1 99",
        "R 2 book_full",
        "bid 99: 1x2",
        {"capacity": 1},
        flags=1,
    ),
    BookCase(
        "order that needs one level too many is rejected",
        "N1 B 5 100; N2 S 5 101; N3 B 5 99; N4 B 5 100; N5 S 1 101",
        "R 3 book_full",
        "bid 100: 1x5 4x5; ask 101: 2x5 5x1",
        {"capacity": (None, 2)},
        flags=2,
    ),
    BookCase(
        "modification to one level too many is rejected",
        "N1 B 5 100; N2 S 5 101; N3 B 5 100; M3 5 99; M3 9 100; C1; M3 5 99",
        "R 3 book_full",
        "bid 99: 3x5; ask 101: 2x5",
        {"capacity": (None, 2)},
        flags=2,
    ),
    BookCase(
        "modification that crosses has its level",
        "N1 B 5 100; N2 S 5 101; N3 B 5 100; M3 7 102",
        "T 2 3 101 5",
        "bid 102: 3x2; bid 100: 1x5",
        {"capacity": (3, 2)},
    ),
    BookCase(
        "orders are counted before levels",
        "N1 B 5 100; N2 B 5 99",
        "R 2 book_full",
        "bid 100: 1x5",
        {"capacity": (1, 1)},
        flags=1,
    ),
    BookCase(
        "level that would hold too many lots rejects",
        f"N1 B {MAX - 1} 100; N2 B 1 100; N3 B 1 100; N4 B 1 99; M4 1 100; M2 2 100; M2 1 100",
        "R 3 book_full; R 4 book_full; R 2 book_full",
        f"bid 100: 1x{MAX - 1} 2x1; bid 99: 4x1",
        flags=4,
    ),
    BookCase(
        "replaced order makes room for itself",
        f"N1 B {MAX} 100; M1 {MAX} 100; M1 {MAX - 1} 100; N2 B 1 100",
        "",
        f"bid 100: 1x{MAX - 1} 2x1",
        {"modify": "replace", "capacity": (2, 1)},
    ),
    # Self-trades.
    BookCase(
        "owners are not looked at without a rule", "N1 S 5 100 o7; N2 B 5 100 o7", "T 1 2 100 5", ""
    ),
    BookCase(
        "resting order of the same owner is cancelled",
        "N1 S 5 100 o7; N2 S 5 100 o8; N3 B 7 100 o7",
        "X 1 5 self_trade; T 2 3 100 5",
        "bid 100: 3x2",
        {"stp": "cancel_resting"},
    ),
    BookCase(
        "order of the same owner behind is left alone",
        "N1 S 5 100 o8; N2 S 5 100 o7; N3 B 5 100 o7",
        "T 1 3 100 5",
        "ask 100: 2x5",
        {"stp": "cancel_resting"},
    ),
    BookCase(
        "all orders of the same owner up to the limit are cancelled",
        "N1 S 5 100 o7; N2 S 5 101 o7; N3 S 5 102 o7; N4 B 9 101 o7",
        "X 1 5 self_trade; X 2 5 self_trade",
        "bid 101: 4x9; ask 102: 3x5",
        {"stp": "cancel_resting"},
    ),
    BookCase(
        "incoming order of the same owner is cancelled",
        "N1 S 2 99 o8; N2 S 5 100 o7; N3 S 5 100 o8; N4 B 9 100 o7; C4",
        "T 1 4 99 2; X 4 7 self_trade; R 4 unknown_id",
        "ask 100: 2x5 3x5",
        {"stp": "cancel_incoming"},
    ),
    BookCase(
        "both orders of the same owner are cancelled",
        "N1 S 2 99 o8; N2 S 5 100 o7; N3 S 5 100 o8; N4 B 9 100 o7; C2",
        "T 1 4 99 2; X 2 5 self_trade; X 4 7 self_trade; R 2 unknown_id",
        "ask 100: 3x5",
        {"stp": "cancel_both"},
    ),
    BookCase(
        "nobody's orders trade with each other",
        "N1 S 5 100; N2 B 5 100; N3 S 5 100 o0; N4 B 5 100 o0",
        "T 1 2 100 5; T 3 4 100 5",
        "",
        {"stp": "cancel_both"},
    ),
    BookCase(
        "largest owner is an owner",
        f"N1 S 5 100 o{ID_MAX}; N2 B 5 100 o{ID_MAX}; N3 B 5 100 o{ID_MAX - 1}",
        "X 2 5 self_trade; T 1 3 100 5",
        "",
        {"stp": "cancel_incoming"},
    ),
    BookCase(
        "market order meets its owner",
        "N1 S 5 100 o7; N2 S 5 101 o8; N3 B 7 MKT o7",
        "X 1 5 self_trade; T 2 3 101 5; X 3 2 rest",
        "",
        {"stp": "cancel_resting"},
    ),
    BookCase(
        "market order of the same owner is cancelled once",
        "N1 S 5 100 o7; N2 B 7 MKT o7",
        "X 2 7 self_trade",
        "ask 100: 1x5",
        {"stp": "cancel_incoming"},
    ),
    BookCase(
        "partly filled order of the same owner is cancelled",
        "N1 S 5 100 o7; N2 B 2 100 o8; N3 B 4 100 o7",
        "T 1 2 100 2; X 1 3 self_trade; X 3 4 self_trade",
        "",
        {"stp": "cancel_both"},
    ),
    BookCase(
        "modified order meets its owner",
        "N1 S 5 101 o7; N2 B 5 100 o7; M2 5 101",
        "X 1 5 self_trade",
        "bid 101: 2x5",
        {"stp": "cancel_resting"},
    ),
    BookCase(
        "modified order of the same owner is cancelled",
        "N1 S 2 101 o8; N2 S 5 101 o7; N3 B 5 100 o7; M3 5 101; C3",
        "T 1 3 101 2; X 3 3 self_trade; R 3 unknown_id",
        "ask 101: 2x5",
        {"stp": "cancel_incoming"},
    ),
    BookCase(
        "FOK does not count lots of its owner",
        "N1 S 5 100 o7; N2 S 5 100 o8; N3 B 6 100 o7 FOK; N4 B 5 100 o7 FOK",
        "X 3 6 fill_or_kill; X 1 5 self_trade; T 2 4 100 5",
        "",
        {"stp": "cancel_resting"},
    ),
    BookCase(
        "FOK stops counting at an order of its owner",
        "N1 S 5 100 o8; N2 S 5 100 o7; N3 S 5 100 o8; N4 B 6 100 o7 FOK; N5 B 5 100 o7 FOK",
        "X 4 6 fill_or_kill; T 1 5 100 5",
        "ask 100: 2x5 3x5",
        {"stp": "cancel_incoming"},
    ),
    BookCase(
        "FOK that fails cancels no order of its owner",
        "N1 S 5 100 o8; N2 S 5 100 o7; N3 B 6 100 o7 FOK",
        "X 3 6 fill_or_kill",
        "ask 100: 1x5 2x5",
        {"stp": "cancel_both"},
    ),
    BookCase(
        "post-only is rejected for an order of its owner",
        "N1 S 5 100 o7; N2 B 5 100 o7 PO",
        "R 2 post_only",
        "ask 100: 1x5",
        {"stp": "cancel_resting"},
    ),
    BookCase(
        "cancelled order of the owner makes room",
        "N1 S 5 100 o7; N2 B 5 100 o7",
        "X 1 5 self_trade",
        "bid 100: 2x5",
        {"stp": "cancel_resting", "capacity": (1, 1)},
    ),
)
