"""What the kernels are given and give back: structures of market.cuh and layout.cuh, as dtypes."""

from collections.abc import Mapping

import numpy as np

from bookwarp.engines.cuda.kernel_key import TYPES_PITCH, wide_draws
from bookwarp.spec.codes import MIXED_TYPES, Stream
from bookwarp.spec.execution import cumulative_profile, share_units
from bookwarp.spec.market import CallAuction
from bookwarp.spec.random import paper_hash_limit, probability_threshold
from bookwarp.spec.record import SERIES
from bookwarp.spec.state import EXECUTION_LAYOUT, State

MARKET = np.dtype(
    [
        ("key", np.uint64),
        ("seed", np.uint64),
        ("open_price", np.int64),
        ("marketable_below", np.uint64),
        ("threshold", np.uint32),
        ("max_qty", np.uint32),
        ("noise_spread", np.int32),
        ("maker_half_spread", np.int32),
        ("market_id", np.uint32),
        ("noise_end", np.uint32),
        ("momentum_end", np.uint32),
        ("maker_end", np.uint32),
        ("book_row", np.int32),
        ("wide", np.uint32),
        ("two_max_qty", np.uint32),
        ("clearing_interval", np.uint32),
    ],
    align=True,
)

_QUOTES = ("best_bid", "best_ask")
"""Scalars that follow from the book, and are no part of a state."""
SCALARS = (
    *("last", "prev_mid2", "base", "volume", "trades", "pruned_bid", "pruned_ask"),
    *_QUOTES,
)
"""Arrays int64 [market] in the memory for scalars, in this order, `scalars_pitch` entries apart."""
EXECUTION_SCALARS = tuple(EXECUTION_LAYOUT)
"""What comes behind them where there are execution agents."""
_SCALARS_PITCH = 32

BOOK_SIDES = ("book_bid", "book_ask")

ROWS = np.dtype(
    [(name, np.uint64) for name in (*SERIES, *BOOK_SIDES)]
    + [(name, np.uint32) for name in ("every", "depth_ticks", "book_markets", "pad")],
    align=True,
)

PARENT = np.dtype(
    [
        ("share", np.uint64),
        ("qty", np.uint32),
        ("side", np.int32),
        ("start", np.uint32),
        ("horizon", np.uint32),
        ("schedule", np.uint32),
        ("pad", np.uint32),
    ],
    align=True,
)

WAITING_SIDES = ("waiting_buy", "waiting_sell")

EXTRAS = np.dtype([(name, np.uint64) for name in (*WAITING_SIDES, "parents", "profile")])

STRUCTURES = {"Market": MARKET, "Rows": ROWS, "Parent": PARENT, "Extras": EXTRAS}

_ROWS_TOGETHER = 1 << 14
"""Parameters of markets that are written together, field by field, in the cache of a core."""
_NOBODY = len(MIXED_TYPES)
"""Type of what fills up a row of types; it sends nothing."""


def layout_assertions() -> str:
    """Return C++ that does not compile unless all structures lie in memory as the dtypes say."""
    others = {name: dtype for name, dtype in STRUCTURES.items() if name != "Market"}
    return market_assertions() + assert_layouts(others)


def market_assertions() -> str:
    """Return that of them for what market.cuh has: parameters and scalars."""
    checks = []
    for number, name in enumerate((*SCALARS, *EXECUTION_SCALARS)):
        says = f'"{name} is not number {number} of SCALARS in layout.py");'
        checks.append(f"static_assert((int)Scalar::{name} == {number}, {says}\n")
    checks.append(
        f"static_assert(SCALARS_PITCH == {_SCALARS_PITCH}, "
        f'"scalars do not begin where layout.py puts them");\n'
    )
    return assert_layouts({"Market": STRUCTURES["Market"]}) + "".join(checks)


def assert_layouts(structures: Mapping[str, np.dtype]) -> str:
    """Return C++ that does not compile unless structures lie in memory as dtypes say.

    Places of fields are checked from CUDA 13.5 on: compilers before it do not know the built-in.

    Args:
        structures: name of the structure -> dtype.
    """
    sizes, places = [], []
    for name, dtype in structures.items():
        assert dtype.fields is not None
        says = f'"{name} is not laid out as in layout.py");'
        sizes.append(f"static_assert(sizeof({name}) == {dtype.itemsize}, {says}")
        for field, (kind, offset, *_) in dtype.fields.items():
            sizes.append(f"static_assert(sizeof({name}::{field}) == {kind.itemsize}, {says}")
            places.append(f"static_assert(__builtin_offsetof({name}, {field}) == {offset}, {says}")
    known = "#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1305"
    return "\n".join([*sizes, known, *places, "#endif", ""])


