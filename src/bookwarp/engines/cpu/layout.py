"""What the kernel is given: parameters of a market, arrays of the state, buffers for rows."""

from collections import namedtuple
from collections.abc import Mapping

import numpy as np

from bookwarp.engines.cpu.agents import PACKED_OFFSETS
from bookwarp.spec.codes import MIXED_TYPES, Stream, Window
from bookwarp.spec.execution import cumulative_profile, share_units
from bookwarp.spec.market import CallAuction
from bookwarp.spec.random import NARROW_CELLS, market_keys, probability_threshold
from bookwarp.spec.record import BOOK, SERIES, RecordPlan
from bookwarp.spec.state import ALL_LAYOUT

# One row a market; what the kernel needs of the parameters, prepared once.
MARKET_ROW = np.dtype(
    [
        ("key", np.uint64),
        ("seed", np.uint64),
        # 32 bits wide, so that LLVM sees that a product with a word fits 64.
        ("max_qty32", np.uint32),
        ("two_max_qty32", np.uint32),
        ("offset_count32", np.uint32),
        ("threshold", np.uint32),
        ("probability", np.float32),
        ("market_id", np.int64),
        ("open_price", np.int64),
        ("max_qty", np.int64),
        ("noise_spread", np.int64),
        ("offset_count", np.int64),
        ("maker_half_spread", np.int64),
        ("draw", np.int64),
        ("book_row", np.int64),
        ("clearing_interval", np.int64),
        ("parent_qty", np.int64),
        ("parent_side", np.int64),
        ("parent_start", np.int64),
        ("parent_horizon", np.int64),
        ("schedule", np.int64),
        ("share", np.uint64),
    ]
)

# How a market's draws are made ("draw"): from the paper's stream, or from ours with two hashes an
# agent, with half a hash, or with half a hash and noise orders counted in packed counters. The
# kernel relies on this order: from DRAW_NARROW on, an agent has one word.
DRAW_PAPER, DRAW_WIDE, DRAW_NARROW, DRAW_PACKED = range(4)

NOT_RECORDED = -1

# A step's lots of a market whose noise orders are counted: eight slots of buys and of sells, then
# the sums of momentum agents, makers and fundamental agents (see agents.py).
COUNTS = 26

# Draws do not depend on the book: they are counted for some steps ahead, in loops without a
# branch that nobody can foretell, and the book then follows from the counts.
STEPS_AHEAD = 16

# An array that an ensemble does not have is empty.
StateArrays = namedtuple("StateArrays", list(ALL_LAYOUT))
RowArrays = namedtuple("RowArrays", [*SERIES, "book_bid", "book_ask"])
Draws = namedtuple("Draws", ["buy", "marketable", "qty", "offset"])
# What a call works in: the agent at each position and where each type ends, hashes and their
# words, the words by position (the same memory if the agents are `in_order` of type), and what
# comes of them.
Scratch = namedtuple(
    "Scratch",
    [
        *("in_order", "order", "ends", "pairs", "words", "by_position"),
        *("paper_keys", "draws", "counts"),
    ],
)
# One market's views of it, by type of agent.
Parts = namedtuple(
    "Parts",
    [
        *("noise_words", "momentum_words", "maker_words", "fundamental_words"),
        *("noise", "momentum", "maker", "maker_agents", "fundamental"),
    ],
)
Ensemble = namedtuple("Ensemble", ["markets", "type_counts", "agent_types", "following", "profile"])
# Parameters that are read as they are given.
_AS_GIVEN = (
    *("seed", "open_price", "max_qty", "noise_spread", "maker_half_spread", "clearing_interval"),
    *("parent_qty", "parent_side", "parent_start", "parent_horizon", "schedule"),
)


def lay_out_ensemble(auction: CallAuction, plan: RecordPlan) -> Ensemble:
    """Return the parameters of every market as the kernel reads them."""
    rows = np.zeros(auction.markets, MARKET_ROW)
    for name in _AS_GIVEN:
        rows[name] = auction.per_market(name)
    rows["market_id"] = auction.market_ids
    rows["key"] = market_keys(auction.per_market("seed"), auction.market_ids)
    probability = auction.per_market("market_order_prob")
    rows["probability"] = probability
    rows["threshold"] = probability_threshold(probability)
    rows["offset_count"] = 2 * rows["noise_spread"] + 1
    rows["max_qty32"] = rows["max_qty"]
    rows["two_max_qty32"] = 2 * rows["max_qty"]
    rows["offset_count32"] = rows["offset_count"]
    cells = 2 * rows["max_qty"] * rows["offset_count"]
    rows["draw"] = np.where(cells <= NARROW_CELLS, DRAW_NARROW, DRAW_WIDE)
    packed = (rows["draw"] == DRAW_NARROW) & (rows["offset_count"] <= PACKED_OFFSETS)
    rows["draw"][packed] = DRAW_PACKED
    if auction.stream is Stream.PAPER:
        rows["draw"] = DRAW_PAPER
    rows["share"] = share_units(auction.per_market("volume_share"))
    rows["book_row"] = NOT_RECORDED
    if BOOK in plan.names:
        rows["book_row"][plan.book_markets] = np.arange(len(plan.book_markets))
    given = auction.agent_types
    return Ensemble(
        markets=rows,
        type_counts=auction.type_counts(),
        agent_types=np.zeros((0, 0), np.int8) if given is None else np.ascontiguousarray(given),
        following=auction.window is Window.FOLLOWING,
        profile=cumulative_profile(auction.volume_profile),
    )


def allocate_scratch(ensemble: Ensemble) -> Scratch:
    """Return the memory that one call of the kernel works in, about 80 bytes an agent."""
    agents = int(ensemble.type_counts[0].sum())
    in_order = len(ensemble.agent_types) == 0
    pairs = np.zeros((agents + 1) // 2, np.uint64)
    words = pairs.view(np.uint32)
    return Scratch(
        in_order=in_order,
        order=np.arange(agents),
        ends=np.zeros(len(MIXED_TYPES), np.int64),
        pairs=pairs,
        words=words,
        by_position=words[:agents] if in_order else np.zeros(agents, np.uint32),
        paper_keys=np.zeros((4, agents), np.uint64),
        draws=Draws(*(np.zeros(agents, np.int64) for _ in Draws._fields)),
        counts=np.zeros((STEPS_AHEAD, COUNTS), np.int64),
    )


def lay_out_rows(rows: Mapping[str, np.ndarray]) -> RowArrays:
    """Return the buffers by name; what is not recorded is an empty array."""
    series = [rows.get(name, np.empty((0, 0), np.int64)) for name in SERIES]
    books = [rows.get(name, np.empty((0, 0, 0), np.int64)) for name in ("book_bid", "book_ask")]
    return RowArrays(*series, *books)
