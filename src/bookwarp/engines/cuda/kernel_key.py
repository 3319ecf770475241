"""What a kernel is specialised by: one frozen key, whose entries become macros."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from bookwarp.spec.codes import AgentType, Stream, Window
from bookwarp.spec.market import CallAuction
from bookwarp.spec.random import NARROW_CELLS

LANES = 32
WARPS_PER_MULTIPROCESSOR = 32
"""Warps of the counting kernel, each a block, that a multiprocessor runs at once."""
_GENERAL_BLOCKS_PER_SM = 16
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


@dataclass(frozen=True)
class KernelKey:
    """One specialisation; equal keys share compiled code."""

    kernel: Literal["counted", "general"]
    wide_lots: bool
    """Whether lots are int64 instead of int32."""
    levels: int
    agents: int
    markets_per_warp: int
    """Markets that the lanes of a warp are shared by: 1 or 2."""
    rounds_per_sum: int
    """Orders of a lane, in twos, after which its 8-bit counters are emptied."""
    makers_apart: bool
    """Whether makers may quote farther from the mid than those counters reach."""
    given_types: bool
    fundamental_agents: bool
    following: bool
    paper: bool
    recording: bool
    draws_ahead: bool = False
    """Whether a second warp draws for the next step."""
    blocks_per_sm: int = WARPS_PER_MULTIPROCESSOR
    """Blocks for which the counting kernel keeps registers free; those of the general one that take
    markets in turn. Never changes a bit, as the next one."""
    unroll_rounds: int = 2

    @property
    def entry(self) -> str:
        """Name of the kernel function."""
        return f"run_{self.kernel}"

    @property
    def block(self) -> tuple[int, int]:
        """Threads of a block: lanes and warps."""
        return LANES, 1 + self.draws_ahead

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
            "DRAWS_AHEAD": int(self.draws_ahead),
            "HISTOGRAM_IN_SHARED": int(self.scratch_bytes == 0),
            "BLOCKS_PER_SM": self.blocks_per_sm,
            "UNROLL_ROUNDS": self.unroll_rounds,
        }


def largest_orders(auction: CallAuction) -> np.ndarray:
    """Return the most lots that an order can have, int64 [market]."""
    # A draw of exactly 1 makes an order of the paper's stream one lot too large.
    return auction.per_market("max_qty").astype(np.int64) + (auction.stream is Stream.PAPER)


def wide_draws(auction: CallAuction) -> np.ndarray:
    """Return which markets draw by two hashes an agent, bool [market]."""
    spread = auction.per_market("noise_spread").astype(np.int64)
    cells = 2 * auction.per_market("max_qty").astype(np.int64) * (2 * spread + 1)
    return np.asarray((cells > NARROW_CELLS) & (auction.stream is Stream.DEFAULT))


def choose_key(
    auction: CallAuction,
    type_counts: np.ndarray,
    *,
    wide_lots: bool,
    recording: bool,
    warps: int,
) -> KernelKey:
    """Return the key of the fastest kernel that runs every market of `auction`.

    Args:
        auction: the ensemble.
        type_counts: its agents by type, int64 [market, type].
        wide_lots: whether a level may hold 2**31 lots or more.
        recording: whether rows are recorded.
        warps: how many warps the device runs at once.
    """
    together = _markets_per_warp(auction, type_counts, warps)
    counted = together > 0
    largest = int(largest_orders(auction).max())
    rounds = -(-auction.agents * together // (2 * LANES))
    apart = int(_maker_half_spreads(auction, type_counts).max()) > COUNTED_SPREAD
    return KernelKey(
        kernel="counted" if counted else "general",
        wide_lots=wide_lots,
        levels=auction.levels,
        agents=auction.agents,
        # The general kernel looks at none of these: one value, so that it is compiled once.
        markets_per_warp=together if counted else 1,
        rounds_per_sum=min(rounds, max(1, _COUNTER_LARGEST // (2 * largest))) if counted else 1,
        makers_apart=counted and apart,
        fundamental_agents=bool(type_counts[:, 3].any()) if counted else True,
        given_types=auction.agent_types is not None,
        following=auction.window is Window.FOLLOWING,
        paper=auction.stream is Stream.PAPER,
        recording=recording,
        blocks_per_sm=WARPS_PER_MULTIPROCESSOR if counted else _GENERAL_BLOCKS_PER_SM,
    )


def _markets_per_warp(auction: CallAuction, type_counts: np.ndarray, warps: int) -> int:
    """Return how many markets a warp of the counting kernel takes; 0 if it cannot run them all.

    Two halves of a warp do more together than a warp alone, where there are markets enough.
    """
    largest = int(auction.per_market("max_qty").max()) + 1
    spread = auction.per_market("noise_spread")
    paper = auction.stream is Stream.PAPER
    reach = int(np.maximum(spread + paper, _maker_half_spreads(auction, type_counts)).max())
    if (
        spread.max() > COUNTED_SPREAD
        or reach > _REACH[1]
        or largest - 1 + paper > _COUNTED_ORDER
        or auction.agents * largest >= _COUNTED_LOTS
        or wide_draws(auction).any()
    ):
        return 0
    return 2 if reach <= _REACH[2] and auction.markets > warps else 1


def _maker_half_spreads(auction: CallAuction, type_counts: np.ndarray) -> np.ndarray:
    """Return how far from the mid makers quote, 0 in markets that have none, int64 [market]."""
    spread = auction.per_market("maker_half_spread").astype(np.int64)
    return np.where(type_counts[:, AgentType.MAKER] > 0, spread, 0)
