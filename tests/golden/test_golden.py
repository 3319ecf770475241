"""The published KineticSim engine, bit for bit.

data/*.npz were written by that engine (arXiv:2606.21784): the inputs, the final books, the price
of every step.
"""

from ast import literal_eval
from pathlib import Path

import numpy as np
import pytest

from bookwarp.engines.registry import engine_class
from bookwarp.spec.agents import draw_agent_types
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan

FILES = sorted((Path(__file__).parent / "data").glob("*.npz"))


def read_golden(path):
    """Return the arrays of a file, and its inputs: a dict of the model's parameters."""
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files if name != "config"}
        return arrays, literal_eval(stored["config"].item())


def test_all_six_golden_files_are_here():
    names = [path.stem for path in FILES]
    assert names == ["fundamental", "momentum", "small", "standard", "tiny", "wide"]


def assert_golden(path, engine_type):
    """Run what a file holds and compare every array with it."""
    arrays, inputs = read_golden(path)
    steps, mix = inputs.pop("steps"), inputs.pop("mix")
    types = arrays.pop("agent_type")
    shares = dict(zip(("noise", "momentum", "maker", "fundamental"), mix, strict=True))
    drawn = draw_agent_types(inputs["markets"], inputs["agents"], shares, inputs["seed"])
    np.testing.assert_array_equal(drawn, types)

    auction = CallAuction.of(**inputs, agent_types=types, stream="paper")
    plan = RecordPlan.of(auction, ("last", "volume"))
    rows = plan.allocate(auction, steps)
    running = engine_type(auction, plan, threads=2)
    running.run(steps, rows)
    state = running.read_state()
    found = {
        "last_price": state.last,
        "volume": state.volume,
        "trades": state.trades,
        "price_history": rows["last"],
        "bid": state.bid,
        "ask": state.ask,
    }
    assert found.keys() == arrays.keys()
    for name, expected in arrays.items():
        np.testing.assert_array_equal(found[name], expected, err_msg=name)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_array_of_a_golden_file_comes_out_bit_for_bit(path, engine):
    assert_golden(path, engine_class(engine))
