"""The rungs of the ladder, as data: what each changes, and what it was expected to bring.

Expectations were written before the rungs were measured. They come from instructions, counted in
the machine code for a market and a step of 256 agents, and from what an H200 can issue: 132
multiprocessors with 4 schedulers, one instruction of a warp each in a cycle, at 1.98 GHz. The ALU
pipe of a scheduler, which does integers but products, takes one every second cycle.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

SOURCES = Path(__file__).parent / "rungs"
_WARP = ("model.cuh", "rows.cuh")
_PAPER = ("draws_paper.cuh",)
_DEFAULT = ("draws_default.cuh",)
_ATOMICS = ("histogram_atomics.cuh",)
_COUNTED = (*_WARP, *_DEFAULT, "window.cuh", "counters.cuh")
_TENSOR = (*_COUNTED, "tensor.cuh", "sum_tensor.cuh", "counted.cu")


@dataclass(frozen=True)
class Rung:
    """One idea."""

    name: str
    idea: str
    over: str | None
    """The rung that it changes, in one respect."""
    expected: float | None
    """How many times faster than that one it was expected to be, at 8192 markets of 256 agents."""
    because: str
    """Why so much was expected."""
    stream: str = "default"
    sources: tuple[str, ...] = ()
    """Files that make up the kernel, in order; none where another contender is the rung."""
    contender: str | None = None
    """That contender, as benchmarks/contenders.py calls it."""
    markets_per_warp: int | None = None
    """Markets that the engine is made to put on a warp."""
    macros: Mapping[str, int] = field(default_factory=dict)
    threads: int | None = 32
    """Threads of a block; None for one a level, in whole warps."""
    markets_per_block: int = 1
    launch_every_step: bool = False
    kept: bool = True
    """Whether later rungs stand on it; the others were tried beside the ladder."""


RUNGS = (
    Rung(
        "naive",
        "a thread a market, the book in global memory, a launch a step",
        None,
        None,
        "where one starts",
        stream="paper",
        contender="naive-cuda",
    ),
    Rung(
        "block",
        "a block a market, the book in shared memory, orders added by atomics, a launch a step",
        "naive",
        3.5,
        "2820 issue slots a market and step allow 95 G/s; half of them in use, since all wait "
        "at 14 barriers, and 2 to 4 µs a step for the launch and the book: 47 G/s. Measured "
        "before: naive 13.3 G/s",
        stream="paper",
        sources=("model.cuh", *_PAPER, "block.cu"),
        threads=None,
        launch_every_step=True,
    ),
    Rung(
        "persistent",
        "all steps in one launch",
        "block",
        1.1,
        "saves the launch and the book of each step, 2 to 4 µs of 45",
        stream="paper",
        sources=("model.cuh", *_PAPER, "block.cu"),
        threads=None,
    ),
    Rung(
        "warp",
        "a warp a market, a block of its own: no barrier; the book in registers, scans by shuffles",
        "persistent",
        1.7,
        "no more waiting at barriers: 85 % of what the ALU pipe allows (1254 of its "
        "instructions, two slots each: 107 G/s) after half of 95",
        stream="paper",
        sources=(*_WARP, *_PAPER, *_ATOMICS, "warp.cu"),
    ),
    Rung(
        "kept hash",
        "the first of the two hashes of a draw, which knows no step, kept in shared memory",
        "warp",
        1.35,
        "870 instead of 1254 instructions of the ALU pipe, 1.44 times; but 9 KB of shared "
        "memory a warp leave room for 24 warps instead of 32",
        stream="paper",
        sources=(*_WARP, *_PAPER, *_ATOMICS, "warp.cu"),
        macros={"KEEP_KEYS": 1},
        kept=False,
    ),
    Rung(
        "philox",
        "the default stream: one 64-bit Philox for two agents, spent by multiplication, no floats",
        "warp",
        2.5,
        "427 instead of 1254 instructions of the ALU pipe, 2.9 times; less for the atomics, "
        "which now are a larger share: 83 turns of lanes that hit the same level",
        sources=(*_WARP, *_DEFAULT, *_ATOMICS, "warp.cu"),
    ),
    Rung(
        "match",
        "orders of a warp for the same level added up before the atomics (match_any, REDUX)",
        "philox",
        0.4,
        "a loop over some 15 different levels and sides for each order of a lane, 8 "
        "instructions each: 1600 instead of 649",
        sources=(*_WARP, *_DEFAULT, "histogram_match.cuh", "warp.cu"),
        kept=False,
    ),
    Rung(
        "window",
        "only the 32 levels around the mid held and cleared, one a lane; the rest is the far path",
        "philox",
        1.0,
        "682 instructions instead of 649: what a lane saves in levels it spends on asking "
        "whether they suffice. It pays in what follows, and where there are more levels",
        sources=(*_WARP, *_DEFAULT, *_ATOMICS, "window.cuh", "window.cu"),
    ),
    Rung(
        "counted",
        "orders counted by offset in packed bytes of a lane, agents by type; added up by REDUX",
        "window",
        1.3,
        "368 instead of 431 instructions of the ALU pipe, 1.17 times, and no atomics to wait for",
        sources=(*_COUNTED, "sum_redux.cuh", "counted.cu"),
    ),
    Rung(
        "shuffled sums",
        "the counters added up by shuffles instead of REDUX",
        "counted",
        0.93,
        "27 more instructions of the ALU pipe in 368, and 9 shuffles more for 8 REDUX less",
        sources=(*_COUNTED, "sum_shuffle.cuh", "counted.cu"),
        kept=False,
    ),
    Rung(
        "tensor sums",
        "the counters added up by the tensor cores",
        "counted",
        1.045,
        "352 instead of 368 instructions of the ALU pipe",
        sources=_TENSOR,
    ),
    Rung(
        "two markets",
        "two markets a warp, 16 levels each",
        "tensor sums",
        1.21,
        "582 instructions of the ALU pipe for two instead of 704: what is done once a step is "
        "done once for both",
        sources=_TENSOR,
        macros={"MARKETS_PER_WARP": 2},
        markets_per_block=2,
    ),
    Rung(
        "blocks of 4 warps",
        "four warps a block instead of one",
        "two markets",
        0.97,
        "the same instructions; a multiprocessor gets its last markets in larger pieces",
        sources=_TENSOR,
        macros={"MARKETS_PER_WARP": 2, "WARPS_PER_BLOCK": 4},
        threads=128,
        markets_per_block=8,
        kept=False,
    ),
    Rung(
        "no unrolling",
        "one round of agents a turn of the loop instead of two",
        "two markets",
        0.98,
        "12 more instructions in 826",
        sources=_TENSOR,
        macros={"MARKETS_PER_WARP": 2, "UNROLL": 1},
        markets_per_block=2,
        kept=False,
    ),
    Rung(
        "unrolled by 4",
        "four rounds of agents a turn of the loop instead of two",
        "two markets",
        1.0,
        "5 rounds make one turn and a remainder: as many instructions",
        sources=_TENSOR,
        macros={"MARKETS_PER_WARP": 2, "UNROLL": 4},
        markets_per_block=2,
        kept=False,
    ),
    Rung(
        "products",
        "what a side selects computed by multiplying with it: work for the other pipe",
        "two markets",
        1.15,
        "494 instead of 582 instructions of the ALU pipe, the most in use; 240 of the "
        "multiply pipe, which has room",
        sources=_TENSOR,
        macros={"MARKETS_PER_WARP": 2, "MULTIPLY_BY_SIDE": 1},
        markets_per_block=2,
    ),
    Rung(
        "one sum",
        "momentum and maker orders in the same packed bytes as noise: one sum for all; rounds "
        "of makers alone draw a size and no more (the engine's kernel, two markets a warp)",
        "products",
        1.2,
        "331 issue slots a market instead of 405: no sums by shuffles are left",
        contender="cuda",
        markets_per_warp=2,
    ),
    Rung(
        "four markets",
        "a quarter of a warp for a market, two levels a lane (the engine's kernel)",
        "one sum",
        1.25,
        "263 issue slots a market instead of 331: the auction of four costs little more than "
        "that of two; half as many warps hide half the latency",
        contender="cuda",
        markets_per_warp=4,
    ),
    Rung(
        "product",
        "the engine as it chooses",
        "four markets",
        1.0,
        "it puts four markets on a warp at these sizes",
        contender="cuda",
    ),
)


def find_rung(name: str) -> Rung:
    """Return a rung by its name."""
    return next(rung for rung in RUNGS if rung.name == name)
