"""The call-auction ensemble in PyTorch, vectorised over markets, state changed in place.

Owns: a book int32 [market, side, level] and a handful of arrays [market]; nothing is allocated
between steps but what PyTorch's caching allocator hands out again. Orders are gathered by one
scatter_add_ for both sides, demand and supply come from one cumsum, the price from one max.

An agent's draw is one 32-bit word, spent as stream "default" spends it (docs/streams.md): one
random number an agent instead of four. Words come from PyTorch's generator, which is the fastest
source when every operation is a kernel of its own, or from the stream itself, and then the books
are those of the reference to the last bit.

Source: arXiv:2606.21784, sections III.A, IV (back ends).
"""

import numpy as np
import torch
from torch import Tensor

from baselines.fixed_rules import FixedRules, opening_book
from bookwarp.spec.market import CallAuction
from bookwarp.spec.random import PHILOX_KEY_INCREMENT, PHILOX_MULTIPLIER, PHILOX_ROUNDS
from bookwarp.spec.state import State, opening_state

_MASK = 0xFFFFFFFF


def clear_auction(book: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Clear one call auction per market.

    Args:
        book: resting plus incoming quantity, int32 [market, side, level], buys first.

    Returns:
        price int64 [market], level; volume int32 [market]; what rests, int32 [market, side, level].
    """
    below = torch.cumsum(book, 2, dtype=torch.int32)
    ahead = torch.stack((below[:, 0, -1:] - below[:, 0], below[:, 1] - book[:, 1]), 1)
    demand, supply = ahead[:, 0] + book[:, 0], below[:, 1]
    volume, price = torch.minimum(demand, supply).max(1)
    filled = torch.minimum((volume[:, None, None] - ahead).clamp_(min=0), book)
    return price, volume, book - filled


def hash_words(key_low: Tensor, key_high: Tensor, agents: int, step: Tensor) -> Tensor:
    """Return the words of stream "default" of all agents in a step, int64 [market, agent]."""
    block = torch.arange((agents + 1) // 2, device=key_low.device)
    key = key_low[:, None]
    counter0, counter1 = step, block ^ key_high[:, None]
    for _ in range(PHILOX_ROUNDS):
        product = counter0 * PHILOX_MULTIPLIER
        counter0 = ((product >> 32) & _MASK) ^ key ^ counter1
        counter1 = product & _MASK
        key = (key + PHILOX_KEY_INCREMENT) & _MASK
    words = torch.stack((counter0, counter1.expand(counter0.shape)), 2)
    return words.reshape(len(key_low), -1)[:, :agents]


class TorchMarkets:
    """M independent markets on one device.

    Args:
        auction: fixed window, one value of each parameter, default stream.
        device: "cuda" or "cpu".
        from_stream: whether the words are those of stream "default", else of PyTorch's generator.
    """

    def __init__(self, auction: CallAuction, device: str, from_stream: bool = False) -> None:
        self.auction = auction
        self.rules = rules = FixedRules.of(auction)
        self._device = torch.device(device)
        self._from_stream = from_stream
        self._generator = torch.Generator(self._device)
        for name in ("key_low", "key_high", "noise", "momentum", "fundamental", "threshold"):
            setattr(self, f"_{name}", self._put(getattr(rules, name)))
        self._slot_buying = self._put(rules.slot_buying)
        self._slot_selling = self._put(rules.slot_selling)
        self._slot_offsets = self._put(rules.slot_offsets().astype(np.int32))
        low, high = rules.slot_limits()
        self._slot_low, self._slot_high = (self._put(edge.astype(np.int32)) for edge in (low, high))
        self._side_start = self._put((low // rules.levels * rules.levels).astype(np.int32))
        level = np.arange(rules.levels, dtype=np.int32)
        self._rank = self._put(np.stack([level + 1, rules.levels - level]))
        self.book = self._put(opening_book(rules))
        self.last = self._put(np.empty(rules.markets, np.int32))
        self.prev_mid2 = torch.empty_like(self.last)
        self.volume = self._put(np.empty(rules.markets, np.int64))
        self.trades = torch.empty_like(self.volume)
        self._turn = self._put(rules.turn)
        self._step = self._put(np.zeros((), np.int64))
        # On the device, where a Python number would be written anew in every step.
        self._nothing = self._put(np.zeros((), np.int32))
        self._edge_slot = self._put(np.array(rules.slots - 1, np.int32))
        self.reset()

    def reset(self) -> None:
        """Go back to the opening state; the generator starts anew."""
        self.reset_state()
        self._generator.manual_seed(int(self.auction.per_market("seed")[0] % 2**63))

    def reset_state(self) -> None:
        """Go back to the opening state and let the generator go on."""
        self.steps_done = 0
        opened = self.rules.open_price
        self.book.copy_(torch.from_numpy(opening_book(self.rules)))
        self._turn.copy_(torch.from_numpy(self.rules.turn))
        self.last.fill_(opened)
        self.prev_mid2.fill_(2 * opened)
        for counted in (self.volume, self.trades, self._step):
            counted.zero_()

    @torch.no_grad()
    def run(self, steps: int) -> None:
        """Run `steps` steps; on a GPU they may still be under way."""
        for _ in range(steps):
            self.run_step()
        self.steps_done += steps

    def run_step(self) -> None:
        """Run one step, in place."""
        mid2 = self._observe()
        code, qty = self._decide_codes(mid2, torch.sign(mid2 - self.prev_mid2))
        self.prev_mid2.copy_(mid2)
        self._add_orders(mid2, code, qty)
        self._clear()

    def read_state(self) -> State:
        """Return the state in host memory, in the layout of the engines."""
        state = opening_state(self.auction)
        state.step = self.steps_done
        book = self.book.cpu().numpy()
        state.bid[:], state.ask[:] = book[:, 0], book[:, 1]
        for name in ("last", "prev_mid2", "volume", "trades"):
            getattr(state, name)[:] = getattr(self, name).cpu().numpy()
        return state

    def _put(self, array: np.ndarray) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self._device)

    def _observe(self) -> Tensor:
        """Return twice the mid, int32 [market]."""
        best = torch.where(self.book > 0, self._rank, self._nothing).amax(2)
        quoted = best[:, 0] + self.rules.levels - 1 - best[:, 1]
        return torch.where(best.amin(1) > 0, quoted, 2 * self.last)

    def _draw_words(self) -> Tensor:
        """Return a word of 32 bits for every agent, int64 [market, agent]."""
        rules = self.rules
        if self._from_stream:
            return hash_words(self._key_low, self._key_high, rules.agents, self._step)
        shape = (rules.markets, rules.agents)
        return torch.randint(2**32, shape, generator=self._generator, device=self._device)

    def _prices(self, mid2: Tensor) -> Tensor:
        """Return the cell of each code, int64 [market, code]."""
        half_ticks = mid2[:, None] + self._slot_offsets
        tick = half_ticks >> 1
        tick += tick & half_ticks & 1
        tick += self._side_start
        return torch.clamp(tick, self._slot_low, self._slot_high).to(torch.int64)

    def _decide_codes(self, mid2: Tensor, ret: Tensor) -> tuple[Tensor, Tensor]:
        """Return code and quantity of every agent's order, int32 [market, agent]."""
        rules = self.rules
        product = self._draw_words() * (2 * rules.max_qty)
        side_size = (product >> 32).to(torch.int32)
        left = product & _MASK
        product = left * (2 * rules.noise_spread + 1)
        slot = (product >> 32).to(torch.int32)
        left = torch.where(self._noise, product & _MASK, left)
        marketable = left < self._threshold

        direction = torch.addcmul(self._turn, self._momentum, ret[:, None])
        if rules.has_fundamental:
            pull = torch.sign(2 * rules.open_price - mid2)
            direction = torch.addcmul(direction, self._fundamental, pull[:, None])
        # Where it is 0 the drawn side decides: 1 to buy, 0 to sell.
        buys = torch.add(side_size >= rules.max_qty, direction, alpha=2) > 0
        step_away = torch.where(buys, self._slot_buying, self._slot_selling)
        slot = torch.where(self._noise, slot + (rules.reach - rules.noise_spread), step_away)
        slot = torch.where(marketable, self._edge_slot, slot)
        code = torch.where(buys, slot, slot + rules.slots)
        return code, side_size % rules.max_qty + 1

    def _add_orders(self, mid2: Tensor, code: Tensor, qty: Tensor) -> None:
        """Add every agent's order to the book, one by one."""
        cell = self._prices(mid2).gather(1, code.to(torch.int64))
        self.book.view(len(mid2), -1).scatter_add_(1, cell, qty)

    def _clear(self) -> None:
        price, volume, rest = clear_auction(self.book)
        traded = volume > 0
        self.last.copy_(torch.where(traded, price, self.last))
        self.volume.add_(volume)
        self.trades.add_(traded)
        self.book.copy_(rest)
        self._turn.neg_()
        self._step.add_(1)
