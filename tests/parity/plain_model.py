"""The model a second time: one market, one agent, one level at a time, in Python integers.

Written from docs/model.md, docs/execution.md and docs/streams.md alone, to check the reference
itself. Nothing of bookwarp is imported and no shortcut is taken: a mid is a fraction, the auction
tries every price, orders wait in a list and are filled one after the other from a queue.
"""

import struct
from dataclasses import dataclass, field
from fractions import Fraction

M64, M32 = 2**64 - 1, 2**32 - 1
NOISE, MOMENTUM, MAKER, FUNDAMENTAL = range(4)


def splitmix64(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) & M64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & M64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & M64
    return x ^ (x >> 31)


def float32(x: float) -> float:
    """Round to the nearest float32, halves to even."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


def philox2x32_7(counter: tuple[int, int], key: int) -> tuple[int, int]:
    left, right = counter
    for _ in range(7):
        product = 0xD256D193 * left
        left, right = (product >> 32) ^ key ^ right, product & M32
        key = (key + 0x9E3779B9) & M32
    return left, right


def largest_remainder(shares: list[float], agents: int) -> list[int]:
    """Return how many agents have each type: quotas to 9 decimals, ties to the lower code."""
    quotas = [Fraction(round(share * agents * 10**9), 10**9) for share in shares]
    counts = [quota.numerator // quota.denominator for quota in quotas]
    by_remainder = sorted(range(4), key=lambda code: (counts[code] - quotas[code], code))
    for code in by_remainder[: agents - sum(counts)]:
        counts[code] += 1
    return counts


@dataclass
class Draw:
    buy: bool
    marketable: bool
    qty: int
    offset: int


@dataclass
class Order:
    agent: int
    buy: bool
    level: int
    qty: int
    filled: int = 0


@dataclass
class Parent:
    """A parent order, and what became of it so far."""

    qty: int
    buy: bool
    start: int
    horizon: int
    schedule: str
    share: float
    profile: list[int]
    filled: int = 0
    cost: int = 0
    arrival: Fraction = Fraction(0)
    start_volume: int = 0

    def target(self, step: int, volume: int) -> int:
        """Return the lots that are to be done after `step`, when `volume` lots have traded."""
        passed = step - self.start + 1
        if self.schedule == "twap":
            return self.qty * passed // self.horizon
        if self.schedule == "share":
            share = Fraction(round(Fraction(self.share) * 2**32), 2**32)
            return min(self.qty, int(share * (volume - self.start_volume)))
        # A point counts once it is over: point i lasts from i to i + 1 parts of the horizon.
        points = len(self.profile)
        over = [i for i in range(points) if Fraction(i + 1, points) * self.horizon <= passed]
        return self.qty * sum(self.profile[i] for i in over) // sum(self.profile)


@dataclass
class PlainMarket:
    """One market and all its parameters; `step` runs one step and returns its orders."""

    agents: int
    levels: int
    seed: int
    number: int
    types: list[int]
    open_price: int
    open_depth: int
    max_qty: int
    noise_spread: int
    market_order_prob: float
    maker_half_spread: int
    stream: str
    window: str
    clearing_interval: int = 1
    parent: Parent | None = None
    waiting: list[Order] = field(default_factory=list)
    steps: int = 0
    base: int = 0
    volume: int = 0
    trades: int = 0
    pruned_bid: int = 0
    pruned_ask: int = 0
    last: int = field(init=False)
    mid: Fraction = field(init=False)
    bid: list[int] = field(init=False)
    ask: list[int] = field(init=False)

    def __post_init__(self) -> None:
        if self.window == "following":
            self.base = self.open_price - self.levels // 2
        self.last = self.open_price
        self.mid = Fraction(self.open_price)  # a tick, not a level
        self.bid = [0] * self.levels
        self.ask = [0] * self.levels
        self.bid[self.open_price - self.base - 1] = self.open_depth
        self.ask[self.open_price - self.base + 1] = self.open_depth

    def quotes(self) -> tuple[int | None, int | None]:
        bids = [level for level in range(self.levels) if self.bid[level] > 0]
        asks = [level for level in range(self.levels) if self.ask[level] > 0]
        return (bids[-1] if bids else None), (asks[0] if asks else None)

    def step(self) -> list[Order]:
        best_bid, best_ask = self.quotes()
        mid = Fraction(self.last - self.base)
        if best_bid is not None and best_ask is not None:
            mid = Fraction(best_bid + best_ask, 2)
        if self.window == "following":
            mid = self.move_window(mid)
        change = mid + self.base - self.mid
        self.mid = mid + self.base
        if self.parent is not None and self.steps == self.parent.start:
            self.parent.arrival = self.mid
            self.parent.start_volume = self.volume
        orders = [self.order_of(agent, mid, change) for agent in range(self.agents)]
        if self.parent is not None:
            orders += self.child_of(self.parent)
        self.waiting += orders
        self.steps += 1
        if self.steps % self.clearing_interval == 0:
            self.clear(self.waiting)
            self.waiting = []
        return orders

    def child_of(self, parent: Parent) -> list[Order]:
        """Return the order of the execution agent, if it sends one."""
        if not parent.start <= self.steps < parent.start + parent.horizon:
            return []
        sent = sum(order.qty for order in self.waiting if order.agent == self.agents)
        missing = parent.target(self.steps, self.volume) - parent.filled - sent
        level = self.levels - 1 if parent.buy else 0
        return [Order(self.agents, parent.buy, level, missing)] if missing > 0 else []

    def move_window(self, mid: Fraction) -> Fraction:
        margin = self.levels // 8
        if margin <= mid <= self.levels - 1 - margin:
            return mid
        assert not self.waiting
        shift = round(mid) - self.levels // 2
        old_bid, old_ask = self.bid, self.ask
        self.bid, self.ask = [0] * self.levels, [0] * self.levels
        for level in range(self.levels):
            if 0 <= level - shift < self.levels:
                self.bid[level - shift] = old_bid[level]
                self.ask[level - shift] = old_ask[level]
            else:
                self.pruned_bid += old_bid[level]
                self.pruned_ask += old_ask[level]
        self.base += shift
        return mid - shift

    def order_of(self, agent: int, mid: Fraction, change: Fraction) -> Order:
        kind = self.types[agent]
        draw = self.draw_paper(agent) if self.stream == "paper" else self.draw_default(agent, kind)
        buy = draw.buy
        if kind == MAKER:
            buy = (agent + self.steps) % 2 == 0
            distance = -self.maker_half_spread if buy else self.maker_half_spread
        elif kind == NOISE:
            distance = draw.offset
        else:
            pull = change if kind == MOMENTUM else self.open_price - self.base - mid
            if pull != 0:
                buy = pull > 0
            distance = 1 if buy else -1
        level = round(mid + distance)  # Python rounds a fraction's halves to even
        if draw.marketable and kind != MAKER:
            level = self.levels - 1 if buy else 0
        return Order(agent, buy, min(max(level, 0), self.levels - 1), draw.qty)

    def clear(self, orders: list[Order]) -> None:
        """Hold the auction of what rests and of `orders`, in the order in which they were sent."""
        # The execution agent comes last, whenever it sent.
        orders = sorted(orders, key=lambda order: order.agent == self.agents)
        buys = [order for order in orders if order.buy]
        sells = [order for order in orders if not order.buy]
        best, price = 0, 0
        total_buy, total_sell = self.bid.copy(), self.ask.copy()
        for order in orders:
            (total_buy if order.buy else total_sell)[order.level] += order.qty
        for level in range(self.levels):
            executable = min(sum(total_buy[level:]), sum(total_sell[: level + 1]))
            if executable > best:
                best, price = executable, level
        self.fill(self.bid, buys, range(self.levels - 1, -1, -1), best)
        self.fill(self.ask, sells, range(self.levels), best)
        if best > 0:
            self.last = self.base + price
            self.trades += 1
        self.volume += best
        for order in orders:
            if order.agent == self.agents:
                self.parent.filled += order.filled
                self.parent.cost += order.filled * (self.base + price - self.open_price)

    def fill(self, resting: list[int], orders: list[Order], levels: range, wanted: int) -> None:
        """Fill `wanted` lots, best level first, what rested there first, then `orders` in turn."""
        for level in levels:
            taken = min(wanted, resting[level])
            resting[level] -= taken
            wanted -= taken
            for order in orders:
                if order.level == level:
                    order.filled = min(wanted, order.qty)
                    wanted -= order.filled
                    if order.agent != self.agents:
                        resting[level] += order.qty - order.filled
        assert wanted == 0

    def draw_paper(self, agent: int) -> Draw:
        gid = (self.number * self.agents + agent) % 2**32
        uniform = []
        for channel in range(4):
            seed = self.seed ^ (0x0123456789ABCDEF * channel) % 2**64
            key = splitmix64((seed + 0x9E3779B97F4A7C15 * gid) & M64)
            key = splitmix64((key + 0xD1B54A32D192ED03 * self.steps) & M64)
            uniform.append(float32((key >> 11) * 2.0**-53))
        side, marketable, qty, offset = uniform
        offsets = float32(2 * self.noise_spread + 1)
        return Draw(
            buy=side < 0.5,
            marketable=marketable < float32(self.market_order_prob),
            qty=1 + int(float32(qty * float32(self.max_qty))),
            offset=int(float32(offset * offsets)) - self.noise_spread,
        )

    def draw_default(self, agent: int, kind: int) -> Draw:
        key = splitmix64((splitmix64(self.seed) + self.number) & M64)
        cells, offsets = 2 * self.max_qty, 2 * self.noise_spread + 1
        threshold = min(round(self.market_order_prob * 2.0**32), M32)

        def block(number: int) -> tuple[int, int]:
            return philox2x32_7((self.steps, number ^ (key >> 32)), key & M32)

        if cells * offsets <= 4096:
            word = block(agent // 2)[agent % 2]
            cell, left = divmod(word * cells, 2**32)
            offset, rest = divmod(left * offsets, 2**32)
            if kind == NOISE:
                left = rest
        else:
            high, low = block(2**31 + 2 * agent)
            cell, left = divmod((high << 32 | low) * cells, 2**64)
            left = (left >> 32) & ~1
            high, low = block(2**31 + 2 * agent + 1)
            offset = (high << 32 | low) * offsets >> 64
        buy, size = divmod(cell, self.max_qty)
        return Draw(buy == 1, left < threshold, 1 + size, offset - self.noise_spread)
