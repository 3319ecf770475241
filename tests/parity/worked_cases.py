"""Orders that wait and parent orders, worked out by hand, as data.

Every market has 8 levels and opens as it is given here. Its agents draw nothing that matters: their
orders have one lot, makers quote 3 ticks from the mid, fundamental agents are always marketable.
After every step come the numbers that it changed; levels that are not named are empty.
"""

from dataclasses import dataclass, field

MAKERS = {"agents": 2, "mix": {"maker": 1}, "maker_half_spread": 3}
BUYERS = {"agents": 3, "mix": {"fundamental": 1}, "market_order_prob": 1, "open_price": 6}


@dataclass(frozen=True)
class WorkedCase:
    """One market, what happens to it, and why it is here."""

    parameters: dict
    bid: dict
    """Lots at each level that rest before step 0."""
    ask: dict
    steps: list
    """For every step: array of the state -> its value after the step; a book by level."""
    filled: list
    """Lots of each order of the execution agent that were filled, as the tape has them."""
    others_filled: list = field(default_factory=list)
    """The same of the orders of the other agents in step 0, if that is what the case is about."""
    last: int | None = None
    """Price of the last auction before step 0; `open_price` if None."""


WORKED_CASES = {
    "a buyer for whom the other side runs out": WorkedCase(
        MAKERS | {"parent_qty": 9, "parent_horizon": 3},
        bid={3: 8},
        ask={5: 4},
        steps=[
            # Buys 1: 1, 3: 8, own 7: 3; sells 5: 4, 7: 1. Three trade at 5.
            {"own_filled": 3, "own_cost": 3, "bid": {1: 1, 3: 8}, "ask": {5: 1, 7: 1}, "last": 5},
            # Own 3 at 7; sells 5: 1, 7: 2. Only at 7 can three trade.
            {"own_filled": 6, "own_cost": 12, "bid": {1: 2, 3: 8}, "ask": {}, "last": 7},
            # Nobody sells, so the mid is 7: a maker buys at 4, the other sells at 7. One lot for
            # three: two are cancelled, and nothing of them rests.
            {"own_filled": 7, "own_cost": 15, "bid": {1: 2, 3: 8, 4: 1}, "ask": {}, "volume": 7},
            # The horizon is over.
            {"own_filled": 7, "own_cost": 15, "own_waiting": 0, "arrival_mid2": 0},
        ],
        filled=[3, 3, 1],
    ),
    "the same in a window that moves": WorkedCase(
        MAKERS | {"parent_qty": 9, "parent_horizon": 3, "window": "following", "open_price": -100},
        bid={3: 8},
        ask={5: 4},
        steps=[
            {"own_filled": 3, "own_cost": 3, "bid": {1: 1, 3: 8}, "last": -99, "base": -104},
            {"own_filled": 6, "own_cost": 12, "bid": {1: 2, 3: 8}, "ask": {}, "last": -97},
            # The mid is level 7: the window moves by 3, and level 7 is tick -94, 6 from -100.
            {
                "own_filled": 7,
                "own_cost": 18,
                "bid": {0: 8, 1: 1},
                "ask": {},
                "last": -94,
                "base": -101,
                "pruned_bid": 2,
                "arrival_mid2": 0,
            },
        ],
        filled=[3, 3, 1],
    ),
    "a seller": WorkedCase(
        MAKERS | {"parent_qty": 6, "parent_horizon": 2, "parent_side": -1},
        bid={3: 4},
        ask={5: 8},
        steps=[
            # Three can trade at 0, 1, 2 and 3: the lowest price wins.
            {"own_filled": 3, "own_cost": -12, "bid": {1: 1, 3: 1}, "ask": {5: 8, 7: 1}, "last": 0},
            {"own_filled": 6, "own_cost": -24, "bid": {}, "ask": {5: 8, 7: 2}, "volume": 6},
        ],
        filled=[3, 3],
    ),
    "a seller for whom the other side runs out": WorkedCase(
        MAKERS | {"parent_qty": 6, "parent_side": -1},
        bid={3: 4},
        ask={5: 8},
        steps=[
            # Buys 1: 1, 3: 4; own 6 at 0. Five trade, at 0 or 1; one is cancelled.
            {"own_filled": 5, "own_cost": -20, "bid": {}, "ask": {5: 8, 7: 1}, "last": 0},
        ],
        filled=[5],
    ),
    "a buyer who leaves no bid behind": WorkedCase(
        # No bid rests, so the mid is the last price, and all three agents sell.
        BUYERS | {"open_price": 2, "parent_qty": 5},
        last=6,
        bid={},
        ask={7: 1},
        steps=[
            # Own 5 at 7; sells 0: 3, 7: 1.
            {"own_filled": 4, "own_cost": 20, "bid": {}, "ask": {}, "last": 7, "arrival_mid2": 8},
            # Three more to sell, and nobody buys.
            {"bid": {}, "ask": {0: 3}, "volume": 4, "trades": 1, "last": 7},
        ],
        filled=[4],
        others_filled=[1, 1, 1],
    ),
    "a seller who leaves no ask behind": WorkedCase(
        BUYERS | {"parent_qty": 5, "parent_side": -1},
        last=1,
        bid={},
        ask={},
        steps=[
            {
                "own_filled": 3,
                "own_cost": -18,
                "bid": {},
                "ask": {},
                "last": 0,
                "arrival_mid2": -10,
            },
            {"bid": {7: 3}, "ask": {}, "volume": 3},
        ],
        filled=[3],
        others_filled=[1, 1, 1],
    ),
    "others at the same price are served first": WorkedCase(
        BUYERS | {"parent_qty": 4},
        bid={1: 5},
        ask={3: 5},
        steps=[
            # Three others and own 4 at 7, five to sell at 3.
            {
                "own_filled": 2,
                "own_cost": -6,
                "bid": {1: 5},
                "ask": {},
                "last": 3,
                "arrival_mid2": -8,
                "volume": 5,
            },
        ],
        filled=[2],
        others_filled=[1, 1, 1],
    ),
    "others at the same price leave nothing": WorkedCase(
        BUYERS | {"parent_qty": 4, "parent_horizon": 2},
        bid={1: 5},
        ask={3: 2},
        steps=[
            {"own_filled": 0, "own_cost": 0, "bid": {1: 5, 7: 1}, "ask": {}, "last": 3},
            # Nobody sells. Four to buy rest at 7 by now; own 4 are cancelled again.
            {"own_filled": 0, "own_cost": 0, "bid": {1: 5, 7: 4}, "ask": {}, "volume": 2},
        ],
        filled=[0, 0],
        others_filled=[1, 1, 0],
    ),
    "orders that wait for three steps, a parent that begins while they do": WorkedCase(
        MAKERS | {"clearing_interval": 3, "parent_qty": 6, "parent_start": 1, "parent_horizon": 4},
        bid={3: 8},
        ask={5: 4},
        steps=[
            {"waiting_buy": {1: 1}, "waiting_sell": {7: 1}, "bid": {3: 8}, "ask": {5: 4}},
            # 6 * 1 // 4 = 1
            {"waiting_buy": {1: 2, 7: 1}, "waiting_sell": {7: 2}, "own_waiting": 1, "trades": 0},
            # 6 * 2 // 4 - 1 = 2: own 3 in the auction, at 5.
            {
                "own_filled": 3,
                "own_cost": 3,
                "own_waiting": 0,
                "trades": 1,
                "volume": 3,
                "bid": {1: 3, 3: 8},
                "ask": {5: 1, 7: 3},
                "waiting_buy": {},
            },
            # 6 * 3 // 4 - 3 = 1
            {"own_waiting": 1, "own_filled": 3, "waiting_buy": {1: 1, 7: 1}, "last": 5},
            # 6 * 4 // 4 - 3 - 1 = 2
            {"own_waiting": 3, "waiting_buy": {1: 2, 7: 3}, "waiting_sell": {7: 2}},
            # The horizon is over, and what was sent takes part: own 3 at 7, sells 5: 1, 7: 6.
            {
                "own_filled": 6,
                "own_cost": 12,
                "own_waiting": 0,
                "trades": 2,
                "last": 7,
                "bid": {1: 6, 3: 8},
                "ask": {7: 4},
                "waiting_sell": {},
                "waiting_buy": {},
            },
        ],
        filled=[1, 2, 1, 2],
    ),
    "two orders for one auction, which cuts the second": WorkedCase(
        MAKERS | {"clearing_interval": 2, "parent_qty": 6, "parent_horizon": 2},
        bid={3: 8},
        ask={5: 3},
        steps=[
            {"own_waiting": 3, "waiting_buy": {1: 1, 7: 3}, "waiting_sell": {7: 1}},
            # Own 6 at 7; sells 5: 3, 7: 2.
            {
                "own_filled": 5,
                "own_cost": 15,
                "own_waiting": 0,
                "bid": {1: 2, 3: 8},
                "ask": {},
                "last": 7,
            },
        ],
        filled=[3, 2],
    ),
    "a share of the volume": WorkedCase(
        BUYERS
        | {"parent_qty": 10, "parent_start": 1, "parent_horizon": 4}
        | {"schedule": "share", "volume_share": 0.5},
        bid={1: 5},
        ask={3: 50},
        steps=[
            {"volume": 3, "start_volume": 0, "arrival_mid2": 0},
            # Half of nothing.
            {"volume": 6, "start_volume": 3, "own_filled": 0, "arrival_mid2": -8},
            {"volume": 10, "own_filled": 1, "own_cost": -3},  # half of 3
            {"volume": 15, "own_filled": 3, "own_cost": -9},  # half of 7
            {"volume": 21, "own_filled": 6, "own_cost": -18},  # half of 12
            {"volume": 24, "own_filled": 6, "ask": {3: 26}},
        ],
        filled=[1, 2, 3],
    ),
    "all of the volume, as far as the parent goes": WorkedCase(
        BUYERS | {"parent_qty": 7, "parent_horizon": 9} | {"schedule": "share", "volume_share": 1},
        bid={1: 5},
        ask={3: 50},
        steps=[
            {"volume": 3, "own_filled": 0},
            {"volume": 9, "own_filled": 3},
            {"volume": 16, "own_filled": 7},
            {"volume": 19, "own_filled": 7, "own_cost": -21},
        ],
        filled=[3, 4],
    ),
    "a profile of fewer points than steps": WorkedCase(
        BUYERS
        | {"parent_qty": 8, "parent_horizon": 6}
        | {"schedule": "profile", "volume_profile": [1, 0, 3]},
        bid={1: 5},
        ask={3: 50},
        steps=[
            {"own_filled": 0, "volume": 3},
            {"own_filled": 2, "volume": 8, "own_cost": -6},  # 1 of 4 parts
            {"own_filled": 2, "volume": 11},
            {"own_filled": 2, "volume": 14},
            {"own_filled": 2, "volume": 17},
            {"own_filled": 8, "volume": 26, "own_cost": -24, "ask": {3: 24}},
        ],
        filled=[2, 6],
    ),
    "a profile of more points than steps": WorkedCase(
        BUYERS
        | {"parent_qty": 11, "parent_horizon": 2}
        | {"schedule": "profile", "volume_profile": [2, 1, 4, 2, 1]},
        bid={1: 5},
        ask={3: 50},
        # After one of two steps two of five points are over: 11 * 3 // 10.
        steps=[{"own_filled": 3, "volume": 6}, {"own_filled": 11, "volume": 17}],
        filled=[3, 8],
    ),
}
