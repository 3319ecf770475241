"""A book: resting orders by side, price and time, in dictionaries and sorted lists."""

from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from bookwarp.spec.codes import Side
from bookwarp.spec.events import Counter, Flag
from bookwarp.spec.orders import TimeInForce


@dataclass
class Order:
    """An order, on its way in or at rest."""

    order_id: int
    side: int
    """A `Side`."""
    price: int | None
    """Its limit; None of a market order."""
    qty: int
    """Lots that are open."""
    tif: int = TimeInForce.GTC
    """A `TimeInForce`."""
    owner: int = 0
    """0 is nobody."""
    filled: int = 0
    """Lots traded since it was accepted."""


class BookSide:
    """The resting buys, or the resting sells, of one book."""

    def __init__(self, side: int) -> None:
        self.side = side
        self.levels: dict[int, OrderedDict[int, Order]] = {}
        """price -> orders by id, in the order in which they came."""
        self._ranks: list[int] = []
        """price * side, ascending: the best price is the last."""

    def best_price(self) -> int | None:
        """Return the highest buy or the lowest sell; None if there is none."""
        return self._ranks[-1] * self.side if self._ranks else None

    def prices(self) -> Iterator[int]:
        """Yield the prices at which orders rest, best first."""
        return (rank * self.side for rank in reversed(self._ranks))

    def orders(self) -> Iterator[Order]:
        """Yield the orders by priority: best price first, then oldest first."""
        for price in self.prices():
            yield from self.levels[price].values()

    def lots(self, price: int) -> int:
        """Return the lots that rest at a price."""
        return sum(order.qty for order in self.levels.get(price, {}).values())

    def append(self, order: Order) -> None:
        """Put an order behind all others at its price."""
        assert order.price is not None
        if order.price not in self.levels:
            self.levels[order.price] = OrderedDict()
            insort(self._ranks, order.price * self.side)
        self.levels[order.price][order.order_id] = order

    def remove(self, order: Order) -> None:
        """Take an order out, and its price level if it was the last there."""
        assert order.price is not None
        level = self.levels[order.price]
        del level[order.order_id]
        if not level:
            del self.levels[order.price]
            del self._ranks[bisect_left(self._ranks, order.price * self.side)]


class Book:
    """One book: two sides, and every resting order by its id."""

    def __init__(self) -> None:
        self.sides = {int(side): BookSide(int(side)) for side in Side}
        self.live: dict[int, Order] = {}
        self.counters = dict.fromkeys(map(int, Counter), 0)
        self.flags = Flag(0)

    def opposite(self, side: int) -> BookSide:
        """Return the side that an order of `side` trades with."""
        return self.sides[-side]

    def level_count(self) -> int:
        """Return at how many prices orders rest, both sides together."""
        return sum(len(side.levels) for side in self.sides.values())

    def add(self, order: Order) -> None:
        """Let an order rest, behind all others at its price."""
        self.live[order.order_id] = order
        self.sides[order.side].append(order)

    def remove(self, order: Order) -> None:
        """Take a resting order out."""
        del self.live[order.order_id]
        self.sides[order.side].remove(order)
