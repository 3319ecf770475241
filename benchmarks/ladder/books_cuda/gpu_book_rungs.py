"""The rungs: how books lie on a GPU and who takes them, each with what it was expected to bring."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bookwarp.engines.cuda.books import compile as compiling
from bookwarp.engines.cuda.books.engine import CudaBookEngine
from bookwarp.engines.cuda.books.kernel_key import MatchKey, match_key
from bookwarp.engines.cuda.compile import find_compiled

THREAD_BLOCK = 64
"""Books a block, where a thread takes one; their number is a multiple of it."""


@dataclass(frozen=True)
class Rung:
    """One way to match many books."""

    name: str
    idea: str
    over: str | None
    expected: float | None
    """Times faster than `over` it was expected to be, before it was measured."""
    slots: tuple[int, ...]
    """Slots a lane of the kernels that are tried in turn; 0 for levels."""
    change: Callable[[str], str] | None = None
    """From the product's source to the rung's."""
    a_thread_each: bool = False


def a_thread_for_each_book(source: str) -> str:
    """Let warp.cuh be that of one lane."""
    thread = Path(__file__).with_name("thread.cuh").read_text(encoding="utf-8")
    source = _changed(r"#define BLOCK \d+", f"#define BLOCK {THREAD_BLOCK}", source)
    start, stop = (source.index(f'#line 1 "books/{name}.cuh"') for name in ("warp", "order"))
    return f'{source[:start]}#line 1 "thread.cuh"\n{thread}{source[stop:]}'


def slots_as_structures(source: str) -> str:
    """Let a slot's fields lie side by side."""
    source = _changed(
        r"struct alignas\(16\) Slots \{.*?\n\};",
        "struct Slot { uint64 id; int64 qty; int32 key; uint32 tag; };\n"
        "struct Slots { Slot at[SLOTS]; };",
        source,
    )
    for field, two in (("id", "Ids"), ("key", "Keys"), ("tag", "Tags")):
        pair = ", ".join(f"slots->at[slot_of(2 * pair + {k})].{field}" for k in (0, 1))
        read = rf"return \(\(const Two{two}\*\)slots->{field}\)\[pair \* LANES \+ lane\];"
        source = _changed(read, f"return {{{pair}}};", source)
    return _changed(r"slots->(id|qty|key|tag)\[(\w+)\]", r"slots->at[\2].\1", source)


def addresses_from_memory(source: str) -> str:
    """Let the compiler know nothing of the addresses of a batch."""
    return _changed(r"    count_from\(origin, batch\.\w+\);\n", "", source)


def _changed(pattern: str, into: str, source: str) -> str:
    text, count = re.subn(pattern, into, source, flags=re.DOTALL)
    if count == 0:
        raise ValueError(f"the kernels have no {pattern!r} any more")
    return text


RUNGS = (
    Rung(
        "thread",
        "a thread for each book, levels and an index by id in memory",
        None,
        None,
        (0,),
        a_thread_for_each_book,
        a_thread_each=True,
    ),
    Rung("warp", "a warp for each book", "thread", 0.3, (0,)),
    Rung(
        "slots of structures",
        "256 slots in shared memory, all looked at, in place of levels",
        "warp",
        5.0,
        (8, 0),
        lambda source: addresses_from_memory(slots_as_structures(source)),
    ),
    Rung(
        "slots of planes",
        "each field of the slots by itself, so that lanes read without conflicts",
        "slots of structures",
        1.3,
        (8, 0),
        addresses_from_memory,
    ),
    Rung(
        "known to be together",
        "addresses follow from an argument, so that no branch is guarded",
        "slots of planes",
        1.3,
        (8, 0),
    ),
    Rung(
        "128 slots first",
        "half the slots, and the other kernel for books that outgrow them",
        "known to be together",
        1.1,
        (4, 8, 0),
    ),
)


class RungEngine(CudaBookEngine):
    """The product's engine with the kernels of a rung."""

    rung: Rung

    def _kernel(self, slots: int, events: bool, levels: int) -> Any:
        key = match_key(self._rules, slots, events, levels > 0)
        with self._gpu:
            return load_rung(self.rung, key, self._gpu.arch).get_kernel(key.entry)

    def _configure(self, books: int) -> Any:
        if not self.rung.a_thread_each:
            return super()._configure(books)
        if books % THREAD_BLOCK:
            raise ValueError(f"{books} books are no multiple of {THREAD_BLOCK}")
        return self._gpu.configure(books // THREAD_BLOCK, THREAD_BLOCK, 0)


def rung_source(rung: Rung, key: MatchKey) -> str:
    """Return the source of a rung's kernel; books in levels are the same in all rungs of slots."""
    source = compiling.join_sources(key)
    in_question = key.slots_per_lane in rung.slots and (key.slots_per_lane or rung.a_thread_each)
    return rung.change(source) if rung.change and in_question else source


@cache
def load_rung(rung: Rung, key: MatchKey, arch: str) -> Any:
    """Return the code of a rung's kernel."""
    from cuda.core import ObjectCode

    source = rung_source(rung, key)
    return ObjectCode.from_cubin(find_compiled(source, arch, f"the rung {rung.name}"))
