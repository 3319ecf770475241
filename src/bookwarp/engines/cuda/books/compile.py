"""The kernels of continuous books, compiled when they are first used."""

from functools import cache
from pathlib import Path
from typing import Any

from bookwarp.engines.cuda.books.kernel_key import GroupKey, MatchKey
from bookwarp.engines.cuda.books.layout import books_assertions
from bookwarp.engines.cuda.compile import compile_source, find_compiled

_KERNELS = Path(__file__).parents[1] / "kernels" / "books"

Key = MatchKey | GroupKey


def join_sources(key: Key) -> str:
    """Return the source of some kernels: macros, then every file under its own name."""
    parts = [f"#define {name} {value}\n" for name, value in key.macros().items()]
    for name in key.files:
        text = (_KERNELS / name).read_text(encoding="utf-8")
        parts.append(f'#line 1 "books/{name}"\n{text}')
        if name == "records.cuh":
            parts.append(f'#line 1 "books/layout.py"\n{books_assertions()}')
    return "".join(parts)


def compile_kernels(key: Key, arch: str) -> tuple[bytes, str]:
    """Compile the kernels of a key; see `bookwarp.engines.cuda.compile.compile_source`."""
    return compile_source(join_sources(key), arch, str(key))


@cache
def load_kernels(key: Key, arch: str) -> Any:
    """Return the code of a key for GPUs of kind `arch`; it is compiled if it never was."""
    from cuda.core import ObjectCode

    return ObjectCode.from_cubin(find_compiled(join_sources(key), arch, str(key)))
