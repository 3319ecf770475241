"""The four rules: what order an agent sends when it sees the mid."""

from dataclasses import dataclass

import numpy as np

from bookwarp.reference.random import Draws
from bookwarp.spec.codes import AgentType, Side
from bookwarp.spec.market import CallAuction


@dataclass(frozen=True, eq=False)
class Orders:
    """One order of every agent; arrays int64 [market, agent], `price` counted from base."""

    side: np.ndarray
    price: np.ndarray
    qty: np.ndarray


def round_half_even(half_ticks: np.ndarray) -> np.ndarray:
    """Turn half ticks into ticks, halves to the even tick: R(2k) = k, R(2k+1) = k + (k & 1)."""
    tick = half_ticks >> 1
    return np.asarray(np.where(half_ticks & 1 == 0, tick, tick + (tick & 1)))


def decide_orders(
    auction: CallAuction,
    types: np.ndarray,
    draws: Draws,
    mid2: np.ndarray,
    ret: np.ndarray,
    base: np.ndarray,
    step: int,
) -> Orders:
    """Return the order of every agent.

    Args:
        auction: the ensemble.
        types: int8 [market, agent].
        draws: what chance gives in this step.
        mid2: int64 [market], half ticks from base.
        ret: int64 [market], sign of the last change of the mid.
        base: int64 [market], tick of level 0.
        step: counted from 0.

    Source: arXiv:2606.21784, section III.A.
    """
    agent = np.arange(auction.agents)
    mid2, ret = mid2[:, None], ret[:, None]
    drawn = np.where(draws.buy, Side.BUY, Side.SELL)
    value = 2 * (auction.per_market("open_price") - base)[:, None]
    pull = np.sign(value - mid2)
    maker_side = np.where((agent + step) % 2 == 0, Side.BUY, Side.SELL)
    half_spread = auction.per_market("maker_half_spread")[:, None]

    rules = [
        (AgentType.NOISE, drawn, mid2 + 2 * draws.offset),
        (AgentType.MOMENTUM, np.where(ret == 0, drawn, ret), None),
        (AgentType.MAKER, maker_side, mid2 - 2 * half_spread * maker_side),
        (AgentType.FUNDAMENTAL, np.where(pull == 0, drawn, pull), None),
    ]
    side = np.zeros(types.shape, np.int64)
    price2 = np.zeros(types.shape, np.int64)
    for code, rule_side, rule_price2 in rules:
        if rule_price2 is None:
            rule_price2 = mid2 + 2 * rule_side
        side = np.where(types == code, rule_side, side)
        price2 = np.where(types == code, rule_price2, price2)

    marketable = draws.marketable & (types != AgentType.MAKER)
    edge = np.where(side == Side.BUY, auction.levels - 1, 0)
    price = np.where(marketable, edge, round_half_even(price2))
    return Orders(side, np.clip(price, 0, auction.levels - 1), draws.qty)
