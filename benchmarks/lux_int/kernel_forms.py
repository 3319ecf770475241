"""The kernels by layout, variant and threads a block, and how they are compiled."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from lux_int.layout import Layout
from lux_int.workload import DEPTH

_FOLDER = Path(__file__).parent / "kernels"
BLOCKS = (32, 64, 128, 256, 512)

Variant = Literal["preload", "lowreg", "mask"]


@dataclass(frozen=True)
class Form:
    """One way to match books."""

    layout: Layout
    variant: Variant
    threads: int
    """Threads a block."""

    @property
    def label(self) -> str:
        """The form in words."""
        return f"{self.layout} {self.variant}, {self.threads} threads a block"

    @property
    def shared_bytes(self) -> int:
        """Shared memory that a block is launched with: the lots of its books."""
        if self.variant != "mask":
            return 0
        lot_words = DEPTH // 2 if self.layout == "packed" else DEPTH
        return 4 * lot_words * self.threads

    def source(self, own_orders: bool) -> str:
        """Return the source of the kernel `match_books`."""
        macros = {
            "THREADS": self.threads,
            "LAYOUT_PLANES": int(self.layout == "planes"),
            "LAYOUT_PACKED": int(self.layout == "packed"),
            "PRELOAD": int(self.variant == "preload"),
            "OWN_ORDERS": int(own_orders),
        }
        return _join(macros, "mask.cu" if self.variant == "mask" else "scan.cu")


SHARED_FORMS = [
    Form(layout, variant, threads)
    for layout, variant in (
        ("structures", "preload"),
        ("structures", "lowreg"),
        ("planes", "preload"),
        ("planes", "lowreg"),
        ("planes", "mask"),
        ("packed", "mask"),
    )
    for threads in BLOCKS
]
"""For books that share their incoming orders."""
OWN_FORMS = [Form("packed", "mask", threads) for threads in BLOCKS]
"""For books that each have incoming orders of their own."""

SUPPORT_THREADS = 256


def support_source() -> str:
    """Return the source of `repeat_books` and `count_differences`."""
    return _join({"THREADS": SUPPORT_THREADS}, "many_books.cu")


@cache
def compile_source(source: str, arch: str) -> Any:
    """Return machine code for a GPU such as "sm_90"; needs no GPU."""
    from cuda.core import Program, ProgramOptions

    options = ProgramOptions(arch=arch, std="c++17", ptxas_options=["-v"])
    return Program(source, "c++", options).compile("cubin")


def _join(macros: dict[str, int], name: str) -> str:
    parts = [f"#define {macro} {value}\n" for macro, value in macros.items()]
    for file in ("common.cuh", name):
        parts.append(f'#line 1 "{file}"\n' + (_FOLDER / file).read_text(encoding="utf-8"))
    return "".join(parts)
