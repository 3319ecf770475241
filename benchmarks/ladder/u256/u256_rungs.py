"""The rungs: ways to match orders of 256-bit numbers, each with what it was expected to bring.

A rung up to the product is its source with the ideas of the rungs above taken out again. Those
behind it are what was tried on top of it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from bookwarp.engines.cuda.compile import find_compiled
from bookwarp.engines.cuda.u256.compile import join_sources
from bookwarp.engines.cuda.u256.engine import CudaU256Engine
from bookwarp.engines.cuda.u256.kernel_key import MATCHING, U256Key

_RUNGS = Path(__file__).parent / "rungs"

Change = Callable[[str], str]


@dataclass(frozen=True)
class Rung:
    """One way to match."""

    name: str
    idea: str
    over: str | None
    expected: Mapping[str, float] = field(hash=False)
    """Flow -> times faster than `over` it was expected to be in one launch, before measuring. It is
    tried on these flows; the first on all."""
    because: str
    changes: tuple[Change, ...]
    """From the product's source to the rung's; the last is made first."""


def rows_at_once(source: str) -> str:
    """Let a warp wait for the rows of a turn when it needs them."""
    source = _changed(
        source,
        "    rows.copy_turn(buffers.pieces[0]);\n    mark_copies();\n",
        "",
    )
    return _changed(
        source,
        "        Piece* buffer = buffers.pieces[turn % 2];\n        rows.advance();\n"
        "        if (turn + 1 < turns) rows.copy_turn(buffers.pieces[(turn + 1) % 2]);\n",
        "        Piece* buffer = buffers.pieces[0];\n        rows.copy_turn(buffer);\n"
        "        mark_copies();\n        rows.advance();\n",
    )


def rows_by_thread(source: str) -> str:
    """Let each thread read and write its rows where they lie; only passes are matched then."""
    source = _with_file(source, "rows.cuh", "rows_by_thread.cuh")
    start = source.index("// Orders in any sequence")
    return source[:start] + source[source.index('#line 1 "u256/layout.py"') :]


def best_in_memory(source: str) -> str:
    """Let the best order go back to memory after every order, and be read again."""
    before = "    bool below;\n    const U256 filled ="
    return _changed(
        source, before, f"    book.put_back();\n    book.held_side = NO_SIDE;\n{before}"
    )


def slots_that_shift(source: str) -> str:
    """Let the others move up when the best order leaves, so that it is at slot 0 always."""
    source = _changed(source, "if (2 * place < here.count) {", "if (false) {")
    source = _changed(
        source,
        "    // Let an order rest on a side that has room.",
        "    DEVICE_MEMBER void shift_down(uint32 side, const Side& here) {\n"
        "        for (uint32 each = 1; each < here.count; ++each) {\n"
        "            *slot_at(side, 0, each - 1) = *slot_at(side, 0, each);\n"
        "        }\n    }\n\n    // Let an order rest on a side that has room.",
    )
    return _shift_where_the_head_moves(source)


def _shift_where_the_head_moves(source: str) -> str:
    moving = "side.head = side.head + 1 == book.capacity ? 0 : side.head + 1;"
    return _changed(source, moving, "book.shift_down(facing, side);")


def arenas(source: str) -> str:
    """Let each book lie by itself, as the bytes that it is exchanged as."""
    source = _with_file(source, "book.cuh", "arena_book.cuh")
    if '#line 1 "u256/arenas.cu"' in source:
        return _with_file(source, "arenas.cu", "arena_columns.cu")
    return _shift_where_the_head_moves(source)


def division_each_fill(source: str) -> str:
    """Let the average be divided after every fill."""
    source = _with_file(source, "average.cuh", "average_each_fill.cuh")
    source = _changed(
        source,
        "if (fill_count == 0) average = {book.held.key, 0, 0, false};\n"
        "        else add_fill(average, wide, book.held.key, fill);",
        "if (fill_count == 0) begin_average(average, wide);\n"
        "        add_fill(average, wide, turn(book.held.key, turned(facing)), fill);",
    )
    return _changed(
        source,
        "    const U256 key = average_key(average, wide, filled, !order.is_bid);\n"
        "    return {filled, turn(key, turned(facing)), fill_count};",
        "    return {filled, average.vwap, fill_count};",
    )


def in_bytes(source: str) -> str:
    """Let numbers be read and written a byte at a time."""
    return _changed(source, "#define BYTES 0\n", "#define BYTES 1\n")


def without_the_unseen(source: str) -> str:
    """Let pieces that hold nothing but users and book ids stay where they are."""
    return _changed(
        source,
        "        copy_ahead(buffer + piece, (const",
        "        const uint32 at = piece * PIECE - bytes_before();\n"
        "        const uint32 in_row = (at + ORDER_BYTES) % ORDER_BYTES;\n"
        "        if (in_row >= SEEN_BYTES && in_row <= ORDER_BYTES - PIECE) return;\n"
        "        copy_ahead(buffer + piece, (const",
    )


def results_past_the_caches(source: str) -> str:
    """Let results be written as what is not read again."""
    return _changed(
        source,
        "if (piece < PIECES) ((Piece*)results)[piece] = buffer[piece];",
        "const Piece here = buffer[min(piece, PIECES - 1)];\n                "
        "const ulonglong2 both = make_ulonglong2(here.first, here.second);\n                "
        "if (piece < PIECES) __stcs((ulonglong2*)results + piece, both);",
    )


def search_by_quarters(source: str) -> str:
    """Let three keys be read at a time, and three quarters of the places be left out."""
    return _changed(
        source,
        "            const uint32 middle = (low + high) / 2;\n"
        "            const U256 other = slot_at(side, here.head, middle)->key;\n"
        "            if (is_below(key, other)) high = middle;\n"
        "            else low = middle + 1;\n",
        "            const uint32 count = high - low, second = low + count / 2;\n"
        "            const uint32 first = low + count / 4;\n"
        "            const uint32 third = second + (count - count / 2) / 2;\n"
        "            const U256 one = slot_at(side, here.head, first)->key;\n"
        "            const U256 two = slot_at(side, here.head, second)->key;\n"
        "            const U256 three = slot_at(side, here.head, min(third, high - 1))->key;\n"
        "            if (is_below(key, two)) {\n"
        "                high = second;\n"
        "                if (is_below(key, one)) high = first;\n"
        "                else low = first + 1;\n"
        "            } else {\n"
        "                low = second + 1;\n"
        "                if (third < high) {\n"
        "                    if (is_below(key, three)) high = third;\n"
        "                    else low = third + 1;\n"
        "                }\n"
        "            }\n",
    )


def one_slot_at_a_time(source: str) -> str:
    """Let a slot be read when the one before it was written."""
    source = _changed(source, "place + 1 < count; place += 2", "false;")
    source = _changed(
        source, "if (place < count) *slot_at", "for (; place < count; ++place) *slot_at"
    )
    source = _changed(source, "first + 1 < end; end -= 2", "false;")
    return _changed(source, "if (first < end) *slot_at", "for (; first < end; --end) *slot_at")


def blocks_a_multiprocessor(blocks: int) -> Change:
    """Let registers be kept free for so many blocks."""

    def change(source: str) -> str:
        return re.sub(r"#define BLOCKS_PER_SM \d+", f"#define BLOCKS_PER_SM {blocks}", source)

    return change


def _with_file(source: str, name: str, other: str) -> str:
    """Return a source with another file in the place of one."""
    parts = source.split("#line 1 ")
    text = (_RUNGS / other).read_text(encoding="utf-8")
    found = [part.startswith(f'"u256/{name}"') for part in parts]
    if sum(found) != 1:
        raise ValueError(f"the kernels have no {name} any more")
    parts = [
        f'"{other}"\n{text}' if here else part for here, part in zip(found, parts, strict=True)
    ]
    return "#line 1 ".join(parts)


def _changed(source: str, old: str, new: str) -> str:
    if source.count(old) != 1:
        raise ValueError(f"the kernels have no {old!r} any more")
    return source.replace(old, new)


_STAGED = (rows_at_once,)
_HELD = (rows_by_thread, rows_at_once)
_RING = (*_HELD, best_in_memory)
_PLANES = (*_RING, slots_that_shift)
_ARENAS = (*_RING, arenas)
_EACH_FILL = (*_ARENAS, division_each_fill)

RUNGS = (
    Rung(
        "bytes",
        "a book is its arena, and numbers are read a byte at a time",
        None,
        {},
        "",
        (in_bytes, *_EACH_FILL),
    ),
    Rung(
        "limbs",
        "numbers of arenas and results in limbs",
        "bytes",
        {"seed": 1.5, "sweeps": 1.5, "mixed": 1.5},
        "the seed saw 1.3 to 4.2; the rows of orders still come by bytes",
        _EACH_FILL,
    ),
    Rung(
        "one division",
        "one division an order, and none where all fills have one price",
        "limbs",
        {"seed": 1.5, "sweeps": 2.5, "mixed": 1.3},
        "a general division is some 1500 instructions: one on the seed's flow, three on sweeps",
        _ARENAS,
    ),
    Rung(
        "planes",
        "slots as [side, slot, book], each 64 bytes",
        "one division",
        {"seed": 1.5, "sweeps": 4.0, "mixed": 3.0},
        "neighbours read neighbouring slots; shifting 31 slots is most of what sweeps move",
        _PLANES,
    ),
    Rung(
        "ring",
        "the head moves, not the slots",
        "planes",
        {"seed": 2.5, "sweeps": 10.0, "mixed": 1.3},
        "an ask in ten orders leaves, and 30 others of 128 bytes move: some 380 bytes an order",
        _RING,
    ),
    Rung(
        "held",
        "the best order in registers from pass to pass",
        "ring",
        {"seed": 1.2, "sweeps": 1.0, "mixed": 1.0},
        "96 bytes an order less; a sweep reads its asks anyway",
        _HELD,
    ),
    Rung(
        "rows by warp",
        "a warp brings its 32 rows in pieces of 16 bytes",
        "held",
        {"seed": 3.0, "sweeps": 2.0, "mixed": 1.3},
        "65 loads of a byte that each touch 30 lines become eight of 16 bytes that touch four",
        _STAGED,
    ),
    Rung(
        "rows ahead",
        "the rows of the next pass are on their way",
        "rows by warp",
        {"seed": 1.3, "sweeps": 1.2, "mixed": 1.1},
        "a warp waits for memory once a pass otherwise, and 16 warps are there to fill in",
        (),
    ),
)
"""From the first to the product."""

TRIED = (
    Rung(
        "without the unseen",
        "pieces of users and book ids are not read",
        "rows ahead",
        {"seed": 1.05},
        "of 117 bytes 96 are in sectors of 32 that are needed; memory may bring 64 at a time",
        (without_the_unseen,),
    ),
    Rung(
        "past the caches",
        "results are written as what is not read again",
        "rows ahead",
        {"seed": 1.0, "mixed": 1.0},
        "whole lines are written as it is",
        (results_past_the_caches,),
    ),
    Rung(
        "quarters",
        "the place of an order found by quarters, not halves",
        "rows ahead",
        {"mixed": 1.15},
        "three reads at a time are as long as one: three rounds for 20 orders and not five",
        (search_by_quarters,),
    ),
    Rung(
        "one slot at a time",
        "orders that make room move one by one, not two by two",
        "rows ahead",
        {"mixed": 0.85},
        "twice as many waits for memory while a warp moves what its slowest lane moves",
        (one_slot_at_a_time,),
    ),
    *(
        Rung(
            f"{blocks} blocks",
            f"registers for {blocks} blocks of four warps a multiprocessor",
            "rows ahead",
            {"seed": 1.0, "mixed": 1.0},
            "reads on their way suffice with 12 warps; more have registers spilled",
            (blocks_a_multiprocessor(blocks),),
        )
        for blocks in (3, 5, 6, 7)
    ),
)
"""What was tried on top of the product."""


def rung_source(rung: Rung, key: U256Key) -> str:
    """Return the source of a rung's kernels."""
    source = join_sources(key)
    if any(change in rung.changes for change in (rows_by_thread, arenas)):
        source = f"#define BYTES 0\n{source}"
    own_arenas = arenas in rung.changes
    for change in reversed(rung.changes):
        if key == MATCHING or (own_arenas and change in (arenas, in_bytes)):
            source = change(source)
    return source


@cache
def load_rung(rung: Rung, key: U256Key, arch: str) -> Any:
    """Return the code of a rung's kernels; it is made once."""
    return _load_source(rung_source(rung, key), arch, f"the rung {rung.name}")


def _load_source(source: str, arch: str, what: str) -> Any:
    from cuda.core import ObjectCode

    return ObjectCode.from_cubin(find_compiled(source, arch, what))


def engine_of(rung: Rung) -> type[CudaU256Engine]:
    """Return the product's engine with the kernels of a rung."""

    class RungEngine(CudaU256Engine):
        def _load(self, key: U256Key) -> Any:
            return load_rung(rung, key, self._gpu.arch)

    return RungEngine
