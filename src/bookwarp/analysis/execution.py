"""What it cost to execute a block: the implementation shortfall of every parent order.

Costs are exact integers in half ticks times lots, since a mid can lie between two ticks; floats
come after them.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from bookwarp.reference.auction import mid_price
from bookwarp.spec.errors import ParameterError

if TYPE_CHECKING:
    from bookwarp.results.run import Run


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ExecutionCosts:
    """The parent order of every market and what it cost; arrays are [market].

    A cost is positive where it is a loss, for buyers and sellers. A market whose parent order has
    not begun, or that has none, has 0 lots and costs of 0, and NaN for what is a mean.
    """

    qty: np.ndarray
    """Lots of the parent orders that have begun, int64."""
    filled: np.ndarray
    """Lots that were filled, int64."""
    price_cost2: np.ndarray
    """Twice what the filled lots cost more than at the arrival mid, int64, lot tick."""
    opportunity_cost2: np.ndarray
    """Twice what the other lots would cost more now than at the arrival mid, int64, lot tick."""
    average_price: np.ndarray
    """Mean price of the filled lots, float64, tick."""
    arrival_price: np.ndarray
    """Mid when the parent began, float64, tick."""

    @property
    def unfilled(self) -> np.ndarray:
        """Lots that were not filled, int64."""
        return np.asarray(self.qty - self.filled)

    @property
    def price_cost(self) -> np.ndarray:
        """What the filled lots cost more than at the arrival mid, float64, lot tick."""
        return np.asarray(self.price_cost2 / 2)

    @property
    def opportunity_cost(self) -> np.ndarray:
        """What the other lots would cost more now than at the arrival mid, float64, lot tick."""
        return np.asarray(self.opportunity_cost2 / 2)

    @cached_property
    def shortfall(self) -> np.ndarray:
        """The implementation shortfall, the sum of both costs, float64, lot tick."""
        return np.asarray((self.price_cost2 + self.opportunity_cost2) / 2)

    @property
    def shortfall_per_lot(self) -> np.ndarray:
        """The same for each lot of the parent order, float64, tick."""
        return _quotient(self.shortfall, self.qty)

    @property
    def price_cost_per_lot(self) -> np.ndarray:
        """What a filled lot cost more than at the arrival mid, float64, tick."""
        return _quotient(self.price_cost, self.filled)

    @property
    def fill_rate(self) -> np.ndarray:
        """Share of the parent order that was filled, float64."""
        return _quotient(self.filled, self.qty)


def execution_costs(run: "Run") -> ExecutionCosts:
    """Return what the parent orders of a run cost up to its last step.

    Lots that are not filled are valued at the mid that the book has after that step.

    Raises:
        ParameterError: the run has no parent order.
    """
    auction, state = run.auction, run.state
    if not auction.has_execution_agents:
        raise ParameterError("this run has no parent order: parent_qty is 0 in all markets")
    open_price = auction.per_market("open_price")
    begun = auction.per_market("parent_start") < run.steps
    qty = np.where(begun, auction.per_market("parent_qty"), 0)
    # Counted from open_price, so that no sum depends on how far that is.
    centre = open_price - state.base
    final_mid2 = mid_price(state.bid, state.ask, state.last - state.base) - 2 * centre
    price2, opportunity2 = shortfall_parts(
        auction.per_market("parent_side"),
        qty,
        run.execution_filled,
        run.execution_cost,
        run.arrival_mid2,
        final_mid2,
    )
    arrival = np.where(qty > 0, open_price + run.arrival_mid2 / 2, np.nan)
    return ExecutionCosts(
        qty=qty,
        filled=run.execution_filled,
        price_cost2=price2,
        opportunity_cost2=opportunity2,
        average_price=open_price + _quotient(run.execution_cost, run.execution_filled),
        arrival_price=arrival,
    )


def shortfall_parts(
    side: np.ndarray,
    qty: np.ndarray,
    filled: np.ndarray,
    cost: np.ndarray,
    arrival_mid2: np.ndarray,
    final_mid2: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return twice the two parts of the implementation shortfall, int64, lot tick.

    With the mid m0 at which the order was decided on, the mid m1 now, and f of Q lots filled:

        price cost = side * (sum of fill * price - f * m0)
        opportunity cost = side * (Q - f) * (m1 - m0)

    Args:
        side: 1 buy, -1 sell, int64.
        qty, filled: Q and f, int64, lot.
        cost: sum of fill * (price - open_price), int64, lot tick; `execution_cost` of a run.
        arrival_mid2, final_mid2: twice m0 and m1, counted from open_price, int64, half tick.

    Source: A. F. Perold, "The implementation shortfall: paper versus reality", Journal of
        Portfolio Management 14 (1988) 4.
    """
    price2 = side * (2 * cost - filled * arrival_mid2)
    opportunity2 = side * (qty - filled) * (final_mid2 - arrival_mid2)
    return np.asarray(price2), np.asarray(opportunity2)


def _quotient(value: np.ndarray, lots: np.ndarray) -> np.ndarray:
    """Return value / lots, float64, NaN where there are no lots."""
    undefined = np.full(np.shape(lots), np.nan)
    return np.asarray(np.divide(value, lots, out=undefined, where=np.asarray(lots) > 0))
