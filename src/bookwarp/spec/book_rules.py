"""The rules of a run on continuous books, all checked."""

from dataclasses import dataclass
from enum import IntEnum
from numbers import Integral
from typing import Any, TypeVar

from bookwarp.spec.errors import ParameterError, unknown_name

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1
MAX_BOOKS = 2**32 - 1
MAX_CAPACITY = 2**31 - 1


class ModifyRule(IntEnum):
    """What a modification does to an order's place in the queue."""

    KEEP = 0
    """It keeps its place if the price is the same and the quantity not larger."""
    REPLACE = 1
    """The order always leaves and comes in again."""


class QtyMeaning(IntEnum):
    """What the quantity of a modification means."""

    OPEN = 0
    """Lots that are open from then on."""
    TOTAL = 1
    """Those, and all that the order has traded since it was accepted."""


class SelfTrade(IntEnum):
    """What happens when an order meets one of the same owner."""

    NONE = 0
    """They trade; owners are not looked at."""
    CANCEL_RESTING = 1
    CANCEL_INCOMING = 2
    CANCEL_BOTH = 3


_Code = TypeVar("_Code", bound=IntEnum)


@dataclass(frozen=True)
class BookRules:
    """What holds for every book of a run; build one with `BookRules.of`, which checks it."""

    modify: ModifyRule = ModifyRule.KEEP
    qty: QtyMeaning = QtyMeaning.OPEN
    stp: SelfTrade = SelfTrade.NONE
    order_capacity: int | None = None
    """Orders that can rest in a book at once, both sides together; None: as many as there are."""
    level_capacity: int | None = None
    """Price levels at which orders can rest, both sides together; None: as many as there are."""
    price_low: int = INT64_MIN
    price_high: int = INT64_MAX
    """Limits from `price_low` to `price_high`, both included, are accepted [tick]."""

    @classmethod
    def of(
        cls,
        *,
        modify: Any = "keep",
        qty: Any = "open",
        stp: Any = "none",
        capacity: Any = None,
        price_range: Any = None,
    ) -> "BookRules":
        """Check every rule and return them.

        Args:
            modify: "keep" or "replace".
            qty: "open" or "total".
            stp: "none", "cancel_resting", "cancel_incoming" or "cancel_both".
            capacity: orders a book, or (orders, price levels); None, there too, is no limit.
            price_range: (lowest, highest) price accepted, both included [tick]; None is no limit.

        Raises:
            ParameterError: naming the rule, the value and the limit.
        """
        orders, levels = _pair("capacity", capacity, single=True)
        low, high = _pair("price_range", price_range)
        low = INT64_MIN if low is None else _integer("price_range", low, INT64_MIN, INT64_MAX)
        high = INT64_MAX if high is None else _integer("price_range", high, INT64_MIN, INT64_MAX)
        if low > high:
            raise ParameterError(f"price_range = ({low}, {high}) ends below its start")
        return cls(
            modify=_choice("modify", modify, ModifyRule),
            qty=_choice("qty", qty, QtyMeaning),
            stp=_choice("stp", stp, SelfTrade),
            order_capacity=_capacity("capacity of orders", orders),
            level_capacity=_capacity("capacity of price levels", levels),
            price_low=low,
            price_high=high,
        )

    @property
    def tracks_filled(self) -> bool:
        """Whether books remember how much of an order has traded."""
        return self.qty is QtyMeaning.TOTAL

    @property
    def tracks_owner(self) -> bool:
        """Whether books remember whose an order is."""
        return self.stp is not SelfTrade.NONE


def check_book_count(books: Any) -> int:
    """Return the number of books, 1 .. 2**32 - 1.

    Raises:
        ParameterError: it is none.
    """
    return _integer("books", books, 1, MAX_BOOKS)


def _choice(name: str, value: Any, codes: type[_Code]) -> _Code:
    if isinstance(value, codes):
        return value
    names = [code.name.lower() for code in codes]
    if value not in names:
        raise ParameterError(unknown_name(name, value, names))
    return codes[value.upper()]


def _pair(name: str, value: Any, single: bool = False) -> tuple[Any, Any]:
    if value is None:
        return None, None
    if isinstance(value, tuple | list) and len(value) == 2:
        return value[0], value[1]
    if single and not isinstance(value, tuple | list):
        return value, None
    raise ParameterError(f"{name} = {value!r} is not a pair of integers")


def _capacity(name: str, value: Any) -> int | None:
    return None if value is None else _integer(name, value, 1, MAX_CAPACITY)


def _integer(name: str, value: Any, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ParameterError(f"{name} must be an integer, not {value!r}")
    if not low <= int(value) <= high:
        raise ParameterError(f"{name} = {value} is outside {low} .. {high}")
    return int(value)
