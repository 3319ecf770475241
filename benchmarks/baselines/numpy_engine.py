"""The call-auction ensemble in vectorised NumPy on one core, as the KineticSim paper has its own.

All markets of a step at once, no Python loop over markets or agents: books as float32 arrays
[market, level], draws from NumPy's generator as it gives them, orders gathered by np.add.at at
pairs (market, level), demand and supply by np.cumsum, the price by np.argmax. The model is that of
docs/model.md with the fixed window and one value of each parameter for all markets; the draws are
its own, so it agrees with the engines in distribution and not in bits.

Source: arXiv:2606.21784, sections III.A, IV (back ends) and IV.E.
"""

import numpy as np

NOISE, MOMENTUM, MAKER, FUNDAMENTAL = 0, 1, 2, 3


def clear_auction(
    buy: np.ndarray, sell: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Clear one call auction per market.

    Args:
        buy, sell: resting plus incoming quantity, float32 [market, level], whole numbers.

    Returns:
        price int64 [market], level; volume float32 [market]; what rests of buys and sells,
        float32 [market, level].
    """
    demand = np.cumsum(buy[:, ::-1], axis=1)[:, ::-1]
    supply = np.cumsum(sell, axis=1)
    executable = np.minimum(demand, supply)
    price = np.argmax(executable, axis=1)
    volume = executable[np.arange(len(buy)), price]
    sold = np.clip(volume[:, None] - (supply - sell), 0, sell)
    bought = np.clip(volume[:, None] - (demand - buy), 0, buy)
    return price, volume, buy - bought, sell - sold


class NumpyMarkets:
    """M independent markets that run together.

    Args:
        types: agent types, int8 [market, agent].
        levels: ticks on the grid.
        seed: the generator is numpy.random.default_rng((seed, 1)), so that its draws have nothing
            to do with types that were drawn from default_rng(seed).
        open_price, open_depth, max_qty, noise_spread, market_order_prob, maker_half_spread: as in
            docs/model.md, the same for every market.
    """

    def __init__(
        self,
        types: np.ndarray,
        levels: int = 128,
        seed: int = 0,
        *,
        open_price: int | None = None,
        open_depth: int = 8,
        max_qty: int = 4,
        noise_spread: int = 3,
        market_order_prob: float = 0.10,
        maker_half_spread: int = 1,
    ) -> None:
        markets, agents = types.shape
        opened = levels // 2 if open_price is None else open_price
        self.levels = levels
        self.open_price = opened
        self.max_qty = max_qty
        self._offsets = (-noise_spread, noise_spread + 1)
        self.market_order_prob = market_order_prob
        self.maker_half_spread = maker_half_spread
        self.step = 0
        self.bid = np.zeros((markets, levels), np.float32)
        self.ask = np.zeros((markets, levels), np.float32)
        self.bid[:, opened - 1] = open_depth
        self.ask[:, opened + 1] = open_depth
        self.last = np.full(markets, opened, np.float32)
        self.prev_mid = self.last.copy()
        self.volume = np.zeros(markets)
        self.trades = np.zeros(markets, np.int64)
        self._rng = np.random.default_rng((seed, 1))
        self._agent = np.arange(agents)
        self._market = np.broadcast_to(np.arange(markets)[:, None], types.shape)
        self._momentum = types == MOMENTUM
        self._maker = types == MAKER
        self._noise = types == NOISE
        self._fundamental = types == FUNDAMENTAL
        self._has_fundamental = bool(self._fundamental.any())

    def run(self, steps: int) -> None:
        """Run `steps` steps."""
        for _ in range(steps):
            self._run_step()

    def _run_step(self) -> None:
        mid = self._mid_price()
        side, price, qty = self._decide_orders(mid, np.sign(mid - self.prev_mid))
        self.prev_mid = mid
        is_buy = side > 0
        buy = self._add_orders(self.bid, is_buy, price, qty)
        sell = self._add_orders(self.ask, ~is_buy, price, qty)
        cleared, volume, self.bid, self.ask = clear_auction(buy, sell)
        traded = volume > 0
        self.last = np.where(traded, cleared, self.last).astype(np.float32)
        self.volume += volume
        self.trades += traded
        self.step += 1

    def _mid_price(self) -> np.ndarray:
        has_bid, has_ask = self.bid > 0, self.ask > 0
        both = has_bid.any(axis=1) & has_ask.any(axis=1)
        best_bid = self.levels - 1 - np.argmax(has_bid[:, ::-1], axis=1)
        best_ask = np.argmax(has_ask, axis=1)
        return np.where(both, 0.5 * (best_bid + best_ask), self.last).astype(np.float32)

    def _draw(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return side, market order or not, quantity and offset of every agent."""
        shape, draw = self._maker.shape, self._rng.random
        side = np.where(draw(shape) < 0.5, 1.0, -1.0)
        market_order = draw(shape) < self.market_order_prob
        qty = 1.0 + np.floor(draw(shape) * self.max_qty)
        return side, market_order, qty, self._rng.integers(*self._offsets, shape)

    def _add_orders(
        self, book: np.ndarray, chosen: np.ndarray, price: np.ndarray, qty: np.ndarray
    ) -> np.ndarray:
        """Return the book plus the chosen orders, float32 [market, level]."""
        total = book.copy()
        np.add.at(total, (self._market[chosen], price[chosen]), qty[chosen].astype(np.float32))
        return total

    def _decide_orders(
        self, mid: np.ndarray, ret: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return side (1 or -1), price (level) and quantity of every agent, [market, agent]."""
        side, market_order, qty, offset = self._draw()
        trend = ret[:, None]
        side = np.where(self._momentum & (trend != 0), trend, side)
        turn = np.where((self._agent + self.step) % 2 == 0, 1.0, -1.0)
        side = np.where(self._maker, turn, side)
        if self._has_fundamental:
            pull = np.sign(self.open_price - mid)[:, None]
            side = np.where(self._fundamental & (pull != 0), pull, side)

        step_away = np.where(self._maker, -self.maker_half_spread * side, side)
        price = np.rint(mid[:, None] + np.where(self._noise, offset, step_away))
        edge = np.where(side > 0, self.levels - 1, 0)
        price = np.where(market_order & ~self._maker, edge, price)
        return side, np.clip(price, 0, self.levels - 1).astype(np.int64), qty
