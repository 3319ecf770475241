"""The order tape: every order of chosen markets in chosen steps, and what became of it.

Draws are functions of who and when, and markets do not touch each other: the tape is made by
running the chosen markets once more, alone, so that no engine has to write it down.
"""

import numpy as np

from bookwarp.engines.registry import choose_engine, engine_class
from bookwarp.reference.tape import TAPE_ROW, tape_step
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan


def order_tape(auction: CallAuction, plan: RecordPlan, steps_done: int) -> np.ndarray:
    """Return the orders of `plan.tape_markets` in those of `plan.tape_steps` that are done.

    Returns:
        Structured array of `TAPE_ROW`, ordered by step, market, agent.

    Cost: the chosen markets up to the last chosen step, and some microseconds an order.
    """
    alone = auction.subset(plan.tape_markets)
    engine = engine_class(choose_engine("auto", devices=False))(alone, RecordPlan())
    tape = []
    here = 0
    for step in plan.tape_steps[plan.tape_steps < steps_done].tolist():
        engine.run(step - here, {})
        here = step
        rows = tape_step(alone, engine.read_state())
        rows["market"] = plan.tape_markets[rows["market"]]
        tape.append(rows)
    return np.concatenate(tape) if tape else np.zeros(0, TAPE_ROW)


def tape_nbytes(auction: CallAuction, plan: RecordPlan) -> int:
    """Return the bytes that the tape will take."""
    orders = len(plan.tape_markets) * len(plan.tape_steps) * auction.agents
    return orders * TAPE_ROW.itemsize