def lay_out_parameters(auction: CallAuction, type_counts: np.ndarray) -> np.ndarray:
    """Return the parameters of markets as the kernels read them: MARKET [entry], or [1].

    What is of one market alone is left 0: `key`, `market_id` and `book_row` (open.cu).

    Args:
        auction: the ensemble.
        type_counts: its agents by type, int64 [entry, type], or [1, type] if all have the same.
    """
    names = ("seed", "open_price", "max_qty", "noise_spread", "clearing_interval")
    fields = {name: auction.shared(name) for name in names}
    probability = auction.shared("market_order_prob")
    if auction.stream is Stream.PAPER:
        fields["marketable_below"] = paper_hash_limit(probability)
    noise, momentum, maker, _ = type_counts.T
    # Prices are clamped to the grid, so that no maker can tell a farther spread from this one;
    # and where there is no maker, none is to widen the reach of the orders.
    spread = np.minimum(auction.shared("maker_half_spread"), auction.levels)
    fields |= {
        "threshold": probability_threshold(probability),
        "two_max_qty": 2 * fields["max_qty"],
        "wide": wide_draws(auction),
        "noise_end": noise,
        "momentum_end": noise + momentum,
        "maker_end": noise + momentum + maker,
        "maker_half_spread": np.where(maker > 0, spread, 0),
    }
    one = np.zeros(1, MARKET)
    for name in [name for name, values in fields.items() if len(values) == 1]:
        one[name] = fields.pop(name)
    rows = np.repeat(one, max((len(values) for values in fields.values()), default=1))
    for first in range(0, len(rows), _ROWS_TOGETHER):
        own = slice(first, first + _ROWS_TOGETHER)
        piece = rows[own]
        for name, values in fields.items():
            piece[name] = values[own]
    return rows


def lay_out_parents(auction: CallAuction) -> np.ndarray:
    """Return the parent orders of all markets as the kernels read them, PARENT [market]."""
    rows = np.zeros(auction.markets, PARENT)
    for name in ("qty", "side", "start", "horizon"):
        rows[name] = auction.per_market(f"parent_{name}")
    rows["schedule"] = auction.per_market("schedule")
    rows["share"] = share_units(auction.per_market("volume_share"))
    return rows


def lay_out_profile(auction: CallAuction) -> np.ndarray:
    """Return the number of points of the volume profile, then its cumulative weights, uint32."""
    weights = cumulative_profile(auction.volume_profile)
    return np.concatenate(([len(weights) - 1], weights)).astype(np.uint32)


def lay_out_types(types: np.ndarray) -> np.ndarray:
    """Return agent types in rows of a multiple of 64, filled up, uint8 [market, agent]."""
    markets, agents = types.shape
    padded = np.full((markets, -(-agents // TYPES_PITCH) * TYPES_PITCH), _NOBODY, np.uint8)
    padded[:, :agents] = types
    return padded


def lay_out_book(state: State, lots: np.dtype) -> np.ndarray:
    """Return the books as signed lots, buys positive, `lots` [market, level]."""
    return np.asarray((state.bid - state.ask).astype(lots))


def scalars_pitch(markets: int) -> int:
    """Return how many entries the arrays of scalars are apart: each begins at 256 bytes."""
    return -(-markets // _SCALARS_PITCH) * _SCALARS_PITCH


def scalar_names(executes: bool) -> tuple[str, ...]:
    """Return what the scalars of an ensemble are: with execution agents, or without any."""
    return (*SCALARS, *EXECUTION_SCALARS) if executes else SCALARS


def lay_out_scalars(state: State) -> np.ndarray:
    """Return all of a state that has no levels, int64 [scalar, pitch]."""
    markets, levels = state.bid.shape
    bids, asks = state.bid > 0, state.ask > 0
    highest = levels - 1 - np.argmax(bids[:, ::-1], axis=1)
    best = {
        "best_bid": np.where(bids.any(axis=1), highest, -1),
        "best_ask": np.where(asks.any(axis=1), np.argmax(asks, axis=1), levels),
    }
    names = scalar_names(len(state.own_filled) > 0)
    arrays = np.zeros((len(names), scalars_pitch(markets)), np.int64)
    for array, name in zip(arrays, names, strict=True):
        array[:markets] = best[name] if name in best else getattr(state, name)
    return arrays


def read_out_state(
    step: int, books: list[np.ndarray], scalars: list[np.ndarray], waiting: list[np.ndarray]
) -> State:
    """Return the state in consecutive blocks of what the above lay out; their inverse.

    Args:
        step: steps done.
        books: signed lots, [market, level].
        scalars: int64 [scalar, pitch].
        waiting: lots that wait, [side, market, level]; none where nothing can wait.
    """
    counts = [len(book) for book in books]
    shape = (sum(counts), books[0].shape[1])
    bid, ask = np.empty(shape, np.int64), np.empty(shape, np.int64)
    first = 0
    for book in books:
        part = slice(first, first + len(book))
        np.maximum(book, 0, out=bid[part])
        np.negative(book, out=ask[part])
        np.maximum(ask[part], 0, out=ask[part])
        first += len(book)
    each = [arrays[:, :count] for arrays, count in zip(scalars, counts, strict=True)]
    together = np.concatenate(each, axis=1)
    names = scalar_names(len(together) > len(SCALARS))
    kept = {name: together[names.index(name)].copy() for name in names if name not in _QUOTES}
    if waiting:
        sides = np.concatenate(waiting, axis=1).astype(np.int64)
        kept |= dict(zip(WAITING_SIDES, sides, strict=True))
    return State(step, bid=bid, ask=ask, **kept)
