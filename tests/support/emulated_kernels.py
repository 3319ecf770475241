"""Kernels in plain CUDA C++, compiled for this processor and run by emulated_warps.h."""

import ctypes
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

_WARPS = Path(__file__).with_name("emulated_warps.h")
_KERNEL = re.compile(r'extern "C" __global__ void __launch_bounds__\([^)]*\)\s+(\w+)\(([^)]*)\)')
_POINTER, _WORD = ctypes.c_void_p, ctypes.c_uint32

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


class EmulatedKernel:
    """A kernel; called with grid, block and the arguments that a launch on a GPU has."""

    def __init__(self, function):
        self._function = function
        function.restype = ctypes.c_char_p

    def __call__(self, grid, block, *arguments):
        words = [_POINTER(a) if isinstance(a, int) else _WORD(int(a)) for a in arguments]
        failure = self._function(_WORD(grid), _WORD(block), *words)
        assert not failure, failure.decode()


class EmulatedCode:
    """Kernels of one source."""

    def __init__(self, source):
        self._library = _compile(source)

    def get_kernel(self, name):
        return EmulatedKernel(getattr(self._library, f"emulate_{name}"))


@cache
def _compile(source):
    wrappers = []
    for name, parameters in _KERNEL.findall(source):
        names = ", ".join(each.split()[-1].lstrip("*") for each in parameters.split(","))
        wrappers.append(
            f'extern "C" const char* emulate_{name}(uint32 grid, uint32 block, {parameters}) {{\n'
            f"    return emulated::run_grid(grid, block, [=] {{ {name}({names}); }});\n}}\n"
        )
    with tempfile.TemporaryDirectory() as folder:
        file, library = Path(folder) / "kernel.cpp", Path(folder) / "kernel.so"
        # The kernels have names of their own for what <cstdint> defines.
        text = f'#include "{_WARPS}"\n#undef INT64_MAX\n{source}{"".join(wrappers)}'
        file.write_text(text, encoding="utf-8")
        words = ["g++", "-std=c++17", "-O1", "-fno-strict-aliasing", "-shared", "-fPIC", "-w"]
        words += ["-ffp-contract=off"]  # as the intrinsics of CUDA that round by themselves
        words += [str(file), "-o", str(library)]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return ctypes.CDLL(str(library))
