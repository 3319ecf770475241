"""The order tape: every order of chosen markets in chosen steps, and what became of it.

Draws are functions of who and when, and markets do not touch each other: the tape is made by
running the chosen markets once more, alone, so that no engine has to write it down.
"""

from itertools import groupby

import numpy as np

from bookwarp.engines.registry import choose_engine, engine_class
from bookwarp.reference.tape import TAPE_ROW, auction_fills, fill_orders, send_orders
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan


def order_tape(auction: CallAuction, plan: RecordPlan, steps_done: int) -> np.ndarray:
    """Return the orders of `plan.tape_markets` in those of `plan.tape_steps` that are done.

    Returns:
        Structured array of `TAPE_ROW`, ordered by step, market, agent.

    Cost: the chosen markets up to the last chosen step and its auction, and some microseconds an
        order.
    """
    intervals = auction.per_market("clearing_interval")[plan.tape_markets]
    steps = plan.tape_steps[plan.tape_steps < steps_done].tolist()
    tapes = [
        _tape_markets(auction, plan.tape_markets[intervals == interval], steps, steps_done)
        for interval in np.unique(intervals)
    ]
    tape = np.concatenate([np.zeros(0, TAPE_ROW), *tapes])
    return tape[np.lexsort((tape["agent"], tape["market"], tape["step"]))]


def _tape_markets(
    auction: CallAuction, markets: np.ndarray, steps: list[int], steps_done: int
) -> np.ndarray:
    """Return the orders of markets with the same clearing interval in `steps`."""
    alone = auction.subset(markets)
    interval = int(alone.per_market("clearing_interval")[0])
    engine = engine_class(choose_engine("auto", devices=False))(alone, RecordPlan())
    tape = [np.zeros(0, TAPE_ROW)]
    here = 0
    for number, together in groupby(steps, lambda step: step // interval):
        sent = []
        for step in together:
            engine.run(step - here, {})
            here = step
            sent.append(send_orders(alone, engine.read_state()))
        fills, last = None, (number + 1) * interval - 1
        if last < steps_done:
            engine.run(last - here, {})
            here = last
            fills = auction_fills(alone, engine.read_state())
        tape += [fill_orders(alone, orders, fills) for orders in sent]
    rows = np.concatenate(tape)
    rows["market"] = markets[rows["market"]]
    return rows


def tape_nbytes(auction: CallAuction, plan: RecordPlan) -> int:
    """Return the bytes that the tape will take."""
    agents = auction.agents + auction.has_execution_agents
    orders = len(plan.tape_markets) * len(plan.tape_steps) * agents
    return orders * TAPE_ROW.itemsize
