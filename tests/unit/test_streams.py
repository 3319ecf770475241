"""Both streams against known answers, and against their definition in docs/streams.md.

tests/data/stream_vectors.json is for every program that makes these draws. Its values were made
by plain Python of their own, and those of Philox are published: kat_vectors of Random123.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bookwarp.reference import random as reference
from bookwarp.spec.codes import MIXED_TYPES
from bookwarp.spec.market import CallAuction
from bookwarp.spec.parameters import PAPER_MAX_QTY, PARAMETERS
from bookwarp.spec.random import NARROW_CELLS, market_keys, splitmix64

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = (REPOSITORY / "docs" / "streams.md").read_text(encoding="utf-8")
VECTORS = json.loads((REPOSITORY / "tests" / "data" / "stream_vectors.json").read_text())
DRAWS = ("buy", "qty", "offset", "marketable")
AGENT_TYPES = {code.name.lower(): code for code in MIXED_TYPES}
LAST_STEP = PARAMETERS["steps"].high - 1


def read_definition():
    """Return what the Python of docs/streams.md defines."""
    (code,) = re.findall(r"^```python\n(.+?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    definition = {}
    exec(compile(code, "streams.md", "exec"), definition)
    return definition


DEFINITION = read_definition()


def defined_draw(vector):
    """Return (buy, qty, offset, marketable) as the page defines it."""
    who = [int(vector["seed"], 16), vector["market"], vector["agent"], vector["step"]]
    limits = [vector[name] for name in ("max_qty", "noise_spread", "market_order_prob")]
    if "agents" in vector:
        who.insert(2, vector["agents"])
        return DEFINITION["draw_paper"](*who, *limits)
    return DEFINITION["draw_default"](*who, vector["type"] == "noise", *limits)


def reference_draw(vector):
    """Return (buy, qty, offset, marketable) as the reference draws it; an unused offset is None."""
    agents = vector.get("agents", vector["agent"] + 1)
    auction = CallAuction.of(
        1,
        agents=agents,
        stream="paper" if "agents" in vector else "default",
        seed=int(vector["seed"], 16),
        market_ids=[vector["market"]],
        max_qty=vector["max_qty"],
        noise_spread=vector["noise_spread"],
        market_order_prob=vector["market_order_prob"],
    )
    code = AGENT_TYPES[vector.get("type", "noise")]
    draws = reference.draw(auction, np.full((1, agents), code, np.int8), vector["step"])
    values = {name: getattr(draws, name)[0, vector["agent"]].item() for name in DRAWS}
    if code != MIXED_TYPES[0]:
        values["offset"] = None
    return tuple(values[name] for name in DRAWS)


@pytest.mark.parametrize("vector", VECTORS["philox2x32_7"])
def test_philox_gives_the_published_words(vector):
    first, second, key = (int(word, 16) for word in (*vector["counter"], vector["key"]))
    words = tuple(int(word, 16) for word in vector["words"])
    assert DEFINITION["philox2x32_7"](first, second, key) == words
    hashed = reference.philox2x32(*(np.array([word], np.uint64) for word in (first, second, key)))
    assert hashed.tolist() == [words[0] << 32 | words[1]]


def test_splitmix_gives_the_published_sequence():
    # The first outputs of SplitMix64 from the state 1234567, as published for it.
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    state = (1234567 + np.arange(3, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)).tolist()
    assert splitmix64(np.array(state, np.uint64)).tolist() == expected
    assert [DEFINITION["splitmix64"](each) for each in state] == expected


@pytest.mark.parametrize("vector", VECTORS["block"])
def test_hash_of_a_block_is_the_known_answer(vector):
    seed, words = int(vector["seed"], 16), tuple(int(word, 16) for word in vector["words"])
    market, block, step = (vector[name] for name in ("market", "block", "step"))
    assert DEFINITION["hash_block"](seed, market, block, step) == words
    assert market_keys(np.array([seed], np.uint64), np.array([market])).tolist() == [
        int(vector["key"], 16)
    ]
    auction = CallAuction.of(1, seed=seed, market_ids=[market])
    hashed = reference.hash_block(auction, np.array([block]), step)
    assert hashed.tolist() == [[words[0] << 32 | words[1]]]


@pytest.mark.parametrize("stream", ["default", "paper"])
def test_draws_are_the_known_answers(stream):
    for vector in VECTORS[stream]:
        answer = tuple(vector[name] for name in DRAWS)
        assert reference_draw(vector) == answer, vector
        assert defined_draw(vector) == answer, vector


def test_known_answers_reach_every_case():
    default = VECTORS["default"]
    cells = [2 * v["max_qty"] * (2 * v["noise_spread"] + 1) for v in default]
    assert NARROW_CELLS in cells
    kinds = {(v["type"] == "noise", c <= NARROW_CELLS) for v, c in zip(default, cells, strict=True)}
    assert len(kinds) == 4
    assert {v["type"] for v in default} == set(AGENT_TYPES)
    assert {0.0, 1.0} <= {v["market_order_prob"] for v in default}
    assert any(v["qty"] > v["max_qty"] for v in VECTORS["paper"]), "its rounding to 1"
    assert any(v["offset"] > v["noise_spread"] for v in VECTORS["paper"])
    assert any(v["market_order_prob"] == 1 and not v["marketable"] for v in VECTORS["paper"])


@st.composite
def questions(draw, stream):
    """Draw a question with any seed, market, step and parameters, and one of few agents."""
    paper = stream == "paper"
    most = PAPER_MAX_QTY if paper else PARAMETERS["max_qty"].high
    widest = PAPER_MAX_QTY // 2 - 1 if paper else PARAMETERS["noise_spread"].high
    question = {
        "seed": hex(draw(st.integers(0, 2**64 - 1))),
        "market": draw(st.integers(0, PARAMETERS["market_ids"].high)),
        "agent": draw(st.integers(0, 40)),
        "step": draw(st.integers(0, LAST_STEP)),
        "max_qty": draw(st.integers(1, 50) | st.integers(1, most)),
        "noise_spread": draw(st.integers(0, 20) | st.integers(0, widest)),
        "market_order_prob": draw(st.floats(0, 1)),
    }
    if paper:
        return question | {"agents": question["agent"] + draw(st.integers(1, 40))}
    return question | {"type": draw(st.sampled_from(sorted(AGENT_TYPES)))}


@given(questions("default") | questions("paper"))
@example(VECTORS["default"][0] | {"market_order_prob": 1 - 2.0**-34})
def test_reference_draws_what_the_page_defines(question):
    assert reference_draw(question) == defined_draw(question)


@pytest.mark.parametrize("probability", [0.0, 0.1, 0.3, 1 / 3, 1 - 2.0**-33, 1.0])
@pytest.mark.parametrize("max_qty, shift", [(1, 31), (4096, 19)], ids=["narrow", "wide"])
def test_reference_and_page_agree_beside_the_threshold(monkeypatch, probability, max_qty, shift):
    parameters = {"max_qty": max_qty, "noise_spread": 0, "market_order_prob": probability}
    question = VECTORS["default"][0] | parameters
    threshold = round(probability * 2**32)
    for left in range(max(0, threshold - 4), min(2**32, threshold + 4)):
        # Times 2 max_qty, this word leaves `left`, or the even number below it.
        word = left << shift
        hashed = np.array([[word]], np.uint64)
        monkeypatch.setattr(reference, "hash_block", lambda *_, hashed=hashed: hashed)
        monkeypatch.setitem(DEFINITION, "hash_block", lambda *_, word=word: divmod(word, 2**32))
        assert reference_draw(question) == defined_draw(question)


def test_page_shows_known_answers_of_the_file():
    shown = re.findall(r"^\| (0x[0-9a-f]{16}) \| (.+) \|$", PAGE, re.MULTILINE)
    rows = {(seed, *(cell.strip() for cell in cells.split("|"))) for seed, cells in shown}
    answers = {show_vector(vector) for vector in VECTORS["default"]}
    blocks = {show_block(vector) for vector in VECTORS["block"]}
    assert len(rows & answers) >= 10
    assert len(rows & blocks) >= 4
    assert rows <= answers | blocks


def show_block(vector):
    """Return the cells of a hash's row on the page."""
    numbers = [str(vector[name]) for name in ("market", "block", "step")]
    return (vector["seed"], *numbers, vector["key"], *vector["words"])


def show_vector(vector):
    """Return the cells of a draw's row on the page."""
    numbers = [str(vector[name]) for name in ("market", "agent", "step")]
    limits = [str(vector[name]) for name in ("max_qty", "noise_spread", "market_order_prob")]
    offset = "-" if vector["offset"] is None else str(vector["offset"])
    side = "buy" if vector["buy"] else "sell"
    marketable = "yes" if vector["marketable"] else "no"
    who = (vector["seed"], *numbers, vector["type"], *limits)
    return (*who, side, str(vector["qty"]), offset, marketable)
