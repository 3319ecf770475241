"""What a kernel is specialised by: one frozen key, whose entries become macros."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from bookwarp.spec.codes import AgentType, Stream, Window
from bookwarp.spec.market import CallAuction
from bookwarp.spec.random import NARROW_CELLS

LANES = 32
TYPES_PITCH = 64
"""Given types come in rows of a multiple of this many bytes."""

COUNTED_SPREAD = 3
"""Largest offset from the mid that counted.cu counts."""

# What else it holds of a market: the levels that orders reach in the lanes of a warp or of half of
# one, the lots of two orders in 8 bits, those of a step in 16 bits.
_REACH = {1: 15, 2: 7, 4: 3}
_COUNTED_ORDER = 127
_COUNTED_LOTS = 1 << 16
_COUNTER_LARGEST = 255

_SHARED_BYTES = 16 * 1024
"""Largest histogram that is kept in shared memory: several blocks of it fit a multiprocessor."""


class GpuShape(NamedTuple):
    """What matters of a GPU for the choice of a kernel."""

    multiprocessors: int
    most_blocks: int
    """Blocks that a multiprocessor runs at once."""


class Arrangement(NamedTuple):
    """How markets are put on warps."""

    markets_per_warp: int
    draws_ahead: bool


@dataclass(frozen=True)
class KernelKey:
    """One specialisation; equal keys share compiled code."""

    kernel: Literal["counted", "general"]
    wide_lots: bool
    """Whether lots are int64 instead of int32."""
    levels: int
    agents: int
    markets_per_warp: int
    """Markets that the lanes of a warp are shared by: 1, 2 or 4."""
    rounds_per_sum: int
    """Orders of a lane, in twos, after which its 8-bit counters are emptied."""
    makers_apart: bool
    """Whether makers may quote farther from the mid than those counters reach."""
    given_types: bool
    fundamental_agents: bool
    following: bool
    paper: bool
    recording: bool
    waits: bool
    """Whether some market clears less often than every step."""
    executes: bool
    """Whether some market has an execution agent."""
    draws_ahead: bool
    """Whether a second warp draws for the next step."""
    blocks_per_sm: int
    """Blocks for which the counting kernel keeps registers free; those of the general one that take
    markets in turn. Never changes a bit, as the next one."""
    unroll_rounds: int
    """A power of two: the compiler (NVRTC 13.0) loses the remainder of others."""

    @property
    def entry(self) -> str:
        """Name of the kernel function."""
        return f"run_{self.kernel}"

    @property
    def block(self) -> int:
        """Threads of a block: those of a warp, or of two."""
        return LANES * (1 + self.draws_ahead)

    @property
    def lots(self) -> np.dtype:
        """Type of the lots at a level of the book."""
        return np.dtype(np.int64 if self.wide_lots else np.int32)

    @property
    def histogram_bytes(self) -> int:
        """Bytes of both sides of the histogram of a general warp; 0 for a counted one."""
        return 0 if self.kernel == "counted" else 2 * self.levels * self.lots.itemsize

    @property
    def shared_bytes(self) -> int:
        """Dynamic shared memory of a block."""
        return self.histogram_bytes if self.histogram_bytes <= _SHARED_BYTES else 0

    @property
    def scratch_bytes(self) -> int:
        """Global memory that each block works in."""
        return self.histogram_bytes - self.shared_bytes

    def macros(self) -> dict[str, int]:
        """Return what the sources are compiled with, by name."""
        return {
            "WIDE_LOTS": int(self.wide_lots),
            "LEVELS": self.levels,
            "AGENTS": self.agents,
            "MARKETS_PER_WARP": self.markets_per_warp,
            "ROUNDS_PER_SUM": self.rounds_per_sum,
            "MAKERS_APART": int(self.makers_apart),
            "GIVEN_TYPES": int(self.given_types),
            "FUNDAMENTAL_AGENTS": int(self.fundamental_agents),
            "FOLLOWING": int(self.following),
            "PAPER": int(self.paper),
            "RECORDING": int(self.recording),
            "WAITS": int(self.waits),
            "EXECUTES": int(self.executes),
            "DRAWS_AHEAD": int(self.draws_ahead),
            "HISTOGRAM_IN_SHARED": int(self.scratch_bytes == 0),
            "BLOCKS_PER_SM": self.blocks_per_sm,
            "UNROLL_ROUNDS": self.unroll_rounds,
        }


def largest_orders(auction: CallAuction) -> np.ndarray:
    """Return the most lots that an order can have, int64 [market], or [1] if all have the same."""
    # A draw of exactly 1 makes an order of the paper's stream one lot too large.
    return auction.shared("max_qty").astype(np.int64) + (auction.stream is Stream.PAPER)


def wide_draws(auction: CallAuction) -> np.ndarray:
    """Return which markets draw by two hashes an agent, bool [market], or [1] if all do or none."""
    spread = auction.shared("noise_spread").astype(np.int64)
    cells = 2 * auction.shared("max_qty").astype(np.int64) * (2 * spread + 1)
    return np.asarray((cells > NARROW_CELLS) & (auction.stream is Stream.DEFAULT))


class OrderBounds(NamedTuple):
    """What the orders of an ensemble can be, in whichever market."""

    agents: int
    max_qty: int
    """Largest parameter, and ..."""
    largest: int
    """... the most lots that an order can have."""
    noise_spread: int
    maker_half_spread: int
    """Where there are makers."""
    reach: int
    """Of limit orders from the mid, in ticks."""
    any_wide: bool
    """Whether a market draws by two hashes an agent."""
    any_fundamental: bool
    """Whether a market has a fundamental agent."""


def bound_orders(auction: CallAuction, type_counts: np.ndarray) -> OrderBounds:
    """Return what the orders of an ensemble can be.

    Args:
        auction: the ensemble.
        type_counts: its agents by type, int64 [market, type], or [1, type] if all have the same.
    """
    max_qty, spread = (int(auction.shared(name).max()) for name in ("max_qty", "noise_spread"))
    makers = type_counts[:, AgentType.MAKER] > 0
    maker_spread = int(np.where(makers, auction.shared("maker_half_spread"), 0).max())
    return OrderBounds(
        agents=auction.agents,
        max_qty=max_qty,
        largest=int(largest_orders(auction).max()),
        noise_spread=spread,
        maker_half_spread=maker_spread,
        reach=max(spread + (auction.stream is Stream.PAPER), maker_spread),
        any_wide=bool(wide_draws(auction).any()),
        any_fundamental=bool((type_counts[:, AgentType.FUNDAMENTAL] > 0).any()),
    )


def choose_key(
    auction: CallAuction,
    orders: OrderBounds,
    *,
    wide_lots: bool,
    recording: bool,
    shape: GpuShape,
    arrangement: Arrangement | None = None,
) -> KernelKey:
    """Return the key of the fastest kernel that runs every market of `auction`.

    Args:
        auction: the ensemble.
        orders: what `bound_orders` returns for it.
        wide_lots: whether a level may hold 2**31 lots or more.
        recording: whether rows are recorded.
        shape: of the GPU; of several, with all their multiprocessors.
        arrangement: one of `arrangements`; the fastest where it is None.
    """
    counted = counts_orders(orders)
    if arrangement is None:
        arrangement = _choose_arrangement(auction, orders, shape)
    together, ahead = arrangement
    paper = auction.stream is Stream.PAPER
    blocks = _blocks_per_sm(auction, arrangement, shape, wide_lots) if counted else 16
    unroll = 1 if paper or not counted else 4 if blocks <= 16 else 2
    return KernelKey(
        kernel="counted" if counted else "general",
        wide_lots=wide_lots,
        levels=auction.levels,
        agents=auction.agents,
        # The general kernel looks at none of these: one value, so that it is compiled once.
        markets_per_warp=together,
        rounds_per_sum=min(_rounds_and_most(orders, together)) if counted else 1,
        makers_apart=counted and orders.maker_half_spread > COUNTED_SPREAD,
        fundamental_agents=orders.any_fundamental if counted else True,
        given_types=auction.agent_types is not None,
        following=auction.window is Window.FOLLOWING,
        paper=paper,
        recording=recording,
        waits=auction.has_waiting_orders,
        executes=auction.has_execution_agents,
        draws_ahead=ahead,
        blocks_per_sm=min(blocks, shape.most_blocks),
        unroll_rounds=unroll,
    )


def counts_orders(orders: OrderBounds) -> bool:
    """Return whether the counting kernel can run every market."""
    return (
        orders.noise_spread <= COUNTED_SPREAD
        and orders.reach <= _REACH[1]
        and orders.largest <= _COUNTED_ORDER
        and orders.agents * (orders.max_qty + 1) < _COUNTED_LOTS
        and not orders.any_wide
    )


def arrangements(orders: OrderBounds) -> list[Arrangement]:
    """Return how the markets of an ensemble may be put on warps."""
    if not counts_orders(orders):
        return [Arrangement(1, False)]
    ways = (4, 2, 1)
    found = [Arrangement(together, False) for together in ways if orders.reach <= _REACH[together]]
    rounds, most = _rounds_and_most(orders, 1)
    return [*found, Arrangement(1, True)] if rounds <= most else found


def _choose_arrangement(auction: CallAuction, orders: OrderBounds, shape: GpuShape) -> Arrangement:
    """Return the fastest of `arrangements`, as it was measured on an H200."""
    possible = arrangements(orders)
    markets = auction.markets / shape.multiprocessors
    paper = auction.stream is Stream.PAPER
    if markets <= (1 if paper else 8):
        return possible[-1]
    # The keys of the paper's stream want shared memory: more markets a warp leave fewer warps.
    enough = {4: not paper and markets > 32, 2: not paper, 1: True}
    return next(each for each in possible if enough[each.markets_per_warp])


def _blocks_per_sm(
    auction: CallAuction, arrangement: Arrangement, shape: GpuShape, wide_lots: bool
) -> int:
    """Return for how many blocks registers are kept free: fewer have more of them."""
    if arrangement.draws_ahead:
        return 8
    blocks = auction.markets / arrangement.markets_per_warp / shape.multiprocessors
    if wide_lots or auction.stream is Stream.PAPER or blocks <= 16:
        return 16
    # What waits, and what is worked of a parent order, takes registers too: they would spill.
    return 24 if auction.has_waiting_orders or auction.has_execution_agents else 32


def _rounds_and_most(orders: OrderBounds, together: int) -> tuple[int, int]:
    """Return a lane's orders of a step, in twos, and how many of these its counters hold."""
    rounds = -(-orders.agents * together // (2 * LANES))
    return rounds, max(1, _COUNTER_LARGEST // (2 * orders.largest))
