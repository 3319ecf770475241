"""The kernels of measures, compiled when they are first used."""

from functools import cache
from pathlib import Path
from typing import Any

from bookwarp.engines.cuda.compile import compile_source, find_compiled
from bookwarp.engines.cuda.measures.layout import macros, numbering

_KERNELS = Path(__file__).parents[1] / "kernels" / "measures"
_SUMS = ("prices", "returns", "memory", "windows", "tail", "volume", "book", "gather")
_FACTS = ("prices", "returns", "tails", "memory", "clustering", "volume", "spread")
_WHAT = "the kernels of measures"


def join_sources() -> str:
    """Return the source of the kernels: macros, then every file under its own name."""
    parts = [f"#define {name} {value}\n" for name, value in macros().items()]
    parts += [_read("sums.cuh"), '#line 1 "measures/layout.py"\n', numbering()]
    parts += [_read(f"{name}.cu") for name in _SUMS]
    parts += [_read(f"facts/{name}.cuh") for name in ("real", "moments", "facts")]
    return "".join([*parts, *(_read(f"facts/{name}.cu") for name in _FACTS)])


def compile_kernels(arch: str) -> tuple[bytes, str]:
    """Compile the kernels; see `bookwarp.engines.cuda.compile.compile_source`."""
    return compile_source(join_sources(), arch, _WHAT)


@cache
def load_kernels(arch: str) -> Any:
    """Return the code for GPUs of kind `arch`; it is compiled if it never was."""
    from cuda.core import ObjectCode

    return ObjectCode.from_cubin(find_compiled(join_sources(), arch, _WHAT))


def _read(name: str) -> str:
    return f'#line 1 "measures/{name}"\n' + (_KERNELS / name).read_text(encoding="utf-8")
