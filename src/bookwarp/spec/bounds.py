"""Sums that must fit in an int64, checked before a run for all of its steps."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bookwarp.spec.codes import Stream, Window
from bookwarp.spec.errors import ParameterError

if TYPE_CHECKING:
    from bookwarp.spec.market import CallAuction

_INT64_MAX = 2**63 - 1

COST_MOST = 2**60 - 1
"""Largest lots of a parent order times ticks from open_price: sums of four of them, as an
implementation shortfall in half ticks has, fit in an int64."""


def check_lots_fit(auction: "CallAuction", steps: int) -> None:
    """Refuse a run in which the lots on a side of a book, or waiting for it, could overflow."""
    largest = np.asarray(auction.max_qty, object) + (auction.stream is Stream.PAPER)
    lots = np.asarray(auction.open_depth, object) + auction.agents * largest * steps
    terms, last = "open_depth + agents * max_qty * steps", " or open_depth"
    if auction.has_execution_agents:
        lots = lots + np.asarray(auction.parent_qty, object)
        terms, last = f"{terms} + parent_qty", ", open_depth or parent_qty"
    _refuse_above(
        auction,
        _INT64_MAX,
        lots,
        f"{terms} = {{}}{{}} could overflow a quantity (limit 2**63 - 1): lower max_qty, agents "
        f"({auction.agents}), steps ({steps}){last}",
    )


def check_prices_fit(auction: "CallAuction", steps: int, half_ticks: bool) -> None:
    """Refuse a run in which a price could overflow; and, if asked, a doubled price."""
    if auction.window is Window.FIXED:
        return
    reach = abs(np.asarray(auction.open_price, object)) + (steps + 1) * auction.levels
    _refuse_above(
        auction,
        _INT64_MAX,
        reach,
        f"abs(open_price) + (steps + 1) * levels = {{}}{{}} could overflow a price "
        f"(limit 2**63 - 1): bring open_price nearer to 0, or lower steps ({steps})",
    )
    if half_ticks:
        _refuse_above(
            auction,
            _INT64_MAX,
            2 * reach,
            f"2 * (abs(open_price) + (steps + 1) * levels) = {{}}{{}} could overflow a "
            f"recorded mid2 (limit 2**63 - 1): bring open_price nearer to 0, lower steps "
            f"({steps}), or do not record mid2",
        )


def check_costs_fit(auction: "CallAuction", steps: int) -> None:
    """Refuse a run in which the cost of a parent order could overflow."""
    following = auction.window is Window.FOLLOWING
    farthest = (steps + 1) * auction.levels if following else auction.levels
    terms = "(steps + 1) * levels" if following else "levels"
    _refuse_above(
        auction,
        COST_MOST,
        np.asarray(auction.parent_qty, object) * farthest,
        f"parent_qty * {terms} = {{}}{{}} could overflow the cost of the parent order (limit "
        f"2**60 - 1): lower parent_qty, levels ({auction.levels}) or steps ({steps})",
    )


def _refuse_above(auction: "CallAuction", most: int, bound: Any, sentence: str) -> None:
    values = np.asarray(bound, object)
    worst = int(np.argmax(values)) if values.ndim else None
    value = values.reshape(-1)[worst or 0]
    if value > most:
        where = "" if worst is None else f" in {auction.entry} {worst}"
        wrong = None if worst is None else (values > most).astype(bool)
        raise ParameterError(sentence.format(value, where), wrong)
