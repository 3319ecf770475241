"""The kernels for books of 256-bit numbers, compiled when they are first used."""

from functools import cache
from pathlib import Path
from typing import Any

from bookwarp.engines.cuda.compile import compile_source, find_compiled
from bookwarp.engines.cuda.u256.kernel_key import U256Key
from bookwarp.engines.cuda.u256.layout import u256_assertions

_KERNELS = Path(__file__).parents[1] / "kernels" / "u256"


def join_sources(key: U256Key) -> str:
    """Return the source of some kernels: macros, every file under its own name, and checks."""
    parts = [f"#define {name} {value}\n" for name, value in key.macros().items()]
    for name in key.files:
        text = (_KERNELS / name).read_text(encoding="utf-8")
        parts.append(f'#line 1 "u256/{name}"\n{text}')
    parts.append(f'#line 1 "u256/layout.py"\n{u256_assertions(key)}')
    return "".join(parts)


def compile_kernels(key: U256Key, arch: str) -> tuple[bytes, str]:
    """Compile the kernels of a key; see `bookwarp.engines.cuda.compile.compile_source`."""
    return compile_source(join_sources(key), arch, key.name)


@cache
def load_kernels(key: U256Key, arch: str) -> Any:
    """Return the code of a key for GPUs of kind `arch`; it is compiled if it never was."""
    from cuda.core import ObjectCode

    return ObjectCode.from_cubin(find_compiled(join_sources(key), arch, key.name))
