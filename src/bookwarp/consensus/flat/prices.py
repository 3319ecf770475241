"""Prices of 128 bits as ticks of 64, exactly and in the same order."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class PriceTicks:
    """What stands for the prices of a batch: any price has a tick, and a higher price a higher one.

    The tick of a price is the rank of its integer part among those of the batch, times how many
    fractions there are in the batch, plus the rank of its fraction.
    """

    integers: np.ndarray
    """uint64 [integer part], ascending, each once."""
    fractions: np.ndarray
    """uint64 [fraction], ascending, each once."""

    @classmethod
    def of(cls, rows: np.ndarray) -> tuple["PriceTicks", np.ndarray]:
        """Rank the prices of rows that have `price_integer` and `price_fraction`.

        Returns:
            The ranks, and the ticks of the rows, int64 [row].

        Cost: O(rows log rows); fewer than 2**31 rows, so that the ticks fit.
        """
        integers, integer_ranks = np.unique(rows["price_integer"], return_inverse=True)
        fractions, ranks = np.unique(rows["price_fraction"], return_inverse=True)
        return cls(integers, fractions), integer_ranks * len(fractions) + ranks

    def prices(self, ticks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the integer parts and the fractions that ticks stand for, uint64 [tick]."""
        integer_ranks, ranks = np.divmod(ticks, max(1, len(self.fractions)))
        return self.integers[integer_ranks], self.fractions[ranks]
