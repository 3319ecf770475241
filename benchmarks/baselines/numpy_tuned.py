"""The NumPy baseline with what a NumPy expert would do next: narrow draws and one flat index.

Two changes to `numpy_engine`, neither of which the paper describes. Draws are float32 and int8
instead of float64 and int64. Orders are added at one flat index instead of at pairs (market,
level), for which np.add.at has a fast loop since NumPy 1.25.
"""

import numpy as np

from baselines.numpy_engine import NumpyMarkets

_ONE = np.float32(1)


class TunedNumpyMarkets(NumpyMarkets):
    """`NumpyMarkets`, faster; the same model in distribution."""

    def _draw(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        shape, draw = self._maker.shape, self._rng.random
        side = np.where(draw(shape, np.float32) < 0.5, _ONE, -_ONE)
        market_order = draw(shape, np.float32) < self.market_order_prob
        qty = _ONE + np.floor(draw(shape, np.float32) * np.float32(self.max_qty))
        return side, market_order, qty, self._rng.integers(*self._offsets, shape, np.int8)

    def _add_orders(
        self, book: np.ndarray, chosen: np.ndarray, price: np.ndarray, qty: np.ndarray
    ) -> np.ndarray:
        total = book.copy()
        cell = self._market * self.levels + price
        np.add.at(total.reshape(-1), cell[chosen], qty[chosen])
        return total
