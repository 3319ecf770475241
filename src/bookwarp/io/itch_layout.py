"""The messages of NASDAQ TotalView-ITCH 5.0: every type with its fields, in the order they lie.

Source: "NASDAQ TotalView-ITCH 5.0", the specification of the venue. All numbers are unsigned and
big-endian; text is padded with blanks on the right.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bookwarp.spec.market_data import MarketEvent

HEADER = (("stock_locate", "u2"), ("tracking_number", "u2"), ("timestamp", "u6"))
"""What every message starts with, behind its type; the timestamp is in ns since midnight."""


@dataclass(frozen=True)
class MessageType:
    """One type of message.

    A field is a name and a form: uN, a number of N bytes; aN, text of N bytes. Prices are in
    1/10000 $, those of MWCB levels in 1/100000000 $.
    """

    letter: str
    name: str
    event: MarketEvent
    own_fields: tuple[tuple[str, str], ...]

    @cached_property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """All fields behind the type."""
        return (*HEADER, *self.own_fields)

    @cached_property
    def length(self) -> int:
        """Bytes of a message, its type among them."""
        return 1 + sum(int(form[1:]) for _, form in self.fields)

    def offset(self, field: str) -> int:
        """Return where a field starts; -1 if there is none of that name."""
        at = 1
        for name, form in self.fields:
            if name == field:
                return at
            at += int(form[1:])
        return -1

    def record(self, numbers: bool) -> np.dtype:
        """Return a message as a record: as its bytes lie, or with native numbers."""
        forms = [(name, _form(form, numbers)) for name, form in self.fields]
        return np.dtype(forms if numbers else [("type", "S1"), *forms])


def _form(form: str, numbers: bool) -> str:
    kind, size = form[0], int(form[1:])
    if kind == "a":
        return f"S{size}"
    if not numbers:
        return f">u{size}" if size in (1, 2, 4, 8) else f"V{size}"
    return "u8" if size == 6 else f"u{size}"


_STOCK = ("stock", "a8")
_ADD = (
    ("order_reference_number", "u8"),
    ("buy_sell_indicator", "a1"),
    ("shares", "u4"),
    _STOCK,
    ("price", "u4"),
)
_EXECUTED = (("order_reference_number", "u8"), ("shares", "u4"), ("match_number", "u8"))

_TYPES = (
    MessageType("S", "system event", MarketEvent.OTHER, (("event_code", "a1"),)),
    MessageType(
        "R",
        "stock directory",
        MarketEvent.OTHER,
        (
            _STOCK,
            ("market_category", "a1"),
            ("financial_status_indicator", "a1"),
            ("round_lot_size", "u4"),
            ("round_lots_only", "a1"),
            ("issue_classification", "a1"),
            ("issue_subtype", "a2"),
            ("authenticity", "a1"),
            ("short_sale_threshold_indicator", "a1"),
            ("ipo_flag", "a1"),
            ("luld_reference_price_tier", "a1"),
            ("etp_flag", "a1"),
            ("etp_leverage_factor", "u4"),
            ("inverse_indicator", "a1"),
        ),
    ),
    MessageType(
        "H",
        "stock trading action",
        MarketEvent.HALT,
        (_STOCK, ("trading_state", "a1"), ("reserved", "a1"), ("reason", "a4")),
    ),
    MessageType("Y", "Reg SHO restriction", MarketEvent.OTHER, (_STOCK, ("reg_sho_action", "a1"))),
    MessageType(
        "L",
        "market participant position",
        MarketEvent.OTHER,
        (
            ("mpid", "a4"),
            _STOCK,
            ("primary_market_maker", "a1"),
            ("market_maker_mode", "a1"),
            ("market_participant_state", "a1"),
        ),
    ),
    MessageType(
        "V",
        "MWCB decline level",
        MarketEvent.OTHER,
        (("level_1", "u8"), ("level_2", "u8"), ("level_3", "u8")),
    ),
    MessageType("W", "MWCB status", MarketEvent.OTHER, (("breached_level", "a1"),)),
    MessageType(
        "K",
        "IPO quoting period update",
        MarketEvent.OTHER,
        (
            _STOCK,
            ("ipo_quotation_release_time", "u4"),
            ("ipo_quotation_release_qualifier", "a1"),
            ("ipo_price", "u4"),
        ),
    ),
    MessageType(
        "J",
        "LULD auction collar",
        MarketEvent.OTHER,
        (
            _STOCK,
            ("auction_collar_reference_price", "u4"),
            ("upper_auction_collar_price", "u4"),
            ("lower_auction_collar_price", "u4"),
            ("auction_collar_extension", "u4"),
        ),
    ),
    MessageType(
        "h",
        "operational halt",
        MarketEvent.HALT,
        (_STOCK, ("market_code", "a1"), ("trading_state", "a1")),
    ),
    MessageType("A", "add order", MarketEvent.ADD, _ADD),
    MessageType("F", "add order with MPID", MarketEvent.ADD, (*_ADD, ("attribution", "a4"))),
    MessageType("E", "order executed", MarketEvent.EXECUTE, _EXECUTED),
    MessageType(
        "C",
        "order executed with price",
        MarketEvent.EXECUTE_AT,
        (*_EXECUTED, ("printable", "a1"), ("price", "u4")),
    ),
    MessageType(
        "X",
        "order cancel",
        MarketEvent.REDUCE,
        (("order_reference_number", "u8"), ("shares", "u4")),
    ),
    MessageType("D", "order delete", MarketEvent.DELETE, (("order_reference_number", "u8"),)),
    MessageType(
        "U",
        "order replace",
        MarketEvent.REPLACE,
        (
            ("order_reference_number", "u8"),
            ("new_order_reference_number", "u8"),
            ("shares", "u4"),
            ("price", "u4"),
        ),
    ),
    MessageType("P", "trade", MarketEvent.HIDDEN, (*_ADD, ("match_number", "u8"))),
    MessageType(
        "Q",
        "cross trade",
        MarketEvent.CROSS,
        (
            ("shares", "u8"),
            _STOCK,
            ("price", "u4"),
            ("match_number", "u8"),
            ("cross_type", "a1"),
        ),
    ),
    MessageType("B", "broken trade", MarketEvent.BROKEN, (("match_number", "u8"),)),
    MessageType(
        "I",
        "net order imbalance",
        MarketEvent.OTHER,
        (
            ("paired_shares", "u8"),
            ("imbalance_shares", "u8"),
            ("imbalance_direction", "a1"),
            _STOCK,
            ("far_price", "u4"),
            ("near_price", "u4"),
            ("current_reference_price", "u4"),
            ("cross_type", "a1"),
            ("price_variation_indicator", "a1"),
        ),
    ),
    MessageType(
        "N", "retail price improvement", MarketEvent.OTHER, (_STOCK, ("interest_flag", "a1"))
    ),
    MessageType(
        "O",
        "direct listing with capital raise",
        MarketEvent.OTHER,
        (
            _STOCK,
            ("open_eligibility_status", "a1"),
            ("minimum_allowable_price", "u4"),
            ("maximum_allowable_price", "u4"),
            ("near_execution_price", "u4"),
            ("near_execution_time", "u8"),
            ("lower_price_range_collar", "u4"),
            ("upper_price_range_collar", "u4"),
        ),
    ),
)

MESSAGE_TYPES: dict[str, MessageType] = {each.letter: each for each in _TYPES}

# What the kernel looks up, by the code of the letter: columns of the table.
LENGTH, EVENT, ID_AT, NEW_ID_AT, SIDE_AT, QTY_AT, QTY_BYTES, PRICE_AT, STOCK_AT, STATE_AT = range(
    10
)
PRINTABLE_AT = 10
_COLUMNS = 11


def lookup_table() -> np.ndarray:
    """Return length, event, and where the fields of a book lie, int64 [letter, column]; or -1."""
    table = np.full((256, _COLUMNS), -1, np.int64)
    for each in MESSAGE_TYPES.values():
        row = table[ord(each.letter)]
        row[LENGTH], row[EVENT] = each.length, each.event
        row[ID_AT] = each.offset("order_reference_number")
        row[NEW_ID_AT] = each.offset("new_order_reference_number")
        row[SIDE_AT] = each.offset("buy_sell_indicator")
        row[QTY_AT], row[PRICE_AT] = each.offset("shares"), each.offset("price")
        row[QTY_BYTES] = int(dict(each.fields).get("shares", "u0")[1:])
        row[STOCK_AT], row[STATE_AT] = each.offset("stock"), each.offset("trading_state")
        row[PRINTABLE_AT] = each.offset("printable")
    return table
