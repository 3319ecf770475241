"""From a key to a kernel: sources joined, compiled by NVRTC, kept on disk for later processes."""

from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

from bookwarp.engines.cuda.code_cache import CodeCache, cache_folder
from bookwarp.engines.cuda.kernel_key import KernelKey
from bookwarp.engines.cuda.layout import layout_assertions
from bookwarp.spec.errors import EngineError

_KERNELS = Path(__file__).parent / "kernels"
_HEADERS = (
    "market",
    "layout",
    "splitmix",
    "random",
    "counters",
    "sides",
    "agents",
    "draws",
    "orders",
    "auction",
    "waiting",
    "step",
    "execution",
    "record",
)
_STANDARD = "c++17"


def join_sources(key: KernelKey) -> str:
    """Return the source of one kernel: macros, then every file under its own name."""
    parts = [f"#define {name} {value}\n" for name, value in key.macros().items()]
    for name in [f"{header}.cuh" for header in _HEADERS] + [f"{key.kernel}.cu"]:
        text = (_KERNELS / name).read_text(encoding="utf-8")
        parts.append(f'#line 1 "{name}"\n{text}')
        if name == "layout.cuh":
            parts.append(f'#line 1 "layout.py"\n{layout_assertions()}')
    return "".join(parts)


def compile_kernel(key: KernelKey, arch: str) -> tuple[bytes, str]:
    """Compile a kernel; see `compile_source`."""
    return compile_source(join_sources(key), arch, f"the kernel {key}")


def compile_source(source: str, arch: str, what: str) -> tuple[bytes, str]:
    """Compile a source; no GPU and no driver are needed.

    Args:
        source: one file of CUDA C++.
        arch: the GPU's name for compilers, as "sm_90".
        what: how an error names it.

    Returns:
        The machine code (a cubin), and the log of the compiler, with registers and spills.

    Raises:
        EngineError: the compiler does not know the GPU, or refuses the source.
    """
    from cuda.core import Program, ProgramOptions

    _check_arch(arch)
    options = ProgramOptions(arch=arch, std=_STANDARD, ptxas_options=["-v"])
    log = StringIO()
    try:
        code = Program(source, "c++", options).compile("cubin", logs=log)
    except Exception as error:
        raise EngineError(f"{what} does not compile for {arch}: {error}") from error
    return bytes(code.code), log.getvalue()


def load_kernel(key: KernelKey, arch: str) -> Any:
    """Return a kernel to launch on GPUs of kind `arch`; it is compiled if it never was."""
    return _load_code(key, arch).get_kernel(key.entry)


@cache
def _load_code(key: KernelKey, arch: str) -> Any:
    from cuda.core import ObjectCode

    return ObjectCode.from_cubin(find_code(key, arch))


def find_code(key: KernelKey, arch: str) -> bytes:
    """Return the machine code of a kernel, from the disk if it was compiled before."""
    return find_compiled(join_sources(key), arch, f"the kernel {key}")


def find_compiled(source: str, arch: str, what: str) -> bytes:
    """Return the machine code of a source, from the disk if it was compiled before."""
    kept, name = CodeCache(cache_folder()), _name_of_code(source, arch)
    code = kept.read(name)
    if code is None:
        code, _ = compile_source(source, arch, what)
        kept.write(name, code)
    return code


@cache
def code_name(key: KernelKey, arch: str) -> str:
    """Return a name that nothing shares but what compiles to the same code."""
    return _name_of_code(join_sources(key), arch)


def _name_of_code(source: str, arch: str) -> str:
    return CodeCache.name_of(source, arch, _STANDARD, str(_compiler_version()))


def _check_arch(arch: str) -> None:
    _, known = _load_compiler().nvrtcGetSupportedArchs()
    if arch not in {f"sm_{each}" for each in known}:
        major, minor = _compiler_version()
        raise EngineError(
            f"the installed CUDA compiler, {major}.{minor}, makes no code for this GPU ({arch}): "
            f"pip install --upgrade 'bookwarp[cuda]'"
        )


def _compiler_version() -> tuple[int, int]:
    _, major, minor = _load_compiler().nvrtcVersion()
    return major, minor


def _load_compiler() -> Any:
    from cuda.bindings import nvrtc

    try:
        nvrtc.nvrtcVersion()
    except RuntimeError as error:
        raise EngineError(
            "the CUDA compiler (NVRTC) is not installed: pip install 'bookwarp[cuda]'"
        ) from error
    return nvrtc
