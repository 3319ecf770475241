"""What waits and what execution agents work, between a GPU's memory and the plain model."""

from fractions import Fraction

import numpy as np
from plain_model import Order, Parent

from bookwarp.engines.cuda.layout import EXTRAS, PARENT
from bookwarp.spec.codes import Schedule


class PlainExtras:
    """The extras at an address, 0 if a kernel has none; `array_at` gives the array at another."""

    def __init__(self, key, address, count, array_at):
        assert (address != 0) == (key.waits or key.executes)
        row = array_at(address, EXTRAS, 1)[0] if address else np.zeros((), EXTRAS)
        assert (row["waiting_buy"] != 0) == (row["waiting_sell"] != 0) == key.waits
        assert (row["parents"] != 0) == (row["profile"] != 0) == key.executes
        self.key = key
        self.sides = []
        if key.waits:
            shape = (count, key.levels)
            sides = (row["waiting_buy"], row["waiting_sell"])
            self.sides = [array_at(int(side), key.lots, *shape) for side in sides]
        if key.executes:
            self.parents = array_at(int(row["parents"]), PARENT, count)
            points = int(array_at(int(row["profile"]), np.uint32, 1)[0])
            weights = array_at(int(row["profile"]), np.uint32, points + 2)[1:]
            assert weights[0] == 0
            self.profile = np.diff(weights.astype(np.int64)).tolist()

    def take_up(self, plain, market, row, scalars):
        """Give a market its interval, its parent order, and the orders that wait."""
        plain.clearing_interval = int(row["clearing_interval"])
        assert self.key.waits or plain.clearing_interval == 1
        own = int(scalars["own_waiting"]) if self.key.executes else 0
        if self.key.executes and self.parents[market]["qty"] > 0:
            plain.parent = self.parent_of(self.parents[market], plain, scalars)
            edge = plain.levels - 1 if plain.parent.buy else 0
        for side, lots in zip((True, False), self.sides, strict=False):
            for level, qty in enumerate(lots[market].tolist()):
                is_own = own > 0 and side == plain.parent.buy and level == edge
                if is_own:
                    plain.waiting.append(Order(plain.agents, side, level, own))
                if qty > own * is_own:
                    plain.waiting.append(Order(0, side, level, qty - own * is_own))

    def parent_of(self, row, plain, scalars):
        return Parent(
            qty=int(row["qty"]),
            buy=row["side"] == 1,
            start=int(row["start"]),
            horizon=int(row["horizon"]),
            schedule=Schedule(int(row["schedule"])).name.lower(),
            share=Fraction(int(row["share"]), 2**32),
            profile=self.profile,
            filled=int(scalars["own_filled"]),
            cost=int(scalars["own_cost"]),
            arrival=plain.open_price + Fraction(int(scalars["arrival_mid2"]), 2),
            start_volume=int(scalars["start_volume"]),
        )

    def put_down(self, plain, market, scalars):
        for side, lots in zip((True, False), self.sides, strict=False):
            waits = [0] * plain.levels
            for order in plain.waiting:
                waits[order.level] += order.qty * (order.buy == side)
            assert max(waits) <= np.iinfo(lots.dtype).max
            lots[market] = waits
        parent = plain.parent
        if parent is None:
            return
        own = [order.qty for order in plain.waiting if order.agent == plain.agents]
        scalars["own_waiting"] = sum(own)
        scalars["own_filled"] = parent.filled
        scalars["own_cost"] = parent.cost
        if plain.steps > parent.start:
            scalars["arrival_mid2"] = 2 * (parent.arrival - plain.open_price)
            scalars["start_volume"] = parent.start_volume
